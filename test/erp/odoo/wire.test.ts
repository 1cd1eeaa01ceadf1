import { describe, expect, test } from 'vitest';
import { explain } from '../../../src/erp/targets/api/explain.ts';
import { keyedText, keyIn } from '../../../src/erp/targets/api/keyed-text.ts';
import { odooCapabilities } from '../../../src/erp/targets/odoo/capabilities.ts';
import {
  keyInExternalId,
  lineIdOf,
  moveIdOf,
  partyCodeIn,
  partyIdOf,
} from '../../../src/erp/targets/odoo/external-ids.ts';
import { analyticIdsIn, distributionIn } from '../../../src/erp/targets/odoo/moves.ts';
import {
  asAmount,
  asDate,
  asDateOrNull,
  asReference,
  asTextOrNull,
  asTimeOrNull,
  toDateTime,
} from '../../../src/erp/targets/odoo/wire.ts';
import { readJson } from '../../../src/records/json.ts';

const key = 'ABCDEFGHIJKLMNOPQRST';

test.each([
  ['115.5', '115.5'],
  ['0.0', '0'],
  ['-15.1', '-15.1'],
  // Sums of binary floating-point numbers.
  ['0.30000000000000004', '0.3'],
  ['-1234567.8900000001', '-1234567.89'],
  ['1.4210854715202004e-14', '0'],
  // More decimals than the currency has must stay visible.
  ['1.005', '1.005'],
])('the number %s is the amount %s', (text, amount) => {
  expect(asAmount(readJson(text), 2).toFixed()).toBe(amount);
});

test.each([[false], ['1.50'], [null], [[1]], [{ amount: 1 }], [1e21]])('%j is no amount', (value) => {
  expect(() => asAmount(value, 2)).toThrow('expected an amount');
});

test('an empty field is false, whatever its type', () => {
  expect([asTextOrNull(false), asDateOrNull(false), asReference(false), asTimeOrNull(false)]).toEqual([
    null,
    null,
    null,
    null,
  ]);
  expect(() => asDate(false)).toThrow('expected a date');
});

test('dates, times and references', () => {
  expect(asDate('2026-03-05')).toBe('2026-03-05');
  // Odoo's first day, which means "no lock".
  expect(asDate('1-01-01')).toBe('0001-01-01');
  expect(() => asDate('05.03.2026')).toThrow('expected a date');
  expect(asTimeOrNull('2026-03-05 23:59:58')).toEqual(new Date('2026-03-05T23:59:58Z'));
  expect(() => asTimeOrNull('soon')).toThrow('expected a time');
  expect(toDateTime(new Date('2026-03-05T23:59:58.765Z'))).toBe('2026-03-05 23:59:58');
  expect(asReference([7, '121000 Account Receivable'])).toEqual({ id: 7, name: '121000 Account Receivable' });
});

test('external ids name moves, their lines and clients of a company', () => {
  expect([moveIdOf(key), lineIdOf(key, 2)]).toEqual([`vetledger.${key}`, `vetledger.${key}_2`]);
  expect(partyIdOf(3, '4711/client/5')).toBe('vetledger.partner_3_4711_client_5');
  expect(partyCodeIn('vetledger.partner_3_4711_client_5')).toBe('4711/client/5');
  expect(partyCodeIn('base.main_partner')).toBeNull();
  expect(keyInExternalId(`vetledger.${key}`)).toBe(key);
  expect([keyInExternalId(`vetledger.${key}_1`), keyInExternalId(`other.${key}`)]).toEqual([null, null]);
});

test('the reference ends with the key; earlier texts that look like keys are ignored', () => {
  const entry = {
    ...{ key, unitId: '4711/invoice/1/1', installation: 4711, date: '2026-03-05', journal: 'MISC' },
    ...{ description: 'about [ZZZZZZZZZZZZZZZZZZZZ]', reference: 'KU-1', reverses: null, lines: [] },
  };
  const reference = `KU-1 about [ZZZZZZZZZZZZZZZZZZZZ] · 4711/invoice/1/1 [${key}]`;
  expect(keyedText(entry)).toBe(reference);
  expect(keyIn(reference)).toBe(key);
  expect(keyIn('by hand')).toBeNull();
});

test.each([
  [{ '3,5': 100 }, ['3,5']],
  ['{"3": 100.0}', ['3']],
  [false, []],
  ['', []],
  ['not JSON', []],
  ['[1]', []],
])('the analytic distribution %j has the keys %j', (value, keys) => {
  expect(Object.keys(distributionIn(value))).toEqual(keys);
});

test('a key of a distribution names an account of each plan', () => {
  expect(analyticIdsIn('3,5')).toEqual([3, 5]);
  expect(analyticIdsIn('3,x')).toEqual([3]);
});

describe('an error of Odoo means', () => {
  const named = 'odoo.exceptions.';
  test.each<[text: string, code: string | null, http: number, means: string, problem: string | null]>([
    ['The move (Draft Entry (* 2)) is not balanced.', `${named}UserError`, 200, 'refused', 'erp_unbalanced'],
    ['The entry is not balanced.', null, 200, 'refused', 'erp_unbalanced'],
    [
      "No matching record found for database id '9' in field 'Journal Items/Account'",
      null,
      200,
      'refused',
      'erp_account_unknown',
    ],
    ["No matching record found for database id '9' in field 'Journal'", null, 200, 'refused', 'erp_journal_unknown'],
    ['The account 400000 Product Sales is deprecated.', `${named}UserError`, 200, 'refused', 'erp_account_unknown'],
    [
      'You cannot add/modify entries prior to and inclusive of the lock date 2026-03-31.',
      `${named}UserError`,
      200,
      'refused',
      'period_closed_in_erp',
    ],
    [
      'The operation is refused as it would impact an already issued tax statement.',
      `${named}UserError`,
      422,
      'refused',
      'period_closed_in_erp',
    ],
    ['Something new', `${named}UserError`, 422, 'refused', 'erp_refused'],
    ['Record does not exist or has been deleted.', `${named}MissingError`, 404, 'refused', 'erp_refused'],
    ['You are not allowed to create ‘Journal Entry’ records.', `${named}AccessError`, 200, 'auth', null],
    ["You are not allowed to create 'Contact' (res.partner) records.", null, 200, 'auth', null],
    ['Access Denied', `${named}AccessDenied`, 200, 'auth', null],
    [
      'could not serialize access due to concurrent update',
      'psycopg2.errors.SerializationFailure',
      200,
      'locked',
      null,
    ],
    ['could not serialize access due to concurrent update', null, 200, 'locked', null],
    ['canceling statement due to lock timeout\nLINE 1: INSERT INTO "account_move_line"', null, 200, 'locked', null],
    ['deadlock detected', null, 200, 'locked', null],
    ['connection to server failed: FATAL: database "x" does not exist', 'psycopg2.OperationalError', 200, 'auth', null],
    ['server closed the connection unexpectedly', 'psycopg2.OperationalError', 200, 'doubt', 'erp_refused_unknown'],
    ["Invalid field 'nope' on 'account.move'", 'builtins.ValueError', 500, 'doubt', 'erp_refused_unknown'],
    ['the model ‘no.model’ does not exist', 'werkzeug.exceptions.NotFound', 404, 'auth', null],
  ])('%s', (text, code, http, means, problem) => {
    const error = explain({ http, code, text }, odooCapabilities.errors);
    expect([error.means, error.problem]).toEqual([means, problem]);
  });
});
