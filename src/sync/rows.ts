import { settleRowSets } from '../mirror/store.ts';
import { ignoredFilters, readFact } from './facts.ts';
import { filterTimestamp } from './filters.ts';
import { type PullContext, type PullResult, pullList } from './pull.ts';

/** Rows have whole seconds of freshness to wait out (proof P2); twice, then posting fetches them once more or holds. */
const freshnessRounds = 2;
const freshnessPauseMs = 1_100;
/** Invoices asked for at once: bounds the address's length (some 10 bytes an id). */
const invoicesPerQuestion = 150;
const staleBatch = 5_000;
/** What rows that come late would mend. */
const rowProblems = ['rows_missing', 'rows_stale', 'totals_disagree'];
/** Held invoices whose sets a window asks for again: together in one question, or one by one. */
const heldAgain = { together: 50, oneByOne: 5 };

export interface RowPorts {
  /** Sleeps, and keeps the activity alive meanwhile. */
  pause(ms: number): Promise<void>;
}

/**
 * Completes the row sets of every final invoice whose rows are missing or older than the invoice (DESIGN "Rows"): by one
 * scan over all rows where that weighs less, as for a first load, otherwise as whole sets of the changed invoices.
 * `since` null skips the notice (a first load needs none).
 */
export async function pullRows(context: PullContext, since: Date | null, ports: RowPorts): Promise<PullResult> {
  const total = { seen: 0, pulled: 0, began: null as Date | null };
  const add = (result: PullResult) => {
    total.seen += result.seen;
    total.pulled += result.pulled;
    total.began ??= result.began;
  };
  if (since !== null) {
    const notice = await pullNotice(context, since);
    if (notice) add(notice);
    else await doubtHeldSets(context);
  }
  for (let round = 0; round < freshnessRounds; round++) {
    const stale = await countStale(context);
    if (stale === 0) break;
    if (round > 0) await ports.pause(freshnessPauseMs);
    add((await scanIsCheaper(context, stale)) ? await scanRows(context) : await pullStaleSets(context));
  }
  const began = total.began ?? new Date(0);
  return { seen: total.seen, pulled: total.pulled, began, earliest: began };
}

/**
 * Changed rows name invoices whose sets are fetched again; never taken as complete (field-notes: `modified__gte` on rows
 * loses the untouched ones). Null where the server does not filter rows by `modified`.
 */
async function pullNotice(context: PullContext, since: Date): Promise<PullResult | null> {
  const ignored = await ignoredFilters(context.db, context.installation, 'row');
  if (ignored.has('modified__gte')) return null;
  const style = (await readFact<'offset' | 'naive'>(context.db, context.installation, 'timestamp_style')) ?? 'offset';
  const changed = new Set<number>();
  const result = await pullList(
    context,
    'row',
    { modified__gte: filterTimestamp(since, style, context.timezone) },
    null,
    {
      keepWalk: false,
      onSaved: (saved) => {
        for (const id of saved.changedParents) changed.add(id);
      },
    },
  );
  // Their sets count as never fetched from here on.
  if (changed.size > 0) {
    await context.db.raw(
      `update mirror_record set rows_source_time = null
       where installation = ? and kind = 'invoice' and needs_rows and id = any(?)`,
      [context.installation, [...changed]],
    );
  }
  return result;
}

/**
 * Where nothing tells of late rows, the sets of invoices held for their rows count as never fetched again, those asked for
 * longest ago first. Their other parts were fetched when they were held.
 */
async function doubtHeldSets(context: PullContext): Promise<void> {
  const ignored = await ignoredFilters(context.db, context.installation, 'row');
  await context.db.raw(
    `with held as (
       select m.id from mirror_record m join document d using (installation, kind, id)
       where m.installation = ? and m.kind = 'invoice' and m.needs_rows and m.gone_at is null
         and d.state = 'held' and d.problem_code = any(?) and d.refetch = 'no'
       order by m.rows_source_time, m.id limit ?),
     doubted as (
       update mirror_record m set rows_source_time = null from held
       where m.installation = ? and m.kind = 'invoice' and m.id = held.id)
     update document d set refetch = 'done' from held where d.installation = ? and d.kind = 'invoice' and d.id = held.id`,
    [
      context.installation,
      rowProblems,
      ignored.has('invoice__in') ? heldAgain.oneByOne : heldAgain.together,
      context.installation,
      context.installation,
    ],
  );
}

async function countStale(context: PullContext): Promise<number> {
  const found = await context.db.raw<{ rows: { n: number }[] }>(
    `select count(*) as n from mirror_record where installation = ? and kind = 'invoice' and needs_rows
       and gone_at is null and (rows_source_time is null or rows_source_time < rows_fresh_from)`,
    [context.installation],
  );
  return found.rows[0]!.n;
}

async function scanIsCheaper(context: PullContext, stale: number): Promise<boolean> {
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

/** All rows by id; every final invoice that the mirror held when the scan began has its whole set afterwards. */
export async function scanRows(context: PullContext): Promise<PullResult> {
  const result = await pullList(context, 'row', {}, null);
  const { db, installation } = context;
  let after = 0;
  for (;;) {
    const batch = await db.raw<{ rows: { id: number }[] }>(
      `select id from mirror_record where installation = ? and kind = 'invoice' and needs_rows and id > ?
         and first_seen_at <= ? order by id limit ?`,
      [installation, after, result.earliest, staleBatch],
    );
    if (batch.rows.length === 0) return result;
    await db.transaction((trx) =>
      settleRowSets(
        trx,
        installation,
        batch.rows.map((row) => row.id),
        result.earliest,
      ),
    );
    after = batch.rows[batch.rows.length - 1]!.id;
  }
}

async function pullStaleSets(context: PullContext): Promise<PullResult> {
  const total: PullResult = { seen: 0, pulled: 0, began: new Date(0), earliest: new Date(0) };
  let after = 0;
  for (;;) {
    const batch = await context.db.raw<{ rows: { id: number }[] }>(
      `select id from mirror_record where installation = ? and kind = 'invoice' and needs_rows and gone_at is null
         and id > ? and (rows_source_time is null or rows_source_time < rows_fresh_from) order by id limit ?`,
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
  const known = await ignoredFilters(db, installation, 'row');
  const name = known.has('invoice__in') ? 'invoice__is' : 'invoice__in';
  const questions = name === 'invoice__in' ? [invoices] : invoices.map((invoice) => [invoice]);
  for (const question of questions) {
    const filter = { [name]: question.join(',') };
    const result = await pullList(context, 'row', filter, null, { keepWalk: false });
    total.seen += result.seen;
    total.pulled += result.pulled;
    if (total.began.getTime() === 0) total.began = result.began;
    // A filter that was ignored brought the whole list: every set is in, and the rest need not be asked for.
    const wholeList = (await ignoredFilters(db, installation, 'row')).has(name);
    await db.transaction((trx) => settleRowSets(trx, installation, wholeList ? invoices : question, result.earliest));
    if (wholeList) return total;
  }
  return total;
}
