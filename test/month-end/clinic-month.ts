// The events in the clinic: October 2025, and changes after the books are closed. They are the same each time.

import { giftCardAccount } from '../../sandbox/src/catalogue.ts';
import type { Clinic } from '../../sandbox/src/clinic.ts';
import type { World } from './world.ts';

/** The invoices of the play. */
export interface Story {
  /** Its header disagrees with its rows until the practice corrects it. */
  disagreeing: number;
  /** Posted in October and changed after the close. */
  changed: number;
  /** A draft dated in October that becomes final before the close. */
  finalised: number;
}

const surgery = { sum: '100.00', vat_percentage: '25.5', account_number: '3000', name: 'Operation' };
const vaccination = { sum: '50.00', vat_percentage: '14', account_number: '3010', name: 'Vaccination' };
const department = 11;
const giftCardPayment = 9;

/** Plays October day by day; `window` is called at the end of each week. */
export async function playOctober(world: World, window: () => Promise<void>): Promise<Story> {
  const { clinic } = world.sandbox;
  const story: Story = { disagreeing: 0, changed: 0, finalised: 0 };
  for (const day of workdays()) {
    world.setTime(`${day} 10:15`);
    world.sandbox.live(1);
    happenings[day]?.(clinic, story);
    world.setTime(`${day} 15:40`);
    world.sandbox.live(1);
    if (new Date(day).getUTCDay() !== friday) continue;
    world.setTime(`${day} 20:00`);
    await window();
  }
  return story;
}

const happenings: Record<string, (clinic: Clinic, story: Story) => void> = {
  '2025-10-07': (clinic) => {
    const sold = clinic.createInvoice({
      ...{ department, client: privateClient(clinic), countersale: true },
      rows: [{ name: 'Gift card', sum: '50.00', vat_percentage: '0', account_number: giftCardAccount }],
    });
    clinic.pay(sold.id, { payment_type: 0 });
  },
  '2025-10-15': (clinic) => {
    const visit = clinic.createInvoice({ department, client: privateClient(clinic), rows: [vaccination] });
    clinic.pay(visit.id, { payment_type: giftCardPayment, paid: '50.00' });
    clinic.pay(visit.id, { payment_type: 1, paid: '7.00' });
  },
  '2025-10-16': (clinic) => {
    const client = privateClient(clinic);
    const paid = clinic.takePrepayment({ department, client, payment_type: 0, paid: '300.00' });
    const visit = clinic.createInvoice({ department, client, rows: [surgery] });
    clinic.applyPrepayment(paid.id, visit.id);
    clinic.refundPrepayment(paid.id, '74.50');
  },
  '2025-10-21': (clinic) => {
    const company = clinic.clients.all().find(({ customer_type }) => customer_type === euCompany)?.id ?? null;
    const group = clinic.vatGroups.find(({ name }) => name.startsWith('EU '));
    if (!group) throw new Error('the sandbox has no VAT group for EU sales');
    const row = {
      name: 'Laboratory work',
      sum: '240.00',
      vat_percentage: '0',
      account_number: '3020',
      vat_group: group,
    };
    clinic.createInvoice({ department, client: company, rows: [row] });
  },
  '2025-10-22': (clinic, story) => {
    const row = { ...surgery, name: 'Dental treatment', sum: '120.00' };
    const invoice = clinic.createInvoice({ department, client: privateClient(clinic), rows: [row] });
    story.disagreeing = clinic.updateInvoice(invoice.id, { total_vat: '30.00', total_with_vat: '150.00' }).id;
  },
  '2025-10-24': (clinic) => {
    const mistaken = clinic.createInvoice({ department, client: privateClient(clinic), rows: [vaccination] });
    clinic.voidInvoice(mistaken.id);
  },
  // In one week, a client pays two visits of other clients from one prepayment, so no rule can determine the
  // prepayment.
  '2025-10-28': (clinic) => {
    const [own = 0, other = 0] = privateClients(clinic);
    const paid = clinic.takePrepayment({ department, client: other, payment_type: 1, paid: '114.00' });
    for (const sum of ['60.00', '40.00']) {
      const visit = clinic.createInvoice({ department, client: own, rows: [{ ...vaccination, sum }] });
      clinic.applyPrepayment(paid.id, visit.id);
    }
  },
  '2025-10-29': (clinic, story) => {
    const draft = { department, client: privateClient(clinic), status: 0 };
    story.finalised = clinic.createInvoice({ ...draft, rows: [vaccination] }).id;
    clinic.createInvoice({ ...draft, rows: [{ ...surgery, name: 'Estimate: hip operation' }] });
  },
  '2025-10-30': (clinic, story) => {
    const rows = [surgery, vaccination];
    story.changed = clinic.createInvoice({ department, client: privateClient(clinic), rows }).id;
  },
};

/** The practice corrects the invoice whose header disagrees with its rows, and makes a draft of October final. */
export function correctOctober({ sandbox: { clinic } }: World, { disagreeing, finalised }: Story): void {
  clinic.updateInvoice(disagreeing, { total_vat: '30.60', total_with_vat: '150.60' });
  clinic.finalise(finalised);
}

/**
 * After the close, the practice corrects the price of a posted invoice and writes an invoice for a forgotten visit.
 * Returns its id.
 */
export function comeLate({ sandbox: { clinic } }: World, changed: number): number {
  const [row] = clinic.invoiceRows.of(changed);
  if (!row) throw new Error(`invoice ${changed} has no rows`);
  clinic.updateRow(row.id, { sum: '80.0000', sum_vat: '20.4000', sum_total: '100.4000' });
  const forgotten = { ...vaccination, sum: '60.00' };
  const client = privateClient(clinic);
  return clinic.createInvoice({ department, client, invoice_date: '2025-10-30', rows: [forgotten] }).id;
}

/**
 * After the return is filed, an October sale is credited and refunded, and a visit of October is invoiced and credited. Both have dates
 * of October. Returns the documents that are late.
 */
export function comeLateAgain({ sandbox: { clinic }, instantOf }: World): string[] {
  const paid = clinic.invoices.all().findLast(({ id, status, invoice_date, credit_note, due_sum, total_vat }) => {
    const payments = clinic.invoicePayments.of(id);
    const isPlain = payments.length > 0 && payments.every(({ payment_type: type }) => type === 0);
    return (
      status === 3 &&
      !credit_note &&
      isPlain &&
      invoice_date.startsWith('2025-10') &&
      Number(due_sum) === 0 &&
      Number(total_vat) > 0
    );
  });
  if (!paid) throw new Error('no sale of October is paid by card');
  const credit = clinic.credit(paid.id, { useOriginalDate: true });
  const refund = clinic.pay(credit.id, { payment_type: 0, date_added: instantOf(`${paid.invoice_date} 18:00`) });
  const client = privateClient(clinic);
  const visit = clinic.createInvoice({ department, client, invoice_date: '2025-10-30', rows: [surgery, vaccination] });
  const undone = clinic.credit(visit.id, { useOriginalDate: true });
  // The visit is overpaid, so that its VAT becomes due once only.
  clinic.pay(visit.id, { payment_type: 1, paid: '200.00' });
  clinic.pay(visit.id, { payment_type: 1, paid: '-17.50' });
  clinic.pay(undone.id, { payment_type: 1 });
  return [`invoice/${credit.id}`, `payment/${refund.id}`, `invoice/${visit.id}`, `invoice/${undone.id}`];
}

/** The price of the forgotten visit changes. */
export function changeAgain({ sandbox: { clinic } }: World, forgotten: number): void {
  const [row] = clinic.invoiceRows.of(forgotten);
  if (!row) throw new Error(`invoice ${forgotten} has no rows`);
  clinic.updateRow(row.id, { sum: '70.0000', sum_vat: '9.8000', sum_total: '79.8000' });
}

const friday = 5;
const euCompany = 2;

function privateClient(clinic: Clinic): number {
  const [client] = privateClients(clinic);
  if (client === undefined) throw new Error('the sandbox has no private client');
  return client;
}

function privateClients(clinic: Clinic): number[] {
  return clinic.clients.all().flatMap(({ id, customer_type }) => (customer_type === 0 ? [id] : []));
}

function workdays(): string[] {
  return Array.from({ length: 31 }, (_, at) => `2025-10-${String(at + 1).padStart(2, '0')}`).filter(
    (day) => new Date(day).getUTCDay() % 6 !== 0,
  );
}
