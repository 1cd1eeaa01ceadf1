// Records as JSON: url-references, timestamps and decimals in the formats that the quirks set.
import type { Amount } from './money.ts';
import type { Quirks } from './quirks.ts';
import type {
  AccountingReport,
  AccountNumber,
  AlternativePayer,
  AlternativePricing,
  Client,
  Department,
  Invoice,
  InvoicePayment,
  InvoiceRow,
  Prepayment,
} from './records.ts';
import type { Zone } from './zone.ts';

/** A JSON number that keeps the digits of its decimal text. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Encodes a value as JSON; JsonNumbers keep their text. It uses loops, because a page has tens of thousands of members.
 */
export const encode = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  if (value instanceof JsonNumber) return value.text;
  let text = '';
  if (Array.isArray(value)) {
    for (const member of value) text += text === '' ? encode(member) : `,${encode(member)}`;
    return `[${text}]`;
  }
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${encode(member)}`;
  }
  return `{${text}}`;
};

export type WireRecord = Record<string, unknown>;

const unknownFields: WireRecord = {
  x_internal_score: new JsonNumber('0.30000000000000004'),
  x_flags: ['a', null, { nested: true }],
  x_note: 'Ünïcode \u2028 and "quotes"',
};

export class Wire {
  /** The address of the API: `{base_url}/<installation_id>/api/0.1`. */
  readonly #api: string;
  readonly #quirks: Quirks;
  readonly #zone: Zone;

  constructor(api: string, quirks: Quirks, zone: Zone) {
    this.#api = api;
    this.#quirks = quirks;
    this.#zone = zone;
  }

  ref(path: string, id: number | null): string | null {
    if (id === null) return null;
    const { urlReferences } = this.#quirks;
    const api =
      urlReferences === 'otherHost' ? this.#api.replace(/^https?:\/\/[^/]+/, 'https://app.internal') : this.#api;
    return `${api}/${path}/${id}/${urlReferences === 'query' ? '?format=json' : ''}`;
  }

  invoice(invoice: Invoice): WireRecord {
    const { id, created, modified, date_paid, total, total_vat, total_with_vat, due_sum, ...rest } = invoice;
    return this.#record({
      ...rest,
      id,
      url: this.ref('invoice', id),
      invoice_date: this.#day(invoice.invoice_date),
      invoice_due_date: this.#day(invoice.invoice_due_date),
      total: this.#number(total),
      total_vat: this.#number(total_vat),
      total_with_vat: this.#number(total_with_vat),
      due_sum: this.#number(due_sum),
      client: this.ref('client', invoice.client),
      department: this.ref('department', invoice.department),
      consultation: this.ref('consultation', invoice.consultation),
      credit_note_original_invoice: this.ref('invoice', invoice.credit_note_original_invoice),
      consolidated_invoice: this.ref('invoice', invoice.consolidated_invoice),
      consolidated_invoices: invoice.consolidated_invoices.map((member) => this.ref('invoice', member)),
      created: this.time(created),
      modified: this.time(modified),
      date_paid: date_paid === null ? null : this.time(date_paid),
    });
  }

  invoiceRow(row: InvoiceRow, exposeVatGroup: boolean): WireRecord {
    const { vat_group, ...rest } = row;
    return this.#record({
      ...rest,
      url: this.ref('invoicerow', row.id),
      invoice: this.ref('invoice', row.invoice),
      quantity: this.#number(row.quantity),
      price: this.#number(row.price),
      price_with_vat: this.#number(row.price_with_vat),
      sum: this.#number(row.sum),
      sum_vat: this.#number(row.sum_vat),
      sum_total: this.#number(row.sum_total),
      vat_percentage: this.#number(row.vat_percentage),
      credited_invoicerow: this.ref('invoicerow', row.credited_invoicerow),
      created: this.time(row.created),
      modified: this.time(row.modified),
      ...(exposeVatGroup
        ? { invoicerow_vat_group: { ...vat_group, percentage: this.#number(vat_group.percentage) } }
        : {}),
    });
  }

  invoicePayment(payment: InvoicePayment): WireRecord {
    return this.#record({
      id: payment.id,
      url: this.ref('invoicepayment', payment.id),
      invoice: this.ref('invoice', payment.invoice),
      payment_type: payment.payment_type,
      paid: this.text(payment.paid),
      date_added: this.time(payment.date_added),
      info: payment.info,
    });
  }

  prepayment(prepayment: Prepayment): WireRecord {
    return this.#record({
      ...prepayment,
      url: this.ref('unallocatedpayment', prepayment.id),
      department: this.ref('department', prepayment.department),
      client: this.ref('client', prepayment.client),
      paid: this.text(prepayment.paid),
      refunds: this.ref('unallocatedpayment', prepayment.refunds),
      unused_amount: this.text(prepayment.unused_amount),
      created: this.time(prepayment.created),
      modified: this.time(prepayment.modified),
    });
  }

  /** `fields_rel` has the values of the client's custom fields. */
  client(client: Client, fields_rel: WireRecord[]): WireRecord {
    const { payer, created, preferences_stated_at, ...rest } = client;
    const url = this.ref('client', client.id);
    return this.#record({ ...rest, url, modified: this.time(client.modified), fields_rel });
  }

  accountNumber(account: AccountNumber): WireRecord {
    const department = this.ref('department', account.department);
    return this.#record({ ...this.#dated('accountnumber', account), department });
  }

  alternativePayer(payer: AlternativePayer): WireRecord {
    return this.#record(this.#dated('alternative_payer', payer));
  }

  alternativePricing(pricing: AlternativePricing): WireRecord {
    return this.#record({ ...this.#dated('alternativepricing', pricing), percentage: this.text(pricing.percentage) });
  }

  accountingReport(report: AccountingReport): WireRecord {
    return this.#record({
      ...this.#dated('accountingreport', report),
      department: this.ref('department', report.department),
      total: this.text(report.total),
      total_vat: this.text(report.total_vat),
      total_with_vat: this.text(report.total_with_vat),
    });
  }

  settings(department: Department, lockDate: string | null): WireRecord {
    const { id, name, prefix, next_invoice_number, allow_nhp_processing, prescription_fee_item, ...settings } =
      department;
    const url = this.ref('settings/department', id);
    const owner = this.ref('department', id);
    return this.#record({ id, url, department: owner, ...settings, financial_period_lock_date: lockDate });
  }

  /** The record as this installation sends it. A quirk can add unknown fields. */
  record(record: WireRecord): WireRecord {
    return this.#record(record);
  }

  time(instantMs: number): string {
    return this.#zone.timestamp(instantMs, this.#quirks.timestamps);
  }

  /** The address of a payment page: `{payment_link_base_url}/<string>`. */
  payPage(token: string): string {
    return `${this.#api.replace(/\/api\/0\.1$/, '/pay')}/${token}`;
  }

  #dated(path: string, record: { id: number; created: number; modified: number }): WireRecord {
    const { created, modified } = record;
    return { ...record, url: this.ref(path, record.id), created: this.time(created), modified: this.time(modified) };
  }

  #day(date: string): string {
    return this.#quirks.invoiceDateAsDatetime ? this.time(this.#zone.at(date)) : date;
  }

  /** Encodes a decimal that the service sends as a number unless a quirk changes that. */
  #number(amount: Amount): JsonNumber | string {
    return this.#quirks.decimals === 'string' ? amount : new JsonNumber(amount);
  }

  /** Encodes a decimal that the service sends as a string unless a quirk changes that. */
  text(amount: Amount): JsonNumber | string {
    return this.#quirks.decimals === 'number' ? new JsonNumber(amount) : amount;
  }

  #record(record: WireRecord): WireRecord {
    return this.#quirks.extraFields ? { ...record, ...unknownFields } : record;
  }
}
