import { instant, integer, nullable } from '../db/columns.ts';
import { row, rows } from '../db/rows.ts';
import { acceptRowSets, invalidateRowSets } from '../mirror/row-sets.ts';
import { invoicesPerRequest } from './by-invoice.ts';
import { ignoredFilters } from './capabilities/filters.ts';
import { mayUse } from './capabilities/recheck.ts';
import { addCounts, type PullContext, type PullCounts } from './context.ts';
import { type PullOptions, pullList } from './pull-list.ts';

/**
 * Row sets: all rows of an invoice, fetched together. A set is stale if it was never fetched as a whole, or was last
 * fetched at a source time before `rows_fresh_from` (proof P2).
 */

/** SQL condition on `mirror_record`: an invoice whose row set is stale. */
export const isStale = `kind = 'invoice' and needs_rows and gone_at is null
  and (rows_source_time is null or rows_source_time < rows_fresh_from)`;

/**
 * The number of stale row sets, and the source time from which an answer makes all of them fresh. The time is null if
 * it is unknown.
 */
export function staleSets({ db, installation }: PullContext): Promise<{ n: number; freshFrom: Date | null }> {
  const sql = `select count(*) as n, max(rows_fresh_from) as "freshFrom" from mirror_record where installation = ? and ${isStale}`;
  return row(db, { n: integer, freshFrom: nullable(instant) }, sql, [installation]);
}

export async function pullStaleSets(context: PullContext): Promise<PullCounts> {
  const { db, installation } = context;
  const total: PullCounts = { seen: 0, pulled: 0 };
  let after = 0;
  for (;;) {
    const batch = await rows(
      db,
      { id: integer },
      `select id from mirror_record where installation = ? and ${isStale} and id > ? order by id limit ?`,
      [installation, after, invoicesPerRequest],
    );
    const ids = batch.map(({ id }) => id);
    const last = ids.at(-1);
    if (last === undefined) return total;
    after = last;
    addCounts(total, await pullRowSets(context, ids));
  }
}

/** Pulls the row sets of invoices: in one request if `invoice__in` is honoured, otherwise one by one. */
export async function pullRowSets(
  context: PullContext,
  invoices: number[],
  options: Pick<PullOptions, 'expectedRecords'> = {},
): Promise<PullCounts> {
  const { db, installation } = context;
  const total: PullCounts = { seen: 0, pulled: 0 };
  const filter = (await mayUse(context, 'row', 'invoice__in')) ? 'invoice__in' : 'invoice__is';
  const requests = filter === 'invoice__in' ? [invoices] : invoices.map((invoice) => [invoice]);
  for (const requested of requests) {
    let isWholeList = false;
    const covered = async () => {
      // If the server ignored the filter, it answered with the whole list, which contains every set.
      isWholeList = (await ignoredFilters(db, installation, 'row')).has(filter);
      return isWholeList ? invoices : requested;
    };
    const counts = await pullSets(context, invoices, { [filter]: requested.join(',') }, covered, options);
    addCounts(total, counts);
    if (isWholeList) return total;
  }
  return total;
}

/**
 * Pulls the rows that match `filters` and accepts the sets of the `covered` invoices, all of which are among
 * `invoices`. A set stays stale, and is fetched again by the next window at the latest, in these cases:
 *
 * - The invoice has another version now, which other work has pulled. Its rows may be newer than those received.
 * - The walk took several answers, and a row has changed since it began, so the answers may show different states of
 *   the set. Such a row has another version than before the walk, and a `modified` since then. The source's clock alone
 *   would not be enough to decide.
 * - The mirror has a row of the set that the walk did not receive, from an answer after the walk's first request. The
 *   row is either new or deleted since.
 */
async function pullSets(
  context: PullContext,
  invoices: number[],
  filters: Record<string, string>,
  /** Returns the invoices whose sets the walk has read completely. Called after the walk. */
  covered: () => Promise<number[]>,
  options: Pick<PullOptions, 'expectedRecords'>,
): Promise<PullCounts> {
  const { db, installation } = context;
  const versionsBefore = await versionsOf(context, invoices);
  const rowsBefore = await rowVersionsOf(context, invoices);
  const received = new Set<number>();
  let answers = 0;
  const onSaved = ({ ids }: { ids: number[] }) => {
    answers += 1;
    for (const id of ids) received.add(id);
  };
  const result = await pullList(context, 'row', filters, null, { ...options, keepWalk: false, onSaved });
  const { read } = result;
  const recent = await rows(
    db,
    { id: integer, version: integer, invoice: integer, modified: nullable(instant) },
    `select id, version, parent_id as invoice, modified from mirror_record
     where installation = ? and kind = 'row' and parent_id = any(?) and gone_at is null and answered_at >= ?`,
    [installation, invoices, read.askedAt],
  );
  const doubtful = new Set<number>();
  for (const { id, version, invoice, modified } of recent) {
    const isOther = rowsBefore.get(id) !== version;
    const hasChanged = answers > 1 && isOther && modified !== null && modified > read.sourceTime;
    if (!received.has(id) || hasChanged) doubtful.add(invoice);
  }
  const versionsAfter = await versionsOf(context, invoices);
  const asked = await covered();
  const accepted = asked.filter((id) => !doubtful.has(id) && versionsBefore.get(id) === versionsAfter.get(id));
  const isAccepted = new Set(accepted);
  await context.transact(async (trx) => {
    await invalidateRowSets(
      trx,
      installation,
      asked.filter((id) => !isAccepted.has(id)),
    );
    const gone = await acceptRowSets(trx, installation, accepted, read);
    if (gone.length > 0) await context.watch?.rowsGone(trx, gone);
  });
  return result;
}

async function rowVersionsOf({ db, installation }: PullContext, invoices: number[]): Promise<Map<number, number>> {
  const found = await rows(
    db,
    { id: integer, version: integer },
    `select id, version from mirror_record where installation = ? and kind = 'row' and parent_id = any(?)`,
    [installation, invoices],
  );
  return new Map(found.map(({ id, version }) => [id, version]));
}

async function versionsOf({ db, installation }: PullContext, invoices: number[]): Promise<Map<number, number>> {
  const found = await rows(
    db,
    { id: integer, version: integer },
    `select id, version from mirror_record where installation = ? and kind = 'invoice' and id = any(?)`,
    [installation, invoices],
  );
  return new Map(found.map(({ id, version }) => [id, version]));
}
