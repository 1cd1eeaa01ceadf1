import { daysFrom, latestDate } from '../domain/dates.ts';
import type { DraftEntry } from '../domain/entry.ts';
import type { Problem } from '../domain/problems.ts';
import type { CalendarDate } from '../terms.ts';
import type { ProblemCode } from '../texts/problems.ts';
import type {
  Dating,
  Judgement,
  LateDecision,
  LateStanding,
  LockDecision,
  PostedBefore,
  PostingContext,
} from './types.ts';

/** Whether the source recorded a document on or after the cut-over. */
export function isSinceStart(recorded: CalendarDate | null, { startDate }: PostingContext): boolean {
  return recorded !== null && startDate !== null && recorded >= startDate;
}

/**
 * The version of a document that a decision is about: the entry in force, and the facts, or the state, that ask for another
 * one. A change of either needs a decision of its own.
 */
export function versionOf(judgement: Judgement, { inForce }: Pick<PostedBefore, 'inForce'>): string {
  return `${inForce?.id ?? 'new'} ${judgement.entry?.inputHash ?? judgement.state}`;
}

/** What was decided about the present version of a document. */
export interface Decided {
  version: string;
  /** About the lock: the last decision. */
  lock: LockDecision | null;
  acceptsDate: boolean;
}

export function decidedOf(judgement: Judgement, before: PostedBefore): Decided {
  const version = versionOf(judgement, before);
  const own = (before.decisions ?? []).filter((each) => each.version === version).map(({ decision }) => decision);
  return {
    version,
    lock: own.find(isOfLock) ?? null,
    acceptsDate: own.includes('accept_date'),
  };
}

function isOfLock(decision: LateDecision['decision']): decision is LockDecision {
  return decision !== 'accept_date' && decision !== 'confirm_gone';
}

/** The standing of a document that is held now. `isOurLock`: by a close of our own books. */
export function standing(decided: Decided, before: PostedBefore, isOurLock: boolean): LateStanding {
  const atClose = isOurLock || (before.late?.atClose ?? false);
  return { version: decided.version, atClose, decision: decided.lock };
}

/** A date that posting does not take as it is. `from`: the day from which it would be posted instead; null: none. */
export interface DateDoubt {
  problem: Problem;
  from: CalendarDate | null;
}

/** What is doubtful about the date of an entry; null where nothing is (ACCOUNTING "Dates"). */
export function doubtOf(entry: DraftEntry, dating: Dating | undefined, context: PostingContext): DateDoubt | null {
  const { startDate, today = null, mapping } = context;
  const { documentDate: date, document, description } = entry;
  const doubt = (code: ProblemCode, why: string, from: CalendarDate | null): DateDoubt => ({
    problem: { code, document, message: `${description}: it is dated ${date}, ${why}` },
    from,
  });
  if (startDate !== null && date < startDate) {
    return doubt(
      'dated_before_start',
      `before start_date ${startDate}, and was recorded on ${dating?.recorded ?? 'or after it'}`,
      startDate,
    );
  }
  if (today !== null && date > daysFrom(today, 1)) return doubt('date_in_future', `and today is ${today}`, null);
  const recorded = dating?.recorded ?? null;
  const oldest = mapping.policies.oldest_months;
  if (recorded === null || dating?.mayBeOld === true || date >= monthsBefore(recorded, oldest)) return null;
  return doubt('date_implausible', `more than ${oldest} months before it was recorded on ${recorded}`, recorded);
}

/**
 * The entry with a date that can be posted, by what was decided about a doubtful one; null where nothing was: it stays held. A
 * date in the future is not decided about.
 */
export function withoutDoubt(entry: DraftEntry, { problem, from }: DateDoubt, decided: Decided): DraftEntry | null {
  if (from === null) return null;
  if (decided.lock === 'redate') return { ...entry, date: latestDate(entry.date, from) };
  const isAccepted = decided.acceptsDate || decided.lock === 'as_dated';
  return problem.code === 'date_implausible' && isAccepted ? entry : null;
}

/** The same day so many months before; the month's last day where it has fewer. */
function monthsBefore(date: CalendarDate, months: number): CalendarDate {
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number);
  const index = year * 12 + month - 1 - months;
  if (index < 12) return '0001-01-01';
  const [y, m] = [Math.floor(index / 12), (index % 12) + 1];
  const last = new Date(Date.UTC(y, m, 0)).getUTCDate();
  const two = (n: number) => String(n).padStart(2, '0');
  return `${String(y).padStart(4, '0')}-${two(m)}-${two(Math.min(day, last))}`;
}
