import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WindowReport } from '../../src/windows/run-window.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';

/** The requests of a window without changes (DESIGN "Sync"). */
const idle = { 'invoice.list': 1, 'unallocatedpayment.list': 1, 'invoicepayment.list': 1, 'invoicerow.list': 1 };
const page = 50;
const overlapSeconds = 120;

let clinic: TestClinic;
/** The difference of the source's clock from ours. */
let aheadMs = 0;
beforeAll(async () => {
  const now = () => new Date(Date.now() + aheadMs);
  clinic = await startTestClinic({ seed: 81, invoices: 60, overlapSeconds, now });
  await clinic.sync();
  await settled();
  // This window counts the lists, which is due once a day, and finds that the payments have settled.
  await clinic.sync();
});
afterAll(() => clinic?.stop());

/** Moves everything in the mirror to yesterday. */
async function settled(): Promise<void> {
  await clinic.rows(`update mirror_record set first_seen_at = first_seen_at - interval '1 day'`);
}

/** Moves all changes before the overlap, so that the next window requests only changes from now on. */
async function passOverlap(): Promise<void> {
  await clinic.rows(
    `update sync_cursor 
     set value = (value::jsonb || jsonb_build_object('watermark', clock_timestamp() + interval '${overlapSeconds - 1} s'))::json
     where stream <> 'payment'`,
  );
}

/** Runs one window. Returns its weights by action. */
async function window(): Promise<{ report: WindowReport; weights: Record<string, number>; weight: number }> {
  const before = clinic.sandbox.stats();
  const report = await clinic.sync();
  expect(report).toMatchObject({ outcome: 'closed' });
  const after = clinic.sandbox.stats();
  const spent = Object.entries(after.byAction).map(
    ([action, { weight }]) => [action, weight - (before.byAction[action]?.weight ?? 0)] as const,
  );
  const weight = after.weight - before.weight;
  expect(report.api.weight).toBe(weight);
  return { report, weights: Object.fromEntries(spent.filter(([, each]) => each > 0)), weight };
}

test('an idle window weighs 4: it asks three lists for changes, the first as its opening, and takes the notice of rows', async () => {
  const { report, weights } = await window();
  expect(weights).toEqual(idle);
  expect(report.pulled).toEqual({ invoices: 0, rows: 0, payments: 0, prepayments: 0 });
});

test('so does one that reads up to a page of earlier write-backs again', async () => {
  // The window also reads the records of the first load again; the number of its write-backs depends on the day.
  const written = page / 2;
  for (let n = 0; n < written; n++) clinic.sandbox.clinic.takePrepayment({ payment_type: 0, paid: '25.00' });
  expect((await window()).report).toMatchObject({ written_back: written });
  const { report, weights } = await window();
  expect(weights).toEqual(idle);
  expect(report.seen.prepayments).toBeGreaterThanOrEqual(written);
  expect(report).toMatchObject({ posted: 0, written_back: 0, pulled: { prepayments: 0 } });
});

test.each([1, 60])('%i new invoices cost their own records beside that', async (invoices) => {
  await settled();
  await passOverlap();
  const row = { sum: '50.00', vat_percentage: '14', account_number: '3000' };
  for (let n = 0; n < invoices; n++) clinic.sandbox.clinic.createInvoice({ rows: [row, row] });
  // Rows are fresh from the second after their invoice's `modified` (proof P2).
  aheadMs += 2_100;
  const { report, weights } = await window();
  expect(report.pulled).toMatchObject({ invoices, rows: 2 * invoices });
  const pages = (records: number) => Math.max(1, Math.ceil(records / page));
  expect(weights).toEqual({
    ...idle,
    'invoice.list': pages(invoices),
    // The notices named the rows, so they were fetched as complete sets.
    'invoicerow.list': 2 * pages(2 * invoices),
  });
});
