import { firstOpenDay, latestDate } from '../domain/dates.ts';
import { type DraftEntry, type EntryReason, reversedLines } from '../domain/entry.ts';
import type { CalendarDate, DocumentRef, DocumentState } from '../terms.ts';
import { entryDescriptions, entryReasons } from '../texts/entries.ts';
import { postingFindings } from '../texts/findings/posting.ts';
import type { ProblemCode } from '../texts/problems.ts';
import { changedFields, changesText, effectOf, effectText } from './changed-fields.ts';
import { receivables } from './entry-amounts.ts';
import { hashOfPosted, reversalHash } from './hash.ts';
import { type Decided, decidedOf, doubtOf, standing, withoutDoubt } from './late.ts';
import { remarkingName } from './payer-name.ts';
import { usedPrepaymentFacts } from './payment.ts';
import { givesBackTheSame } from './prepayment-vat.ts';
import type { Decision, Judgement, LateStanding, PostedBefore, PostingContext } from './types.ts';
import { movesTheSame } from './vat-due-entry.ts';

/** The reason for reversing a posted document in each of these states (ACCOUNTING R3). */
const reversalReasons: Partial<Record<DocumentState, EntryReason>> = {
  voided: 'voided',
  not_final: 'not_final_any_more',
  not_money: 'not_money_any_more',
  gone: 'gone',
  nothing_to_post: 'source_changed',
  before_start: 'source_changed',
};

/**
 * Decides which entries to append, given the document's history in the books (ACCOUNTING R3, R8, "Locked"). Unchanged
 * facts and shares of prepayments append nothing; changed ones append a reversal and its successor. A held judgement
 * never reverses an entry.
 */
export function decide(judgement: Judgement, before: PostedBefore, context: PostingContext): Decision {
  const { inForce } = before;
  // The document may also be late. Its present problem does not change that.
  if (judgement.state === 'held')
    return { ...keep(judgement, inForce ? 'posted' : 'held'), late: before.late?.atClose ? before.late : null };
  if (judgement.entry) {
    if (inForce && postsSameFacts(judgement, inForce) && movesSameVat(judgement.entry, inForce))
      return keep(remarkingName(judgement, judgement.entry, inForce), 'posted');
    const decided = decidedOf(judgement, before);
    const doubt = doubtOf(judgement.entry, judgement.dating, context);
    const entry = doubt === null ? judgement.entry : withoutDoubt(judgement.entry, doubt, decided);
    if (entry === null) {
      const late = standing(judgement, decided, before, false);
      const held = keep(judgement, inForce ? 'posted' : 'held');
      return { ...held, problem: doubt?.problem ?? null, late };
    }
    if (!inForce) return postNew(judgement, entry, before, context);
    return correct(judgement, before, inForce, entry, reasonOf(judgement, judgement.entry, inForce), context);
  }
  if (!inForce) {
    // `before_start` explains better than `reversed` why the document is not in the books.
    const reversed = before.everPosted && judgement.state !== 'before_start';
    return keep(judgement, reversed ? 'reversed' : judgement.state);
  }
  // A document that was posted on another day by a decision has an entry after the start date; that entry is reversed.
  if (judgement.state === 'before_start' && isBeforeStart(inForce.date, context)) {
    return keepPostedBeforeStart(judgement, inForce, context);
  }
  return correct(judgement, before, inForce, null, reversalReasons[judgement.state] ?? 'source_changed', context);
}

type InForce = NonNullable<PostedBefore['inForce']>;

/** Whether the entry in force was posted from the same facts. */
export function postsSameFacts({ entry }: Judgement, inForce: InForce): boolean {
  return entry?.inputHash === inForce.inputHash;
}

/** Whether both move the same VAT of prepayments and of invoices. The facts of the document do not show this. */
function movesSameVat(one: DraftEntry, other: DraftEntry): boolean {
  return givesBackTheSame(one, other) && movesTheSame(one, other);
}

function reasonOf(judgement: Judgement, entry: DraftEntry, inForce: InForce): EntryReason {
  if (isMatchedOnly(judgement, inForce)) return 'prepayment_matched';
  const isMoveOnly = postsSameFacts(judgement, inForce) && givesBackTheSame(entry, inForce);
  return isMoveOnly ? 'vat_due_changed' : 'source_changed';
}

/** Whether the only difference from the entry in force is the client whose prepayment was used (R7). */
function isMatchedOnly({ entry, postedFacts }: Judgement, inForce: InForce): boolean {
  const line = inForce.lines.find(({ rule, role }) => rule === 'R7' && !receivables.includes(role));
  if (!entry || !postedFacts || line === undefined) return false;
  const client = /^client:(\d+)$/.exec(line.party?.code ?? '')?.[1];
  const [invoiceClient = null] = postedFacts.payer ?? [];
  if (invoiceClient !== null && typeof invoiceClient !== 'number') return false;
  // Without a match, the liability of a use on a counter sale is under the cash customer.
  const liable = client === undefined ? null : Number(client);
  const before = { ...postedFacts, after: usedPrepaymentFacts(liable, invoiceClient) };
  return inForce.inputHash !== entry.inputHash && inForce.inputHash === hashOfPosted(before);
}

function postNew(judgement: Judgement, entry: DraftEntry, before: PostedBefore, context: PostingContext): Decision {
  const decided = decidedOf(judgement, before);
  const open = openDay(entry.date, [entry], context);
  const isLocked = open !== entry.date;
  const reason = before.reversedFor === 'gone' ? 'came_back' : entry.reason;
  if (mayPost(isLocked, decided, before, context))
    return write(judgement, 'posted', [{ ...entry, date: open, reason }]);
  const late = standing(judgement, decided, before, isLocked && isClosedByUs(entry.date, context));
  const { description, date } = entry;
  const why = isLocked ? postingFindings.locked({ date, open }) : openAgain(date, late);
  const message = postingFindings.heldNew({ description, why, decided: decisionText(late) });
  return { ...keep(judgement, 'held'), problem: problem('period_locked', entry.document, message), late };
}

/**
 * Whether to post now, on the first open day. A decision comes first. Without one, the policy decides if the day is
 * locked; if it is open, the document is posted unless it was late at a close of our books (ACCOUNTING "Late
 * documents").
 */
function mayPost(isLocked: boolean, { lock }: Decided, { late }: PostedBefore, context: PostingContext): boolean {
  if (lock === 'wait' || lock === 'leave_as_posted') return false;
  if (lock === 'redate') return true;
  if (isLocked) return lock === null && context.mapping.policies.locked_period === 'redate';
  return lock === 'as_dated' || late?.atClose !== true;
}

function isClosedByUs(date: CalendarDate, { closedThrough }: PostingContext): boolean {
  return closedThrough !== null && date <= closedThrough;
}

function openAgain(dates: string, { atClose }: LateStanding): string {
  return atClose ? postingFindings.openAgain({ dates }) : postingFindings.open({ dates });
}

/** The last part of a held document's message. */
function decisionText({ decision }: LateStanding): string {
  if (decision === 'wait') return postingFindings.decidedToWait;
  return decision === 'as_dated' ? postingFindings.decidedAsDated : '';
}

/**
 * Reverses the entry in force and posts its successor, if any. If either date is locked, both get the first open day,
 * or are held if the policy says so.
 */
export function correct(
  judgement: Judgement,
  before: PostedBefore,
  inForce: InForce,
  successor: DraftEntry | null,
  reason: EntryReason,
  context: PostingContext,
): Decision {
  const decided = decidedOf(judgement, before);
  const parts = successor ? [inForce, successor] : [inForce];
  const [latest, ...others] = parts.map(({ date }) => date) as [CalendarDate, ...CalendarDate[]];
  const locked = parts.filter((part) => openDay(part.date, [part], context) !== part.date);
  const open = openDay(latestDate(latest, ...others), parts, context);
  if (!mayPost(locked.length > 0, decided, before, context)) {
    const late = standing(
      judgement,
      decided,
      before,
      locked.some(({ date }) => isClosedByUs(date, context)),
    );
    const datesOf = (some: DraftEntry[]) => [...new Set(some.map(({ date }) => date))].join(postingFindings.and);
    const why =
      locked.length > 0 ? postingFindings.lockedDays({ dates: datesOf(locked) }) : openAgain(datesOf(parts), late);
    const fields = successor ? changesText(changedFields(inForce, successor, context.decimals)) : '';
    const effect = effectText(effectOf(inForce, successor), context.decimals);
    const isDeclined = decided.lock === 'leave_as_posted';
    const texts = {
      description: inForce.description,
      change: entryReasons[reason],
      fields,
      entryId: inForce.id,
      effect,
    };
    const message = isDeclined
      ? postingFindings.declined(texts)
      : postingFindings.heldChange({
          ...texts,
          ...{ why, open: locked.length > 0 ? open : '', decided: decisionText(late) },
        });
    const code = isDeclined ? 'left_as_posted' : 'change_held';
    return { ...keep(judgement, 'posted'), problem: problem(code, inForce.document, message), late };
  }
  const dateOf = (entry: DraftEntry) => (locked.length > 0 ? open : entry.date);
  const reversal = reversalOf(inForce, dateOf(inForce), reason);
  if (successor) return write(judgement, 'posted', [reversal, { ...successor, date: dateOf(successor), reason }]);
  return write(judgement, judgement.state === 'before_start' ? 'before_start' : 'reversed', [reversal]);
}

/** A draft that reverses an entry on a given day. */
export function reversalOf(inForce: InForce, date: CalendarDate, reason: EntryReason): DraftEntry {
  return {
    document: inForce.document,
    date,
    documentDate: inForce.documentDate,
    description: entryDescriptions.reversal({
      entryId: inForce.id,
      description: inForce.description,
      change: entryReasons[reason],
    }),
    reason,
    reverses: inForce.id,
    original: inForce.original,
    inputHash: reversalHash(inForce.id),
    lines: reversedLines(inForce.lines),
  };
}

/** The document did not change; only start_date did. So the entry is reported and not reversed. */
function keepPostedBeforeStart(judgement: Judgement, inForce: InForce, context: PostingContext): Decision {
  const startDate = context.startDate ?? '';
  const message = postingFindings.postedBeforeNewStart({ entryId: inForce.id, startDate });
  const report = problem('opening_changed', inForce.document, message);
  return { ...keep(judgement, 'posted'), reports: [...judgement.reports, report] };
}

/** The first day on or after `date` that is open for all departments of the entries. */
/** Whether the day of an entry is closed, by any lock. */
export function isLocked(entry: DraftEntry, context: PostingContext): boolean {
  return openDay(entry.date, [entry], context) !== entry.date;
}

function openDay(date: CalendarDate, entries: DraftEntry[], context: PostingContext): CalendarDate {
  const { closedThrough, sourceLockDates, closedInErp = [], mapping } = context;
  const departments = entries.flatMap(({ lines }) => lines).map(({ departmentId }) => departmentId);
  const [first, ...others] = mapping.policies.follow_source_lock
    ? departments.flatMap((id) => (id === null ? [] : (sourceLockDates.get(id) ?? [])))
    : [];
  const earliestOpen = first === undefined ? null : latestDate(first, ...others);
  return firstOpenDay(date, { closedThrough, earliestOpen, closedDays: closedInErp });
}

function isBeforeStart(date: CalendarDate, context: PostingContext): boolean {
  return context.startDate !== null && date < context.startDate;
}

/** A decision that appends no entry. */
function keep(judgement: Judgement, state: DocumentState): Decision {
  const { problem, reports, refetch, documentDate } = judgement;
  return { state, entries: [], problem, reports, refetch, documentDate, late: null };
}

function write(judgement: Judgement, state: DocumentState, entries: DraftEntry[]): Decision {
  return { ...keep(judgement, state), entries };
}

function problem(code: ProblemCode, document: DocumentRef, message: string) {
  return { code, document, message };
}
