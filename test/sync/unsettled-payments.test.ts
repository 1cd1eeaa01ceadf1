import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';

/**
 * After a first load, no payment has settled for the length of the overlap. This tests the requests of the next windows
 * for payments.
 */
const page = 50;

let clinic: TestClinic;
beforeAll(async () => {
  clinic = await startTestClinic({ seed: 82, invoices: 60 });
  await clinic.sync();
  // This window counts the lists, which is due once a day.
  await clinic.sync();
  expect(clinic.sandbox.clinic.invoicePayments.size).toBeGreaterThan(page);
});
afterAll(() => clinic?.stop());

/** One window: the weight of its requests for payments, and the number of payments that it received. */
async function window(): Promise<{ weight: number; seen: number }> {
  const weightNow = () => clinic.sandbox.stats().byAction['invoicepayment.list']?.weight ?? 0;
  const before = weightNow();
  const report = await clinic.sync();
  expect(report).toMatchObject({ outcome: 'closed' });
  return { weight: weightNow() - before, seen: report.seen.payments };
}

const inMirror = () => clinic.rows<{ id: number }>(`select id from mirror_record where kind = 'payment' order by id`);
const inSource = () => clinic.sandbox.clinic.invoicePayments.all().map(({ id }) => ({ id }));
/** The payment in the middle, which only a window that reads the whole list receives. */
const middle = async () => (await inMirror()).map(({ id }) => id)[page]!;

test('the new ones and a count are asked for, not the whole list', async () => {
  expect(await window()).toEqual({ weight: 2, seen: 0 });
  const { clinic: source } = clinic.sandbox;
  source.pay(source.createInvoice({ rows: [{ sum: '80.00', vat_percentage: '25.50', account_number: '3000' }] }).id, {
    payment_type: 1,
  });
  expect(await window()).toEqual({ weight: 2, seen: 1 });
  expect(await inMirror()).toEqual(inSource());
});

test('one that came late shows in the count: the whole list is read', async () => {
  await clinic.rows(`delete from mirror_record where kind = 'payment' and id = ${await middle()}`);
  expect((await window()).seen).toBe(clinic.sandbox.clinic.invoicePayments.size);
  expect(await inMirror()).toEqual(inSource());
});

test('what the count cannot show, a late one for one that went, is found before the cursor passes it', async () => {
  const late = await middle();
  await clinic.rows(`update mirror_record set id = 1 where kind = 'payment' and id = ${late}`);
  expect(await window()).toEqual({ weight: 2, seen: 0 });
  await clinic.rows(`update mirror_record set first_seen_at = first_seen_at - interval '1 day'`);
  expect((await window()).seen).toBeGreaterThanOrEqual(clinic.sandbox.clinic.invoicePayments.size);
  expect(await inMirror()).toContainEqual({ id: late });
  // The cursor has moved, so at most a page is above it.
  expect(await window()).toEqual({ weight: 1, seen: 0 });
});
