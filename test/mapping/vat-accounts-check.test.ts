import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseMapping } from '../../src/mapping/parse.ts';
import { vatAccountWarnings } from '../../src/mapping/vat-accounts-check.ts';
import { mappingOf } from '../posting/support.ts';

const domestic = (group: string | undefined, rate: number, more = {}) => ({
  ...{ rate, kind: 'domestic', ...more },
  ...(group === undefined ? {} : { group }),
});
const held = (group: string) => `documents with ${group} will be held: the mapping gives no VAT account for it`;
const onlyOne = (group: string) =>
  `only ${group} has a VAT account, and \`vat\` has no "*": documents with any other VAT will be held`;

test.each<[string, Record<string, unknown>, string[]]>([
  ['one VAT group alone', { vat: { General: '2931' } }, [onlyOne('VAT group General')]],
  ['one rate of any group alone', { vat: { '*': { '25.5': '2931' } } }, [onlyOne('VAT at 25.5 %')]],
  [
    'one line of vat_groups alone',
    { vat: {}, vat_groups: [domestic('General', 25.5, { account: '2931' })] },
    [onlyOne('VAT group General at 25.5 %')],
  ],
  ['a rest for all groups', { vat: { General: '2931', '*': '2939' } }, []],
  ['a rest for all rates', { vat: { '*': { '25.5': '2931', '*': '2939' } } }, []],
  ['the accounts of the rows', { vat: 'same' }, []],
  ['two groups, on purpose without a rest', { vat: { General: '2931', Reduced: '2932' } }, []],
  [
    'a rule that may take the rest',
    { vat: { General: '2931' }, vat_rules: [{ when: { vat_rate: 14 }, account: '2932' }] },
    [],
  ],
  [
    'groups of known kind without an account',
    {
      vat: { General: '2931', Food: { '14': '2932' } },
      vat_groups: [domestic('General', 25.5), domestic('Food', 13.5), domestic('Food', 14)],
    },
    [held('VAT group Food at 13.5 %')],
  ],
  ['a group without a name is in any table', { vat: { A: '1', B: '2' }, vat_groups: [domestic(undefined, 10)] }, []],
  ['groups at 0 % have no VAT', { vat: { A: '1', B: '2' }, vat_groups: [{ group: 'Export', kind: 'export' }] }, []],
])('%s', (_, mapping, expected) => expect(vatAccountWarnings(mappingOf(mapping))).toEqual(expected));

const folder = new URL('../../mappings/', import.meta.url);
const ready = readdirSync(folder).filter(
  (name) => name.endsWith('.yaml') && !name.includes('.specs.') && name !== 'practice-api.yaml',
);

test.each(ready)('the ready mapping %s has an account for each VAT group that it names', (name) => {
  const parsed = parseMapping(parse(readFileSync(new URL(name, folder), 'utf8')));
  if ('errors' in parsed) throw new Error(parsed.errors.join('; '));
  expect(vatAccountWarnings(parsed.mapping)).toEqual([]);
});
