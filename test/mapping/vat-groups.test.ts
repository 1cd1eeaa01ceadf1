import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { vatCodeOf } from '../../src/erp/mapped-values.ts';
import { revenueAccount, vatAccount } from '../../src/mapping/look-ups.ts';
import { mappingGaps, unnamedValues } from '../../src/mapping/mapping-gaps.ts';
import { parseMapping } from '../../src/mapping/parse.ts';
import type { RowUse } from '../../src/mapping/source-usage.ts';
import { vatGroupOf, vatKindOf } from '../../src/mapping/vat-groups.ts';
import { mappingOf, money } from '../posting/support.ts';

const mapping = mappingOf({
  vat_groups: [
    { rate: 24, kind: 'domestic', account: '2924', code: 'S24', to: '2024-08-31' },
    { rate: '25.50', kind: 'domestic', account: '2925', code: 'S25', from: '2024-09-01' },
    { rate: 10, kind: 'domestic', to: '2024-12-31' },
    { group: ['News', 'Papers'], rate: 10, kind: 'domestic', account: '2910' },
    { group: 'Twice', rate: 7, kind: 'domestic', account: '2907', to: '2020-06-30' },
    { group: 'Twice', rate: 7, kind: 'domestic', account: '2908', from: '2021-01-01' },
    { group: 'EU services', kind: 'eu_services' },
    { group: 'EU goods', kind: 'eu_goods', code: 'same' },
    { group: null, rate: 0, kind: 'outside' },
    { rate: 0, kind: 'exempt' },
    { group: 'Scrap', rate: [24, 0], kind: 'reverse_charge' },
  ],
  revenue_rules: [
    { when: { vat_kind: 'eu_services' }, account: '3340' },
    { when: { vat_kind: ['eu_goods', 'export'] }, account: '3350' },
    { when: { account: '3100', to: '2024-12-31' }, account: '3102' },
    { when: { account: '3100', from: '2025-01-01', vat_rate: 14 }, account: '3101' },
  ],
  vat_rules: [{ when: { vat_rate: 14, from: '2026-01-01' }, account: '2999' }],
  vat: { '*': '2900' },
});

describe('the line of a VAT group', () => {
  test.each<[string, string | null, string, string | null, number | null, boolean?]>([
    ['before the change', 'V', '24', '2024-08-31', 0],
    ['on the last day of another rate', 'V', '25.5', '2024-08-31', 1, false],
    ['on its first day', 'V', '25.5', '2024-09-01', 1],
    ['after its last day', 'V', '24', '2024-09-01', 0, false],
    ['by name, before those for any name', 'Papers', '10', '2026-01-01', 3],
    ['for any name', 'Other', '10', '2024-12-31', 2],
    ['of two spans, the first', 'Twice', '7', '2020-06-30', 4],
    ['between two spans, the earlier one', 'Twice', '7', '2020-07-01', 4, false],
    ['of two spans, the second', 'Twice', '7', '2021-01-01', 5],
    ['without a day, the latest', 'Twice', '7', null, 5],
    ['rows that name no group', null, '0', '2026-01-01', 8],
    ['a rate without a line', 'V', '14', '2026-01-01', null],
    ['a name at another rate than its line', 'EU services', '24', '2020-01-01', 0],
  ])('%s', (_, name, rate, day, index, isValid = true) => {
    const found = vatGroupOf(mapping, { name, rate: money(rate) }, day);
    expect(found && { index: found.index, isValid: found.isValid }).toEqual(index === null ? null : { index, isValid });
  });

  test.each([
    ['EU services', '0', 'eu_services'],
    ['Scrap', '24', 'reverse_charge'],
    ['Anything', '0', 'exempt'],
    ['Anything', '3', null],
  ])('%s at %s is %s', (name, rate, kind) => {
    expect(vatKindOf(mapping, { name, rate: money(rate) })).toBe(kind);
  });

  test.each([
    ['V', '24', '2024-08-31', { account: '2924', mappedBy: 'vat_groups.0' }],
    ['V', '10', '2024-12-31', { account: '2900', mappedBy: 'vat.*' }],
    ['Twice', '7', '2026-01-01', { account: '2908', mappedBy: 'vat_groups.5' }],
    ['V', '14', '2026-01-01', { account: '2999', mappedBy: 'vat_rules.0' }],
    ['V', '14', '2025-12-31', { account: '2900', mappedBy: 'vat.*' }],
  ])('VAT of %s at %s on %s', (name, rate, date, expected) => {
    expect(vatAccount(mapping, { name, rate: money(rate), accounts: [], date })).toEqual(expected);
  });

  test('an empty account holds; the table does not apply', () => {
    const open = mappingOf({ vat_groups: [{ rate: 24, kind: 'domestic', account: '' }], vat: { '*': '2900' } });
    expect(vatAccount(open, { name: 'V', rate: money('24'), accounts: [] })).toMatchObject({
      code: 'vat_group_unmapped',
    });
  });

  test.each([
    ['V', '24', '2024-08-31', 'S24'],
    ['V', '25.5', '2026-01-01', 'S25'],
    ['EU goods', '0', '2026-01-01', 'EU goods'],
    ['EU services', '0', '2026-01-01', 'EU services'],
  ])('the ERP’s code of %s at %s on %s', (name, rate, day, code) => {
    expect(vatCodeOf(mapping, name, money(rate), day)).toBe(code);
  });
});

describe('revenue rules by kind and by date', () => {
  const none = { account: null, dimension1: null, dimension2: null };
  test.each([
    ['3000', 'EU services', '0', '2026-01-01', '3340'],
    ['3000', 'EU goods', '0', '2026-01-01', '3350'],
    ['3000', 'Other', '0', '2026-01-01', '3000'],
    ['3100', 'V', '10', '2024-12-31', '3102'],
    ['3100', 'V', '14', '2025-01-01', '3101'],
    ['3100', 'V', '10', '2025-01-01', '3100'],
  ])('%s of %s at %s on %s goes to %s', (number, name, rate, date, account) => {
    const details = {
      dimensions: [null, null, null],
      internal: none,
      vat: { name, rate: money(rate) },
      date,
    };
    expect(revenueAccount(mapping, number, 11, details)).toMatchObject({ account });
  });
});

test.each([
  ['vat_groups: {}', 'vat_groups: must be a list of VAT groups'],
  ['vat_groups: [{rate: 24}]', /^vat_groups.0.kind: must be one of domestic, reverse_charge, eu_goods/],
  ['vat_groups: [{rate: 24, kind: home}]', /^vat_groups.0.kind: must be one of/],
  ['vat_groups: [{kind: domestic}]', 'vat_groups.0.rate: is missing: the kind domestic requires a rate'],
  ['vat_groups: [{kind: exempt, rate: 10}]', 'vat_groups.0.rate: must be 0: exempt has no VAT'],
  ['vat_groups: [{kind: eu_goods, rate: [0, 24]}]', 'vat_groups.0.rate: must be 0: eu_goods has no VAT'],
  ['vat_groups: [{kind: outside, rate: 1}]', 'vat_groups.0.rate: must be 0: outside has no VAT'],
  ['vat_groups: [{kind: exempt, from: 2026-02-30}]', 'vat_groups.0.from: must be a date such as 2026-01-31'],
  ['vat_groups: [{kind: exempt, from: 2026-02-01, to: 2026-01-31}]', 'vat_groups.0.to: must not be before 2026-02-01'],
  ['vat_groups: [{kind: exempt, until: 2026-02-01}]', /^vat_groups.0.until: unknown key/],
  [
    'vat_groups: [{rate: 14, kind: domestic, to: 2026-01-01}, {rate: "14.0", kind: domestic, from: 2026-01-01}]',
    'vat_groups.1: is valid on the same days as vat_groups.0, which has the same group and rate (since 2026-01-01, until 2026-01-01)',
  ],
  [
    'vat_groups: [{group: [A, B], kind: exempt}, {group: [B, C], kind: eu_goods}]',
    /^vat_groups.1: is valid on the same days as vat_groups.0/,
  ],
  ['country: Finland', 'country: must be two capital letters such as FI'],
  ['policies: {vat_rate_expired: refuse}', 'policies.vat_rate_expired: must be remark or hold'],
  ['revenue_rules: [{when: {vat_kind: eu}, account: "1"}]', /^revenue_rules.0.when.vat_kind: must be/],
  ['vat_rules: [{when: {from: soon}, account: "1"}]', 'vat_rules.0.when.from: must be a date such as 2026-01-31'],
])('%s is refused', (text, error) => {
  const expected = typeof error === 'string' ? error : expect.stringMatching(error);
  expect(parseMapping(parse(text))).toEqual({ errors: [expected] });
});

test.each([
  ['vat_groups: [{rate: 14, kind: domestic, to: 2025-12-31}, {rate: 14, kind: domestic, from: 2026-01-01}]'],
  ['vat_groups: [{group: A, kind: exempt}, {kind: exempt}]'],
  ['vat_groups: [{group: A, rate: 24, kind: domestic}, {group: A, rate: 14, kind: domestic}]'],
])('%s does not overlap', (text) => {
  expect(parseMapping(parse(text))).toHaveProperty('mapping');
});

describe('mapping check', () => {
  const use = (name: string, rate: string, dates: RowUse['dates'], account = '3100'): RowUse => ({
    account,
    department: 11,
    dimensions: [null, null, null],
    internal: { account: null, dimension1: null, dimension2: null },
    vat: { name, rate: money(rate), account: null },
    count: 3,
    net: money('30'),
    vatAmount: money('3'),
    gross: money('33'),
    hasNet: true,
    hasVat: rate !== '0',
    dates,
  });
  const usage = (...rows: RowUse[]) => ({ rows, money: [], invoices: [] });

  test('reports what is unmapped on the last day of use although it is mapped on the first', () => {
    const dated = mappingOf({
      revenue_rules: [{ when: { account: '3100', to: '2025-12-31' }, account: '3101' }],
      revenue: {},
    });
    expect(mappingGaps(usage(use('V', '14', ['2025-11-01', '2025-12-31'])), dated)).toEqual([]);
    expect(mappingGaps(usage(use('V', '14', ['2025-11-01', '2026-01-01'])), dated)).toMatchObject([
      { code: 'account_unmapped', count: 3, message: 'the mapping has no account for revenue.3100' },
    ]);
  });

  test('names VAT groups whose kind is not known, once there are any in the mapping', () => {
    const rows = usage(use('V', '14', null), use('V', '14', null), use('Any', '0', null));
    expect(unnamedValues(rows, mapping)).toEqual([
      {
        message: 'vat_groups has no line for VAT group V at 14 %, so reports cannot show its kind',
        count: 6,
        net: money('60'),
        unit: 'row',
      },
    ]);
  });

  test('reports once that the mapping has no VAT groups at all', () => {
    const rows = usage(use('V', '14', null), use('Any', '0', null));
    expect(unnamedValues(rows, mappingOf()).map(({ message, count }) => [message, count])).toEqual([
      [
        'the mapping has no vat_groups, so reports cannot show the kinds of VAT groups, and `report eu-sales` is empty',
        6,
      ],
    ]);
    expect(unnamedValues(usage(), mappingOf())).toEqual([]);
  });

  test('reports gift cards that are taken as payment and, by the mapping, never sold', () => {
    const paid = (type: number) => ({
      kind: 'payment' as const,
      type,
      department: 11,
      opening: false,
      count: 2,
      paid: money('30'),
    });
    const taken = { rows: [], money: [paid(9), paid(9), paid(5), paid(0)], invoices: [] };
    const rule = { when: { account: '2410' }, role: 'voucher_liability' as const };
    expect(unnamedValues(taken, mappingOf({ revenue_rules: [rule] }))).toEqual([
      {
        message:
          'no rule of revenue_rules has the role gift_card_liability, so the sale of these gift cards or vouchers is posted as revenue',
        ...{ count: 4, net: money('60'), unit: 'payment' },
      },
    ]);
  });
});
