import { integer } from '../db/columns.ts';
import { rows } from '../db/rows.ts';
import { spanOf } from '../domain/read-at.ts';
import type { ListAnswer } from '../practice/client.ts';
import { recordOf } from '../records/schema.ts';
import type { RecordKind } from '../terms.ts';
import { ignoredFilters, noteIgnored } from './capabilities/filters.ts';
import { unlessRefused } from './capabilities/refused-filter.ts';
import { readDefaultPageSizes } from './capabilities/server.ts';
import type { PullContext, PullResult } from './context.ts';
import { coveringPages, type IdPage } from './id-pages.ts';
import { pullList } from './pull-list.ts';
import { saveAnswer } from './save-answer.ts';
import { isWholeList } from './walk/count-proof.ts';
import { contradictedFilter } from './walk/filter-check.ts';
import { pageSizeFor } from './walk/page-size.ts';

/**
 * Pulls records by their ids: in pages if some ids are close together, otherwise one by one. If the server honours no
 * filter on ids, it walks the whole list once. Returns the ids that the source has. `count` is called with the result
 * of each pull.
 */
export async function pullByIds(
  context: PullContext,
  kind: RecordKind,
  ids: number[],
  count: (result: PullResult) => void = () => undefined,
): Promise<Set<number>> {
  const found = new Set<number>();
  const { left, isHonoured } =
    ids.length < 2 ? { left: ids, isHonoured: true } : await pullPages(context, kind, ids, { found, count });
  for (const id of left) {
    const ignored = await ignoredFilters(context.db, context.installation, kind);
    // Without an upper bound, a server that returns other records first would require a walk for each id.
    if (left.length > 1 && ignored.has('id__lt') && (ignored.has('id__gt') || !isHonoured)) {
      count(await walkFor(context, kind, new Set(left), found));
      return found;
    }
    const one = await pullById(context, kind, id);
    count(one);
    if (one.found) found.add(id);
  }
  return found;
}

/** Walks the whole list and adds those of the wanted ids that it contains to `found`. */
export function walkFor(
  context: PullContext,
  kind: RecordKind,
  wanted: ReadonlySet<number>,
  found: Set<number>,
): Promise<PullResult> {
  const onSaved = (saved: { ids: number[] }) => {
    for (const each of saved.ids) if (wanted.has(each)) found.add(each);
  };
  return pullList(context, kind, {}, null, { keepWalk: false, onSaved });
}

/**
 * Pulls pages with several of the ids each (id-pages.ts). Returns the ids that no page has decided, and whether the
 * server honours the ranges of ids.
 */
async function pullPages(
  context: PullContext,
  kind: RecordKind,
  ids: readonly number[],
  { found, count }: { found: Set<number>; count: (result: PullResult) => void },
): Promise<{ left: number[]; isHonoured: boolean }> {
  const { db, dialect, installation } = context;
  const defaultPageSize = (await readDefaultPageSizes(db, installation, dialect))[kind];
  const pages = await pagesFor(context, kind, ids, { pageSize: defaultPageSize, maxPageSize: dialect.max_page_size });
  const left: number[] = [];
  let isHonoured = true;
  for (const page of pages) {
    const isAsked = isHonoured && page.ids.length > 1;
    const pulled: PulledPage | null = isAsked ? await pullPage(context, kind, page, defaultPageSize) : null;
    if (pulled !== null) count(pulled);
    else if (isAsked) isHonoured = false;
    for (const id of page.ids) {
      if (pulled?.received.has(id)) found.add(id);
      else if (!pulled?.isWhole) left.push(id);
    }
  }
  return { left, isHonoured };
}

/** The smallest number of pages that contain these ids. */
export async function pagesFor(
  context: PullContext,
  kind: RecordKind,
  ids: readonly number[],
  sizes: { pageSize: number; maxPageSize: number },
): Promise<IdPage[]> {
  return coveringPages(await withOthersBetween(context, kind, ids, sizes.pageSize), sizes);
}

/**
 * The ids in order. `between` is the number of other records in the mirror between an id and the one before it, counted
 * up to `atMost`.
 */
function withOthersBetween(
  { db, installation }: PullContext,
  kind: RecordKind,
  ids: readonly number[],
  atMost: number,
): Promise<{ id: number; between: number }[]> {
  return rows(
    db,
    { id: integer, between: integer },
    `select wanted.id, (select count(*) from (
         select from mirror_record m where m.installation = ? and m.kind = ? and m.id > wanted.before and m.id < wanted.id
           and m.gone_at is null limit ?) others) as between
     from (select id, lag(id) over (order by id) as before from (select distinct unnest(?::bigint[]) as id) each) wanted
     order by wanted.id`,
    [installation, kind, atMost, ids],
  );
}

export interface PulledPage extends PullResult {
  received: Set<number>;
  /** Whether the page contains every record between its first and its last id. */
  isWhole: boolean;
}

/**
 * Requests all records from the first to the last id of a page at once. A server without `id__lt` (not a filter of
 * practice-api) also returns records above the last id, in a page of the same weight. Null if the server ignores or
 * refuses `id__gt`, or returns other records first.
 */
export async function pullPage(
  context: PullContext,
  kind: RecordKind,
  { ids, records }: IdPage,
  defaultPageSize: number,
): Promise<PulledPage | null> {
  const { dialect } = context;
  const bounds = { id__gt: String((ids[0] ?? 0) - 1), id__lt: String((ids.at(-1) ?? 0) + 1) };
  const pageSize = pageSizeFor(records, defaultPageSize, dialect.max_page_size);
  const answer = await askBetween(context, kind, bounds, pageSize, defaultPageSize);
  if (answer === null) return null;
  await noteContradicted(context, kind, bounds, answer);
  const received = new Set(answer.results.map(({ id }) => id));
  if (!ids.some((id) => received.has(id)) && !isWholeList(answer)) return null;
  return { ...(await savePulled(context, kind, answer)), received, isWhole: isWholeList(answer) };
}

type IdBounds = { id__gt: string; id__lt: string };

/** Sends the request with those bounds that the server honours. Null if it honours no lower bound. */
async function askBetween(
  context: PullContext,
  kind: RecordKind,
  { id__gt, id__lt }: IdBounds,
  pageSize: number,
  defaultPageSize: number,
): Promise<ListAnswer | null> {
  for (;;) {
    const ignored = await ignoredFilters(context.db, context.installation, kind);
    if (ignored.has('id__gt')) return null;
    const isBounded = !ignored.has('id__lt');
    const filters = isBounded ? { id__gt, id__lt } : { id__gt };
    const answer = await askUnlessRefused(context, kind, filters, pageSize, defaultPageSize);
    // If the upper bound was refused, the next request leaves it out.
    if (answer !== null || !isBounded) return answer;
  }
}

/** Stores filters as ignored if records of an answer contradict them. */
async function noteContradicted(
  { dialect, installation, timezone, transact }: PullContext,
  kind: RecordKind,
  filters: Record<string, string>,
  { results }: ListAnswer,
): Promise<void> {
  const contradicted = new Set(
    results.flatMap((item) => contradictedFilter(filters, recordOf(kind, item, dialect), timezone) ?? []),
  );
  for (const filter of contradicted) await transact((trx) => noteIgnored(trx, installation, kind, filter));
}

/**
 * Pulls one record: a request of weight 1 for the ids strictly between its neighbours (field-notes: retrieving one
 * invoice is not shown). `found` is false if the source does not have the record. If the filters leave that in doubt, a
 * walk of the list decides.
 */
export async function pullById(
  context: PullContext,
  kind: RecordKind,
  id: number,
): Promise<PullResult & { found: boolean }> {
  const { db, installation } = context;
  const ignored = await ignoredFilters(db, installation, kind);
  const filters: Record<string, string> = {};
  if (!ignored.has('id__gt')) filters.id__gt = String(id - 1);
  if (!ignored.has('id__lt')) filters.id__lt = String(id + 1);
  if (Object.keys(filters).length > 0) {
    const answer = await askUnlessRefused(context, kind, filters, null);
    const isFound = answer?.results.some((item) => item.id === id) ?? false;
    if (answer !== null && (isFound || (answer.results.length === 0 && isWholeList(answer)))) {
      return { ...(await savePulled(context, kind, answer)), found: isFound };
    }
    if (answer !== null) await noteContradicted(context, kind, filters, answer);
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

export async function savePulled(context: PullContext, kind: RecordKind, answer: ListAnswer): Promise<PullResult> {
  const saved = await saveAnswer(context, kind, answer, async (trx, result) => {
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
