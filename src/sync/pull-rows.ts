import { integer } from '../db/columns.ts';
import { row, rows } from '../db/rows.ts';
import { noteRefetched } from '../documents/mark-refetched.ts';
import { invalidateRowSets, invalidateRowSetsSince } from '../mirror/row-sets.ts';
import { ignoredFilters } from './capabilities/filters.ts';
import { type ListTraits, readTraits } from './capabilities/list-traits.ts';
import { mayUse } from './capabilities/recheck.ts';
import { readDefaultPageSizes } from './capabilities/server.ts';
import { addCounts, type PullContext, type PullCounts } from './context.ts';
import { pullChanged } from './pull-changed.ts';
import { pullStaleSets, staleSets } from './pull-row-sets.ts';
import { scanStaleSets } from './row-scan.ts';

/**
 * Rounds in which a window fetches stale row sets. Source times are whole seconds, so that the sets of an invoice that has just
 * changed are fresh only in a second round (proof P2); what is stale after that is fetched again by the posting step.
 */
const freshnessRounds = 2;
/** The longest wait before a round; sets that are not fresh by then are left to the next window. */
const freshnessPauseMs = 1_100;
/** Added to a wait for the source's clock, of which only its answers are known. */
const freshnessMarginMs = 20;
/** Problem codes that late-arriving rows can resolve. */
export const problemsOfLateRows = ['rows_missing', 'rows_stale', 'totals_disagree'];
/** Invoices whose row sets a window fetches again without a change: with `invoice__in` in one request, or one by one. */
const doubtedAtMost = { inOneRequest: 50, oneByOne: 5 };

/** How many invoices' row sets a window may take for stale without a change. */
export async function doubtedSetsAtMost({ db, installation }: PullContext): Promise<number> {
  const ignored = await ignoredFilters(db, installation, 'row');
  return ignored.has('invoice__in') ? doubtedAtMost.oneByOne : doubtedAtMost.inOneRequest;
}

export interface RowPorts {
  /** Sleeps, while the activity keeps sending heartbeats. */
  pause(ms: number): Promise<void>;
  /** A time that the source's clock has reached by now; null before the first answer. */
  sourceNow(): Date | null;
}

/**
 * Fetches the row set of every final invoice whose set is stale (DESIGN "Rows"): by one scan of all rows where that weighs
 * less, and as sets what the scan does not cover. Rows changed `since` an instant make their sets stale first; null skips that
 * (a first load and a backfill read all rows).
 */
export async function pullRows(
  context: PullContext,
  since: Date | null,
  ports: RowPorts,
  known: { traits?: ListTraits } = {},
): Promise<PullCounts> {
  const total: PullCounts = { seen: 0, pulled: 0 };
  if (since !== null) {
    // Before the request for changed rows: an answer of that second shows that the sets requested next are fresh.
    const wasFresh = ports.sourceNow() !== null && (await waitUntilFresh(context, ports)) === 0;
    const changed = await pullChangedRows(context, since, known);
    if (changed) {
      addCounts(total, changed);
      if (wasFresh && changed.seen === 0) return total;
    } else {
      await doubtRecentSets(context, since);
      await doubtHeldSets(context);
    }
  }
  const { n: stale } = await staleSets(context);
  if (stale === 0) return total;
  if (await isScanLighter(context, stale)) addCounts(total, await scanStaleSets(context));
  for (let round = 0; round < freshnessRounds && (await staleSets(context)).n > 0; round++) {
    if (round > 0) await waitUntilFresh(context, ports);
    addCounts(total, await pullStaleSets(context));
  }
  return total;
}

/**
 * Waits until the second after the last change of a stale set's invoice has begun, by the source's clock. Returns how many sets are
 * stale.
 */
async function waitUntilFresh(context: PullContext, ports: RowPorts): Promise<number> {
  const { n, freshFrom } = await staleSets(context);
  if (freshFrom === null) return n;
  const now = ports.sourceNow();
  const waitMs = now === null ? freshnessPauseMs : freshFrom.getTime() - now.getTime() + freshnessMarginMs;
  if (waitMs > 0) await ports.pause(Math.min(waitMs, freshnessPauseMs));
  return n;
}

/**
 * Pulls the rows changed since an instant; saving them makes the sets of their invoices stale (`savePage`). They are never taken
 * for whole sets: `modified__gte` leaves out a set's unchanged rows (field-notes). Null where the server ignores the filter.
 */
async function pullChangedRows(
  context: PullContext,
  since: Date,
  known: { traits?: ListTraits },
): Promise<PullCounts | null> {
  const { db, installation, dialect } = context;
  const traits = known.traits ?? (await readTraits(db, installation, dialect)).row;
  const isDoubted = traits.ignored.has('modified__gte') || traits.outdated.has('modified__gte');
  if (isDoubted && !(await mayUse(context, 'row', 'modified__gte'))) return null;
  return pullChanged(context, 'row', since, { keepWalk: false, traits });
}

/**
 * Where the server does not tell changed rows, the sets of invoices changed since an instant (within the overlap) become stale:
 * a transaction that commits late may change rows while the invoice's `modified` stays in a second that was read already.
 */
async function doubtRecentSets({ transact, installation }: PullContext, since: Date): Promise<void> {
  await transact((trx) => invalidateRowSetsSince(trx, installation, since));
}

/**
 * Where the server does not tell changed rows, the sets of invoices that are held for their rows become stale, beginning with
 * those fetched longest ago. The other parts of these invoices were fetched again when they were held.
 */
async function doubtHeldSets(context: PullContext): Promise<void> {
  const { transact, installation } = context;
  const limit = await doubtedSetsAtMost(context);
  await transact(async (trx) => {
    const held = await rows(
      trx,
      { id: integer },
      // Looked up one by one: joined without statistics, each invoice is compared with each document.
      `select d.id from document d
       cross join lateral (
         select * from mirror_record r where r.installation = d.installation and r.kind = d.kind and r.id = d.id limit 1) m
       where d.installation = ? and d.kind = 'invoice' and d.state = 'held' and d.problem_code = any(?) and d.refetch = 'no'
         and m.needs_rows and m.gone_at is null
       order by m.rows_source_time, d.id limit ?`,
      [installation, problemsOfLateRows, limit],
    );
    const ids = held.map(({ id }) => id);
    await invalidateRowSets(trx, installation, ids);
    await noteRefetched(
      trx,
      installation,
      ids.map((id) => ({ kind: 'invoice', id })),
    );
  });
}

/**
 * Whether one scan of all rows weighs less than the requests for the stale sets. Rows are counted as far as the answer depends on
 * them, so that the cost follows from what is stale.
 */
async function isScanLighter(context: PullContext, stale: number): Promise<boolean> {
  const { db, dialect, installation } = context;
  const pageSize = (await readDefaultPageSizes(db, installation, dialect)).row;
  const ignored = await ignoredFilters(db, installation, 'row');
  const isAskedSingly = ignored.has('invoice__in');
  // Asked singly, each set weighs 1; a scan weighs 1 a page. Asked together, sets weigh what their rows do, and all sets as a scan.
  const decisive = isAskedSingly ? (stale - 1) * pageSize + 1 : 1;
  const { n: known } = await row(
    db,
    { n: integer },
    `select count(*) as n from (
       select from mirror_record where installation = ? and kind = 'row' and gone_at is null order by id limit ?) counted`,
    [installation, decisive],
  );
  if (known === 0) return stale > pageSize;
  if (isAskedSingly && ignored.has('invoice__is')) return true;
  return isAskedSingly && known < decisive;
}
