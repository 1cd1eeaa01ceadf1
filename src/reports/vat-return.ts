/**
 * A VAT return beside the books (ACCOUNTING "Dates"). Pure: lines of the books now and lines of the returns go in,
 * sections come out. Every line of the books is in one section. Sections are sums of lines:
 *
 * - filed: what the return's versions declare, on-time and late lines;
 * - since: the return's lines by the books now, less what it declares;
 * - late: late lines that no return has taken;
 * - taken elsewhere: late lines of the period's days that another return has taken;
 * - cancelled out: entries that cancel each other and were never sent to the ERP.
 */
import { type Money, zero } from '../domain/money.ts';
import type { FiledLine } from '../ledger/vat-returns.ts';
import type { VatLine, VatPeriod } from './vat-lines.ts';

/** A line of a section. Its amounts are those of the section: `since` has differences. */
export interface ReturnLine extends Omit<VatLine, 'isSettled' | 'takenBy'> {
  /** The version of the return that declares it; null if none does. */
  version: number | null;
  /** The return that took this late line. */
  takenBy: string | null;
}

export interface VatReturnView {
  filed: ReturnLine[];
  since: ReturnLine[];
  late: ReturnLine[];
  takenElsewhere: ReturnLine[];
  cancelledOut: ReturnLine[];
  /** On-time lines that are dated in the period, but belong to the return of another period. */
  ofOtherPeriods: ReturnLine[];
}

/** Whether a line belongs to the period's return because of its document's day. */
function isOnTimeIn(line: VatLine, period: VatPeriod): boolean {
  return !line.isLate && !line.isSettled && isWithin(line.day, period);
}

function isWithin(day: string, { from, through }: VatPeriod): boolean {
  return from <= day && day <= through;
}

export function compareReturn(period: VatPeriod, now: readonly VatLine[], filed: readonly FiledLine[]): VatReturnView {
  const taken = new Set(filed.flatMap(({ entry, isLate }) => (isLate ? [entry] : [])));
  const isDeclarable = (line: VatLine) =>
    isOnTimeIn(line, period) || (line.isLate && !line.isSettled && taken.has(line.entry));
  const isDated = ({ date }: VatLine) => isWithin(date, period);
  const free = now.filter((line) => !isDeclarable(line));
  const open = free.filter(({ isSettled }) => !isSettled);
  const late = open.filter(({ isLate }) => isLate);
  return {
    filed: filed.map((line) => ({ ...line, takenBy: null })),
    since: differences(now.filter(isDeclarable), filed),
    late: late.filter(({ takenBy }) => takenBy === null).map(shown),
    takenElsewhere: late.filter((line) => line.takenBy !== null && isDated(line)).map(shown),
    cancelledOut: free.filter((line) => line.isSettled && isDated(line)).map(shown),
    ofOtherPeriods: open.filter((line) => !line.isLate && isDated(line)).map(shown),
  };
}

function shown({ isSettled: _, ...line }: VatLine): ReturnLine {
  return { ...line, version: null };
}

/** The present lines less the filed lines, by entry, group, kind and lateness. Lines without a difference are left out. */
function differences(now: readonly VatLine[], filed: readonly FiledLine[]): ReturnLine[] {
  const found = new Map<string, ReturnLine>();
  const add = (line: ReturnLine, sign: 1 | -1) => {
    const key = JSON.stringify([line.entry, line.group, line.rate, line.kind, line.isLate]);
    const before = found.get(key);
    const plus = (one: Money, other: Money) => (sign === 1 ? one.plus(other) : one.minus(other));
    const [base, tax] = [plus(before?.base ?? zero, line.base), plus(before?.tax ?? zero, line.tax)];
    found.set(key, { ...(before ?? line), base, tax });
  };
  for (const line of now) add({ ...shown(line), takenBy: null }, 1);
  for (const line of filed) add({ ...line, version: null, takenBy: null }, -1);
  return [...found.values()].filter(({ base, tax }) => !base.isZero() || !tax.isZero());
}

export interface ReturnToFile {
  /** The lines of the next version: those of `since`, and the late lines that it takes. */
  lines: ReturnLine[];
  /** The chosen entries that the return cannot take, because they are not late or another return has taken them. */
  unknown: string[];
}

/**
 * The next version of a period's return: the lines of `since`, and late lines. By default, the first version takes all late lines
 * that no return has taken, and a correction takes those of its period.
 */
export function returnToFile(
  period: VatPeriod,
  { since, late }: VatReturnView,
  { isCorrection, take }: { isCorrection: boolean; take: readonly string[] | null },
): ReturnToFile {
  const chosen = take === null ? null : new Set(take);
  const takes = (line: ReturnLine) =>
    chosen === null ? !isCorrection || isWithin(line.day, period) : chosen.has(line.entry);
  const known = new Set(late.map(({ entry }) => entry));
  return {
    lines: [...since, ...late.filter(takes)],
    unknown: [...(chosen ?? [])].filter((entry) => !known.has(entry)),
  };
}

/** The parts that add up to the VAT accounts in the days of the period. Parts that are zero are left out. */
export function tieOf(
  period: VatPeriod,
  { filed, since, late, takenElsewhere, cancelledOut, ofOtherPeriods }: VatReturnView,
): { part: TiePart; tax: Money }[] {
  const dated = (lines: readonly ReturnLine[], isIn: boolean) =>
    taxOf(lines.filter(({ date }) => isWithin(date, period) === isIn));
  const parts: [TiePart, Money][] = [
    ['filed', taxOf(filed)],
    ['since', taxOf(since)],
    ['late', dated(late, true)],
    ['taken_elsewhere', taxOf(takenElsewhere)],
    ['cancelled_out', taxOf(cancelledOut)],
    ['of_other_periods', taxOf(ofOtherPeriods)],
    ['other_days', dated([...filed, ...since], false).negated()],
  ];
  return parts.flatMap(([part, tax]) => (tax.isZero() ? [] : [{ part, tax }]));
}

export type TiePart =
  | 'filed'
  | 'since'
  | 'late'
  | 'taken_elsewhere'
  | 'cancelled_out'
  | 'of_other_periods'
  | 'other_days';

function taxOf(lines: readonly ReturnLine[]): Money {
  return lines.reduce((sum, { tax }) => sum.plus(tax), zero);
}
