import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { signed } from '../domain/entry.ts';
import { type Money, zero } from '../domain/money.ts';
import { canonicalAmount } from '../ledger/journal/entry-hash.ts';
import { loadEntries } from '../ledger/journal/read-entries.ts';
import { loadSummaries } from '../ledger/summaries/read-summaries.ts';
import { summariseEntries } from '../ledger/summaries/summarise.ts';
import type { ChainedSummary, DailySummary, SummaryLine } from '../ledger/summaries/summary.ts';
import type { CalendarDate, DocumentRef } from '../terms.ts';
import { moveEntries } from './move-entries.ts';
import { openDayFor } from './open-day.ts';

/** Summaries of one day and department that are to be moved to another day. */
export interface LateDay {
  date: CalendarDate;
  departmentId: number | null;
  summaries: [DailySummary, ...DailySummary[]];
}

/** The entries that moving a day's summaries appended. */
interface MovedDay {
  /** The documents whose entries were moved. */
  documents: DocumentRef[];
  /**
   * Summaries that reverse the moved ones on their own day, one for each VAT period. Empty if the moved ones cancel
   * each other.
   */
  reversals: ChainedSummary[];
  /** Summaries on the open day that replace the moved ones. Empty if nothing is left to post. */
  successors: ChainedSummary[];
}

/** Groups the summaries with these ids by day and department. */
export async function daysOf(trx: Connection, summaryIds: string[]): Promise<LateDay[]> {
  const days = Map.groupBy(await loadSummaries(trx, summaryIds), ({ date, departmentId }) => `${date} ${departmentId}`);
  return [...days.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : { date: first.date, departmentId: first.departmentId, summaries: [first, ...others] },
  );
}

/**
 * Moves the entries of a day's summaries to the first open day: reverses each on its own day and posts it again on the
 * open day. The reversals get separate summaries, and so do the new entries. So the reversals cancel the day's
 * summaries, and late sales are not mixed with sales of the open day.
 */
export async function appendOnDay(trx: Connection, installation: InstallationConfig, day: LateDay): Promise<MovedDay> {
  const { id } = installation;
  const [{ id: name }] = day.summaries;
  const moved = await loadEntries(
    trx,
    day.summaries.flatMap(({ members }) => members.map(({ entryId }) => entryId)),
  );
  const open = await openDayFor(trx, installation, { id: name, date: day.date, departments: [day.departmentId] });
  const { documents, entryIds } = await moveEntries(trx, installation, {
    ...{ name, moved, day: open },
    postingMode: 'daily_summary',
  });
  const summaries = await summariseEntries(trx, id, entryIds, { fiscalYearStart: installation.fiscalYearStart });
  const reversals = summaries.filter(({ date }) => date === day.date);
  const successors = summaries.filter(({ date }) => date === open);
  refuseRemainder(name, [...day.summaries, ...reversals]);
  return { documents, reversals, successors };
}

/**
 * Summaries that are settled without being sent must cancel each other, by account and VAT. Anything else is a defect
 * of vetledger.
 */
function refuseRemainder(name: string, summaries: readonly ChainedSummary[]): void {
  const sums = new Map<string, { amount: Money; base: Money }>();
  for (const line of summaries.flatMap(({ lines }) => lines)) {
    const key = JSON.stringify(placeOf(line));
    const { amount, base } = sums.get(key) ?? { amount: zero, base: zero };
    const lineBase = line.vat?.base ?? zero;
    sums.set(key, {
      amount: amount.plus(signed(line)),
      base: line.side === 'debit' ? base.plus(lineBase) : base.minus(lineBase),
    });
  }
  for (const [place, { amount, base }] of sums) {
    if (!amount.isZero() || !base.isZero()) throw new Error(`${name} and its reversal leave ${amount} on ${place}`);
  }
}

function placeOf({ account, role, rule, paymentType, vat, dimensions, internal, buyer }: SummaryLine) {
  return [account, role, rule, paymentType, vat && [vat.group, canonicalAmount(vat.rate)], dimensions, internal, buyer];
}
