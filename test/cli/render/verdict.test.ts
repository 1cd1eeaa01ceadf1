import { expect, test } from 'vitest';
import { outsideTable, verdictFields, verdictTitle } from '../../../src/cli/render/verdict.ts';
import type { Outside } from '../../../src/documents/outside-books.ts';

const figure = { documents: 1, amount: '181.00', vat: '31.00', oldest: '2026-01-15', unknown: 0 };
const outside: Outside = {
  invoices: { ...figure, documents: 2, amount: '1181.00', unknown: 1, reasons: { change_held: figure, held: figure } },
  payments: { ...figure, vat: null, reasons: { late: { ...figure, vat: null } } },
};
const at = new Date('2026-02-01T08:00:00Z');

test.each([
  [true, true, false, 'reconciled, complete'],
  [true, false, false, 'reconciled, NOT complete'],
  [false, true, false, 'NOT reconciled, complete'],
  [false, false, false, 'NOT reconciled, NOT complete'],
  [true, true, true, 'NOTHING IS POSTED: there is nothing to reconcile'],
  [true, false, true, 'NOTHING IS POSTED: there is nothing to reconcile, NOT complete'],
  [false, false, true, 'NOT reconciled, NOT complete'],
])('ok %s, complete %s, empty %s: %s', (ok, complete, empty, title) => {
  expect(verdictTitle({ ok, complete, empty })).toBe(title);
});

test('what is outside, a line for each kind and reason, never added up', () => {
  expect(`\n${outsideTable(outside, 'EUR').join('\n')}`).toBe(`
                         documents  amount EUR    VAT  oldest
invoices                         2     1181.00  31.00  2026-01-15  1 amount unknown
  changed after posting          1      181.00  31.00  2026-01-15
  held                           1      181.00  31.00  2026-01-15
payments                         1      181.00      -  2026-01-15
  late, to be decided            1      181.00      -  2026-01-15`);
});

test.each([
  [
    'as last checked',
    {
      reconciled: { ok: true, failing: [], checked_at: at },
      complete: true,
      outside: {},
      left_as_posted: {},
      empty: false,
    },
    ['yes, as of 2026-02-01 08:00:00 UTC', 'yes'],
  ],
  [
    'a difference, and something outside',
    {
      reconciled: { ok: false, failing: ['E2', 'E3'], checked_at: at },
      complete: false,
      outside,
      left_as_posted: {},
      empty: false,
    },
    [
      'NO: E2, E3, as of 2026-02-01 08:00:00 UTC',
      'NO: 2 invoices (1181.00, VAT 31.00, oldest 2026-01-15), 1 payment (181.00, oldest 2026-01-15) not in the books',
    ],
  ],
  [
    'never checked',
    { reconciled: null, complete: true, outside: {}, left_as_posted: {}, empty: false },
    ['not checked yet; run `vetledger reconcile`', 'yes'],
  ],
  [
    'checked before the command began',
    {
      reconciled: { ok: null, failing: [], checked_at: at },
      complete: true,
      outside: {},
      left_as_posted: {},
      empty: false,
    },
    ['last checked 2026-02-01 08:00:00 UTC, before this window; run `vetledger reconcile`', 'yes'],
  ],
  [
    'empty books, whatever was found',
    {
      reconciled: { ok: true, failing: [], checked_at: at },
      complete: true,
      outside: {},
      left_as_posted: {},
      empty: true,
    },
    ['NOTHING IS POSTED: there is nothing to reconcile', 'no document waits to be posted'],
  ],
])('%s', (_name, verdict, [reconciled, complete]) => {
  expect(verdictFields(verdict)).toEqual([
    ['reconciled', reconciled],
    ['complete', complete],
  ]);
});
