import type { Clinic } from '../../sandbox/src/index.ts';

/**
 * Makes one of these events in turn: a new invoice, a payment of an old one, a changed row of an old one, a prepayment.
 * The old ones are spread over the whole clinic, so that pages that were already read change too.
 */
export function lateEvent(clinic: Clinic, serial: number): void {
  const invoices = clinic.invoices.all();
  const client = clinic.clients.all()[serial % 50]!.id;
  // The step is a prime number, so that every invoice is used in turn.
  const old = invoices[(serial * 7919) % invoices.length]!;
  switch (serial % 4) {
    case 0:
      clinic.createInvoice({ client, rows: [{ sum: '80.00', vat_percentage: '25.50', account_number: '3000' }] });
      break;
    case 1: {
      const open = invoices.findLast(({ due_sum }) => Number(due_sum) > 0) ?? old;
      clinic.pay(open.id, { payment_type: 0 });
      break;
    }
    case 2: {
      const row = clinic.invoiceRows.of(old.id)[0];
      if (row) clinic.updateRow(row.id, { name: `Changed ${serial}` });
      break;
    }
    default:
      clinic.takePrepayment({ client, payment_type: 1, paid: '40.00' });
  }
}
