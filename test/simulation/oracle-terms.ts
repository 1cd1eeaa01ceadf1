// What the oracle's rules are about: what was seen of the source, what it asks for, and which facts of an invoice are posted.
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
  /** When it was first seen, epoch milliseconds; absent or null: in the first load. */
  firstSeenAt?: number | null;
}

/** The source's records, by id, as far as an installation has seen them. */
export interface SourceView {
  invoices: ReadonlyMap<number, SeenRecord<Invoice>>;
  /** Row sets by invoice; `at` says when a set was fetched, epoch milliseconds of the source's clock. */
  rowSets: ReadonlyMap<number, { rows: Pick<SeenRecord<InvoiceRow>, 'source' | 'damage'>[]; at: number }>;
  payments: ReadonlyMap<number, SeenRecord<InvoicePayment>>;
  prepayments: ReadonlyMap<number, SeenRecord<Prepayment>>;
  /** The party of a payment's prepayment, where it is not known which it used; otherwise that of the prepayment. */
  unmatched?: ReadonlyMap<number, string>;
}

/** What a verdict depends on besides the records. */
export interface RuleConditions {
  mapping: MappingData;
  startDate: string | null;
  /** Invoices dated before the cut-over that are decided to be posted. */
  decidedIn?: ReadonlySet<number>;
  /** Of prepayments, where their VAT is posted at receipt; absent: none is given back. */
  received?: Received;
  /** Of payments that were posted before it was known what they used: the client of the invoice then. */
  firstClients?: ReadonlyMap<number, number | null>;
}

/** What the date of an entry is judged by: the day on which the source recorded the document, where that is known. */
export interface Dating {
  recorded: string | null;
  mayBeOld: boolean;
}

export interface ExpectedLine {
  role: string;
  account: string;
  amount: D;
  party: string;
  /** What of the payer snapshot is a posted fact: VAT number, country; empty for a party known by its code alone. */
  snapshot: (string | null)[];
  department: number;
  /** Reporting dimensions 1-3, internal account, internal dimensions 1-2. */
  tags: (string | null)[];
  vat: { group: string | null; rate: string; base: string | null } | null;
  paymentType: number | null;
  /** What opens or settles a receivable: invoice, document number, due date, bank reference. */
  receivable: (string | number | null)[] | null;
}

/** `entry` is wanted in the books; `held` keeps what is there; any other state wants nothing there. */
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
  /** Codes of what is remarked beside it. */
  remarks: string[];
  /** What its payer is called. */
  name: string | null;
  /** Of a payment that used nobody knows which prepayment: the client that it stands under. */
  unmatched?: number | null;
  /** Of a prepayment received with VAT. */
  received?: ReceivedVat | null;
  /** Of a use or refund of one. */
  share?: Share | null;
}

const blank = (text: string): string | null => (text.trim() === '' ? null : text);

export const snapshotOf = (invoice: Invoice): (string | null)[] => [
  blank(invoice.payer_vat_number),
  blank(invoice.payer_country_code),
];

/** What of the payer is a posted fact: the register number only where there is no VAT number. */
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
