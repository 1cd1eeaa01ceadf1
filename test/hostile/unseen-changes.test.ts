import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Invoice, InvoiceRow, RecordBase } from '../../sandbox/src/records.ts';
import type { Table } from '../../sandbox/src/table.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { confirmAllGone } from '../support/hiding.ts';
import { scrubPass } from '../support/scrub.ts';

let clinic: TestClinic;
beforeEach(async () => {
  let aheadMs = -5_000;
  const now = () => new Date(Date.now() + aheadMs);
  clinic = await startTestClinic({ seed: 17, invoices: 120, overlapSeconds: 0, now });
  expect((await clinic.sync()).error ?? null).toBeNull();
  // After this time, no window requests again what the first one has read.
  aheadMs = 0;
  // The second window takes the daily census.
  expect((await clinic.sync()).error ?? null).toBeNull();
  expect(await clinic.wrongBooks()).toEqual([]);
});
afterEach(() => clinic.stop());

const longAgo = Date.parse('2025-01-03T10:00:00Z');

/** Changes a record of the source without changing its `modified`. */
function changeUnseen<T extends RecordBase>(table: Table<T>, record: T, changes: Partial<T>): void {
  table.change(record, changes);
}

/** The last record that matches. */
function lastOf<T extends RecordBase>(table: Table<T>, fits: (record: T) => boolean): T {
  const found = table.all().findLast(fits);
  if (found === undefined) throw new Error('the clinic has no such record');
  return found;
}

const isOrdinary = (invoice: Invoice) =>
  invoice.status === 3 && !invoice.credit_note && invoice.consolidated_invoices.length === 0;

/** Inserts a record in the order of ids. */
function insert<T extends RecordBase>(table: Table<T>, record: T): void {
  const above = table.all().filter(({ id }) => id > record.id);
  for (const { id } of above) table.delete(id);
  for (const each of [record, ...above]) table.add(each);
}

/** An id that the source has skipped: a newer record follows it. */
async function skippedInvoice(): Promise<number> {
  const { invoices } = clinic.sandbox.clinic;
  const id = invoices.nextId;
  invoices.nextId += 1;
  while ((invoices.all().at(-1)?.id ?? 0) < id) clinic.sandbox.live(5);
  expect((await clinic.sync()).error ?? null).toBeNull();
  expect(await clinic.wrongBooks()).toEqual([]);
  return id;
}

/** Adds a final invoice with rows whose timestamps say that it is old. */
function appear(id = clinic.sandbox.clinic.invoices.nextId): Invoice {
  const { invoices, invoiceRows } = clinic.sandbox.clinic;
  const like = lastOf(invoices, (invoice) => isOrdinary(invoice) && invoiceRows.of(invoice.id).length > 1);
  const stamps = { created: longAgo, modified: longAgo };
  const unpaid = { consolidated_invoice: null, due_sum: like.total_with_vat, date_paid: null };
  const invoice = { ...like, ...stamps, ...unpaid, id };
  insert(invoices, invoice);
  for (const row of [...invoiceRows.of(like.id)]) {
    invoiceRows.add({ ...row, ...stamps, id: invoiceRows.nextId, invoice: invoice.id });
  }
  return invoice;
}

/** Closes a window that notices nothing, runs one pass of the scrub, and then another window. */
async function findByScrub(): Promise<void> {
  expect(await clinic.sync()).toMatchObject({ outcome: 'closed', posted: 0 });
  expect(await clinic.wrongBooks()).not.toEqual([]);
  await scrubPass(clinic);
  const after = await clinic.sync();
  expect(after.error ?? null).toBeNull();
  expect(after.posted).toBeGreaterThan(0);
  expect(await clinic.wrongBooks()).toEqual([]);
}

const remarks = async () => {
  const found = await clinic.rows<{ document: string; message: string }>(
    `select kind || ' ' || id as document, message from document_report where code = 'changed_unseen' order by kind, id`,
  );
  return found;
};

const counted = () =>
  clinic.rows<{ list: string; differing: number; missing: number }>(
    `select list, differing, missing from scrub_pass where differing + missing > 0 order by list`,
  );

test('an invoice that comes with a modified of long ago is found, posted and named', async () => {
  const invoice = appear();
  await findByScrub();
  expect(await remarks()).toEqual([
    {
      document: `invoice ${invoice.id}`,
      message:
        'it appeared in the source with a `modified` from before the last window; one of its rows appeared in the source with a `modified` from before the last window',
    },
  ]);
  const rows = clinic.sandbox.clinic.invoiceRows.of(invoice.id).length;
  expect(await counted()).toEqual([
    { list: 'invoice', differing: 1, missing: 0 },
    { list: 'row', differing: rows, missing: 0 },
  ]);
});

test('an invoice that is missing and one that has vanished are found though the counts agree', async () => {
  const { invoices, invoicePayments } = clinic.sandbox.clinic;
  const skipped = await skippedInvoice();
  // Selects posted invoices; an invoice of zero has no entry.
  const isUnpaid = (invoice: Invoice) =>
    isOrdinary(invoice) && Number(invoice.total_with_vat) !== 0 && invoicePayments.of(invoice.id).length === 0;
  const vanished = lastOf(invoices, (invoice) => isUnpaid(invoice) && invoice.id < skipped).id;
  const invoice = appear(skipped);
  clinic.sandbox.clinic.deleteRecord('invoice', vanished);
  await clinic.rows('update installation_state set census_taken_at = null');
  await scrubPass(clinic);
  expect((await clinic.sync()).posted).toBeGreaterThan(0);
  // A missing document stays posted and has a problem until the accountant confirms that it is gone.
  expect(await clinic.rows(`select kind, id, state from document where problem_code = 'missing_in_source'`)).toEqual([
    { kind: 'invoice', id: vanished, state: 'posted' },
  ]);
  expect(await clinic.wrongBooks()).not.toEqual([]);
  await confirmAllGone(clinic.app.db, clinic.sandbox.installation, 1);
  expect((await clinic.sync()).posted).toBe(1);
  expect(await clinic.wrongBooks()).toEqual([]);
  const documents = (await remarks()).map(({ document, message }) => `${document}: ${message}`);
  expect(documents).toEqual([expect.stringContaining(`invoice ${invoice.id}: it appeared in the source`)]);
  expect(await counted()).toContainEqual({ list: 'invoice', differing: 1, missing: 1 });
});

test('a change that moves no modified is found in invoice, row, payment and prepayment', async () => {
  const { invoices, invoiceRows, invoicePayments, prepayments } = clinic.sandbox.clinic;
  const invoice = lastOf(invoices, (each) => isOrdinary(each) && invoiceRows.of(each.id).length > 0);
  const row = lastOf(invoiceRows, ({ invoice: id }) => {
    const of = invoices.get(id);
    return of !== undefined && of !== invoice && isOrdinary(of);
  });
  const other = lastOf(invoiceRows, ({ account_number }) => account_number !== row.account_number).account_number;
  const payment = lastOf(invoicePayments, ({ id, payment_type }) => id < 30_030 && [1, 2].includes(payment_type));
  const prepayment = lastOf(prepayments, ({ status }) => ['Pending', 'Failed', 'Aborted'].includes(status));
  changeUnseen(invoices, invoice, { invoice_date: '2026-01-02' });
  changeUnseen<InvoiceRow>(invoiceRows, row, { account_number: other });
  changeUnseen(invoicePayments, payment, { payment_type: 0 });
  changeUnseen(prepayments, prepayment, { status: 'Ready' });
  await findByScrub();
  const scrubbed = 'it has another content in the source, although its `modified` has not changed';
  const scrubbedRow =
    'one of its rows has another content in the source, although the `modified` of the row has not changed';
  expect(await remarks()).toEqual(
    [
      { document: `invoice ${invoice.id}`, message: scrubbed },
      { document: `invoice ${row.invoice}`, message: scrubbedRow },
      { document: `payment ${payment.id}`, message: scrubbed },
      { document: `prepayment ${prepayment.id}`, message: scrubbed },
    ].toSorted((a, b) => (a.document < b.document ? -1 : 1)),
  );
  expect(await counted()).toEqual(
    ['invoice', 'payment', 'prepayment', 'row'].map((list) => ({ list, differing: 1, missing: 0 })),
  );

  // The next pass finds nothing, so the remarks disappear.
  await scrubPass(clinic);
  expect(await remarks()).toEqual([]);
});

test('a row that vanishes without a trace is found and named, and posted once a person confirms it', async () => {
  const { invoices, invoiceRows } = clinic.sandbox.clinic;
  // A row of zero, so that the totals agree without it.
  const invoice = lastOf(invoices, (each) => isOrdinary(each) && invoiceRows.of(each.id).length > 1);
  const [first, second] = invoiceRows.of(invoice.id) as [InvoiceRow, InvoiceRow];
  const total = (a: string, b: string) => (Number(a) + Number(b)).toFixed(4);
  changeUnseen<InvoiceRow>(invoiceRows, first, {
    sum: total(first.sum, second.sum),
    sum_vat: total(first.sum_vat, second.sum_vat),
    sum_total: total(first.sum_total, second.sum_total),
  });
  invoiceRows.delete(second.id);
  expect(await clinic.sync()).toMatchObject({ outcome: 'closed', posted: 0 });
  await scrubPass(clinic);
  expect((await clinic.sync()).error ?? null).toBeNull();
  const named = await clinic.rows<{ message: string }>(
    `select kind, id, state, problem_message as message from document where problem_code = 'missing_in_source'`,
  );
  expect(named).toMatchObject([{ kind: 'invoice', id: invoice.id, state: 'posted' }]);
  expect(named[0]?.message).toContain(`no longer shows its row ${second.id}`);
  await confirmAllGone(clinic.app.db, clinic.sandbox.installation, 1);
  expect((await clinic.sync()).error ?? null).toBeNull();
  expect(await clinic.wrongBooks()).toEqual([]);
});

test('changes that a window is about to ask for are no remark of the scrub, which may meet them first', async () => {
  clinic.sandbox.live(25);
  await scrubPass(clinic);
  expect(await remarks()).toEqual([]);
  expect((await clinic.sync()).error ?? null).toBeNull();
  expect(await clinic.wrongBooks()).toEqual([]);
});
