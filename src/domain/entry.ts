import type { CalendarDate, DocumentRef, InstallationId, LineRole, PostingMode, Side } from '../terms.ts';
import { entryDefects } from '../texts/entries.ts';
import type { Money } from './money.ts';
import { zero } from './money.ts';

/** The party of a line: the client, the payer snapshot, or the mapping's counterparty or cash customer. */
export interface Party {
  /** `client:<id>`, the mapping's `cash_customer`, or the mapping's counterparty code. */
  code: string;
  name: string | null;
  vatNumber: string | null;
  countryCode: string | null;
}

/** One line of a journal entry (ACCOUNTING "Who and where"). `amount` is positive; `side` is its direction. */
export interface Line {
  account: string;
  role: LineRole;
  side: Side;
  amount: Money;
  /** The accounting rule of the line: `R1`… */
  rule: string;
  /** Path in the mapping that gave the account: `roles.receivable`. */
  mappedBy: string;
  party: Party | null;
  departmentId: number | null;
  dimensions: [string | null, string | null, string | null];
  internal: { account: string | null; dimension1: string | null; dimension2: string | null };
  /** The invoice whose receivable this line opens or settles. */
  invoiceId: number | null;
  paymentType: number | null;
  documentNumber: string | null;
  dueDate: CalendarDate | null;
  bankReference: string | null;
  /**
   * Group and rate, on revenue and VAT lines. `base` is on the VAT line, in the line's direction; a group without a VAT
   * line (0 %) has it on its revenue lines. So the bases of all lines add up to the base in the VAT return.
   */
  vat: { group: string | null; rate: Money | null; base: Money | null } | null;
  /** Ids of the invoice rows summed into this line. */
  rowIds: number[];
}

export const entryReasons = [
  'posted',
  'source_changed',
  'prepayment_matched',
  'vat_due_changed',
  'voided',
  'not_final_any_more',
  'not_money_any_more',
  'gone',
  'came_back',
  'mapping_changed',
  'redated',
] as const;
export type EntryReason = (typeof entryReasons)[number];

/** The amount that an entry took from a prepayment, and the VAT that it returned (ACCOUNTING R5). */
export interface EntryShare {
  prepaymentId: number;
  /** The amount of the prepayment that was used and refunded before, in order of posting. */
  usedBefore: Money;
  /** The amount that the entry takes. Negative if the entry returns the amount to the prepayment. */
  amount: Money;
  vat: Money;
  /** False if the prepayment was posted without VAT. */
  hasVat: boolean;
}

/** A balanced entry, not yet in the ledger: a document's effect on the books, or its reversal. */
export interface DraftEntry {
  document: DocumentRef;
  date: CalendarDate;
  /**
   * The document's business date. It differs from `date` if the entry was posted on another day because of a closed
   * period.
   */
  documentDate: CalendarDate;
  description: string;
  reason: EntryReason;
  /** Id of the entry that this one reverses. */
  reverses: string | null;
  /** The invoice that a credit note credits. */
  original: DocumentRef | null;
  /** Hash of the posted facts (ACCOUNTING R8): the same facts are never posted twice. */
  inputHash: string;
  /** Shares of prepayments that were posted with VAT. Absent for other entries. */
  shares?: readonly EntryShare[];
  lines: Line[];
}

/** An entry in the ledger. `id` is `<installation>/<kind>/<document id>/<n>`, n from 1 per document. */
export interface LedgerEntry extends DraftEntry {
  id: string;
  installation: number;
  n: number;
  /** Position in the installation's chain, from 1. */
  seq: number;
  /** Whether the entry is delivered as a single entry or in a daily summary. */
  postingMode: PostingMode;
  /** The VAT period of the document's date, `2026-01`; a reversal has that of the entry it reverses. */
  vatPeriod: string;
  /** Whether the VAT period had been closed before the entry was posted. */
  isLate: boolean;
  /** Content hash of the mapping that gave the accounts. Null if there was none. */
  mappingHash: string | null;
  idempotencyKey: string;
  previousHash: string;
  hash: string;
}

/** The id of a document's nth entry, `<installation>/<kind>/<document id>/<n>`. */
export function entryId(installation: InstallationId, { kind, id }: DocumentRef, n: number): string {
  return `${installation}/${kind}/${id}/${n}`;
}

/** The fields of a new line; the optional ones are empty unless given. */
export type LineFields = Pick<Line, 'account' | 'role' | 'rule' | 'mappedBy'> & Partial<Omit<Line, 'amount' | 'side'>>;

/** The line of a signed amount, debit positive; null for zero, which has no line (ACCOUNTING Amounts). */
export function lineOf(debit: Money, fields: LineFields): Line | null {
  if (debit.isZero()) return null;
  return {
    party: null,
    departmentId: null,
    dimensions: [null, null, null],
    internal: { account: null, dimension1: null, dimension2: null },
    invoiceId: null,
    paymentType: null,
    documentNumber: null,
    dueDate: null,
    bankReference: null,
    vat: null,
    rowIds: [],
    ...fields,
    side: debit.isNegative() ? 'credit' : 'debit',
    amount: debit.abs(),
  };
}

/** The line's signed amount: debit positive, credit negative. */
export function signed(line: Pick<Line, 'side' | 'amount'>): Money {
  return line.side === 'debit' ? line.amount : line.amount.negated();
}

/**
 * Proof P5: debits equal credits, and every amount is positive and within the minor unit. Returns the defect as text,
 * or null.
 */
export function entryDefect(entry: Pick<DraftEntry, 'lines'>, decimals: number): string | null {
  if (entry.lines.length === 0) return entryDefects.noLines;
  let difference = zero;
  for (const line of entry.lines) {
    if (!line.amount.isPositive() || line.amount.isZero()) return entryDefects.notPositive({ account: line.account });
    if (line.amount.decimalPlaces() > decimals) return entryDefects.tooPrecise({ account: line.account });
    difference = line.side === 'debit' ? difference.plus(line.amount) : difference.minus(line.amount);
  }
  return difference.isZero() ? null : entryDefects.unbalanced({ difference: difference.toFixed() });
}

/** The lines with debit and credit swapped. */
export function reversedLines<OneLine extends Pick<Line, 'side'>>(lines: readonly OneLine[]): OneLine[] {
  return lines.map((line) => ({ ...line, side: line.side === 'debit' ? 'credit' : 'debit' }));
}
