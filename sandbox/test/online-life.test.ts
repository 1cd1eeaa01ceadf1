import { describe, expect, test } from 'vitest';
import { Clinic } from '../src/clinic.ts';
import { SandboxClock } from '../src/clock.ts';
import { generate } from '../src/generator.ts';
import { liveOnline } from '../src/online/live.ts';
import { fillClinic, wholeText } from '../src/persist.ts';
import { defaultQuirks } from '../src/quirks.ts';
import { Zone } from '../src/zone.ts';

const endMs = Date.parse('2026-05-20T12:00:00.000Z');

const emptyClinic = (seed: number) => {
  const zone = new Zone('Europe/Helsinki');
  return new Clinic({ seed, zone, decimals: 2, quirks: { ...defaultQuirks }, clock: () => endMs });
};

const openClinic = (seed = 1) => {
  const clinic = emptyClinic(seed);
  generate(clinic, { seed, invoices: 150, historyDays: 60, endMs });
  return clinic;
};

describe('what clients do over the net', () => {
  test('the same seed gives the same life', () => {
    const lives = [openClinic(), openClinic()].map((clinic) => Array.from({ length: 40 }, () => liveOnline(clinic)));
    expect(lives[0]).toEqual(lives[1]);
  });

  test('every kind happens, and the clinic holds what came of it', () => {
    const clinic = openClinic();
    const before = [clinic.invoicePayments.size, clinic.prepayments.size];
    const events = Array.from({ length: 150 }, () => liveOnline(clinic)).filter((event) => event !== null);
    expect([...new Set(events.map(({ kind }) => kind))].sort()).toEqual([
      'appointment_booked',
      'invoice_paid_by_link',
      'online_booking',
      'payment_link_unpaid',
      'prepayment_by_link',
      'prescription_written',
    ]);
    const links = clinic.online.postransactions.all();
    const paid = links.filter(({ payment }) => payment !== null);
    const prepaid = links.filter(({ unallocated_payment }) => unallocated_payment !== null);
    const fees = clinic.online.prescriptions.all().filter(({ invoice }) => invoice !== null);
    expect([paid.length, prepaid.length, fees.length].every((count) => count > 0)).toBe(true);
    expect(clinic.invoicePayments.size - (before[0] ?? 0)).toBe(paid.length + fees.length);
    expect(clinic.prepayments.size - (before[1] ?? 0)).toBe(prepaid.length);
    for (const { payment, amount, link } of paid) {
      expect([clinic.payment(payment ?? 0).paid, link.status]).toEqual([amount, 5]);
    }
    for (const { invoice } of fees) expect(clinic.invoice(invoice ?? 0).due_sum).toBe('0.00');
  });

  test('it draws nothing from the stream of the other events', () => {
    const [alone, beside] = [openClinic(), openClinic()];
    for (let n = 0; n < 20; n++) liveOnline(beside);
    expect(beside.liveRng.state).toBe(alone.liveRng.state);
  });

  test('a saved clinic goes on where it was', () => {
    const clinic = openClinic();
    for (let n = 0; n < 20; n++) liveOnline(clinic);
    const loaded = emptyClinic(1);
    const text = [...wholeText(clinic, new SandboxClock(clinic.clock))].join('');
    fillClinic(loaded, Buffer.from(text), 'the text');
    expect(loaded.online.postransactions.all()).toEqual(clinic.online.postransactions.all());
    expect(Array.from({ length: 20 }, () => liveOnline(loaded))).toEqual(
      Array.from({ length: 20 }, () => liveOnline(clinic)),
    );
  });
});
