import { describe, expect, test } from 'vitest';
import { Money } from '../../../src/domain/money.ts';
import type { ErpEntry } from '../../../src/erp/erp-entry.ts';
import { explain } from '../../../src/erp/targets/api/explain.ts';
import { keyedText, keyIn } from '../../../src/erp/targets/api/keyed-text.ts';
import { trytonCapabilities } from '../../../src/erp/targets/tryton/capabilities.ts';
import { foundEntries, toMove } from '../../../src/erp/targets/tryton/moves.ts';
import type { TrytonAccount } from '../../../src/erp/targets/tryton/names.ts';
import { asDate, asDecimal, toDate, toDateTime, toDecimal } from '../../../src/erp/targets/tryton/wire.ts';
import { type JsonObject, readJson, stringifyJson } from '../../../src/records/json.ts';

const key = 'ABCDEFGHIJKLMNOPQRST';
const entry: ErpEntry = {
  ...{ key, unitId: '4711/invoice/1/1', installation: 4711, date: '2026-03-05', journal: 'REV' },
  ...{ description: 'Invoice 1', reference: null, reverses: null },
  lines: [
    {
      ...{ account: '2931', role: 'vat', side: 'debit', amount: new Money('10.20'), description: 'VAT', party: null },
      vat: { code: 'S', part: 'tax', base: new Money('40'), rate: null },
      ...{ dimensions: {}, openItem: null, dueDate: '2026-04-01' },
    },
  ],
};

test.each(['0', '0.10', '12345678901234567890.12', '-0.01'])(
  'the amount %s goes through JSON without a digit lost',
  (text) => {
    const amount = new Money(text);
    const sent = stringifyJson(toDecimal(amount));
    expect(sent).toBe(`{"__class__":"Decimal","decimal":"${amount.toFixed()}"}`);
    expect(asDecimal(readJson(sent)).equals(amount)).toBe(true);
  },
);

test.each([
  1.5,
  '1.50',
  null,
  { __class__: 'Decimal' },
  { __class__: 'Decimal', decimal: 1.5 },
  { __class__: 'Decimal', decimal: 'NaN' },
])('%j is no amount', (value) => expect(() => asDecimal(value)).toThrow(/expected a (decimal|record)/));

test('dates and times have Tryton’s form', () => {
  expect(toDate('2026-03-05')).toEqual({ __class__: 'date', year: 2026, month: 3, day: 5 });
  expect(asDate({ __class__: 'date', year: 2026, month: 3, day: 5 })).toBe('2026-03-05');
  expect(toDateTime(new Date('2026-03-05T23:59:58.765Z'))).toEqual({
    ...{ __class__: 'datetime', year: 2026, month: 3, day: 5, hour: 23, minute: 59, second: 58, microsecond: 765_000 },
  });
});

test('the description ends with the key; earlier texts that look like keys are ignored', () => {
  const other = '[ZZZZZZZZZZZZZZZZZZZZ]';
  const description = keyedText({ ...entry, description: `about ${other}`, reference: 'KU-1' });
  expect(description).toBe(`KU-1 about ${other} · 4711/invoice/1/1 [${key}]`);
  expect(keyIn(description)).toBe(key);
  expect(keyIn('by hand')).toBeNull();
  expect(keyIn('[abcdefghijklmnopqrst] [ABC]')).toBeNull();
  expect(keyedText({ ...entry, description: 'Invoice KU-1', reference: 'KU-1' })).toBe(
    `Invoice KU-1 · 4711/invoice/1/1 [${key}]`,
  );
});

test('a refund of VAT lowers tax and base in Tryton’s report, which counts sales positive', () => {
  const account: TrytonAccount = {
    ...{ id: 5, code: '2931', name: 'VAT', type: null, isClosed: false, partyRequired: false, reconcile: false },
    ...{ from: null, through: null, hasSecondCurrency: false },
  };
  const lines = [{ account, party: null, tax: { id: 9, isActive: true }, dimensions: [] }];
  const journal = { id: 3, isActive: true };
  const move = toMove({ entry, journal, lines }, { companyId: 1, periodId: 2 });
  expect(move).toMatchObject({ company: 1, period: 2, journal: 3, date: toDate('2026-03-05') });
  const [[, [line]]] = move.lines as [[string, [Record<string, unknown>]]];
  expect(line).toEqual({
    ...{ account: 5, debit: toDecimal(new Money('10.20')), credit: toDecimal(new Money(0)), description: 'VAT' },
    tax_lines: [
      [
        'create',
        [
          { type: 'tax', tax: 9, amount: toDecimal(new Money('-10.20')) },
          { type: 'base', tax: 9, amount: toDecimal(new Money('-40')) },
        ],
      ],
    ],
  });
});

test('an analytic account with part of a line is shown with its amount', () => {
  const part = (code: string, amount: string) => ({
    ...{ debit: toDecimal(new Money(amount)), credit: toDecimal(new Money(0)) },
    'account.': { code, 'root.': { name: 'Department' } },
  });
  const move = {
    ...{ id: 1, number: null, state: 'draft', date: toDate('2026-03-05'), description: null },
    'journal.': { code: 'REV' },
  };
  const line = {
    ...{ id: 2, move: 1, debit: toDecimal(new Money('10')), credit: toDecimal(new Money(0)), reconciliation: null },
    ...{ 'account.': { code: '4000' }, 'party.': null },
  };
  const found = (...parts: JsonObject[]) => {
    const analyticLines = parts.map((each, index) => ({ id: index, move_line: 2, ...each }));
    const [entry] = foundEntries([move], { lines: [line], taxLines: [], analyticLines });
    return entry!.lines[0]!.dimensions;
  };
  expect(found(part('11', '10'))).toEqual({ Department: '11' });
  expect(found(part('11', '4'))).toEqual({ Department: '11 4' });
  expect(found(part('11', '4'), part('12', '6'))).toEqual({ Department: '11 4, 12 6' });
  expect(found()).toEqual({});
});

/** Answers that Tryton 8.0.12 gave. */
describe('the meaning of Tryton’s messages', () => {
  test.each<[string, string, string | null]>([
    [
      'The value "9999" for field "Account" in record "9" of "Account Move Line" is not valid according to its domain.',
      'refused',
      'erp_account_unknown',
    ],
    ['A value is required for field "Account" in record "9" of "Account Move Line".', 'refused', 'erp_account_unknown'],
    [
      'A value is required for field "Party" in record "EUR1.00 @ 1700" of "Account Move Line".',
      'refused',
      'erp_party_refused',
    ],
    [
      'To create a line on account "1900 - Cash", you must remove the party on line "EUR1.00 @ 1900".',
      'refused',
      'erp_party_refused',
    ],
    [
      'The value "999" for field "Tax" in record "5" of "Account Tax Line" is not valid according to its domain.',
      'refused',
      'erp_tax_unknown',
    ],
    [
      'The value "999" for field "Account" in record "(7)" of "Analytic Account Line" is not valid according to its domain.',
      'refused',
      'erp_dimension_unknown',
    ],
    ['You are trying to read records "9999" of "Account Journal" that don\'t exist.', 'refused', 'erp_journal_unknown'],
    ['You are trying to read records "9999" of "Account Period" that don\'t exist.', 'refused', 'erp_period_missing'],
    [
      'The value "2026-04" for field "Period" in record "(100007)" of "Account Move" is not valid according to its domain.',
      'refused',
      'period_closed_in_erp',
    ],
    ['You cannot add/modify/delete tax lines in closed period "2025-02".', 'refused', 'period_closed_in_erp'],
    [
      'You cannot add/modify/delete lines on closed journal-period "Revenue - 2025-02".',
      'refused',
      'period_closed_in_erp',
    ],
    ['To post move "(100004)", you must fill in its lines.', 'refused', 'erp_refused'],
    ['You cannot reconcile non-valid line "EUR0.00 @ 1700".', 'refused', 'erp_unbalanced'],
    ['You cannot modify posted move "2026/000004".', 'refused', 'erp_refused'],
    ['You can not call "post" on "2026/000004" of "Account Move".', 'refused', 'erp_refused'],
    [
      'The number of digits in the value "\'1.005\'" for field "Credit" in record "EUR1.00 @ 3000" of "Account Move Line" exceeds the limit of "(None, 2)".',
      'refused',
      'erp_refused',
    ],
    ['You are not allowed to access "Account Move".', 'auth', null],
    [
      'You are not allowed to create records of "Account Tax Line" because they fail on at least one of these rules:\nUser in companies',
      'refused',
      'erp_right_missing',
    ],
    ['To reconcile lines, they must have the same debit "EUR50.00" and credit "EUR49.00".', 'refused', 'erp_refused'],
    ['The value "27" for field "Period" in "Account Move" does not exist.', 'refused', 'erp_period_missing'],
    ['The value "27" for field "Party" in "Account Move Line" does not exist.', 'refused', 'erp_party_refused'],
    ['Something new.', 'doubt', 'erp_refused_unknown'],
  ])('%s', (text, means, problem) => {
    expect(explain({ http: 200, code: 'UserError', text }, trytonCapabilities.errors)).toMatchObject({
      means,
      problem,
    });
  });
});
