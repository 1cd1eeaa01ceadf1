// The oracle's reading of R3, R8 and "Dates" in ACCOUNTING: what a verdict requires, given the entry in force, locked
// periods, late documents and decisions.
import type { BookedEntry } from './books.ts';
import type { Memory } from './broken.ts';
import type { Conditions } from './conditions.ts';
import type { Verdict } from './oracle-terms.ts';

export type LateDecision = 'wait' | 'redate' | 'as_dated' | 'accept_date';

/** The possible decisions for each problem. */
export const decidable: Record<string, readonly LateDecision[]> = {
  period_locked: ['redate', 'as_dated', 'wait'],
  change_held: ['redate', 'as_dated', 'wait'],
  date_implausible: ['accept_date', 'redate', 'wait'],
  dated_before_start: ['redate', 'wait'],
};

/** A decision with its version: the entry in force, and the facts or the state that require another entry. */
export interface Decided {
  decision: LateDecision;
  version: string;
}

export interface Wanted {
  state: string;
  reversalOn: string | null;
  entryOn: string | null;
  problem: string | boolean;
  /**
   * True if the document was late at a close of our books and still waits. Reopening the books does not post the
   * document.
   */
  isLate: boolean;
}

type Posted = Extract<Verdict, { state: 'posted' }>;

const ofShares = ['vat', 'prepayment_vat'];

/**
 * The version of a document to which a decision applies: the entry that it would become. Shares of prepayments are not part of the version, because
 * they depend on other postings.
 */
export function versionAsked(verdict: Verdict, standing: BookedEntry | null): string {
  if (verdict.state !== 'posted') return JSON.stringify([standing?.id ?? null, verdict.state]);
  const lines = verdict.lines
    .filter(({ role }) => verdict.share === null || verdict.share === undefined || !ofShares.includes(role))
    .map(({ role, account, amount, party, vat }) => JSON.stringify([role, account, amount.toFixed(), party, vat]));
  return JSON.stringify([standing?.id ?? null, withoutShares(verdict.facts), lines.sort()]);
}

export const withoutShares = (facts: string): string =>
  JSON.stringify(JSON.parse(facts), (key, value: unknown) => (key === 'shares' ? null : value));

/**
 * The required result of a judgement. `everPosted` is the state before it. `isOther` is true if only the mapping
 * requires another entry, which must be posted.
 */
export function wantedOf(
  verdict: Verdict,
  standing: BookedEntry | null,
  everPosted: boolean,
  memory: Memory,
  now: Conditions,
  isOther: boolean,
): Wanted {
  const nothing = { reversalOn: null, entryOn: null, problem: false, isLate: false };
  if (verdict.state === 'held')
    return { ...nothing, state: standing ? 'posted' : 'held', problem: true, isLate: memory.isLate };
  if (verdict.state === 'posted' && standing && !isOther && memory.facts === verdict.facts)
    return { ...nothing, state: 'posted' };
  const decided = memory.decisions.filter(({ version }) => version === versionAsked(verdict, standing));
  const lock = decided.map(({ decision }) => decision).findLast((decision) => decision !== 'accept_date') ?? null;
  if (verdict.state !== 'posted') {
    if (standing) {
      const state = verdict.state === 'before_start' ? 'before_start' : 'reversed';
      return corrected(standing, null, lock, state, memory, now);
    }
    const state = everPosted && verdict.state !== 'before_start' ? 'reversed' : verdict.state;
    return { ...nothing, state };
  }
  const doubt = doubtOf(verdict, now);
  let date = verdict.date;
  // A document that was posted with a doubtful date keeps its day when its mapping changes.
  if (doubt !== null && isOther && standing) date = standing.date;
  else if (doubt !== null) {
    const accepted = doubt.problem === 'date_implausible' && (lock === 'as_dated' || decided.some(isAccepted));
    if (doubt.from !== null && lock === 'redate') date = later(date, doubt.from);
    else if (!accepted) {
      const state = standing ? 'posted' : 'held';
      return { ...nothing, state, problem: doubt.problem, isLate: memory.isLate };
    }
  }
  if (standing) return corrected(standing, { ...verdict, date }, lock, 'posted', memory, now);
  const departments = verdict.lines.map((line) => line.department);
  const open = firstOpen(date, departments, now);
  if (posts(open !== date, lock, memory, now)) return { ...nothing, state: 'posted', entryOn: open };
  const isLate = memory.isLate || (open !== date && closedByUs(date, now));
  return { ...nothing, state: 'held', problem: 'period_locked', isLate };
}

const isAccepted = ({ decision }: Decided): boolean => decision === 'accept_date';

/** True if the document is posted now, on the first open day. */
function posts(isLocked: boolean, decided: LateDecision | null, { isLate }: Memory, now: Conditions): boolean {
  switch (decided) {
    case 'redate':
      return true;
    case 'as_dated':
      return !isLocked;
    case 'wait':
      return false;
    default:
      return isLocked ? now.mapping.policies.locked_period === 'redate' : !isLate;
  }
}

function corrected(
  standing: BookedEntry,
  next: Posted | null,
  decided: LateDecision | null,
  state: string,
  memory: Memory,
  now: Conditions,
): Wanted {
  const before = standing.lines.map((line) => line.departmentId!);
  const after = next?.lines.map((line) => line.department) ?? [];
  const locked = [
    ...(firstOpen(standing.date, before, now) === standing.date ? [] : [standing.date]),
    ...(next === null || firstOpen(next.date, after, now) === next.date ? [] : [next.date]),
  ];
  if (!posts(locked.length > 0, decided, memory, now)) {
    const isLate = memory.isLate || locked.some((date) => closedByUs(date, now));
    return { state: 'posted', reversalOn: null, entryOn: null, problem: 'change_held', isLate };
  }
  if (locked.length === 0)
    return { state, reversalOn: standing.date, entryOn: next?.date ?? null, problem: false, isLate: false };
  const day = next === null ? standing.date : later(standing.date, next.date);
  const open = firstOpen(day, [...before, ...after], now);
  return { state, reversalOn: open, entryOn: next === null ? null : open, problem: false, isLate: false };
}

/**
 * The problem that keeps a date out of the books until a decision, and the day from which it would be posted instead.
 */
function doubtOf({ date, dating }: Posted, now: Conditions): { problem: string; from: string | null } | null {
  if (now.startDate !== null && date < now.startDate) return { problem: 'dated_before_start', from: now.startDate };
  if (date > shifted(now.today, 1)) return { problem: 'date_in_future', from: null };
  const { recorded, mayBeOld } = dating;
  if (recorded === null || mayBeOld || date >= monthsBefore(recorded, now.mapping.policies.oldest_months)) return null;
  return { problem: 'date_implausible', from: recorded };
}

function closedByUs(date: string, { closedThrough }: Conditions): boolean {
  return closedThrough !== null && date <= closedThrough;
}

function firstOpen(date: string, departments: number[], { mapping, closedThrough, locks }: Conditions): string {
  let open = date;
  if (closedThrough !== null && closedThrough >= open) open = shifted(closedThrough, 1);
  if (!mapping.policies.follow_source_lock) return open;
  for (const department of departments) {
    const lock = locks.get(department);
    if (lock !== undefined && lock > open) open = lock;
  }
  return open;
}

const later = (one: string, other: string): string => [one, other].sort().at(-1)!;

function shifted(date: string, days: number): string {
  return new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10);
}

/** The same day of an earlier month, or the last day of a shorter month. */
function monthsBefore(date: string, months: number): string {
  const first = new Date(`${date.slice(0, 7)}-01T00:00:00Z`);
  first.setUTCMonth(first.getUTCMonth() - months + 1);
  const last = new Date(first.getTime() - 86_400_000).toISOString().slice(0, 10);
  const same = `${last.slice(0, 8)}${date.slice(8)}`;
  return [same, last].sort()[0]!;
}
