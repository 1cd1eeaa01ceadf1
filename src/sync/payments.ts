import { bool, integer, nullable } from '../db/columns.ts';
import { row } from '../db/rows.ts';
import { agreedTime, type ReadAt } from '../domain/read-at.ts';
import type { PullContext, PullResult } from './context.ts';
import { type PullOptions, pullList } from './pull-list.ts';

/**
 * Pulls the payments above the id `after`, or all if it is null. A payment never changes, so its id serves as the
 * cursor.
 */
export async function pullPayments(
  context: PullContext,
  after: number | null,
  options: PullOptions = {},
): Promise<PullResult> {
  return pullList(context, 'payment', {}, after, options);
}

/**
 * Pulls the payments above the highest known id, and counts those above the cursor. Null if all payments above the
 * cursor must be read.
 *
 * For the time of the overlap after a first load, no id has settled, and each window would read up to 1,000 payments
 * again. Frequent windows would then wait for the list's rate budget. The count shows a payment that arrived late or
 * disappeared. Two such changes could cancel each other out in the count. As soon as an id may have settled, all
 * payments above the cursor are therefore read once more before the cursor moves.
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

/** If more payments than this are above the cursor, all of them are read. */
const countedAtMost = 5_000;

/**
 * The payments of the mirror above a cursor: how many the source shows, and whether one of them may have settled. An id has
 * settled when no lower id can appear any more.
 */
function paymentsAbove({ db, installation, overlapMs }: PullContext, after: number | null) {
  return row(
    db,
    { shown: integer, known: integer, highest: nullable(integer), hasSettled: bool },
    // The order makes PostgreSQL use the index. Without statistics it would read the whole table.
    `select count(*) filter (where is_shown) as shown, count(*) as known, max(id) as highest,
       coalesce(min(first_seen_at) < clock_timestamp() - make_interval(secs => ?), false) as "hasSettled"
     from (
       select id, first_seen_at, gone_at is null and missing_at is null as is_shown from mirror_record
       where installation = ? and kind = 'payment' and id > ? order by id limit ?) above`,
    [overlapMs / 1000, installation, after ?? 0, countedAtMost + 1],
  );
}

/** If no id has settled yet, the cursor stays below this many payments, and below those of the last day. */
const unsettledPayments = 1_000;
const dayMs = 86_400_000;

/**
 * The cursor of payments after a walk that began at `began`: the highest id that was first seen longer ago than the
 * overlap. Lower ids cannot appear any more, since a transaction commits within the overlap (DESIGN "Sync"). Both times
 * are by the database's clock, so that a step of the source's clock cannot settle an id too early. Before the first id
 * has settled, the cursor stays below the last 1,000 payments and those of the last day. Null: from the beginning.
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
