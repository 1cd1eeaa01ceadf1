import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { loadMapping } from '../../src/config.ts';
import { loadSpecs } from '../../src/mapping/files.ts';
import { runSpecs } from '../../src/mapping/run-specs.ts';
import { loadDialect } from '../../src/practice/dialect.ts';

const folder = fileURLToPath(new URL('../../mappings/', import.meta.url));
const mappings = readdirSync(folder).filter(
  (name) => name.endsWith('.yaml') && !name.endsWith('.specs.yaml') && name !== 'practice-api.yaml',
);

describe.each(mappings)('%s', (name) => {
  test('names its schema on line 1', () => {
    const [line] = readFileSync(folder + name, 'utf8').split('\n');
    expect(line).toBe('# yaml-language-server: $schema=./mapping.schema.json');
  });

  test('posts its cases as they are written', async () => {
    const { mapping } = await loadMapping(folder + name);
    const specs = await loadSpecs(folder + name);
    if (name === 'demo.yaml') return expect(specs).toBeNull();
    expect(specs!.cases.length).toBeGreaterThan(4);
    expect(runSpecs(specs!, mapping, loadDialect()).flatMap(({ differences }) => differences)).toEqual([]);
  });
});

test('there are ready mappings for Finland, Sweden, Germany and anywhere', () => {
  expect(mappings).toEqual(expect.arrayContaining(['finland.yaml', 'generic.yaml', 'germany.yaml', 'sweden.yaml']));
});
