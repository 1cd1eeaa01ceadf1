/** The glossary, as types: each word has this one meaning everywhere (ACCOUNTING "Words", DESIGN). */

/** The clinic organisation's installation of the practice software; part of every address of its API. */
export type InstallationId = number;

/** The four lists of the source that are synchronised (practice-api: Invoices, payments, prepayments). */
export const recordKinds = ['invoice', 'row', 'payment', 'prepayment'] as const;
export type RecordKind = (typeof recordKinds)[number];

/**
 * The kinds of documents: records of the source that are posted, and the latest day of an invoice's VAT (`vat_due`, with the invoice's id).
 * Rows are part of their invoice. The order is that of names, in which documents are locked (src/documents).
 */
export const documentKinds = ['invoice', 'payment', 'prepayment', 'vat_due'] as const;
export type DocumentKind = (typeof documentKinds)[number];

/** The kinds of documents that are records of the source. */
export const sourceKinds = ['invoice', 'payment', 'prepayment'] as const satisfies readonly DocumentKind[];
export type SourceKind = (typeof sourceKinds)[number];
export interface SourceRef {
  kind: SourceKind;
  id: number;
}

export interface DocumentRef {
  kind: DocumentKind;
  id: number;
}

/**
 * The states of a document; it is in exactly one (ACCOUNTING E6). `gone`: never posted, and no longer in the source. `pending`:
 * read but not yet judged, between two steps of a window.
 */
export const documentStates = [
  'posted',
  'reversed',
  'held',
  'not_final',
  'voided',
  'not_money',
  'nothing_to_post',
  'before_start',
  'gone',
  'pending',
] as const;
export type DocumentState = (typeof documentStates)[number];

/** The purpose of a line, for which the mapping gives the account (ACCOUNTING "Words", Rules). */
export const roles = [
  'receivable',
  'opening_receivable',
  'card_clearing',
  'cash',
  'bank_clearing',
  'rounding',
  'cheque_clearing',
  'voucher_liability',
  'consolidation_clearing',
  'mobile_clearing',
  'prepayment_liability',
  'prepayment_vat',
  'vat_not_due',
  'opening_vat_not_due',
  'gift_card_liability',
  'financing_receivable',
  'other_clearing',
  'credit_settlement',
  'insurance_receivable',
] as const;
export type Role = (typeof roles)[number];

/** Roles to which a sale can be posted instead of revenue, because the clinic owes it until it is used (ACCOUNTING R1). */
export const soldRoles = ['gift_card_liability', 'voucher_liability'] as const satisfies readonly Role[];
export type SoldRole = (typeof soldRoles)[number];

/** The role of a line: a role of the mapping, or revenue or VAT, whose account depends on the rows. */
export const lineRoles = [...roles, 'revenue', 'vat'] as const;
export type LineRole = (typeof lineRoles)[number];

export const sides = ['debit', 'credit'] as const;
export type Side = (typeof sides)[number];

/**
 * The content of the general ledger: each document's entry, or one summary per day and department. An entry keeps the
 * mode in force when it was appended.
 */
export const postingModes = ['document', 'daily_summary'] as const;
export type PostingMode = (typeof postingModes)[number];

/** The parts of a record that the mirror stores: the fields that the dialect maps, or the complete text. */
export const rawKeepings = ['mapped', 'all'] as const;
export type RawKeeping = (typeof rawKeepings)[number];

/** Calendar date `YYYY-MM-DD` in the installation's time zone. */
export type CalendarDate = string;

/** Instant, ISO 8601 with `Z`. */
export type Instant = string;

/** A fact about a window besides its counts, stored with it (table `sync_window`). */
export interface Remark {
  code: string;
  message: string;
}
