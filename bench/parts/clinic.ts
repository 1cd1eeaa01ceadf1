import type { Clinic } from '../../sandbox/src/index.ts';

const dayMs = 86_400_000;

/** The number of records of each list of the practice API. */
export interface ListCounts {
  invoice: number;
  invoicerow: number;
  invoicepayment: number;
  unallocatedpayment: number;
}

/**
 * Fills a clinic with `invoices` final invoices of three rows each, a payment for four of five, and a prepayment for
 * one of five. They are spread evenly over 200 days that end two days ago, so that none is within a window's overlap.
 */
export function fillClinic(clinic: Clinic, invoices: number): void {
  const realClock = clinic.clock;
  const end = realClock() - 2 * dayMs;
  const start = end - 200 * dayMs;
  const department = [...clinic.departments.keys()][0]!;
  const clients = clinic.clients.all().map(({ id }) => id);
  for (let serial = 0; serial < invoices; serial += 1) {
    const at = start + Math.floor(((end - start) * serial) / invoices);
    clinic.clock = () => at;
    const client = clients[serial % clients.length]!;
    const invoice = clinic.createInvoice({ department, client, rows: rowsOf(serial) });
    if (serial % 5 !== 0) clinic.pay(invoice.id, { payment_type: serial % 2 });
    else clinic.takePrepayment({ department, client, payment_type: 0, paid: `${20 + (serial % 80)}.00` });
  }
  clinic.clock = realClock;
}

function rowsOf(serial: number) {
  return [
    {
      name: 'Consultation, small animal',
      sum: `${60 + (serial % 40)}.50`,
      vat_percentage: '25.50',
      account_number: '3000',
    },
    { name: 'Blood count', sum: `${40 + (serial % 50)}.25`, vat_percentage: '25.50', account_number: '3020' },
    { name: 'Antibiotic course', sum: `${14 + (serial % 30)}.10`, vat_percentage: '14.00', account_number: '3100' },
  ];
}

export function countsOf(clinic: Clinic): ListCounts {
  return {
    invoice: clinic.invoices.size,
    invoicerow: clinic.invoiceRows.size,
    invoicepayment: clinic.invoicePayments.size,
    unallocatedpayment: clinic.prepayments.size,
  };
}
