import type { Knex } from 'knex';
import type { Db } from '../db/pool.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { savePage } from '../mirror/save-page.ts';
import type { FindOwnEchoes, MirrorScope, SaveResult } from '../mirror/types.ts';
import type { ListAnswer, PracticeClient } from '../practice/client.ts';
import { recordOf } from '../records/schema.ts';
import type { RecordKind } from '../terms.ts';
import { pullByInvoice } from './by-invoice.ts';
import { ignoredFilters, noteIgnored } from './capabilities/filters.ts';
import { refusedFilter } from './capabilities/refused.ts';
import {
  noteDefaultPageSize,
  noteRepeatsRecords,
  noteTimestampStyle,
  readDefaultPageSize,
  readTimestampStyle,
} from './capabilities/server.ts';
import { furtherDimensions } from './walk/dimensions.ts';
import { contradictedFilter } from './walk/filter-check.ts';
import { hasOffset, sinceTimestamp } from './walk/timestamps.ts';
import { FilterIgnored, ListUnprovable, type WalkRequest, type WalkResult, type WalkState } from './walk/types.ts';
import { walk } from './walk/walk.ts';

/** Who pulls: a live window, or a backfill beside it. Each keeps its own walks; live work goes first. */
export type PullOwner = 'window' | 'backfill';

export interface PullContext extends MirrorScope {
  db: Db;
  client: Pick<PracticeClient, 'list'>;
  owner: PullOwner;
  /** The workflow run pulled for: what an attempt received before it died counts for the next attempt of the same run. */
  run: string;
  /** Priority in the budget; lower goes first. */
  priority: number;
  overlapMs: number;
  findOwnEchoes: FindOwnEchoes;
  /** Whether the source's times without offset are known to be the installation's; they may be UTC otherwise. */
  naiveTimesAreLocal?: boolean;
  /** Liveness and progress, after each page. `total` is the source's count for this walk. */
  onProgress(progress: { stream: RecordKind; received: number; total: number }): void;
}

export interface PullResult {
  /** Records received, repeats included. */
  seen: number;
  /** New or changed versions. */
  pulled: number;
  /** Source time from which the next pull of this stream must ask. */
  began: Date;
  /** No record received has an earlier source time: what has, was not in the list. */
  earliest: Date;
}

/** An unfinished walk is taken up again only while it is this fresh; later it starts anew. */
const resumeWithinHours = 72;
const resumeMarginMs = 120_000;

/**
 * Pulls every invoice or prepayment changed since `since`, or all of them when null (DESIGN: `modified__gte`, the overlap is
 * taken off by the caller). `invoicedFrom` narrows invoices to those dated from that day.
 */
export async function pullChanged(
  context: PullContext,
  kind: 'invoice' | 'prepayment',
  since: Date | null,
  invoicedFrom: string | null = null,
): Promise<PullResult> {
  const base = since === null ? {} : await changedSinceFilter(context, since);
  const dated = kind === 'invoice' && invoicedFrom !== null ? { invoice_date__gte: invoicedFrom } : {};
  return pullList(context, kind, { ...base, ...dated }, null);
}

/** Pulls the payments above the id `after`, or all when null. A payment is never changed: ids are its cursor. */
export async function pullPayments(context: PullContext, after: number | null): Promise<PullResult> {
  return pullList(context, 'payment', {}, after);
}

/**
 * Where the next pull of payments starts: the highest id first seen more than the overlap before this walk began, never
 * below where the last closed walk started. Until an id has settled, well below: the ids of the last day, and 1,000 at least.
 * Null means from the beginning.
 */
export async function nextPaymentCursor(
  context: Pick<PullContext, 'db' | 'installation' | 'overlapMs'>,
  began: Date,
): Promise<number | null> {
  const settled = await context.db.raw<{ rows: { id: number | null }[] }>(
    `select max(id) as id from mirror_record where installation = ? and kind = 'payment' and first_seen_at < ?`,
    [context.installation, new Date(began.getTime() - context.overlapMs)],
  );
  if (settled.rows[0]?.id != null) return settled.rows[0].id;
  const unsettled = await context.db.raw<{ rows: { thousandth: number | null; last_day: number | null }[] }>(
    `select
       (select id from mirror_record where installation = ? and kind = 'payment' order by id desc offset 1000 limit 1) as thousandth,
       (select min(id) from mirror_record where installation = ? and kind = 'payment' and modified > ?) as last_day`,
    [context.installation, context.installation, new Date(began.getTime() - 86_400_000)],
  );
  const { thousandth, last_day } = unsettled.rows[0]!;
  if (thousandth === null || last_day === null) return thousandth;
  // Ids between the known ones may belong to transactions that have not committed yet.
  const below = await context.db.raw<{ rows: { id: number | null }[] }>(
    `select max(id) as id from mirror_record where installation = ? and kind = 'payment' and id < ?`,
    [context.installation, last_day],
  );
  const { id } = below.rows[0]!;
  return id === null ? null : Math.min(thousandth, id);
}

interface StoredWalk {
  question: string;
  state: WalkState;
  run: string;
  received: number;
  pulled: number;
}

/**
 * Walks one list, saving each page with the walk's state in one transaction; a filter found ignored is done without. The state
 * of a walk that has ended stays until it is noted as finished (`walkOnce`), so that a kill between the two costs one question.
 */
export async function pullList(
  context: PullContext,
  kind: RecordKind,
  base: Record<string, string>,
  after: number | null,
  options: { keepWalk?: boolean; onSaved?: (result: SaveResult) => void } = {},
): Promise<PullResult> {
  const { db, installation } = context;
  const keepWalk = options.keepWalk ?? true;
  const filters = { ...base };
  let pulled = 0;
  let total = 0;
  let received = 0;
  let earliest = Number.POSITIVE_INFINITY;
  const ignored = await ignoredFilters(db, installation, kind);
  for (const filter of Object.keys(filters)) if (ignored.has(filter)) delete filters[filter];
  const style = await readTimestampStyle(db, installation);
  for (;;) {
    const question = JSON.stringify([filters, after]);
    const stored = keepWalk ? await loadWalk(context, kind, question) : null;
    const resume = stored?.state ?? null;
    const earlier = stored?.run === context.run ? stored : null;
    if (earlier) ({ received, pulled } = earlier);
    try {
      const result: WalkResult = await walk(
        {
          ask: async (request) => {
            const answer = await askPage(context, kind, request);
            if (answer === null) return null;
            await learn(context, kind, answer);
            earliest = Math.min(earliest, answer.sourceTime.getTime());
            return answer;
          },
          violated: (sent, item) => {
            const name = contradictedFilter(sent, recordOf(kind, item, context.dialect), context.timezone);
            return name === null ? [] : [name];
          },
          save: async (answer, state) => {
            await db.transaction(async (trx) => {
              const saved = await savePage(trx, context, kind, answer, context.findOwnEchoes);
              pulled += saved.pulled;
              options.onSaved?.(saved);
              received += answer.results.length;
              if (saved.ids.length < answer.results.length) await noteRepeatsRecords(trx, installation, kind);
              if (keepWalk) await saveWalk(trx, context, kind, { question, state, run: context.run, received, pulled });
            });
            total = Math.max(total, (earlier?.received ?? 0) + answer.count, received);
            context.onProgress({ stream: kind, received, total });
          },
          ignored: async (filter) => {
            ignored.add(filter);
            await noteIgnored(db, installation, kind, filter);
          },
        },
        {
          base: filters,
          after,
          resume,
          defaultPageSize: context.dialect.default_page_size,
          maxPageSize: context.dialect.max_page_size,
          ignored,
          dimensions: furtherDimensions(kind, { dialect: context.dialect, timezone: context.timezone, style }),
        },
      );
      if (pulled >= analyzeFrom) await analyze(context);
      // Pages received before a resume are not known by their own times; lower bounds differ by a second or so.
      if (resume) earliest = Math.min(earliest, result.began.getTime() - resumeMarginMs);
      return { seen: received, pulled, began: result.began, earliest: new Date(earliest) };
    } catch (error) {
      if (error instanceof ListUnprovable) return await dearer(context, kind, base, options, error);
      if (!(error instanceof FilterIgnored) || !(error.filter in filters)) throw error;
      // Asked without it, the same records come among others: dearer, and right.
      delete filters[error.filter];
      await noteIgnored(db, installation, kind, error.filter);
    }
  }
}

/** What is left when a list cannot be proven as a whole; throws where nothing is, naming the list and what was tried. */
async function dearer(
  context: PullContext,
  kind: RecordKind,
  base: Record<string, string>,
  options: { onSaved?: (result: SaveResult) => void },
  error: ListUnprovable,
): Promise<PullResult> {
  const isWhole = Object.keys(base).length === 0;
  const pull = (filters: Record<string, string>, onSaved: (saved: SaveResult) => void) =>
    pullList(context, kind, filters, null, {
      keepWalk: false,
      onSaved: (saved) => {
        onSaved(saved);
        options.onSaved?.(saved);
      },
    });
  const result = isWhole ? await pullByInvoice(context, kind, pull) : null;
  if (result) return result;
  throw new ListUnprovable(`the list of ${kind}s, ${error.message}`);
}

/** One page; null when a page after the first does not exist, the list having become shorter. */
async function askPage(context: PullContext, kind: RecordKind, request: WalkRequest): Promise<ListAnswer | null> {
  const { filters, pageSize, page } = request;
  try {
    return await context.client.list(kind, filters, pageSize, {
      priority: context.priority,
      ...(page === undefined ? {} : { page }),
    });
  } catch (error) {
    if (page !== undefined && error instanceof PracticeError && error.code === 'not_found') return null;
    const refused = refusedFilter(error, filters);
    throw refused === null ? error : new FilterIgnored(refused);
  }
}

/** The filter that asks a list for what has changed since, in the style of the server's own timestamps. */
export async function changedSinceFilter(context: PullContext, since: Date): Promise<Record<string, string>> {
  const zones: [string, ...string[]] = context.naiveTimesAreLocal ? [context.timezone] : [context.timezone, 'UTC'];
  return { modified__gte: sinceTimestamp(since, await readTimestampStyle(context.db, context.installation), zones) };
}

async function learn(context: PullContext, kind: RecordKind, answer: ListAnswer): Promise<void> {
  if (answer.pageSizeAsked === null && answer.results.length > 0 && answer.count > answer.results.length) {
    if (answer.results.length !== context.dialect.default_page_size) {
      // Weights are reckoned with it from now on, and after a restart (applyFacts).
      context.dialect.default_page_size = answer.results.length;
      await noteDefaultPageSize(context.db, context.installation, answer.results.length);
    }
  }
  if (kind !== 'invoice' || answer.results.length === 0) return;
  const record = recordOf(kind, answer.results[0]!, context.dialect);
  const stamp = record.modified;
  if (stamp === null) return;
  const style = hasOffset(stamp) ? 'offset' : 'naive';
  if (style !== (await readTimestampStyle(context.db, context.installation))) {
    await noteTimestampStyle(context.db, context.installation, style);
  }
}

/** Lays what was learnt of the installation earlier over its dialect, before a window's first question. */
export async function applyFacts(db: Db, scope: MirrorScope): Promise<void> {
  const learnt = await readDefaultPageSize(db, scope.installation);
  if (learnt !== null) scope.dialect.default_page_size = learnt;
}

async function loadWalk(context: PullContext, kind: RecordKind, question: string): Promise<StoredWalk | null> {
  const found = await context.db.raw<{ rows: { state: string }[] }>(
    `select state from sync_walk where installation = ? and stream = ? and owner = ?
       and saved_at > clock_timestamp() - make_interval(hours => ?)`,
    [context.installation, kind, context.owner, resumeWithinHours],
  );
  if (!found.rows[0]) return null;
  const stored = JSON.parse(found.rows[0].state) as StoredWalk;
  return stored.question === question ? stored : null;
}

async function saveWalk(trx: Knex.Transaction, context: PullContext, kind: RecordKind, walk: StoredWalk) {
  await trx.raw(
    `insert into sync_walk (installation, stream, owner, state) values (?, ?, ?, ?::json)
     on conflict (installation, stream, owner) do update set state = excluded.state, saved_at = clock_timestamp()`,
    [context.installation, kind, context.owner, JSON.stringify(walk)],
  );
}

/** A first load outruns autovacuum: without statistics the next statements may be planned as if the tables were empty. */
const analyzeFrom = 500;

async function analyze(context: PullContext): Promise<void> {
  await context.db.raw('analyze mirror_record, document');
}
