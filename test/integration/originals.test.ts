import { expect, test } from 'vitest';
import { loadFacts } from '../../src/bookkeeping/facts.ts';
import { loadDialect } from '../../src/config/dialect.ts';
import { ClinicBooks, invoiceRecord } from '../reconcile/clinic-books.ts';
import { useDatabase } from '../support/database.ts';

const { db } = useDatabase();

test('facts of a credit note have the date of the invoice that its chain begins with', async () => {
  const books = new ClinicBooks(db, 77);
  const note = (id: number, original: number) =>
    invoiceRecord(id, '-1.00', '0.00', null, {
      invoice_date: '2026-02-01',
      credit_note: true,
      credit_note_original_invoice: original,
    });
  await books.mirror('invoice', invoiceRecord(1, '1.00', '0.00', null, { invoice_date: '2025-12-30' }));
  await books.mirror('invoice', note(2, 1));
  await books.mirror('invoice', note(3, 2));
  await books.mirror('invoice', note(4, 99));
  const ids = [1, 2, 3, 4];
  const facts = await loadFacts(
    db,
    77,
    loadDialect(),
    ids.map((id) => ({ kind: 'invoice', id })),
  );
  const dates = facts.map((each) => (each.kind === 'invoice' ? [each.invoice.id, each.originalDate] : null));
  expect(dates).toEqual([
    [1, '2025-12-30'],
    [2, '2025-12-30'],
    [3, '2025-12-30'],
    [4, null],
  ]);
});
