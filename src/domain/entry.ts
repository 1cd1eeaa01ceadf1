import type { CalendarDate, DocumentRef, InstallationId, LineRole, PostingMode, Side } from '../terms.ts';
import type { Money } from './money.ts';
import { zero } from './money.ts';

/** Who a line names: the client, the payer snapshot, or the mapping's counterparty or cash customer. */
export interface Party {
  /** `client:<id>`, the mapping's `cash_customer`, or the mapping's counterparty code. */
  code: string;
  name: string | null;
  vatNumber: string | null;
  countryCode: string | null;
}

/** One line of a journal entry (ACCOUNTING "Who and where"). `amount` is positive; `side` carries the sign. */
export interface Line {
  account: string;
  role: LineRole;
  side: Side;
  amount: Money;
  /** The rule that made it (`R1`…) and the line of the mapping it took its account from (`roles.receivable`). */
  rule: string;
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
   * Group and rate on revenue and VAT lines. `base`, in the line's own direction, is on the VAT line; where a group has none
   * (0 %), on its revenue lines: so the bases of all lines add up to the VAT return's, each counted once.
   */
  vat: { group: string | null; rate: Money | null; base: Money | null } | null;
  /** Ids of the invoice rows summed into this line. */
  rowIds: number[];
}

export const entryReasons = [
  'posted',
  'source_changed',
  'voided',
  'not_final_any_more',
  'not_money_any_more',
  'gone',
  'mapping_changed',
] as const;
export type EntryReason = (typeof entryReasons)[number];

/** A balanced set of lines, not yet in the ledger: one document's effect on the books, or the reversal of one. */
export interface DraftEntry {
  document: DocumentRef;
  date: CalendarDate;
  /** The document's own business date; differs from `date` when a locked period was re-dated. */
  documentDate: CalendarDate;
  description: string;
  reason: EntryReason;
  /** Id of the entry this one reverses. */
  reverses: string | null;
  /** For a credit note: the invoice it credits. */
  original: DocumentRef | null;
  /** Hash of the posted facts (ACCOUNTING R8): the same facts never post twice. */
  inputHash: string;
  lines: Line[];
}

/** An entry as it stands in the ledger. `id` is `<installation>/<kind>/<document id>/<n>`, n from 1 per document. */
export interface LedgerEntry extends DraftEntry {
  id: string;
  installation: number;
  n: number;
  /** Position in the installation's chain, from 1. */
  seq: number;
  /** Whether it goes to the general ledger itself, or in its day's summary. */
  postingMode: PostingMode;
  idempotencyKey: string;
  previousHash: string;
  hash: string;
}

/** The id of a document's nth entry, `<installation>/<kind>/<document id>/<n>`. */
export function entryId(installation: InstallationId, { kind, id }: DocumentRef, n: number): string {
  return `${installation}/${kind}/${id}/${n}`;
}

/** What a line must be told; everything else is empty unless given. */
export type LineFields = Pick<Line, 'account' | 'role' | 'rule' | 'mappedBy'> & Partial<Omit<Line, 'amount' | 'side'>>;

/** The line of a signed amount (debit positive); null for zero, which is left out of entries (ACCOUNTING Amounts). */
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

/** The line's amount as a signed figure: debit positive, credit negative. */
export function signed(line: Pick<Line, 'side' | 'amount'>): Money {
  return line.side === 'debit' ? line.amount : line.amount.negated();
}

/** Proof P5: debits equal credits, every amount is positive and within the minor unit. Returns what is wrong, or null. */
export function entryDefect(entry: Pick<DraftEntry, 'lines'>, decimals: number): string | null {
  if (entry.lines.length === 0) return 'it has no lines';
  let difference = zero;
  for (const line of entry.lines) {
    if (!line.amount.isPositive() || line.amount.isZero()) return `its line on ${line.account} is not positive`;
    if (line.amount.decimalPlaces() > decimals) return `its line on ${line.account} is finer than the minor unit`;
    difference = line.side === 'debit' ? difference.plus(line.amount) : difference.minus(line.amount);
  }
  return difference.isZero() ? null : `its debits and credits differ by ${difference.toFixed()}`;
}

/** The lines that undo `lines`: the same, on the other side. */
export function reversedLines(lines: Line[]): Line[] {
  return lines.map((line) => ({ ...line, side: line.side === 'debit' ? 'credit' : 'debit' }));
}
