import { beforeEach, expect, test } from 'vitest';
import { markDirty } from '../../src/documents/mark.ts';
import { outsideBooks, outsideByKind } from '../../src/documents/outside-books.ts';
import { type JudgedState, saveJudged } from '../../src/documents/save.ts';
import { useDatabase } from '../support/database.ts';

const { db } = useDatabase();
let installation = 100;
beforeEach(() => {
  installation += 1;
});

const judged = (kind: JudgedState['kind'], id: number, change: Partial<JudgedState>): JudgedState => ({
  ...{ kind, id, mark: 1, state: 'held', documentDate: '2026-02-01', awaitsParts: false, reports: [] },
  ...{ entryId: null, inputHash: null, entriesAdded: 0, problem: null, remapHeld: false, outside: null },
  late: { atClose: false, version: null, decision: null },
  ...change,
});
const problem = (code: string) => ({ code, message: 'm' });
const outside = (amount: string | null, vat: string | null = null) => ({ amount, vat, details: null });

test('each document once, by kind and reason, with the oldest date; kinds apart', async () => {
  await markDirty(db, installation, 'invoice', [1, 2, 3, 4, 5, 6]);
  await markDirty(db, installation, 'payment', [1, 2]);
  await saveJudged(db, installation, [
    judged('invoice', 1, { state: 'posted', entryId: `${installation}/invoice/1/1` }),
    judged('invoice', 2, { problem: problem('totals_disagree'), outside: outside('100.00', '20.00') }),
    judged('invoice', 3, {
      ...{ problem: problem('period_locked'), outside: outside('50.5', '10') },
      documentDate: '2026-01-09',
    }),
    judged('invoice', 4, {
      ...{ state: 'posted', entryId: `${installation}/invoice/4/1`, problem: problem('change_held') },
      outside: outside('-0.0000', '-3.00'),
    }),
    judged('invoice', 6, {
      ...{ problem: problem('period_locked'), outside: outside('8.00', '1.00') },
      late: { atClose: true, version: 'v', decision: 'wait' },
    }),
  ]);
  await saveJudged(db, installation, [
    judged('payment', 1, { problem: problem('role_unmapped'), outside: outside('7.00') }),
    judged('payment', 2, { problem: problem('internal_error'), documentDate: null }),
  ]);
  const groups = await outsideBooks(db, [installation, 999]);
  expect(outsideByKind(groups, 2)).toEqual({
    invoices: {
      ...{ documents: 5, amount: '158.50', vat: '28.00', oldest: '2026-01-09', unknown: 1 },
      reasons: {
        change_held: { documents: 1, amount: '0.00', vat: '-3.00', oldest: '2026-02-01', unknown: 0 },
        held: { documents: 1, amount: '100.00', vat: '20.00', oldest: '2026-02-01', unknown: 0 },
        late: { documents: 1, amount: '50.50', vat: '10.00', oldest: '2026-01-09', unknown: 0 },
        waiting: { documents: 1, amount: '8.00', vat: '1.00', oldest: '2026-02-01', unknown: 0 },
        pending: { documents: 1, amount: null, vat: null, oldest: null, unknown: 1 },
      },
    },
    payments: {
      ...{ documents: 2, amount: '7.00', vat: null, oldest: '2026-02-01', unknown: 1 },
      reasons: { held: { documents: 2, amount: '7.00', vat: null, oldest: '2026-02-01', unknown: 1 } },
    },
  });
});

test('nothing is outside where every document has its state', async () => {
  await markDirty(db, installation, 'invoice', [1]);
  await saveJudged(db, installation, [judged('invoice', 1, { state: 'not_final' })]);
  expect(outsideByKind(await outsideBooks(db, [installation]), 2)).toEqual({});
});
