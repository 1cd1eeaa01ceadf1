// Changes by the clinic's staff in addition to the sandbox's events: they correct rows, import and delete records, and restore backups.

import type { Clinic } from '../../sandbox/src/clinic.ts';
import type { Invoice, InvoiceRow, Prepayment } from '../../sandbox/src/records.ts';
import type { Rng } from '../../sandbox/src/rng.ts';
import type { SimulatedTime } from '../erp/fake/time.ts';

const finalStatus = 3;
const final = { consolidated_invoice: null, credit_note: false, status: finalStatus } as const;

type Correction = 'amount' | 'shift' | 'name' | 'add' | 'delete' | 'delete free';
const corrections: readonly Correction[] = ['amount', 'amount', 'shift', 'name', 'add', 'delete'];

interface Version {
  invoice: Invoice;
  rows: InvoiceRow[];
}

export class Staff {
  /** Documents that were deleted. */
  readonly deleted = new Set<string>();
  /** Records that were restored to an earlier version. */
  restored = 0;
  readonly #clinic: Clinic;
  readonly #rng: Rng;
  readonly #time: SimulatedTime;
  /** The first versions of invoices with their rows, and of prepayments. */
  readonly #backup = { invoices: new Map<number, Version>(), prepayments: new Map<number, Prepayment>() };

  constructor(clinic: Clinic, rng: Rng, time: SimulatedTime) {
    this.#clinic = clinic;
    this.#rng = rng;
    this.#time = time;
  }

  /** Corrects an invoice's rows, imports invoices, or skips ids. Returns what was done. */
  work(): string | null {
    const rng = this.#rng;
    if (rng.chance(0.1)) return this.#import(rng.int(3, 8));
    if (rng.chance(0.1)) {
      this.#clinic.invoicePayments.nextId += rng.int(1, 3);
      return 'ids of payments are left out';
    }
    const invoice = this.#some();
    return invoice ? this.#correct(invoice, rng.pick(corrections)) : null;
  }

  /** Creates an invoice with a row of zero. */
  invoiceNow(): void {
    const row = { sum: '10.00', vat_percentage: '25.5' };
    this.#clinic.createInvoice({ rows: [row, row, { ...row, sum: '0.00' }] });
  }

  /** Creates one document of each kind. */
  recordEach(): void {
    const { id } = this.#clinic.createInvoice({ rows: [{ sum: '10.00', vat_percentage: '25.5' }] });
    this.#clinic.pay(id, { payment_type: 0 });
    this.#clinic.takePrepayment({ payment_type: 0, paid: '20.00' });
  }

  /** Changes rows of an invoice that changed in this second, before the second ends. The new `modified` then does not show the change. */
  changeInSameSecond(invoiceId: number): void {
    const invoice = this.#clinic.invoices.get(invoiceId);
    const now = this.#clinic.clock();
    if (!invoice || Math.floor(invoice.modified / 1_000) !== Math.floor(now / 1_000)) return;
    const leftMs = 999 - (now % 1_000);
    this.#time.at(this.#time.nowMs + this.#rng.int(0, leftMs), () => void this.#correct(invoice, 'delete free'));
  }

  /** Deletes a document to which no other record refers. */
  delete(isKept: (document: string) => boolean): string | null {
    const clinic = this.#clinic;
    const { invoices, invoicePayments, prepayments } = clinic;
    const rng = this.#rng;
    const used = new Set(invoicePayments.all().map(({ prepayment }) => prepayment));
    const refunded = new Set(prepayments.all().map(({ refunds }) => refunds));
    const cancelled = new Set(invoicePayments.all().map(({ cancels }) => cancels));
    const credited = new Set(invoices.all().map((invoice) => invoice.credit_note_original_invoice));
    const isUnpaid = (id: number) => invoicePayments.of(id).length === 0;
    const kind = rng.pick(['invoice', 'invoicepayment', 'unallocatedpayment'] as const);
    const fits = {
      invoice: () => invoices.all().filter((one) => isPlain(one) && !credited.has(one.id) && isUnpaid(one.id)),
      invoicepayment: () =>
        invoicePayments
          .all()
          .filter((one) => one.cancels === null && !cancelled.has(one.id) && ![6, 8].includes(one.payment_type)),
      unallocatedpayment: () =>
        prepayments.all().filter(({ id, refunds }) => refunds === null && !used.has(id) && !refunded.has(id)),
    }[kind]();
    const names = { invoice: 'invoice', invoicepayment: 'payment', unallocatedpayment: 'prepayment' };
    const one = rng.pick(fits.filter(({ id }) => !isKept(`${names[kind]}/${id}`)).slice(-10));
    if (!one) return null;
    clinic.deleteRecord(kind, one.id);
    this.deleted.add(`${names[kind]}/${one.id}`);
    return `${names[kind]} ${one.id} is deleted`;
  }

  /** Stores the current records for a later `restore`. */
  backUp(): void {
    const { invoices, invoiceRows, prepayments } = this.#clinic;
    for (const invoice of invoices.all()) {
      if (this.#backup.invoices.has(invoice.id) || !isPlain(invoice)) continue;
      const rows = invoiceRows.of(invoice.id).map((row) => ({ ...row }));
      this.#backup.invoices.set(invoice.id, { invoice: { ...invoice }, rows });
    }
    for (const one of prepayments.all())
      if (!this.#backup.prepayments.has(one.id)) this.#backup.prepayments.set(one.id, { ...one });
  }

  /** Restores some records to their stored version, including `modified`. */
  restore(): string | null {
    const { invoices, invoiceRows } = this.#clinic;
    const changed = [...this.#backup.invoices.values()].filter(({ invoice, rows }) => {
      const now = invoices.get(invoice.id);
      return now && now.modified !== invoice.modified && rows.every(({ id }) => invoiceRows.get(id));
    });
    const done = changed.slice(-this.#rng.int(1, 4)).map(({ invoice, rows }) => {
      for (const row of [...invoiceRows.of(invoice.id)]) {
        const before = rows.find(({ id }) => id === row.id);
        if (before) invoiceRows.change(row, before);
        else invoiceRows.delete(row.id);
      }
      const now = invoices.get(invoice.id);
      if (now) invoices.change(now, invoice);
      return invoice.id;
    });
    this.restored += done.length;
    return done.length === 0 ? null : `invoices are restored: ${done.join(', ')}`;
  }

  /** Changes records without a new `modified`, and adds records with an old one. */
  changeUnseen(): void {
    const clinic = this.#clinic;
    const { invoices, invoiceRows, prepayments } = clinic;
    const some = this.#some();
    if (some) {
      invoices.change(some, { payer_vat_number: 'FI99999999' });
      const [row] = invoiceRows.of(some.id);
      if (row) invoiceRows.change(row, { account_number: row.account_number === '3010' ? '3000' : '3010' });
    }
    const known = prepayments.all().find(({ refunds }) => refunds === null);
    if (known) prepayments.change(known, { description: 'changed' });
    const clock = clinic.clock;
    const longAgo = clock() - 400 * 86_400_000;
    clinic.clock = () => longAgo;
    clinic.createInvoice({ invoice_date: clinic.zone.date(clock()), rows: [{ sum: '12.00', vat_percentage: '14' }] });
    clinic.clock = clock;
  }

  #import(invoices: number): string {
    const row = () => ({ sum: `${this.#rng.int(1, 300)}.00`, vat_percentage: '25.5', account_number: '3000' });
    this.#clinic.commit(() => {
      for (let left = invoices; left > 0; left--) this.#clinic.createInvoice({ rows: [row()] });
    });
    return `${invoices} invoices are imported`;
  }

  #some(): Invoice | undefined {
    const fits = this.#clinic.invoices
      .all()
      .filter((one) => isPlain(one) && this.#clinic.invoiceRows.of(one.id).length > 0);
    return this.#rng.pick(fits.slice(-12));
  }

  #correct(invoice: Invoice, correction: Correction): string | null {
    const clinic = this.#clinic;
    const rng = this.#rng;
    const rows = clinic.invoiceRows.of(invoice.id);
    const [first, second] = rows;
    if (!first) return null;
    const changed = ({ sum, vat_percentage }: InvoiceRow, by: number) => {
      const net = Number(sum) + by;
      const vat = Math.round(net * Number(vat_percentage)) / 100;
      return { sum: net.toFixed(4), sum_vat: vat.toFixed(4), sum_total: (net + vat).toFixed(4) };
    };
    switch (correction) {
      case 'amount':
        clinic.updateRow(first.id, changed(first, rng.int(1, 9)));
        break;
      case 'name':
        clinic.updateRow(first.id, { name: `name ${rng.int(1, 999)}` });
        break;
      case 'add':
        clinic.addRow(invoice.id, { sum: `${rng.int(1, 50)}.00`, vat_percentage: '25.5' });
        break;
      case 'shift':
        if (!second || first.vat_percentage !== second.vat_percentage) return null;
        clinic.commit(() => {
          clinic.updateRow(first.id, changed(first, 1));
          clinic.updateRow(second.id, changed(second, -1));
        });
        break;
      case 'delete':
      case 'delete free': {
        const fits = rows.filter(({ sum }) => (Number(sum) === 0) === (correction === 'delete free'));
        const row = rng.pick(fits);
        if (!row || rows.length < 2) return null;
        clinic.deleteRecord('invoicerow', row.id);
      }
    }
    return `the rows of invoice ${invoice.id} are corrected: ${correction}`;
  }
}

/** Creates a final invoice to which no other record refers. */
function isPlain(invoice: Invoice): boolean {
  return (
    Object.entries(final).every(([name, value]) => invoice[name as keyof Invoice] === value) &&
    invoice.consolidated_invoices.length === 0
  );
}
