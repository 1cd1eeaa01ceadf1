import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { revenueAccount, vatAccount } from '../../src/mapping/look-ups.ts';
import { parseMapping } from '../../src/mapping/parse.ts';
import { mappingOf, money } from '../posting/support.ts';

const mapping = mappingOf({
  revenue_rules: [
    { when: { department: 12, dimension_1: 'SURG' }, account: '3112' },
    { when: { dimension_1: ['SURG', 'DENT'], account: [3000, '3010'] }, account: '3100' },
    { when: { dimension_2: 'CAT', vat_rate: '25.50' }, account: '3200' },
    { when: { dimension_3: 'X' }, account: 'same' },
    { when: { internal_account: '77', internal_dimension_1: 'A', internal_dimension_2: null }, account: '3700' },
    { when: { vat_group: 'EU sales 0 %', vat_rate: 0 }, account: '3300' },
    { when: { vat_group: null, vat_rate: 24 }, account: '3400' },
    { when: { account: null, department: [13, '14'] }, account: '3999' },
    { when: { account: '3666' }, account: null },
  ],
  revenue: { '3000': '4000', '*': '4999' },
  revenue_by_department: { 12: { '3000': '4012' } },
});

const none = { account: null, dimension1: null, dimension2: null };

describe('revenue rules: the first that holds, then the tables', () => {
  test.each<[string, string | null, number | null, string, string | null, string | null, string, string]>([
    // Columns: case, account, department, dimensions, VAT group, rate, found account, by
    ['department and dimension', '3000', 12, 'SURG,,', 'V', '24', '3112', 'revenue_rules.0'],
    ['dimension and account', '3010', 11, 'DENT,,', 'V', '24', '3100', 'revenue_rules.1'],
    ['the dimension of another account', '3020', 11, 'DENT,,', 'V', '24', '4999', 'revenue.*'],
    ['a blank in a dimension', '3000', 11, ' SURG ,,', 'V', '24', '3100', 'revenue_rules.1'],
    ['second dimension and rate', '3000', 11, ',CAT,', 'V', '25.5', '3200', 'revenue_rules.2'],
    ['second dimension at another rate', '3000', 11, ',CAT,', 'V', '24', '4000', 'revenue.3000'],
    ['third dimension, passed through', '3055', 11, ',,X', 'V', '24', '3055', 'revenue_rules.3'],
    ['VAT group and rate', '3000', 11, ',,', 'EU sales 0 %', '0', '3300', 'revenue_rules.5'],
    ['the same group at another rate', '3000', 11, ',,', 'EU sales 0 %', '24', '4000', 'revenue.3000'],
    ['no VAT group', '3000', 11, ',,', null, '24.00', '3400', 'revenue_rules.6'],
    ['no account, in a department of the list', null, 14, ',,', 'V', '24', '3999', 'revenue_rules.7'],
    ['no rule, the department’s table', '3000', 12, ',,', 'V', '24', '4012', 'revenue_by_department.12.3000'],
    ['no rule, no department', '3000', null, ',,', 'V', '24', '4000', 'revenue.3000'],
  ])('%s', (_, account, department, dimensions, name, rate, found, mappedBy) => {
    const vat = { name, rate: rate === null ? null : money(rate) };
    const details = { dimensions: dimensions.split(',').map((each) => each || null), internal: none, vat };
    expect(revenueAccount(mapping, account, department, details)).toEqual({
      role: 'revenue',
      account: found,
      mappedBy,
    });
  });

  test('internal account and dimensions, one of which must name none', () => {
    const details = (dimension2: string | null) => ({
      dimensions: [null, null, null],
      internal: { account: '77', dimension1: 'A', dimension2 },
      vat: { name: 'V', rate: money('24') },
    });
    expect(revenueAccount(mapping, '3000', 11, details(null))).toMatchObject({ mappedBy: 'revenue_rules.4' });
    expect(revenueAccount(mapping, '3000', 11, details('B'))).toMatchObject({ mappedBy: 'revenue.3000' });
  });

  test('one left empty holds; it does not fall through', () => {
    expect(revenueAccount(mapping, '3666', 11)).toEqual({
      code: 'account_unmapped',
      message: 'revenue_rules.8 of the mapping gives no account for revenue account 3666',
    });
  });

  test('a row without an account that no rule takes is held', () => {
    expect(revenueAccount(mapping, null, 11)).toMatchObject({ code: 'account_unmapped' });
  });
});

describe('rules that send a net group to a role', () => {
  const vouchers = mappingOf({
    revenue_rules: [
      { when: { vat_rate: 0 }, account: '3003' },
      { when: { account: ['2949', '2950'], department: 12 }, role: 'voucher_liability' },
      { when: { account: ['2949', '2950'] }, role: 'gift_card_liability' },
      { when: { account: '2951' }, role: 'voucher_liability' },
    ],
    roles: { gift_card_liability: '2949' },
  });
  const details = { dimensions: [null, null, null], internal: none, vat: { name: 'V', rate: money('0') } };
  test.each([
    [
      'come before the others, wherever they stand',
      '2949',
      11,
      { role: 'gift_card_liability', account: '2949', mappedBy: 'roles.gift_card_liability' },
    ],
    ['a rule by rate takes the rest', '3300', 11, { role: 'revenue', account: '3003', mappedBy: 'revenue_rules.0' }],
    [
      'the first of them that holds',
      '2950',
      12,
      { code: 'role_unmapped', message: 'the mapping has no account for roles.voucher_liability' },
    ],
    ['a role without an account holds', '2951', 11, { code: 'role_unmapped' }],
  ])('%s', (_, account, department, expected) => {
    expect(revenueAccount(vouchers, account, department, details)).toMatchObject(expected);
  });
});

describe('VAT rules', () => {
  const vat = mappingOf({
    vat_rules: [
      { when: { department: 12, vat_rate: [24, 14] }, account: '2912' },
      { when: { vat_group: 'Own' }, account: 'same' },
      { when: { vat_group: 'Open' }, account: '' },
    ],
    vat: { '*': '2900' },
  });
  test.each([
    ['V', '24', 12, { account: '2912', mappedBy: 'vat_rules.0' }],
    ['V', '24', 11, { account: '2900', mappedBy: 'vat.*' }],
    ['V', '10', 12, { account: '2900', mappedBy: 'vat.*' }],
    ['Own', '10', 11, { account: '2777', mappedBy: 'vat_rules.1' }],
    ['Open', '10', 11, { code: 'vat_group_unmapped' }],
  ])('group %s at %s in department %s', (name, rate, department, expected) => {
    expect(vatAccount(vat, { name, rate: money(rate), accounts: ['2777'] }, department)).toMatchObject(expected);
  });
});

test.each([
  ['revenue_rules: {}', 'revenue_rules: must be a list of rules'],
  [
    'revenue_rules: [{when: {vat_rat: 25}, account: "1"}]',
    'revenue_rules.0.when.vat_rat: unknown key; did you mean vat_rate?',
  ],
  [
    'revenue_rules: [{when: {vat_rate: high}, account: "1"}]',
    'revenue_rules.0.when.vat_rate: must be a rate in per cent',
  ],
  [
    'revenue_rules: [{when: {department: north}, account: "1"}]',
    'revenue_rules.0.when.department: must be the id of a department',
  ],
  ['revenue_rules: [{when: {account: []}, account: "1"}]', 'revenue_rules.0.when.account: must not be empty'],
  [
    'revenue_rules: [{when: {account: "1"}}]',
    'revenue_rules.0.account: must be an account code (put it in quotes), or give a `role`',
  ],
  [
    'revenue_rules: [{when: {account: "1"}, account: "2", role: voucher_liability}]',
    'revenue_rules.0.account: must not be given together with `role`',
  ],
  [
    'revenue_rules: [{when: {account: "1"}, role: prepayment_liability}]',
    'revenue_rules.0.role: must be gift_card_liability or voucher_liability',
  ],
  [
    'vat_rules: [{when: {}, account: "1", role: voucher_liability}]',
    'vat_rules.0.role: unknown key; known are when, account',
  ],
  ['revenue_rules: [{wen: {}, account: "1"}]', 'revenue_rules.0.wen: unknown key; did you mean when?'],
  ['vat_rules: [{when: {dimension_1: SURG}, account: "1"}]', /^vat_rules.0.when.dimension_1: unknown key/],
  [
    'roles: {prepayment_liability: ["1", "2"]}',
    'roles.prepayment_liability: must have only one account: on several accounts, its balance would never become zero',
  ],
  [
    'roles: {credit_settlement: {11: "1"}}',
    'roles.credit_settlement: must have only one account: on several accounts, its balance would never become zero',
  ],
  [
    'roles: {gift_card_liability: ["1", "2"]}',
    'roles.gift_card_liability: must have only one account: on several accounts, its balance would never become zero',
  ],
  [
    'payment_types: {9: {account: "2"}}',
    'payment_types.9.account: roles.gift_card_liability must have only one account: on several accounts, its balance would never become zero',
  ],
  [
    'payment_types: {5: {departments: {12: {account: "2"}}}}',
    'payment_types.5.departments.12.account: roles.voucher_liability must have only one account: on several accounts, its balance would never become zero',
  ],
  [
    'payment_types: {11: {departments: {12: {role: gift_card_liability, account: "2"}}}}',
    'payment_types.11.departments.12.account: roles.gift_card_liability must have only one account: on several accounts, its balance would never become zero',
  ],
  ['policies: {rounding_limit: lots}', 'policies.rounding_limit: must be an amount'],
  ['policies: {rounding_limit: -1}', 'policies.rounding_limit: must be an amount'],
  [
    'roles: {consolidation_clearing: ["1", "2"]}',
    'roles.consolidation_clearing: must have only one account: on several accounts, its balance would never become zero',
  ],
])('%s is refused', (text, error) => {
  const expected = typeof error === 'string' ? error : expect.stringMatching(error);
  expect(parseMapping(parse(text))).toEqual({ errors: [expected] });
});

test('a section that only holds comments is one that was left out', () => {
  const empty = parseMapping({});
  expect(parseMapping(parse('roles:\n  # cash: "1"\nrevenue_rules:\nvat:\n'))).toEqual(empty);
});
