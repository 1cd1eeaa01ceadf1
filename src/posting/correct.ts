import { firstOpenDay, latestDate } from '../domain/dates.ts';
import { type DraftEntry, type EntryReason, reversedLines } from '../domain/entry.ts';
import type { ProblemCode } from '../domain/problems.ts';
import { storable } from '../domain/text.ts';
import type { CalendarDate, DocumentRef, DocumentState } from '../terms.ts';
import { changedFields, changesText, effectOf, effectText } from './changes.ts';
import { hashOfPosted, reversalHash } from './hash.ts';
import type { Decision, Judgement, PostedBefore, PostingContext } from './types.ts';

/** Why a posted document is reversed when it comes to one of these states (ACCOUNTING R3). */
const reversalReasons: Partial<Record<DocumentState, EntryReason>> = {
  voided: 'voided',
  not_final: 'not_final_any_more',
  not_money: 'not_money_any_more',
  gone: 'gone',
  nothing_to_post: 'source_changed',
  before_start: 'source_changed',
};

/**
 * Decides what to write, given what the books hold (ACCOUNTING R3, R8, "Locked"): nothing while the posted facts are unchanged,
 * a reversal and its successor when they changed. A held judgement never reverses an entry.
 */
export function decide(judgement: Judgement, before: PostedBefore, context: PostingContext): Decision {
  const { inForce } = before;
  if (judgement.state === 'held') return keep(judgement, inForce ? 'posted' : 'held');
  if (judgement.entry) {
    if (!inForce) return postNew(judgement, judgement.entry, context);
    if (postsSameFacts(judgement, inForce)) return keep(remarkingName(judgement, judgement.entry, inForce), 'posted');
    return correct(judgement, inForce, judgement.entry, 'source_changed', context);
  }
  if (!inForce) {
    // `before_start` explains better than `reversed` why the document is not in the books.
    const reversed = before.everPosted && judgement.state !== 'before_start';
    return keep(judgement, reversed ? 'reversed' : judgement.state);
  }
  if (judgement.state === 'before_start' && isBeforeStart(inForce.documentDate, context)) {
    return keepPostedBeforeStart(judgement, inForce, context);
  }
  return correct(judgement, inForce, null, reversalReasons[judgement.state] ?? 'source_changed', context);
}

type InForce = NonNullable<PostedBefore['inForce']>;

/**
 * Whether the facts are those that the entry in force was posted from. Older entries count the payer's name among them: they
 * are compared as if the payer still had the name that is in the entry.
 */
export function postsSameFacts({ entry, postedFacts }: Judgement, inForce: InForce): boolean {
  if (!entry) return false;
  if (inForce.inputHash === entry.inputHash) return true;
  return postedFacts !== undefined && hashOfPosted(postedFacts, payerName(inForce)) === inForce.inputHash;
}

/** A changed name alone posts nothing (ACCOUNTING R8): it is remarked. A name that was erased on either side is no change. */
function remarkingName(judgement: Judgement, entry: DraftEntry, inForce: InForce): Judgement {
  const [now, posted] = [payerName(entry), payerName(inForce)];
  if (now === null || posted === null || storable(now) === storable(posted)) return judgement;
  const message = `the payer’s name in the source is not the one in ${inForce.id} any more`;
  return { ...judgement, reports: [...judgement.reports, problem('payer_name_changed', entry.document, message)] };
}

/** The name of the payer snapshot, which stands on the line of the receivable, if there is one. */
function payerName({ lines }: Pick<DraftEntry, 'lines'>): string | null {
  const line = lines.find(({ role }) => role === 'receivable' || role === 'opening_receivable') ?? lines[0];
  return line?.party?.name ?? null;
}

function postNew(judgement: Judgement, entry: DraftEntry, context: PostingContext): Decision {
  const open = openDay(entry.date, [entry], context);
  if (open === entry.date) return write(judgement, 'posted', [entry]);
  if (context.mapping.policies.locked_period === 'redate')
    return write(judgement, 'posted', [{ ...entry, date: open }]);
  const message = `${entry.description}: ${entry.date} is closed, the first open day is ${open}`;
  return { ...keep(judgement, 'held'), problem: problem('period_locked', entry.document, message) };
}

/**
 * Reverses the entry in force and posts its successor, if any; both on one open day when either date is locked, or not at all
 * where the policy is to hold.
 */
export function correct(
  judgement: Judgement,
  inForce: InForce,
  successor: DraftEntry | null,
  reason: EntryReason,
  context: PostingContext,
): Decision {
  const parts = successor ? [inForce, successor] : [inForce];
  const [latest, ...others] = parts.map(({ date }) => date) as [CalendarDate, ...CalendarDate[]];
  const locked = parts.filter((part) => openDay(part.date, [part], context) !== part.date);
  const open = openDay(latestDate(latest, ...others), parts, context);
  if (locked.length > 0 && context.mapping.policies.locked_period === 'hold') {
    const dates = [...new Set(locked.map(({ date }) => date))].join(' and ');
    const fields = successor ? changesText(changedFields(inForce, successor, context.decimals)) : '';
    const effect = effectText(effectOf(inForce, successor), context.decimals);
    const what = `${change(reason)}${fields && ` (${fields})`}`;
    const message = `${inForce.description}: ${what}, but ${dates} is closed; ${inForce.id} stays in force. The correction would do ${effect || 'nothing'} to the accounts. The first open day is ${open}`;
    return { ...keep(judgement, 'posted'), problem: problem('change_held', inForce.document, message) };
  }
  const dateOf = (entry: DraftEntry) => (locked.length > 0 ? open : entry.date);
  const reversal = reversalOf(inForce, dateOf(inForce), reason);
  if (successor) return write(judgement, 'posted', [reversal, { ...successor, date: dateOf(successor), reason }]);
  return write(judgement, judgement.state === 'before_start' ? 'before_start' : 'reversed', [reversal]);
}

/** The entry that takes another one out of the books, on a day. */
export function reversalOf(inForce: InForce, date: CalendarDate, reason: EntryReason): DraftEntry {
  return {
    document: inForce.document,
    date,
    documentDate: inForce.documentDate,
    description: `Reversal of ${inForce.id}: ${inForce.description}, ${change(reason)}`,
    reason,
    reverses: inForce.id,
    original: inForce.original,
    inputHash: reversalHash(inForce.id),
    lines: reversedLines(inForce.lines),
  };
}

/** The document's date has not changed, so a new start_date has put it before the cut-over: reported, not reversed. */
function keepPostedBeforeStart(judgement: Judgement, inForce: InForce, context: PostingContext): Decision {
  const message = `${inForce.id} is in the books, dated before the new start_date ${context.startDate}`;
  const report = problem('opening_changed', inForce.document, message);
  return { ...keep(judgement, 'posted'), reports: [...judgement.reports, report] };
}

/** The first day on or after `date` that is open for all departments of the entries. */
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

function change(reason: EntryReason): string {
  const words: Record<EntryReason, string> = {
    posted: 'posted',
    source_changed: 'changed in the source',
    voided: 'voided in the source',
    not_final_any_more: 'no longer final in the source',
    not_money_any_more: 'no longer money in the source',
    gone: 'gone from the source',
    mapping_changed: 'mapped differently',
    redated: 'posted on another day, since its period is closed in the ERP',
  };
  return words[reason];
}

/** Writes nothing. */
function keep(judgement: Judgement, state: DocumentState): Decision {
  const { problem, reports, refetch, documentDate } = judgement;
  return { state, entries: [], problem, reports, refetch, documentDate };
}

function write(judgement: Judgement, state: DocumentState, entries: DraftEntry[]): Decision {
  return { ...keep(judgement, state), entries };
}

function problem(code: ProblemCode, document: DocumentRef, message: string) {
  return { code, document, message };
}
