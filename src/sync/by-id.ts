import { spanOf } from '../domain/read-at.ts';
import { savePageOrAside } from '../mirror/put-aside.ts';
import type { ListAnswer } from '../practice/client.ts';
import { recordOf } from '../records/schema.ts';
import type { RecordKind } from '../terms.ts';
import { ignoredFilters, noteIgnored } from './capabilities/filters.ts';
import { unlessRefused } from './capabilities/refused.ts';
import { readDefaultPageSizes } from './capabilities/server.ts';
import type { PullContext, PullResult } from './context.ts';
import { pullList } from './pull-list.ts';
import { isWholeList } from './walk/count-proof.ts';
import { contradictedFilter } from './walk/filter-check.ts';
import { pageSizeFor } from './walk/page-size.ts';

/**
 * Pulls records by their ids: in one request where the ids lie close together, one by one otherwise, and by one walk of the
 * whole list where the server honours no filter on ids. Returns the ids that the source has. `count` is called with the result
 * of each pull.
 */
export async function pullByIds(
  context: PullContext,
  kind: RecordKind,
  ids: number[],
  count: (result: PullResult) => void = () => undefined,
): Promise<Set<number>> {
  const inOneRequest = await pullRange(context, kind, ids);
  if (inOneRequest) {
    count(inOneRequest);
    return inOneRequest.found;
  }
  const found = new Set<number>();
  for (const id of ids) {
    const ignored = await ignoredFilters(context.db, context.installation, kind);
    if (ids.length > 1 && ignored.has('id__gt') && ignored.has('id__lt')) {
      const wanted = new Set(ids);
      const onSaved = (saved: { ids: number[] }) => {
        for (const each of saved.ids) if (wanted.has(each)) found.add(each);
      };
      count(await pullList(context, kind, {}, null, { keepWalk: false, onSaved }));
      return found;
    }
    const one = await pullById(context, kind, id);
    count(one);
    if (one.found) found.add(id);
  }
  return found;
}

/**
 * Everything from the lowest to the highest id in one request, where that weighs no more than one request for each id; null
 * where it weighs more, or the server ignores the filters.
 */
async function pullRange(
  context: PullContext,
  kind: RecordKind,
  ids: number[],
): Promise<(PullResult & { found: Set<number> }) | null> {
  const { db, dialect, installation } = context;
  const lowest = ids.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const highest = ids.reduce((a, b) => Math.max(a, b), 0);
  const span = highest - lowest + 1;
  if (ids.length < 2 || span > dialect.max_page_size) return null;
  const defaultPageSize = (await readDefaultPageSizes(db, installation, dialect))[kind];
  const pageSize = pageSizeFor(span, defaultPageSize, dialect.max_page_size);
  if (span > pageSize || pageSize / defaultPageSize > ids.length) return null;
  const ignored = await ignoredFilters(db, installation, kind);
  if (ignored.has('id__gt') || ignored.has('id__lt')) return null;
  const filters = { id__gt: String(lowest - 1), id__lt: String(highest + 1) };
  const answer = await askUnlessRefused(context, kind, filters, pageSize, defaultPageSize);
  if (answer === null) return null;
  const received = answer.results.map(({ id }) => id);
  if (!isWholeList(answer) || received.some((id) => id < lowest || id > highest)) return null;
  const result = await saveAnswer(context, kind, answer);
  return { ...result, found: new Set(ids.filter((id) => received.includes(id))) };
}

/**
 * Pulls one record: the ids strictly between its neighbours', in one request of weight 1 (field-notes: retrieving one invoice
 * is not shown). `found` is false when the source does not have the record; where the filters leave that in doubt, a walk of
 * the list decides.
 */
export async function pullById(
  context: PullContext,
  kind: RecordKind,
  id: number,
): Promise<PullResult & { found: boolean }> {
  const { db, dialect, installation, timezone, transact } = context;
  const ignored = await ignoredFilters(db, installation, kind);
  const filters: Record<string, string> = {};
  if (!ignored.has('id__gt')) filters.id__gt = String(id - 1);
  if (!ignored.has('id__lt')) filters.id__lt = String(id + 1);
  if (Object.keys(filters).length > 0) {
    const answer = await askUnlessRefused(context, kind, filters, null);
    const isFound = answer?.results.some((item) => item.id === id) ?? false;
    if (answer !== null && (isFound || answer.count === 0)) {
      return { ...(await saveAnswer(context, kind, answer)), found: isFound };
    }
    for (const item of answer?.results ?? []) {
      const filter = contradictedFilter(filters, recordOf(kind, item, dialect), timezone);
      if (filter !== null) await transact((trx) => noteIgnored(trx, installation, kind, filter));
    }
  }
  let found = false;
  const result = await pullList(context, kind, {}, id - 1, {
    keepWalk: false,
    onSaved: (saved) => {
      found ||= saved.ids.includes(id);
    },
  });
  return { ...result, found };
}

async function saveAnswer(context: PullContext, kind: RecordKind, answer: ListAnswer): Promise<PullResult> {
  const { findOwnEchoes, transact } = context;
  const saved = await savePageOrAside(transact, context, kind, answer, findOwnEchoes, async (trx, result) => {
    await context.watch?.saved(trx, kind, result);
    return result;
  });
  const read = spanOf(answer, answer);
  return { seen: saved.received, pulled: saved.pulled, began: read, read };
}

function askUnlessRefused(
  { installation, client, priority, transact }: PullContext,
  kind: RecordKind,
  filters: Record<string, string>,
  pageSize: number | null,
  defaultPageSize?: number,
): Promise<ListAnswer | null> {
  return unlessRefused(
    () =>
      client.list(kind, filters, pageSize, { priority, ...(defaultPageSize === undefined ? {} : { defaultPageSize }) }),
    filters,
    (filter) => transact((trx) => noteIgnored(trx, installation, kind, filter)),
  );
}
