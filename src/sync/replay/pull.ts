import { integer } from '../../db/columns.ts';
import { rows } from '../../db/rows.ts';
import type { RecordKind } from '../../terms.ts';
import { invoicesPerRequest } from '../by-invoice.ts';
import { ignoredFilters } from '../capabilities/filters.ts';
import { mayUse } from '../capabilities/recheck.ts';
import { readTimestampStyle } from '../capabilities/server.ts';
import { addCounts, type PullContext, type PullCounts } from '../context.ts';
import { changedSinceFilter } from '../pull-changed.ts';
import { pullList } from '../pull-list.ts';
import { pullRowSets } from '../pull-row-sets.ts';
import { walkOnce } from '../saved-walks.ts';
import { untilTimestamp } from '../walk/timestamps.ts';
import type { Span } from './spans.ts';

/**
 * A replay reads each list only within its span, so its cost does not depend on the length of the history (DESIGN
 * "Sync"). If the server does not honour an upper bound, the list is read to its end. Records that have changed since
 * are not in the span any more, because a later window has read them.
 */

/**
 * Pulls one stream of a span. A list is read once per workflow run and resumes after a kill. Rows must be pulled after
 * their invoices.
 */
export async function pullSpan(context: PullContext, stream: RecordKind, span: Span): Promise<PullCounts> {
  if (stream === 'row') return pullSpanRows(context, span);
  const { id__gt: _after, ...filters } = await filtersOf(context, stream, span);
  const after = stream === 'payment' ? span.payment.from : null;
  return walkOnce(context, stream, `${context.run} ${JSON.stringify(span[stream])}`, (left) =>
    pullList(context, stream, filters, after, { left }),
  );
}

type FilterScope = Pick<PullContext, 'db' | 'installation' | 'timezone' | 'naiveTimesAreLocal' | 'overlapMs'>;

/** The filters of a replay's request: changes within the interval, which begins earlier by the overlap, or ids. */
export async function filtersOf(scope: FilterScope, kind: RecordKind, span: Span): Promise<Record<string, string>> {
  const { db, installation, naiveTimesAreLocal, overlapMs, timezone } = scope;
  const { from, to } = span[kind];
  const ignored = await ignoredFilters(db, installation, kind);
  const upper = (...filters: string[]) => (to === null ? undefined : filters.find((filter) => !ignored.has(filter)));
  if (kind === 'payment') {
    const bound = upper('id__lt', 'id__lte');
    const through = String(bound === 'id__lt' ? (to ?? 0) + 1 : to);
    return { ...(from === null ? {} : { id__gt: String(from) }), ...(bound === undefined ? {} : { [bound]: through }) };
  }
  const style = await readTimestampStyle(db, installation);
  const since = from === null ? {} : changedSinceFilter(scope, new Date(from - overlapMs), style);
  const bound = upper('modified__lt', 'modified__lte');
  if (to === null || bound === undefined) return since;
  const zones: [string, ...string[]] = naiveTimesAreLocal ? [timezone] : [timezone, 'UTC'];
  return { ...since, [bound]: untilTimestamp(new Date(to), style, zones) };
}

/**
 * Pulls the whole row sets of the invoices of the span, and of those with a row that changed in it, if the server can
 * list changed rows.
 */
async function pullSpanRows(context: PullContext, span: Span): Promise<PullCounts> {
  const { db, installation, overlapMs } = context;
  const total: PullCounts = { seen: 0, pulled: 0 };
  const noticed: number[] = [];
  if (await mayUse(context, 'row', 'modified__gte')) {
    const keptBy = { keepWalk: false, onSaved: ({ ids }: { ids: readonly number[] }) => noticed.push(...ids) };
    addCounts(total, await pullList(context, 'row', await filtersOf(context, 'row', span), null, keptBy));
  }
  const { from, to } = span.invoice;
  const found = await rows(
    db,
    { id: integer },
    `${concerned} and modified >= ?::timestamptz and modified < ?::timestamptz
     union ${concerned} and id in (
       select parent_id from mirror_record where installation = ? and kind = 'row' and id = any(?)) order by id`,
    [
      ...[installation, from === null ? '-infinity' : new Date(from - overlapMs), new Date(to)],
      ...[installation, installation, noticed],
    ],
  );
  for (let start = 0; start < found.length; start += invoicesPerRequest) {
    const invoices = found.slice(start, start + invoicesPerRequest).map(({ id }) => id);
    addCounts(total, await pullRowSets(context, invoices));
  }
  return total;
}

const concerned = `select id from mirror_record where installation = ? and kind = 'invoice' and needs_rows and gone_at is null`;
