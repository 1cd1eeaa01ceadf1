// October 2025 in a clinic with German rates: sales at two rates, payments, credit notes, prepayments and gift cards. It is the same
// each time.

import type { Clinic } from '../../sandbox/src/clinic.ts';
import type { RowInput } from '../../sandbox/src/inputs.ts';
import { Rng } from '../../sandbox/src/rng.ts';
import type { World } from './world.ts';

const general = { name: 'USt 19 %', percentage: '19.00', account_number: '1776' };
const reduced = { name: 'USt 7 %', percentage: '7.00', account_number: '1771' };
const none = { name: 'Steuerfrei', percentage: '0.00', account_number: '1776' };
const card = { name: 'Geschenkkarte', percentage: '0.00', account_number: '1776' };

const kinds = [
  { vat_group: general, account_number: '8200' },
  { vat_group: general, account_number: '8201' },
  { vat_group: reduced, account_number: '8202' },
  { vat_group: none, account_number: '8100' },
  { vat_group: card, account_number: '1796' },
];

/** Plays the month; `window` is called in its middle and at its end. */
export async function playGermanOctober(world: World, window: () => Promise<void>): Promise<void> {
  const { clinic } = world.sandbox;
  const rng = new Rng(31, 'German month');
  for (let day = 1; day <= 31; day++) {
    world.setTime(`2025-10-${String(day).padStart(2, '0')} 10:00`);
    happen(clinic, rng, day);
    if (day === 16 || day === 31) await window();
  }
  world.setTime('2025-10-31 14:00');
  correct(clinic, rng);
  world.setTime('2025-10-31 16:00');
  await window();
}

function happen(clinic: Clinic, rng: Rng, day: number): void {
  const department = rng.pick([11, 12]);
  const client = rng.pick(clinic.clients.all().slice(0, 20)).id;
  const rows = Array.from({ length: rng.int(1, 4) }, () => rowOf(rng));
  const { id } = clinic.createInvoice({
    department,
    client: day % 9 === 0 ? null : client,
    countersale: day % 9 === 0,
    rows,
  });
  const type = rng.pick([0, 1, 2, 7]);
  if (day % 4 !== 0) clinic.pay(id, { payment_type: type, ...(day % 5 === 0 && { paid: '7.77' }) });
  if (day % 10 === 3) {
    const prepayment = clinic.takePrepayment({
      department,
      client,
      payment_type: type,
      paid: '50.00',
      status: 'Ready',
    });
    const { id: visit } = clinic.createInvoice({ department, client, rows: [{ ...kinds[0], sum: '84.03' }] });
    clinic.applyPrepayment(prepayment.id, visit, '40.00');
    clinic.refundPrepayment(prepayment.id, '10.00', {});
  }
  if (day % 7 === 5) {
    const credit = clinic.credit(id);
    if (day % 4 !== 0) clinic.pay(credit.id, { payment_type: type });
  }
}

function rowOf(rng: Rng): RowInput {
  const cents = String(rng.int(101, 30_000)).padStart(3, '0');
  return { ...rng.pick(kinds), sum: `${cents.slice(0, -2)}.${cents.slice(-2)}` };
}

/** After both windows, one invoice is voided, and the price of another changes. */
function correct(clinic: Clinic, rng: Rng): void {
  const unpaid = clinic.invoices
    .all()
    .filter(({ id, credit_note }) => !credit_note && clinic.invoicePayments.of(id).length === 0);
  const [voided, changed] = [unpaid[0], unpaid.at(-1)];
  if (voided === undefined || changed === undefined) throw new Error('no invoices without a payment');
  clinic.voidInvoice(voided.id);
  clinic.addRow(changed.id, rowOf(rng));
}
