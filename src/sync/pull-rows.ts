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
 * Rounds in which a window fetches stale row sets. Source times are whole seconds, so the sets of an invoice that has
 * just changed are fresh only in a second round (proof P2). Sets that are stale after that are fetched again by the
 * posting step.
 */
const freshnessRounds = 2;
/** The longest wait before a round. Sets that are not fresh by then are left to the next window. */
const freshnessPauseMs = 1_100;
/** Added to a wait for the source's clock, which is known only from its answers. */
const freshnessMarginMs = 20;
/** Codes of problems that rows which arrive late can resolve. */
export const problemsOfLateRows = ['rows_missing', 'rows_stale', 'totals_disagree'];
/**
 * The most invoices whose row sets a window fetches again without a known change: with `invoice__in`, or one by one.
 */
const refetchedAtMost = { inOneRequest: 50, oneByOne: 5 };

/** The most invoices whose row sets a window may mark as stale without a known change. */
export async function refetchedSetsAtMost({ db, installation }: PullContext): Promise<number> {
  const ignored = await ignoredFilters(db, installation, 'row');
  return ignored.has('invoice__in') ? refetchedAtMost.oneByOne : refetchedAtMost.inOneRequest;
}

export interface RowPorts {
  /** Sleeps, while the activity keeps sending heartbeats. */
  pause(ms: number): Promise<void>;
  /** A time that the source's clock has certainly reached. Null before the first answer. */
  sourceNow(): Date | null;
}

/**
 * Fetches the row set of every final invoice whose set is stale (DESIGN "Rows"): by one scan of all rows if that has
 * less weight, otherwise as sets. First it pulls the rows that changed `since` an instant, which makes their sets
 * stale. A first load and a backfill read all rows, so `since` is null.
 */
export async function pullRows(
  context: PullContext,
  since: Date | null,
  ports: RowPorts,
  known: { traits?: ListTraits } = {},
): Promise<PullCounts> {
  const total: PullCounts = { seen: 0, pulled: 0 };
  if (since !== null) {
    // The wait comes before the request for changed rows, so that an answer in that second shows the next sets as
    // fresh.
    const wasFresh = ports.sourceNow() !== null && (await waitUntilFresh(context, ports)) === 0;
    const changed = await pullChangedRows(context, since, known);
    if (changed) {
      addCounts(total, changed);
      if (wasFresh && changed.seen === 0) return total;
    } else {
      await invalidateRecentSets(context, since);
      await invalidateHeldSets(context);
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
 * Waits until the source's clock has reached the second after the last change of an invoice with a stale set. Returns
 * the number of stale sets.
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
 * Pulls the rows changed since an instant. Saving them makes the sets of their invoices stale (`savePage`). They never
 * count as whole sets, because `modified__gte` leaves out unchanged rows (field-notes). Null if the server ignores the
 * filter.
 */
async function pullChangedRows(
  context: PullContext,
  since: Date,
  known: { traits?: ListTraits },
): Promise<PullCounts | null> {
  const { db, installation, dialect } = context;
  const traits = known.traits ?? (await readTraits(db, installation, dialect)).row;
  const isIgnoredSoFar = traits.ignored.has('modified__gte') || traits.outdated.has('modified__gte');
  if (isIgnoredSoFar && !(await mayUse(context, 'row', 'modified__gte'))) return null;
  return pullChanged(context, 'row', since, { keepWalk: false, traits });
}

/**
 * If the server cannot list changed rows, the sets of invoices that changed since an instant (within the overlap)
 * become stale. A transaction that commits late may change rows while the invoice's `modified` is in a second that was
 * already read.
 */
async function invalidateRecentSets({ transact, installation }: PullContext, since: Date): Promise<void> {
  await transact((trx) => invalidateRowSetsSince(trx, installation, since));
}

/**
 * If the server cannot list changed rows, the sets of invoices that are held because of their rows become stale. Those
 * fetched longest ago come first. The other parts of these invoices were fetched again when they were held.
 */
async function invalidateHeldSets(context: PullContext): Promise<void> {
  const { transact, installation } = context;
  const limit = await refetchedSetsAtMost(context);
  await transact(async (trx) => {
    const held = await rows(
      trx,
      { id: integer },
      // Lateral join: without statistics, a plain join compares each invoice with each document.
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
 * Whether one scan of all rows has less weight than the requests for the stale sets. Rows are counted only as far as
 * they can change the result, so that the cost depends on the number of stale sets.
 */
async function isScanLighter(context: PullContext, stale: number): Promise<boolean> {
  const { db, dialect, installation } = context;
  const pageSize = (await readDefaultPageSizes(db, installation, dialect)).row;
  const ignored = await ignoredFilters(db, installation, 'row');
  const isAskedSingly = ignored.has('invoice__in');
  // One by one, each set has weight 1, and a scan has weight 1 per page. Together, sets cost as much as their rows, so
  // all sets together cost as much as a scan.
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
