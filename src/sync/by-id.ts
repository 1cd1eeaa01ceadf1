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
 * Pulls records by their ids: in pages of the list where some lie close together, one by one otherwise, and by one walk of the
 * whole list where the server honours no filter on ids. Returns the ids that the source has. `count` is called with the result
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
    // Without an upper bound a server that shows other records first would be walked for each of them.
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

/** Walks the whole list; adds those of the wanted ids that it shows. */
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
 * Pulls pages that hold several of the ids each (id-pages.ts). Returns the ids that no page has decided, and whether the server shows
 * the records of a page.
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

/** The fewest pages that hold these ids. */
export async function pagesFor(
  context: PullContext,
  kind: RecordKind,
  ids: readonly number[],
  sizes: { pageSize: number; maxPageSize: number },
): Promise<IdPage[]> {
  return coveringPages(await withOthersBetween(context, kind, ids, sizes.pageSize), sizes);
}

/** The ids in order, and how many other records the mirror has between each and the one before it, `atMost` of them counted. */
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
  /** Nothing lies between the first and the last id of the page but what was received. */
  isWhole: boolean;
}

/**
 * What lies from the first to the last id of a page, in one request. A server without `id__lt` (no filter of practice-api) shows what
 * lies above the last id, too, in a page of the same weight. Null where the server ignores or refuses `id__gt`, or
 * shows other records first.
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

/** Asks with those of the bounds that the server takes; null where it takes none as a lower bound. */
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
    // A refused upper bound is left out of the next request.
    if (answer !== null || !isBounded) return answer;
  }
}

/** Notes the filters that records of an answer contradict. */
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
 * Pulls one record: the ids strictly between its neighbours', in one request of weight 1 (field-notes: retrieving one invoice
 * is not shown). `found` is false when the source does not have the record; where the filters leave that in doubt, a walk of
 * the list decides.
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
