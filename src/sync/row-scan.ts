import { bool, integer } from '../db/columns.ts';
import { rows } from '../db/rows.ts';
import { agreedTime, type ReadSpan, skewMs } from '../domain/read-at.ts';
import { acceptRowSets, invalidateRowSets } from '../mirror/row-sets.ts';
import { readTimestampStyle } from './capabilities/server.ts';
import type { PullContext, PullResult } from './context.ts';
import { pullList } from './pull-list.ts';
import {
  areSetsAccepted,
  finishedOf,
  forgetWalks,
  type KnownWalks,
  noteSetsAccepted,
  storedWalk,
  walkOnce,
} from './saved-walks.ts';
import type { TimestampStyle } from './walk/timestamps.ts';
import { stepToleranceMs } from './watermark.ts';

/** Row sets settled in one transaction. */
const settleBatch = 5_000;
/** Clock resolution of source times. */
const clockSecondMs = 1_000;
const clockChangeMs = 3_600_000;

/**
 * Reads all rows by id, once, beside the other lists of a first load or a backfill: each list has its own rate budget. The row
 * sets that the scan covers are settled by `completeScan`.
 */
export function scanRows(context: PullContext): Promise<PullResult> {
  return walkOnce(context, 'row', '', (left) => pullList(context, 'row', {}, null, { left }));
}

/**
 * Settles the row sets that a scan beside the other lists covers, once those lists are read, and makes the others stale, for
 * `pullRows` to fetch; an interrupted scan is completed first. Once for each scan: a later attempt keeps what was fetched since.
 * Null when there was no scan. The counts leave out what the scan's own activity has reported.
 */
export async function completeScan(context: PullContext, known?: KnownWalks): Promise<PullResult | null> {
  const stored = await storedWalk(context, 'row', known);
  if (stored === null) return null;
  const finished = finishedOf(stored, context.run, '');
  const scan = finished ? { ...finished, seen: 0, pulled: 0 } : await scanRows(context);
  if (finished === null || !areSetsAccepted(stored)) {
    await acceptCoveredSets(context, scan.read);
    await context.transact((trx) => noteSetsAccepted(trx, context));
  }
  return scan;
}

/**
 * Scans all rows when the invoices are in the mirror already. The scan covers every version of an invoice that the mirror held
 * before its first request, whatever the version's `modified`. `uncovered` are the final invoices of which that leaves the set in
 * doubt: one that was stale is stale still.
 */
export async function scanStaleSets(context: PullContext): Promise<PullResult & { uncovered: number[] }> {
  const { transact, installation, owner } = context;
  await transact((trx) => forgetWalks(trx, installation, owner, ['row']));
  const versionsBefore = await finalInvoiceVersions(context);
  const scan = await scanRows(context);
  const changed = await invoicesWithRowsChangedAfter(context, agreedTime(scan.read));
  const covered: number[] = [];
  const uncovered: number[] = [];
  for (const [id, version] of await finalInvoiceVersions(context)) {
    const isCovered = versionsBefore.get(id) === version && !changed.has(id);
    (isCovered ? covered : uncovered).push(id);
  }
  for (let start = 0; start < covered.length; start += settleBatch) {
    const batch = covered.slice(start, start + settleBatch);
    await transact(async (trx) => {
      const gone = await acceptRowSets(trx, installation, batch, scan.read);
      if (gone.length > 0) await context.watch?.rowsGone(trx, gone);
    });
  }
  await transact((trx) => noteSetsAccepted(trx, context));
  return { ...scan, uncovered };
}

/** The version of each final invoice in the mirror, by id. */
async function finalInvoiceVersions({ db, installation }: PullContext): Promise<Map<number, number>> {
  const found = await rows(
    db,
    { id: integer, version: integer },
    `select id, version from mirror_record
     where installation = ? and kind = 'invoice' and needs_rows and gone_at is null`,
    [installation],
  );
  return new Map(found.map(({ id, version }) => [id, version]));
}

async function invoicesWithRowsChangedAfter({ db, installation }: PullContext, instant: Date): Promise<Set<number>> {
  const found = await rows(
    db,
    { id: integer },
    `select distinct parent_id as id from mirror_record
     where installation = ? and kind = 'row' and modified > ? and parent_id is not null`,
    [installation, instant],
  );
  return new Set(found.map(({ id }) => id));
}

/**
 * Settles the row sets that a scan beside the walk of the invoices, or a resumed scan, has read completely. Let S be the time
 * of the scan's earliest answer, by the earlier of the source's and the database's clock. Every answer shows what was committed by S, and the walk is proven complete, so that the
 * scan covers every row committed by S.
 *
 * - An invoice whose `modified` in the mirror lies more than the overlap before S: the transaction that wrote this version and
 *   its rows had committed by S, since the overlap is the longest delay of a commit (DESIGN "Sync"). The margin is a second
 *   wider for the clock's resolution, and an hour wider for naive timestamps, which may stand for a time one hour later in the
 *   repeated hour of a clock change. A version written after S has a later `modified`, and its set is stale (proof P2).
 * - An invoice without `modified`, or with one later than its answer: its set is fresh by S only if the invoice was answered
 *   by S, since `rows_fresh_from` is bounded by that answer.
 * - A set in which a row has changed since then, with the same margin, is left out: the scan may lack other rows of that change.
 *   Rows that change after the scan are read by their own `modified`, requested since S at the latest (streams.ts).
 *
 * - An invoice that was read while the source's clock stood lower against the database's than during the scan is left out: that
 *   clock was put back, and what was written since is stamped earlier than S.
 *
 * `first_seen_at` could not replace `modified` here. Source times are lower bounds in whole seconds, so that they do not tell
 * which of two concurrent walks sent its request first, and a version can be newer than the first sight of its invoice.
 *
 * All other sets become stale, and are fetched as sets: one that was fresh before may have lost rows since, and no `modified` has
 * to tell of it.
 */
async function acceptCoveredSets(context: PullContext, read: ReadSpan): Promise<void> {
  const { db, installation } = context;
  const marginMs = commitMarginMs(context, await readTimestampStyle(db, installation));
  const committedBy = new Date(agreedTime(read).getTime() - marginMs);
  const changed = [...(await invoicesWithRowsChangedAfter(context, committedBy))];
  const skewAtLeast = (skewMs(read) - stepToleranceMs) / 1000;
  let after = 0;
  for (;;) {
    const batch = await rows(
      db,
      { id: integer, covered: bool },
      `select id, (modified <= ? or modified is null or modified > rows_fresh_from) and id <> all(?::bigint[])
         and source_time - asked_at >= make_interval(secs => ?) as covered
       from mirror_record where installation = ? and kind = 'invoice' and needs_rows and id > ? order by id limit ?`,
      [committedBy, changed, skewAtLeast, installation, after, settleBatch],
    );
    const last = batch.at(-1);
    if (last === undefined) return;
    const idsOf = (covered: boolean) => batch.filter((set) => set.covered === covered).map(({ id }) => id);
    await context.transact(async (trx) => {
      await acceptRowSets(trx, installation, idsOf(true), read);
      await invalidateRowSets(trx, installation, idsOf(false));
    });
    after = last.id;
  }
}

/** A change was committed so long after its `modified` at the latest; the reasons are beside `acceptCoveredSets`. */
export function commitMarginMs({ overlapMs }: PullContext, style: TimestampStyle): number {
  return overlapMs + clockSecondMs + (style === 'naive' ? clockChangeMs : 0);
}
