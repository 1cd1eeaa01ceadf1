import { Clinic } from '../../sandbox/src/clinic.ts';
import { generate } from '../../sandbox/src/generator.ts';
import { defaultQuirks } from '../../sandbox/src/quirks.ts';
import { encode, Wire } from '../../sandbox/src/wire.ts';
import { Zone } from '../../sandbox/src/zone.ts';
import type { RecordKind } from '../../src/terms.ts';

/** The JSON texts of a small sandbox clinic's records in its answers. */
export function sandboxRecords({ seed = 7, invoices = 30 } = {}): Record<RecordKind, string[]> {
  const zone = new Zone('Europe/Helsinki');
  const endMs = Date.parse('2026-03-10T09:00:00Z');
  const clinic = new Clinic({ seed, zone, decimals: 2, quirks: defaultQuirks, clock: () => endMs });
  generate(clinic, { seed, invoices, historyDays: 60, endMs });
  const wire = new Wire('http://127.0.0.1:9/1/api/0.1', defaultQuirks, zone);
  return {
    invoice: clinic.invoices.all().map((record) => encode(wire.invoice(record))),
    row: clinic.invoiceRows.all().map((record) => encode(wire.invoiceRow(record, true))),
    payment: clinic.invoicePayments.all().map((record) => encode(wire.invoicePayment(record))),
    prepayment: clinic.prepayments.all().map((record) => encode(wire.prepayment(record))),
  };
}
