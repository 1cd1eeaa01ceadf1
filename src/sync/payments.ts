import { bool, integer, nullable } from '../db/columns.ts';
import { row } from '../db/rows.ts';
import { agreedTime, type ReadAt } from '../domain/read-at.ts';
import type { PullContext, PullResult } from './context.ts';
import { type PullOptions, pullList } from './pull-list.ts';

/** Pulls the payments above the id `after`, or all when null. A payment never changes, so that its id serves as the cursor. */
export async function pullPayments(
  context: PullContext,
  after: number | null,
  options: PullOptions = {},
): Promise<PullResult> {
  return pullList(context, 'payment', {}, after, options);
}

/**
 * Pulls the payments above the highest id, and counts those above the cursor; null where all of these have to be read. After a first load no id
 * settles for as long as the overlap, and each window would read up to 1,000 payments anew: nudged windows would soon wait for the
 * list's rate budget. A payment that came late, or went, shows in the count. As soon as an id may have settled, all above the cursor are
 * read once more before it moves, so that what two such changes together hide from the count is found.
 */
export async function pullNewPayments(context: PullContext, after: number | null): Promise<PullResult | null> {
  const { client, dialect, priority } = context;
  const { highest, hasSettled, shown, known } = await paymentsAbove(context, after);
  const isUncounted = shown <= dialect.default_page_size || known > countedAtMost;
  if (highest === null || hasSettled || isUncounted) return null;
  const newer = await pullList(context, 'payment', {}, highest, { keepWalk: false });
  const filters = after === null ? {} : { id__gt: String(after) };
  const { count } = await client.list('payment', filters, 1, { priority });
  return count === (await paymentsAbove(context, after)).shown ? newer : null;
}

/** More above the cursor than these are read, not counted. */
const countedAtMost = 5_000;

/** What the mirror has above a cursor: how many payments that the source shows, and whether one of them may have settled. */
function paymentsAbove({ db, installation, overlapMs }: PullContext, after: number | null) {
  return row(
    db,
    { shown: integer, known: integer, highest: nullable(integer), hasSettled: bool },
    // In the order of the index: without statistics PostgreSQL would read the table for them.
    `select count(*) filter (where is_shown) as shown, count(*) as known, max(id) as highest,
       coalesce(min(first_seen_at) < clock_timestamp() - make_interval(secs => ?), false) as "hasSettled"
     from (
       select id, first_seen_at, gone_at is null and missing_at is null as is_shown from mirror_record
       where installation = ? and kind = 'payment' and id > ? order by id limit ?) above`,
    [overlapMs / 1000, installation, after ?? 0, countedAtMost + 1],
  );
}

/** Where no id has settled yet, the cursor stays below this many payments and below those of the last day. */
const unsettledPayments = 1_000;
const dayMs = 86_400_000;

/**
 * The cursor of payments after a walk that began at `began`: the highest id first seen more than the overlap before. Lower ids
 * can no longer appear then, since a transaction commits within the overlap (DESIGN "Sync"). Both instants are the database's, so
 * that no step of the source's clock lets an id settle too soon. While no id has settled so, the
 * cursor stays below the last 1,000 payments and those of the last day. Null: from the beginning.
 */
export async function nextPaymentCursor(
  { db, installation, overlapMs }: Pick<PullContext, 'db' | 'installation' | 'overlapMs'>,
  began: ReadAt,
): Promise<number | null> {
  const { settled } = await row(
    db,
    { settled: nullable(integer) },
    `select max(id) as settled from mirror_record
     where installation = ? and kind = 'payment' and first_seen_at < ?`,
    [installation, new Date(began.askedAt.getTime() - overlapMs)],
  );
  if (settled !== null) return settled;
  const { thousandth, last_day: lastDay } = await row(
    db,
    { thousandth: nullable(integer), last_day: nullable(integer) },
    `select
       (select id from mirror_record where installation = ? and kind = 'payment' order by id desc offset ? limit 1) as thousandth,
       (select min(id) from mirror_record where installation = ? and kind = 'payment' and modified > ?) as last_day`,
    [installation, unsettledPayments, installation, new Date(agreedTime(began).getTime() - dayMs)],
  );
  if (thousandth === null || lastDay === null) return thousandth;
  // Ids between two known ones may belong to transactions that have not committed yet.
  const { below } = await row(
    db,
    { below: nullable(integer) },
    `select max(id) as below from mirror_record where installation = ? and kind = 'payment' and id < ?`,
    [installation, lastDay],
  );
  return below === null ? null : Math.min(thousandth, below);
}
