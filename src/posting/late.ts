import { daysFrom, latestDate } from '../domain/dates.ts';
import type { DraftEntry } from '../domain/entry.ts';
import type { Problem } from '../domain/problems.ts';
import type { CalendarDate } from '../terms.ts';
import { postingFindings } from '../texts/findings/posting.ts';
import type { ProblemCode } from '../texts/problems.ts';
import { entryContentHash } from './entry-content.ts';
import type {
  Dating,
  Judgement,
  LateDecision,
  LateStanding,
  LockDecision,
  PostedBefore,
  PostingContext,
} from './types.ts';

/** Whether the source recorded a document on or after the start date. */
export function isSinceStart(recorded: CalendarDate | null, { startDate }: PostingContext): boolean {
  return recorded !== null && startDate !== null && recorded >= startDate;
}

/**
 * What a decision is about: the entry in force, and the entry that the document would become, or its state if it
 * would have none. Other facts or another mapping with the same entry need no new decision. Nor does the VAT that a new
 * payment moves (R13), because it depends on the posting of its invoice.
 */
export function versionOf({ entry, state }: Judgement, { inForce }: Pick<PostedBefore, 'inForce'>): string {
  if (entry === null) return `${inForce?.id ?? 'new'} ${state}`;
  if (inForce !== null || entry.document.kind !== 'payment')
    return `${inForce?.id ?? 'new'} ${entryContentHash(entry)}`;
  const lines = entry.lines.filter(({ rule }) => rule !== 'R13');
  return `new ${entryContentHash({ ...entry, lines })}`;
}

/** Whether the version of a posted document has no entry, so that only a reversal would be posted (ACCOUNTING R3). */
export function isReversalOnly(version: string): boolean {
  return !/ [0-9a-f]{64}$/.test(version);
}

/** The decisions about the present version of a document. */
export interface Decided {
  /** The last decision about the lock. */
  lock: LockDecision | null;
  acceptsDate: boolean;
}

export function decidedOf(judgement: Judgement, before: PostedBefore): Decided {
  const { decisions = [] } = before;
  if (decisions.length === 0) return undecided;
  const version = versionOf(judgement, before);
  const own = decisions.filter((each) => each.version === version).map(({ decision }) => decision);
  return {
    lock: own.find(isOfLock) ?? null,
    acceptsDate: own.includes('accept_date'),
  };
}

const undecided: Decided = { lock: null, acceptsDate: false };

function isOfLock(decision: LateDecision['decision']): decision is LockDecision {
  return decision !== 'accept_date' && decision !== 'confirm_gone';
}

/** The late state of a held document. `isOurLock` is true if a close of our books holds it. */
export function standing(
  judgement: Judgement,
  { lock }: Decided,
  before: PostedBefore,
  isOurLock: boolean,
): LateStanding {
  const atClose = isOurLock || (before.late?.atClose ?? false);
  return { version: versionOf(judgement, before), atClose, decision: lock };
}

/**
 * A date on which a document is not posted without a decision. `from` is the day on which it can be posted instead, or
 * null.
 */
export interface DateDoubt {
  problem: Problem;
  from: CalendarDate | null;
}

/** The doubt about the date of an entry, or null (ACCOUNTING "Dates"). */
export function doubtOf(entry: DraftEntry, dating: Dating | undefined, context: PostingContext): DateDoubt | null {
  const { startDate, today = null, mapping } = context;
  const { documentDate: date, document, description } = entry;
  const doubt = (code: ProblemCode, message: string, from: CalendarDate | null): DateDoubt => ({
    problem: { code, document, message: postingFindings.named({ name: description, message }) },
    from,
  });
  const recorded = dating?.recorded ?? null;
  if (startDate !== null && date < startDate) {
    const dated = postingFindings.datedBeforeStart({ date, startDate });
    const message =
      recorded === null
        ? postingFindings.recordedLater({ dated })
        : postingFindings.recordedOn({ dated, at: recorded });
    return doubt('dated_before_start', message, startDate);
  }
  if (today !== null && date > daysFrom(today, 1)) {
    return doubt('date_in_future', postingFindings.inFuture({ date, today }), null);
  }
  const oldest = mapping.policies.oldest_months;
  if (recorded === null || dating?.mayBeOld === true || date >= monthsBefore(recorded, oldest)) return null;
  return doubt('date_implausible', postingFindings.tooOld({ date, months: oldest, recorded }), recorded);
}

/**
 * The entry with the date that was decided, or null without a decision: then the document stays held. Dates in the
 * future cannot be decided.
 */
export function withoutDoubt(entry: DraftEntry, { problem, from }: DateDoubt, decided: Decided): DraftEntry | null {
  if (from === null) return null;
  if (decided.lock === 'redate') return { ...entry, date: latestDate(entry.date, from) };
  const isAccepted = decided.acceptsDate || decided.lock === 'as_dated';
  return problem.code === 'date_implausible' && isAccepted ? entry : null;
}

/** Moves a date back by `months`: to the same day, or to the last day of a shorter month. */
function monthsBefore(date: CalendarDate, months: number): CalendarDate {
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number);
  const index = year * 12 + month - 1 - months;
  if (index < 12) return '0001-01-01';
  const [y, m] = [Math.floor(index / 12), (index % 12) + 1];
  const last = new Date(Date.UTC(y, m, 0)).getUTCDate();
  const two = (n: number) => String(n).padStart(2, '0');
  return `${String(y).padStart(4, '0')}-${two(m)}-${two(Math.min(day, last))}`;
}
