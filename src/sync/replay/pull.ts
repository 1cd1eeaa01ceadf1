import { integer } from '../../db/columns.ts';
import { rows } from '../../db/rows.ts';
import type { RecordKind } from '../../terms.ts';
import { invoicesPerRequest } from '../by-invoice.ts';
import { ignoredFilters } from '../capabilities/filters.ts';
import { mayUse } from '../capabilities/recheck.ts';
import { readTimestampStyle } from '../capabilities/server.ts';
import { addCounts, type PullContext, type PullCounts, type PullResult } from '../context.ts';
import { changedSinceFilter } from '../pull-changed.ts';
import { pullList } from '../pull-list.ts';
import { pullRowSets } from '../pull-row-sets.ts';
import { walkOnce } from '../saved-walks.ts';
import { untilTimestamp } from '../walk/timestamps.ts';
import type { Asked, Span } from './targets.ts';

/**
 * How a replay asks the lists (DESIGN "Sync"): each within the span, whatever the history is long. Where the server does not
 * honour an upper bound the list is read on to its end. Records that have changed again since then are not in the span any more:
 * a later window has read them.
 */

/** Pulls the changes or payments of a span. Once in a workflow run, and resumed after a kill. */
export async function pullSpan(
  context: PullContext,
  kind: Exclude<RecordKind, 'row'>,
  span: Span,
): Promise<PullResult> {
  const after = kind === 'payment' ? span.payment.from : null;
  return walkOnce(context, kind, `${context.run} ${JSON.stringify(span[kind])}`, async (left) => {
    const { id__gt: _after, ...filters } = await filtersOf(context, kind, span);
    return pullList(context, kind, filters, after, { left });
  });
}

type FilterScope = Pick<PullContext, 'db' | 'installation' | 'timezone' | 'naiveTimesAreLocal' | 'overlapMs'>;

/** What a replay asks a list with: changes within the interval, the overlap taken off its beginning, or ids. */
export async function filtersOf(scope: FilterScope, kind: RecordKind, span: Span): Promise<Record<string, string>> {
  const { db, installation, naiveTimesAreLocal, overlapMs, timezone } = scope;
  const { from, to } = span[kind];
  if (kind === 'payment') {
    const bound = to === null ? null : await upperBound(scope, kind, ['id__lt', 'id__lte']);
    return {
      ...(from === null ? {} : { id__gt: String(from) }),
      ...(to === null || bound === null ? {} : { [bound]: String(bound === 'id__lt' ? to + 1 : to) }),
    };
  }
  const style = await readTimestampStyle(db, installation);
  const since = from === null ? {} : changedSinceFilter(scope, new Date(from - overlapMs), style);
  const bound = to === null ? null : await upperBound(scope, kind, ['modified__lt', 'modified__lte']);
  if (to === null || bound === null) return since;
  const zones: [string, ...string[]] = naiveTimesAreLocal ? [timezone] : [timezone, 'UTC'];
  return { ...since, [bound]: untilTimestamp(new Date(to), style, zones) };
}

/** The first of these filters that the server is not known to ignore. */
async function upperBound(
  { db, installation }: FilterScope,
  kind: RecordKind,
  filters: readonly string[],
): Promise<string | null> {
  const ignored = await ignoredFilters(db, installation, kind);
  return filters.find((filter) => !ignored.has(filter)) ?? null;
}

/**
 * Pulls the whole row sets of the invoices concerned: those of the span, and those of which a row changed in it, as far as the
 * server tells.
 */
export async function pullSpanRows(context: PullContext, span: Span): Promise<PullCounts> {
  const total: PullCounts = { seen: 0, pulled: 0 };
  const concerned = new Set(await invoicesOf(context, span.invoice));
  if (await mayUse(context, 'row', 'modified__gte')) {
    const noticed: number[] = [];
    const notice = await pullList(context, 'row', await filtersOf(context, 'row', span), null, {
      keepWalk: false,
      onSaved: ({ ids }) => noticed.push(...ids),
    });
    addCounts(total, notice);
    for (const invoice of await invoicesOfRows(context, noticed)) concerned.add(invoice);
  }
  const invoices = [...concerned].toSorted((a, b) => a - b);
  for (let start = 0; start < invoices.length; start += invoicesPerRequest) {
    addCounts(total, await pullRowSets(context, invoices.slice(start, start + invoicesPerRequest)));
  }
  return total;
}

/** The final invoices of the mirror that changed within an interval. */
async function invoicesOf({ db, installation, overlapMs }: PullContext, { from, to }: Asked): Promise<number[]> {
  const found = await rows(
    db,
    { id: integer },
    `select id from mirror_record where installation = ? and kind = 'invoice' and needs_rows and gone_at is null
       and modified >= ?::timestamptz and modified < ?::timestamptz`,
    [installation, from === null ? '-infinity' : new Date(from - overlapMs), to === null ? 'infinity' : new Date(to)],
  );
  return found.map(({ id }) => id);
}

/** The invoices of rows, as far as these need their rows. */
async function invoicesOfRows({ db, installation }: PullContext, ids: number[]): Promise<number[]> {
  const found = await rows(
    db,
    { id: integer },
    `select distinct i.id from mirror_record r
     join mirror_record i on i.installation = r.installation and i.kind = 'invoice' and i.id = r.parent_id
     where r.installation = ? and r.kind = 'row' and r.id = any(?) and i.needs_rows and i.gone_at is null`,
    [installation, ids],
  );
  return found.map(({ id }) => id);
}
