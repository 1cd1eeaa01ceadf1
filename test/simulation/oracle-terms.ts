// The terms of the oracle's rules: what was seen of the source, the requests, and the posted facts of an invoice.
import type { Invoice, InvoicePayment, InvoiceRow, Prepayment } from '../../sandbox/src/records.ts';
import type { Damage } from './clinic.ts';
import type { MappingData } from './conditions.ts';
import type { D } from './oracle-cents.ts';
import type { Received, ReceivedVat, Share } from './oracle-shares.ts';

/** A record of the source as an installation last saw it. */
export interface SeenRecord<Source> {
  source: Source;
  damage: Damage | null;
  gone: boolean;
  /**
   * The time when the installation first read the record, in epoch milliseconds. Absent or null for a record of the
   * first load.
   */
  firstSeenAt?: number | null;
}

/** The source's records by id, as far as an installation has seen them. */
export interface SourceView {
  invoices: ReadonlyMap<number, SeenRecord<Invoice>>;
  /** Row sets by invoice. `at` is the source's time in epoch milliseconds when a set was fetched. */
  rowSets: ReadonlyMap<number, { rows: Pick<SeenRecord<InvoiceRow>, 'source' | 'damage'>[]; at: number }>;
  payments: ReadonlyMap<number, SeenRecord<InvoicePayment>>;
  prepayments: ReadonlyMap<number, SeenRecord<Prepayment>>;
  /** For payments with an undetermined prepayment, their party; for others, the prepayment's party is used. */
  unmatched?: ReadonlyMap<number, string>;
}

/** The conditions of a verdict besides the records. */
export interface RuleConditions {
  mapping: MappingData;
  startDate: string | null;
  /** Invoices dated before the cut-over that the accountant decided to post. */
  decidedIn?: ReadonlySet<number>;
  /** Prepayments that were received with VAT. If absent, their use returns no VAT. */
  received?: Received;
  /** The invoice's client, for payments that were posted before their prepayment was known. */
  firstClients?: ReadonlyMap<number, number | null>;
}

/** The basis for judging an entry's date: the day on which the source recorded the document, if it is known. */
export interface Dating {
  recorded: string | null;
  mayBeOld: boolean;
}

export interface ExpectedLine {
  role: string;
  account: string;
  amount: D;
  party: string;
  /**
   * The posted facts of the payer snapshot: VAT number and country; empty for a party that is identified by its code.
   */
  snapshot: (string | null)[];
  department: number;
  /** Reporting dimensions 1-3, internal account, internal dimensions 1-2. */
  tags: (string | null)[];
  vat: { group: string | null; rate: string; base: string | null } | null;
  paymentType: number | null;
  /** The identity of a receivable: invoice, document number, due date, bank reference. */
  receivable: (string | number | null)[] | null;
}

/** `entry` must be in the books; `held` keeps the existing entry; every other state requires none. */
export type Verdict =
  | Posted
  | { state: 'held'; why: string }
  | { state: 'not_final' | 'voided' | 'not_money' | 'nothing_to_post' | 'before_start' | 'gone' };

export interface Posted {
  state: 'posted';
  date: string;
  lines: ExpectedLine[];
  facts: string;
  dating: Dating;
  /** The codes of the document's remarks. */
  remarks: string[];
  /** The payer's name. */
  name: string | null;
  /** For a payment whose prepayment could not be determined, the client under whom the payment is posted. */
  unmatched?: number | null;
  /** The VAT at receipt, for a prepayment that was received with VAT. */
  received?: ReceivedVat | null;
  /** The share of a prepayment's VAT, for a use or refund. */
  share?: Share | null;
}

const blank = (text: string): string | null => (text.trim() === '' ? null : text);

export const snapshotOf = (invoice: Invoice): (string | null)[] => [
  blank(invoice.payer_vat_number),
  blank(invoice.payer_country_code),
];

/** The posted facts of the payer. The register number counts only without a VAT number. */
export const keysOf = (invoice: Invoice): unknown[] => [
  ...snapshotOf(invoice),
  blank(invoice.payer_vat_number) === null && blank(invoice.payer_register_number) !== null
    ? { register: invoice.payer_register_number }
    : null,
];

export const receivableOf = (invoice: Invoice): (string | number | null)[] => {
  const number =
    invoice.invoice_number === null ? String(invoice.id) : `${invoice.invoice_prefix}-${invoice.invoice_number}`;
  return [invoice.id, number, invoice.invoice_due_date, blank(invoice.reference_number)];
};

export const creditOf = (invoice: Invoice): unknown => [
  'credit',
  invoice.credit_note,
  invoice.credit_note ? invoice.credit_note_original_invoice : null,
];
