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

/** The number of row sets that one transaction accepts or marks as stale. */
const settleBatch = 5_000;
/** Clock resolution of source times. */
const clockSecondMs = 1_000;
const clockChangeMs = 3_600_000;

/**
 * Reads all rows by id, once, at the same time as the other lists of a first load or a backfill, since each list has
 * its own rate budget. `completeScan` then accepts the row sets that the scan covers.
 */
export function scanRows(context: PullContext): Promise<PullResult> {
  return walkOnce(context, 'row', '', (left) => pullList(context, 'row', {}, null, { left }));
}

/**
 * Accepts the row sets that a scan covers, once the other lists are read, and marks all others as stale, for `pullRows`
 * to fetch. An interrupted scan is completed first. It runs once for each scan, so that a later attempt keeps sets that
 * were fetched since. Null if there was no scan. The counts leave out what the scan's activity has already reported.
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
 * Scans all rows after the invoices are in the mirror. The scan covers every version of an invoice that the mirror had
 * before the scan's first request, whatever its `modified`. `uncovered` are the final invoices whose sets remain in
 * doubt. A set that was stale before stays stale.
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
 * Accepts the row sets that a scan has read completely. The scan ran at the same time as the walk of the invoices, or
 * was resumed. Let S be the time of the scan's earliest answer, by the earlier of the source's and the database's
 * clock. Every answer shows what was committed by S, and the walk is proven complete. The scan therefore covers every
 * row committed by S.
 *
 * - An invoice whose `modified` in the mirror is more than the overlap before S is covered. The transaction that wrote
 *   this version and its rows had committed by S, since the overlap is the longest delay of a commit (DESIGN "Sync"). The
 *   margin is a second wider for the clock's resolution. It is an hour wider for timestamps without offset, which may be
 *   an hour later in the repeated hour of a clock change. A version written after S has a later `modified`, and its set
 *   is stale (proof P2).
 * - An invoice without `modified`, or with one later than its answer: its set is fresh by S only if the invoice was
 *   answered by S, because `rows_fresh_from` is limited by that answer.
 * - A set with a row that has changed since then, with the same margin, is left out, because the scan may lack other
 *   rows of that change. Rows that change after the scan are read by their `modified`, which is requested from S or
 *   earlier (streams.ts).
 * - An invoice is left out if the source's clock, compared with the database's, was lower when the invoice was read
 *   than during the scan. That clock was set back, so later changes may have timestamps before S.
 *
 * `first_seen_at` could not replace `modified` here. Source times are lower bounds in whole seconds, so they do not
 * show which of two concurrent walks sent its request first. A version can also be newer than the first sight of its
 * invoice.
 *
 * All other sets become stale and are fetched as sets. A set that was fresh before may have lost rows since, without a
 * new `modified`.
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

/** The longest time between a change's `modified` and its commit. `acceptCoveredSets` has the reasons. */
export function commitMarginMs({ overlapMs }: PullContext, style: TimestampStyle): number {
  return overlapMs + clockSecondMs + (style === 'naive' ? clockChangeMs : 0);
}
