import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { paymentAccount, revenueAccount, roleAccount, vatAccount } from '../../src/mapping/look-ups.ts';
import { parseMapping } from '../../src/mapping/parse.ts';
import { roles } from '../../src/terms.ts';
import { mappingOf, money } from '../posting/support.ts';

describe('a mapping file', () => {
  test('the short one of the design is enough', () => {
    const result = parseMapping(
      parse(`
roles: {receivable: "1700", prepayment_liability: 2400, card_clearing: "1910", cash:}
revenue: same
vat: same
payment_types: {7: {role: other_clearing}, 0: {departments: {12: {role: bank_clearing}}}}
policies: {locked_period: hold, follow_source_lock: false}
cash_customer: "CASH"`),
    );
    expect(result).toMatchObject({
      mapping: { roles: { receivable: '1700', prepayment_liability: '2400', cash: '' }, cash_customer: 'CASH' },
    });
  });

  test('an empty one is valid: it holds every document', () => {
    expect(parseMapping(null)).toMatchObject({
      mapping: { policies: { locked_period: 'hold', follow_source_lock: false } },
    });
  });

  test('the demo mapping has every role', () => {
    const demo = parse(readFileSync(new URL('../../mappings/demo.yaml', import.meta.url), 'utf8'));
    const result = parseMapping(demo);
    expect(Object.keys('mapping' in result ? result.mapping.roles : result.errors).sort()).toEqual([...roles].sort());
  });

  test.each([
    ['roles: {recievable: "1700"}', 'roles.recievable: unknown key; did you mean receivable?'],
    ['rolls: {}', 'rolls: unknown key; did you mean roles?'],
    ['roles: {cash: 19.5}', 'roles.cash: must be an account code (put it in quotes)'],
    ['roles: {cash: true}', 'roles.cash: must be an account code (put it in quotes)'],
    ['roles: {cash: [1]}', 'roles.cash: must be an account code (put it in quotes)'],
    ['revenue: other', 'revenue: must be `same` or a table by account number'],
    ['vat: 2939', 'vat: must be `same` or a table by VAT group name'],
    ['vat: {Standard: {high: "2939"}}', 'vat.Standard.high: must be a rate in per cent, or "*"'],
    ['roles: {cash: "19 00"}', 'roles.cash: must not contain a blank: "19 00"; did you mean "1900"?'],
    ['roles: {cash: "19\u00a000"}', 'roles.cash: must not contain a blank: "19\u00a000"; did you mean "1900"?'],
    ['revenue: {"3000": "30 00"}', 'revenue.3000: must not contain a blank: "30 00"; did you mean "3000"?'],
    ['revenue: {"3000": sam}', 'revenue.3000: is "sam"; did you mean `same`?'],
    ['revenue: {"*": Same}', 'revenue.*: is "Same"; did you mean `same`?'],
    ['revenue: sam', 'revenue: must be `same` or a table by account number'],
    ['vat: {Standard: ssame}', 'vat.Standard: is "ssame"; did you mean `same`?'],
    ['vat: {Standard: {24: "29 39"}}', 'vat.Standard.24: must not contain a blank: "29 39"; did you mean "2939"?'],
    ['revenue_rules: [{when: {}, account: "30 00"}]', /^revenue_rules.0.account: must not contain a blank/],
    ['payment_types: {7: {account: "19 21"}}', /^payment_types.7.account: must not contain a blank/],
    ['vat_groups: [{kind: exempt, account: zame}]', 'vat_groups.0.account: is "zame"; did you mean `same`?'],
    ['chart: ""', 'chart: must be the path of a CSV file, or `erp`'],
    ['policies: {locked_period: move}', 'policies.locked_period: must be hold or redate'],
    ['policies: {follow_source_lock: 1}', 'policies.follow_source_lock: must be true or false'],
    ['policies: {lock_period: hold}', 'policies.lock_period: unknown key; did you mean locked_period?'],
    ['payment_types: {card: {role: cash}}', 'payment_types.card: must be the number of a payment type'],
    ['payment_types: {7: {rule: cash}}', 'payment_types.7.rule: unknown key; did you mean role?'],
    ['payment_types: {7: {role: cosh}}', 'payment_types.7.role: unknown role cosh; did you mean cash?'],
    [
      'payment_types: {7: {departments: {12: {rol: cash}}}}',
      'payment_types.7.departments.12.rol: unknown key; did you mean role?',
    ],
    [
      'payment_types: {8: {role: cash}}',
      'payment_types.8: must post to roles.prepayment_liability: on another account, the balance would never become zero',
    ],
    [
      'payment_types: {12: {departments: {12: {account: "1"}}}}',
      'payment_types.12: must post to roles.credit_settlement: on another account, the balance would never become zero',
    ],
    [
      'payment_types: {6: {account: "1"}}',
      'payment_types.6: must post to roles.consolidation_clearing: on another account, the balance would never become zero',
    ],
    [
      'payment_types: {11: {role: receivable}}',
      'payment_types.11.role: no payment type can have the role receivable, since its balance would never become zero',
    ],
    [
      'counterparties: {insurance: "IF"}',
      'counterparties.insurance: unknown key; known are insurance_receivable, financing_receivable',
    ],
    ['revenue_by_department: {north: {"*": "1"}}', 'revenue_by_department.north: must be the id of a department'],
  ])('%s is refused', (text, error) => {
    const expected = typeof error === 'string' ? error : expect.stringMatching(error);
    expect(parseMapping(parse(text))).toEqual({ errors: [expected] });
  });

  test('words of the ERP may have blanks', () => {
    const words = parseMapping({ erp: { vat_codes: { 'VAT 14 %': 'Sales 14 %', '*': { 24: 'Sales 24 %' } } } });
    expect(words).toHaveProperty('mapping');
  });

  test('a file that is no table is refused', () => {
    expect(parseMapping('roles')).toHaveProperty('errors');
  });

  test('all errors are reported together', () => {
    expect(parseMapping(parse('{roles: {cosh: "1", cash: true}, policy: {}}'))).toMatchObject({
      errors: { length: 3 },
    });
  });
});

describe('look-ups', () => {
  const mapping = mappingOf({
    roles: { card_clearing: '1920', bank_clearing: '1910', other_clearing: '1929', cash: '' },
    revenue: { '3000': '4000', '3001': '', '3002': 'same', '*': '4999' },
    revenue_by_department: { 12: { '3000': '4012' } },
    vat: { Standard: { '25.50': '2931', 24: '2930' }, Reduced: '2932', Own: 'same', '*': { 0: '2939' } },
    payment_types: {
      7: { role: 'other_clearing' },
      0: { departments: { 12: { role: 'bank_clearing' }, 13: { account: '1923' } } },
      13: { role: 'other_clearing' },
      2: { account: '1911', departments: { 12: { role: 'other_clearing' } } },
    },
  });

  test.each([
    ['card_clearing', { account: '1920', mappedBy: 'roles.card_clearing' }],
    ['cash', { code: 'role_unmapped' }],
    ['receivable', { code: 'role_unmapped' }],
  ] as const)('role %s', (role, expected) => {
    expect(roleAccount(mapping, role)).toMatchObject(expected);
  });

  test.each([
    ['3000', 11, { account: '4000', mappedBy: 'revenue.3000' }],
    ['3000', 12, { account: '4012', mappedBy: 'revenue_by_department.12.3000' }],
    ['3500', 12, { account: '4999', mappedBy: 'revenue.*' }],
    ['3002', null, { account: '3002', mappedBy: 'revenue.3002' }],
    ['3001', 11, { code: 'account_unmapped' }],
    ['', 11, { code: 'account_unmapped' }],
    [null, 11, { code: 'account_unmapped' }],
    ['constructor', 11, { account: '4999', mappedBy: 'revenue.*' }],
  ])('revenue account %s of department %s', (account, department, expected) => {
    expect(revenueAccount(mapping, account, department)).toMatchObject(expected);
  });

  test('revenue: same', () => {
    expect(revenueAccount(mappingOf(), '3000', 11)).toEqual({
      role: 'revenue',
      account: '3000',
      mappedBy: 'revenue.same',
    });
  });

  test.each([
    ['Standard', '25.5', ['1'], { account: '2931', mappedBy: 'vat.Standard.25.5' }],
    ['Standard', '24.00', ['1'], { account: '2930', mappedBy: 'vat.Standard.24' }],
    ['Standard', '10', ['1'], { code: 'vat_group_unmapped' }],
    ['Reduced', '14', ['1'], { account: '2932', mappedBy: 'vat.Reduced' }],
    ['Own', '14', ['2777'], { account: '2777', mappedBy: 'vat.Own' }],
    ['Own', '14', ['2777', '2778'], { code: 'vat_group_unmapped' }],
    ['Other', '0', [], { account: '2939', mappedBy: 'vat.*.0' }],
    [null, '0', [], { account: '2939', mappedBy: 'vat.*.0' }],
    [null, '24', [], { code: 'vat_group_unmapped' }],
    ['toString', '24', [], { code: 'vat_group_unmapped' }],
  ])('VAT group %s at %s with its own accounts %j', (name, rate, accounts, expected) => {
    expect(vatAccount(mapping, { name, rate: money(rate), accounts })).toMatchObject(expected);
  });

  test.each([
    [['2931'], { account: '2931', mappedBy: 'vat.same' }],
    [[], { code: 'vat_group_unmapped' }],
    [['2931', '2932'], { code: 'vat_group_unmapped' }],
  ])('vat: same with the own accounts %j', (accounts, expected) => {
    expect(vatAccount(mappingOf({ vat: 'same' }), { name: 'Standard', rate: money('24'), accounts })).toMatchObject(
      expected,
    );
  });

  test.each([
    [0, 11, { role: 'card_clearing', account: '1920', mappedBy: 'roles.card_clearing' }],
    [0, 12, { role: 'bank_clearing', account: '1910', mappedBy: 'roles.bank_clearing' }],
    [0, 13, { role: 'card_clearing', account: '1923', mappedBy: 'payment_types.0.departments.13.account' }],
    [2, 11, { role: 'bank_clearing', account: '1911', mappedBy: 'payment_types.2.account' }],
    [2, 12, { role: 'other_clearing', account: '1929', mappedBy: 'roles.other_clearing' }],
    [7, null, { role: 'other_clearing', account: '1929', mappedBy: 'roles.other_clearing' }],
    [13, 11, { role: 'other_clearing' }],
    [14, 11, { code: 'payment_type_unmapped' }],
    [1, 11, { code: 'role_unmapped' }],
  ])('payment type %i in department %s', (type, department, expected) => {
    expect(paymentAccount(mapping, type, department)).toMatchObject(expected);
  });
});
