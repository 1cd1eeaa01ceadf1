// docs/accountants/mapping.md has every key of a mapping file, and its examples are valid.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseMapping } from '../../src/mapping/parse.ts';

const page = readFileSync(new URL('../../docs/accountants/mapping.md', import.meta.url), 'utf8');
const schema = JSON.parse(readFileSync(new URL('../../mappings/mapping.schema.json', import.meta.url), 'utf8'));
const sections = page.split(/^## /m).slice(1);

interface Schema {
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  anyOf?: Schema[];
}

/** The keys of a schema and of what it contains. */
function keysOf({ properties = {}, additionalProperties, items, anyOf = [] }: Schema): string[] {
  const below = [
    ...anyOf,
    ...(items ? [items] : []),
    ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
  ];
  return [...Object.entries(properties).flatMap(([key, each]) => [key, ...keysOf(each)]), ...below.flatMap(keysOf)];
}

describe('every key of the schema is on the page', () => {
  test.each(Object.entries((schema as Schema).properties!))('%s and its keys', (key, each) => {
    const own = sections.filter((section) => section.split('\n', 1)[0]!.includes(`\`${key}\``));
    expect(own, `a section with \`${key}\` in its heading`).toHaveLength(1);
    const missing = [...new Set(keysOf(each))].filter((name) => !new RegExp(`\`${name}\``).test(own[0]!));
    expect(missing, `keys that the section of \`${key}\` does not describe`).toEqual([]);
  });
});

test.each([...page.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, block]) => [block!.split('\n', 1)[0]!, block!]))(
  'the example %s is a valid mapping',
  (_, block) => {
    expect(parseMapping(parse(block))).not.toHaveProperty('errors');
  },
);
