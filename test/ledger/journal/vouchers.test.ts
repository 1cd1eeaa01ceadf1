import { beforeEach, describe, expect, test } from 'vitest';
import { appendEntries } from '../../../src/ledger/journal/append-entries.ts';
import { voucherText } from '../../../src/ledger/journal/vouchers.ts';
import { useDatabase } from '../../support/database.ts';
import { query } from '../../support/sql.ts';
import { draft } from '../drafts.ts';

const { db, owner } = useDatabase();
let installation = 700;
beforeEach(() => {
  installation += 1;
});

const of = (kind: 'invoice' | 'payment' | 'prepayment', id: number, date: string) =>
  draft({
    kind,
    id,
    date,
    lines: [
      ['1700', 'receivable', '10.00'],
      ['3000', 'revenue', '-10.00'],
    ],
  });
const append = (drafts: ReturnType<typeof of>[], fiscalYearStart = 1) =>
  db.transaction((trx) => appendEntries(trx, installation, drafts, { decimals: 2, windowId: null, fiscalYearStart }));
const vouchers = async () =>
  Object.fromEntries(
    (
      await query<{ id: string; year: number; journal: string; n: number }>(
        db,
        `select e.id, v.fiscal_year as year, v.journal, v.number::int as n from entry e join voucher v on v.entry_id = e.id
         where e.installation = ? order by e.seq`,
        [installation],
      )
    ).map(({ id, year, journal, n }) => [id.slice(id.indexOf('/') + 1), voucherText(year, journal, n)]),
  );

test('a number has the fiscal year, the journal and six digits', () => {
  expect(voucherText(2026, 'S', 123)).toBe('2026-S-000123');
  expect(voucherText(2026, 'A', 1_234_567)).toBe('2026-A-1234567');
});

describe('numbers of vouchers', () => {
  test('run by journal and fiscal year, in the order of posting', async () => {
    await append([of('invoice', 5, '2026-01-31'), of('payment', 1, '2026-01-31'), of('invoice', 2, '2025-12-31')]);
    await append([of('prepayment', 1, '2026-02-01'), of('invoice', 1, '2026-01-01')]);
    expect(await vouchers()).toEqual({
      'invoice/5/1': '2026-S-000001',
      'payment/1/1': '2026-P-000001',
      'invoice/2/1': '2025-S-000001',
      'prepayment/1/1': '2026-A-000001',
      'invoice/1/1': '2026-S-000002',
    });
  });

  test.each([
    [4, '2026-03-31', '2025-S-000001'],
    [4, '2026-04-01', '2026-S-000001'],
    [7, '2026-07-31', '2026-S-000001'],
    [12, '2026-11-30', '2025-S-000001'],
    [12, '2026-12-01', '2026-S-000001'],
  ])('a fiscal year that begins in month %i: %s is %s', async (start, date, expected) => {
    await append([of('invoice', 1, date)], start);
    expect(await vouchers()).toEqual({ 'invoice/1/1': expected });
  });

  test('have no gap after a transaction that was undone, and stay what they are', async () => {
    await append([of('invoice', 1, '2026-01-01')]);
    await expect(
      db.transaction(async (trx) => {
        await appendEntries(trx, installation, [of('invoice', 2, '2026-01-01')], { decimals: 2, windowId: null });
        throw new Error('undone');
      }),
    ).rejects.toThrow('undone');
    await append([of('invoice', 3, '2026-01-01')], 7);
    await append([of('invoice', 4, '2026-01-01')]);
    // The second batch was posted with another fiscal year. It changed no number that was already assigned.
    expect(await vouchers()).toEqual({
      'invoice/1/1': '2026-S-000001',
      'invoice/3/1': '2025-S-000001',
      'invoice/4/1': '2026-S-000002',
    });
    await expect(query(owner, `update voucher set number = 9 where installation = ?`, [installation])).rejects.toThrow(
      'never changed',
    );
  });

  test('have no gap and no double with several workers side by side', async () => {
    const batches = Array.from({ length: 12 }, (_, batch) =>
      Array.from({ length: 5 }, (_, n) => of('invoice', 1 + batch * 5 + n, '2026-01-15')),
    );
    await Promise.all(batches.map((each) => append(each)));
    const numbers = await query<{ n: number; seq: number }>(
      db,
      `select v.number::int as n, e.seq::int as seq from voucher v join entry e on e.id = v.entry_id
       where v.installation = ? order by v.number`,
      [installation],
    );
    expect(numbers).toEqual(Array.from({ length: 60 }, (_, n) => ({ n: n + 1, seq: n + 1 })));
  });
});
