import type { LedgerEntry, Line } from '../../domain/entry.ts';
import { type Money, zero } from '../../domain/money.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';
import { entryDescriptions } from '../../texts/entries.ts';
import { canonicalAmount } from '../journal/entry-hash.ts';
import type { MappingVersion } from '../journal/entry-records.ts';

/** The sums of the entries of one day and department for the general ledger; not yet in the ledger. */
export interface DraftSummary {
  /** The date of the entries. */
  date: CalendarDate;
  departmentId: number | null;
  /** The original VAT period of all entries in the summary. */
  vatPeriod: string;
  /** True if all entries in the summary are late; false if none is late. */
  isLate: boolean;
  /** True for late documents and corrections of a day; false for the ordinary summary of the day. */
  isCorrection: boolean;
  /** Balanced, debits first; the two sides of an account are never netted. */
  lines: SummaryLine[];
  /** The entries of the summary, in the order of their chain. */
  members: { entryId: string; hash: string }[];
}

/** The sum of the entries' lines that are equal for the general ledger (`lineKey`). */
export interface SummaryLine
  extends Pick<
    Line,
    'account' | 'role' | 'side' | 'amount' | 'rule' | 'dimensions' | 'internal' | 'paymentType' | 'vat'
  > {
  /** The buyer of zero-rated sales. Other parties are only in the sub-ledger. */
  buyer: { vatNumber: string; countryCode: string | null } | null;
  entryIds: string[];
}

/**
 * A summary with its place in the chain. `id` is `<installation>/summary/<date>-<department>/<n>`, n from 1 per day and
 * department.
 */
export interface ChainedSummary extends DraftSummary {
  id: string;
  installation: InstallationId;
  n: number;
  /** The voucher number, without gaps in a fiscal year. */
  fiscalYear: number;
  voucherNumber: number;
  /** Position in the installation's chain of summaries, from 1. */
  seq: number;
  previousHash: string;
  hash: string;
}

/** A summary in the ledger. */
export interface DailySummary extends ChainedSummary {
  record: SummaryRecord;
}

/** How a summary was recorded. */
export interface SummaryRecord {
  /** A voucher number such as `2026-D-000123`. */
  voucher: string;
  recordedAt: Date;
  /** The window that made the summary. Null if it was made outside a window. */
  windowId: number | null;
  /** The mappings with which the summary's entries were posted. */
  mappings: MappingVersion[];
}

/** Whether a day has its ordinary summary for a department already. */
export type IsSummarised = (date: CalendarDate, departmentId: number | null) => boolean;

/**
 * Groups `entries` into summaries by date, department, original VAT period and lateness, so that different periods, or
 * late and other lines, are never added up (ACCOUNTING "Dates"). Late and redated entries are in correction summaries,
 * and so is everything for a day that `isSummarised`. Each entry is completely in one summary, that of its lines'
 * department, so that every summary balances. Lines and their VAT bases are added up only if account, role, side, rule,
 * payment type, VAT group and rate, dimensions and internal account are equal. So turnover, VAT return and cost centres
 * are the same as from documents. The order of `entries` does not matter.
 */
export function summarise(entries: LedgerEntry[], isSummarised: IsSummarised = () => false): DraftSummary[] {
  const isCorrection = (entry: LedgerEntry) =>
    entry.isLate || entry.date !== entry.documentDate || isSummarised(entry.date, departmentOf(entry));
  const groups = Map.groupBy(
    entries.toSorted((a, b) => a.seq - b.seq),
    (entry) => JSON.stringify([entry.date, departmentOf(entry), entry.vatPeriod, entry.isLate, isCorrection(entry)]),
  );
  return [...groups.values()]
    .flatMap((group) => {
      const [first] = group;
      if (first === undefined) return [];
      return {
        date: first.date,
        departmentId: departmentOf(first),
        vatPeriod: first.vatPeriod,
        isLate: first.isLate,
        isCorrection: isCorrection(first),
        lines: summedLines(group),
        members: group.map(({ id, hash }) => ({ entryId: id, hash })),
      };
    })
    .sort(
      (a, b) =>
        compare(a.date, b.date) ||
        (a.departmentId ?? -1) - (b.departmentId ?? -1) ||
        Number(a.isCorrection) - Number(b.isCorrection) ||
        Number(a.isLate) - Number(b.isLate) ||
        // The day's own period comes first, then earlier ones.
        compare(b.vatPeriod, a.vatPeriod),
    );
}

/** All lines of an entry have the department of its document. */
function departmentOf(entry: LedgerEntry): number | null {
  return entry.lines[0]?.departmentId ?? null;
}

function summedLines(entries: LedgerEntry[]): SummaryLine[] {
  const sums = new Map<string, { first: Line; amount: Money; base: Money | null; entryIds: Set<string> }>();
  for (const entry of entries) {
    for (const line of entry.lines) {
      const key = lineKey(line);
      const base = line.vat?.base ?? null;
      const sum = sums.get(key);
      if (sum === undefined) {
        sums.set(key, { first: line, amount: line.amount, base, entryIds: new Set([entry.id]) });
        continue;
      }
      sum.amount = sum.amount.plus(line.amount);
      if (base !== null) sum.base = (sum.base ?? zero).plus(base);
      sum.entryIds.add(entry.id);
    }
  }
  return [...sums]
    .sort(([a], [b]) => compare(a, b))
    .map(([, { first, amount, base, entryIds }]) => ({
      account: first.account,
      role: first.role,
      side: first.side,
      amount,
      rule: first.rule,
      dimensions: first.dimensions,
      internal: first.internal,
      paymentType: first.paymentType,
      vat: first.vat && { group: first.vat.group, rate: first.vat.rate, base },
      buyer: buyerOf(first),
      entryIds: [...entryIds],
    }));
}

/** Lines with the same key are added up in one line. Keys sort debits first. */
function lineKey(line: Line): string {
  const { vat, internal } = line;
  const buyer = buyerOf(line);
  return JSON.stringify([
    line.side === 'debit' ? 0 : 1,
    line.account,
    line.role,
    line.paymentType,
    line.rule,
    // A line with a VAT base is not added to a line without a base, because the base belongs to the complete amount of
    // its line.
    vat && [vat.group, canonicalAmount(vat.rate), vat.base !== null],
    line.dimensions,
    [internal.account, internal.dimension1, internal.dimension2],
    buyer && [buyer.vatNumber, buyer.countryCode],
  ]);
}

/**
 * Zero-rated sales are declared by the buyer's VAT number (ACCOUNTING worked example 10), so their summary lines keep
 * that number.
 */
function buyerOf({ role, vat, party }: Line): SummaryLine['buyer'] {
  if (role !== 'revenue' || vat === null || !(vat.rate ?? zero).isZero() || !party?.vatNumber) return null;
  return { vatNumber: party.vatNumber, countryCode: party.countryCode };
}

/** Compares by code unit, so that the order (and the hash) does not depend on the locale. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function summaryId(installation: InstallationId, summary: DraftSummary, n: number): string {
  return `${installation}/summary/${summary.date}-${summary.departmentId ?? 'none'}/${n}`;
}

/** The text of a summary. */
export function summaryDescription({
  date,
  departmentId,
  isCorrection,
  isLate,
  vatPeriod,
}: Pick<DailySummary, 'date' | 'departmentId' | 'isCorrection' | 'isLate' | 'vatPeriod'>): string {
  return entryDescriptions.summary({ date, departmentId, isCorrection, latePeriod: isLate ? vatPeriod : null });
}
