import { integer } from '../db/columns.ts';
import { rows } from '../db/rows.ts';
import { noteRefetched } from '../documents/refetch.ts';
import { doubtRowSets, settleRowSets } from '../mirror/row-sets.ts';
import { ignoredFilters } from './capabilities/filters.ts';
import { mayUse } from './capabilities/recheck.ts';
import { readTimestampStyle } from './capabilities/server.ts';
import { finishedWalk, forgetWalks, walkOnce } from './finished.ts';
import { changedSinceFilter, type PullContext, type PullResult, pullList } from './pull.ts';
import { pullAndSettle } from './row-sets.ts';

/** Rows have whole seconds of freshness to wait out (proof P2); twice, then posting fetches them once more or holds. */
const freshnessRounds = 2;
/** Longest wait before a round; what is younger is the next window's. */
const freshnessPauseMs = 1_100;
/** Beyond the second itself: the source's clock is only known by its answers. */
const freshnessMarginMs = 20;
/** Invoices asked for at once: bounds the address's length (some 10 bytes an id). */
const invoicesPerQuestion = 150;
/** Invoices settled in one transaction. */
const settleBatch = 5_000;
const clockSecondMs = 1_000;
const clockChangeMs = 3_600_000;
/** What rows that come late would mend. */
const rowProblems = ['rows_missing', 'rows_stale', 'totals_disagree'];
/** Held invoices whose sets a window asks for again: together in one question, or one by one. */
const heldAgain = { together: 50, oneByOne: 5 };

export interface RowPorts {
  /** Sleeps, and keeps the activity alive meanwhile. */
  pause(ms: number): Promise<void>;
  /** A time that the source's clock has reached by now; null when nothing is known of it. */
  sourceNow(): Date | null;
}

/**
 * Completes the row sets of every final invoice whose rows are missing or older than the invoice (DESIGN "Rows"): by one
 * scan over all rows where that weighs less, and what it does not cover as whole sets of the changed invoices. `since` null
 * skips the notice (a first load and a backfill need none).
 */
export async function pullRows(context: PullContext, since: Date | null, ports: RowPorts): Promise<PullResult> {
  const total = { seen: 0, pulled: 0, began: null as Date | null };
  const add = (result: PullResult) => {
    total.seen += result.seen;
    total.pulled += result.pulled;
    total.began ??= result.began;
  };
  if (since !== null) {
    // Before the notice, not after it: an answer of that second is what shows the next one to be fresh.
    if (ports.sourceNow() !== null) await untilFresh(context, ports);
    const notice = await pullNotice(context, since);
    if (notice) add(notice);
    else {
      await doubtRecentSets(context, since);
      await doubtHeldSets(context);
    }
  }
  if (await scanIsCheaper(context)) add(await scanStale(context));
  for (let round = 0; round < freshnessRounds && (await countStale(context)) > 0; round++) {
    if (round > 0) await untilFresh(context, ports);
    add(await pullStaleSets(context));
  }
  const began = total.began ?? new Date(0);
  return { seen: total.seen, pulled: total.pulled, began, earliest: began };
}

/** Waits until an answer can show that the rows of every invoice are fresh: the second after its last change has begun. */
async function untilFresh({ db, installation }: PullContext, ports: RowPorts): Promise<void> {
  const found = await db.raw<{ rows: { fresh_from: Date | null }[] }>(
    `select max(rows_fresh_from) as fresh_from from mirror_record where installation = ? and ${isStale}`,
    [installation],
  );
  const freshFrom = found.rows[0]!.fresh_from;
  if (freshFrom === null) return;
  const now = ports.sourceNow();
  const waitMs = now === null ? freshnessPauseMs : freshFrom.getTime() - now.getTime() + freshnessMarginMs;
  if (waitMs > 0) await ports.pause(Math.min(waitMs, freshnessPauseMs));
}

/**
 * Changed rows name invoices whose sets are fetched again; never taken as complete (field-notes: `modified__gte` on rows
 * loses the untouched ones). Null where the server does not filter rows by `modified`.
 */
async function pullNotice(context: PullContext, since: Date): Promise<PullResult | null> {
  if (!(await mayUse(context, 'row', 'modified__gte'))) return null;
  // Whose rows have changed counts as never fetched from then on (`savePage`).
  return pullList(context, 'row', await changedSinceFilter(context, since), null, { keepWalk: false });
}

/**
 * Where nothing tells of late rows, the sets of invoices changed since then, their overlap included, count as never fetched
 * again: a transaction that commits late may have changed rows and left nothing of their invoice but a `modified` of the second
 * that is known already.
 */
async function doubtRecentSets({ db, installation }: PullContext, since: Date): Promise<void> {
  await db.raw(
    `update mirror_record set rows_source_time = null
     where installation = ? and kind = 'invoice' and needs_rows and gone_at is null and modified >= ?`,
    [installation, since],
  );
}

/**
 * Where nothing tells of late rows, the sets of invoices held for their rows count as never fetched again, those asked for
 * longest ago first. Their other parts were fetched when they were held.
 */
async function doubtHeldSets(context: PullContext): Promise<void> {
  const { db, installation } = context;
  const ignored = await ignoredFilters(db, installation, 'row');
  const limit = ignored.has('invoice__in') ? heldAgain.oneByOne : heldAgain.together;
  await db.transaction(async (trx) => {
    const held = await rows(
      trx,
      { id: integer },
      `select m.id from mirror_record m join document d using (installation, kind, id)
       where m.installation = ? and m.kind = 'invoice' and m.needs_rows and m.gone_at is null
         and d.state = 'held' and d.problem_code = any(?) and d.refetch = 'no'
       order by m.rows_source_time, m.id limit ?`,
      [installation, rowProblems, limit],
    );
    const ids = held.map(({ id }) => id);
    await doubtRowSets(trx, installation, ids);
    await noteRefetched(
      trx,
      installation,
      ids.map((id) => ({ kind: 'invoice', id })),
    );
  });
}

/** An invoice whose row set is missing, or older than the invoice. */
const isStale = `kind = 'invoice' and needs_rows and gone_at is null
  and (rows_source_time is null or rows_source_time < rows_fresh_from)`;

async function countStale(context: PullContext): Promise<number> {
  const found = await context.db.raw<{ rows: { n: number }[] }>(
    `select count(*) as n from mirror_record where installation = ? and ${isStale}`,
    [context.installation],
  );
  return found.rows[0]!.n;
}

async function scanIsCheaper(context: PullContext): Promise<boolean> {
  const stale = await countStale(context);
  if (stale === 0) return false;
  const found = await context.db.raw<{ rows: { invoices: number; rows: number }[] }>(
    `select count(*) filter (where kind = 'invoice') as invoices, count(*) filter (where kind = 'row') as rows
     from mirror_record where installation = ? and kind in ('invoice', 'row') and gone_at is null`,
    [context.installation],
  );
  const { invoices, rows } = found.rows[0]!;
  const size = context.dialect.default_page_size;
  if (rows === 0) return stale > size;
  const ignored = await ignoredFilters(context.db, context.installation, 'row');
  if (ignored.has('invoice__in') && ignored.has('invoice__is')) return true;
  const scanWeight = Math.ceil(rows / size);
  const setsWeight = ignored.has('invoice__in') ? stale : Math.ceil((stale * rows) / Math.max(1, invoices) / size);
  return scanWeight < setsWeight;
}

/** All rows by id, once: beside the other lists of a first load or a backfill. What it covers is settled by `completeScan`. */
export function scanRows(context: PullContext): Promise<PullResult> {
  return walkOnce(context, 'row', '', () => pullList(context, 'row', {}, null));
}

/**
 * Ends a scan that ran beside the other lists, once these have ended, or takes up one that was interrupted: settles the row
 * sets that it covers. Null when there is none; what was received in the scan's own activity is not counted again.
 */
export async function completeScan(context: PullContext): Promise<PullResult | null> {
  const finished = await finishedWalk(context, 'row', '');
  if (!finished && !(await isScanUnderWay(context))) return null;
  const scan = finished ? { ...finished, seen: 0, pulled: 0 } : await scanRows(context);
  await settleCovered(context, scan.earliest);
  return scan;
}

/** A scan asked for after the invoices were: it covers every version that the mirror held by then, whatever its `modified`. */
async function scanStale(context: PullContext): Promise<PullResult> {
  const { db, installation, owner } = context;
  await forgetWalks(db, installation, owner, 'row');
  const before = await finalVersions(context);
  const scan = await scanRows(context);
  const changed = await changedSince(context, scan.earliest);
  const ids = [...(await finalVersions(context))]
    .filter(([id, version]) => before.get(id) === version && !changed.has(id))
    .map(([id]) => id);
  for (let i = 0; i < ids.length; i += settleBatch) {
    await db.transaction((trx) => settleRowSets(trx, installation, ids.slice(i, i + settleBatch), scan.earliest));
  }
  return scan;
}

/** The final invoices of the mirror and which version of each it holds. */
async function finalVersions({ db, installation }: PullContext): Promise<Map<number, number>> {
  const found = await db.raw<{ rows: { id: number; version: number }[] }>(
    `select id, version from mirror_record where installation = ? and kind = 'invoice' and needs_rows and gone_at is null`,
    [installation],
  );
  return new Map(found.rows.map(({ id, version }) => [id, version]));
}

/** Invoices that have a row which changed after `instant`, by its own account. */
async function changedSince({ db, installation }: PullContext, instant: Date): Promise<Set<number>> {
  const found = await db.raw<{ rows: { id: number }[] }>(
    `select distinct parent_id as id from mirror_record
     where installation = ? and kind = 'row' and modified > ? and parent_id is not null`,
    [installation, instant],
  );
  return new Set(found.rows.map(({ id }) => id));
}

/**
 * Settles the sets that a scan beside the invoices' walk, or one taken up again, has brought whole. Let S be the source time
 * of its earliest answer: each of its answers shows what was committed by S, and the walk has proven that they are all of it.
 *
 * - An invoice whose `modified`, as the mirror has it, lies more than the overlap before S: whatever transaction wrote that
 *   version and its rows had committed by S, since the overlap is how late a transaction may commit (DESIGN "Sync"). The
 *   margin is a second wider for clocks that cut it off, and an hour where a timestamp without an offset may be meant an hour
 *   later than it is read. A version that comes after it has a later `modified`, and is stale against S (proof P2).
 * - An invoice without `modified`, or with one that lies after the answer that brought it, has to have been answered by S to
 *   be fresh (`rows_fresh_from` is bounded by the answer): its version was read before the scan.
 * - A set in which a row has changed since, by the same measure, may lack what changed with it. Rows that change later still
 *   are noticed by their own `modified`, asked for since S at the latest (src/sync/streams.ts).
 *
 * `first_seen_at` before S would not do: of two walks side by side it does not tell which one asked first, since source times
 * are lower bounds of whole seconds, and a version can be younger than its invoice. Everything else is fetched as sets.
 */
async function settleCovered(context: PullContext, earliest: Date): Promise<void> {
  const { db, installation } = context;
  const style = await readTimestampStyle(db, installation);
  const marginMs = context.overlapMs + clockSecondMs + (style === 'naive' ? clockChangeMs : 0);
  const committed = new Date(earliest.getTime() - marginMs);
  const changed = [...(await changedSince(context, committed))];
  let after = 0;
  for (;;) {
    const batch = await db.raw<{ rows: { id: number }[] }>(
      `select id from mirror_record where installation = ? and kind = 'invoice' and needs_rows and id > ?
         and (modified <= ? or modified is null or modified > rows_fresh_from) and id <> all(?::bigint[])
       order by id limit ?`,
      [installation, after, committed, changed, settleBatch],
    );
    if (batch.rows.length === 0) return;
    const ids = batch.rows.map(({ id }) => id);
    await db.transaction((trx) => settleRowSets(trx, installation, ids, earliest));
    after = ids[ids.length - 1]!;
  }
}

/** Whether a scan of all rows was interrupted, by whatever ended its activity. */
async function isScanUnderWay({ db, installation, owner }: PullContext): Promise<boolean> {
  const found = await db.raw<{ rows: unknown[] }>(
    `select from sync_walk where installation = ? and stream = 'row' and owner = ?`,
    [installation, owner],
  );
  return found.rows.length > 0;
}

async function pullStaleSets(context: PullContext): Promise<PullResult> {
  const total: PullResult = { seen: 0, pulled: 0, began: new Date(0), earliest: new Date(0) };
  let after = 0;
  for (;;) {
    const batch = await context.db.raw<{ rows: { id: number }[] }>(
      `select id from mirror_record where installation = ? and ${isStale} and id > ? order by id limit ?`,
      [context.installation, after, invoicesPerQuestion],
    );
    if (batch.rows.length === 0) return total;
    const ids = batch.rows.map((row) => row.id);
    after = ids[ids.length - 1]!;
    const result = await pullRowSets(context, ids);
    total.seen += result.seen;
    total.pulled += result.pulled;
    if (total.began.getTime() === 0) total.began = result.began;
  }
}

/** The whole row sets of the given invoices, many at a time where `invoice__in` is honoured, one by one otherwise. */
export async function pullRowSets(context: PullContext, invoices: number[]): Promise<PullResult> {
  const { db, installation } = context;
  const total: PullResult = { seen: 0, pulled: 0, began: new Date(0), earliest: new Date(0) };
  const name = (await mayUse(context, 'row', 'invoice__in')) ? 'invoice__in' : 'invoice__is';
  const questions = name === 'invoice__in' ? [invoices] : invoices.map((invoice) => [invoice]);
  for (const question of questions) {
    let wholeList = false;
    const result = await pullAndSettle(context, invoices, { [name]: question.join(',') }, async () => {
      // A filter that was ignored brought the whole list: every set is in, and the rest need not be asked for.
      wholeList = (await ignoredFilters(db, installation, 'row')).has(name);
      return wholeList ? invoices : question;
    });
    total.seen += result.seen;
    total.pulled += result.pulled;
    if (total.began.getTime() === 0) total.began = result.began;
    if (wholeList) return total;
  }
  return total;
}
