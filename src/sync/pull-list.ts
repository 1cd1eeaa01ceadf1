import type { Connection } from '../db/rows.ts';
import { refreshStatistics, refreshStatisticsFromRows } from '../db/statistics.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { type ReadSpan, readSpanOf, savedSpan, spanOf } from '../domain/read-at.ts';
import type { SaveResult } from '../mirror/types.ts';
import type { ListAnswer } from '../practice/client.ts';
import { recordOf } from '../records/schema.ts';
import type { RecordKind } from '../terms.ts';
import { listTexts } from '../texts/errors/lists.ts';
import { pullByInvoice } from './by-invoice.ts';
import { noteIgnored } from './capabilities/filters.ts';
import { type ListTraits, readTraits } from './capabilities/list-traits.ts';
import { observeServer } from './capabilities/observe.ts';
import { refusedFilter } from './capabilities/refused-filter.ts';
import { noteRepeatsRecords, readDefaultPageSizes } from './capabilities/server.ts';
import type { PullContext, PullResult } from './context.ts';
import { refuseForeignPage, saveAnswer } from './save-answer.ts';
import { type Left, type LeftWalk, leftWalk, saveWalk } from './saved-walks.ts';
import { receivedIn } from './walk/count-proof.ts';
import { type Dimension, furtherDimensions } from './walk/dimensions.ts';
import { contradictedFilter } from './walk/filter-check.ts';
import { FilterIgnored, ListUnprovable, type WalkPorts, type WalkRequest, type WalkState } from './walk/types.ts';
import { walk } from './walk/walk.ts';

export interface PullOptions {
  /** Whether to save the walk's progress with each page, so that it resumes after a kill. Default true. */
  keepWalk?: boolean;
  /**
   * The saved progress of earlier attempts, and the known traits of the list's server, if the caller has read them
   * already.
   */
  left?: Left;
  traits?: ListTraits;
  /** The walk calls this for each page, in the transaction that stores the page. */
  onSaved?: (saved: SaveResult) => void;
  /** Expected number of records, from the mirror. The first request asks for as many. By default unknown. */
  expectedRecords?: number;
}

/**
 * Pulls one list into the mirror by a proven walk. Each page is saved in one transaction with the walk's state. Filters
 * that the server ignores or refuses are left out. If a list of rows or payments cannot be proven as a whole, it is
 * pulled by its invoices (by-invoice.ts). Throws ListUnprovable, which names the list and the ways that were tried.
 *
 * The state of an ended walk stays saved until the walk is marked as finished (`walkOnce`). A kill between the two
 * therefore costs one request.
 */
export async function pullList(
  context: PullContext,
  kind: RecordKind,
  filters: Record<string, string>,
  after: number | null,
  options: PullOptions = {},
): Promise<PullResult> {
  const { db, installation, dialect, timezone } = context;
  const { ignored, style, defaultPageSize } = options.traits ?? (await readTraits(db, installation, dialect))[kind];
  const dimensions = furtherDimensions(kind, { dialect, timezone, style });
  const honoured = Object.fromEntries(Object.entries(filters).filter(([filter]) => !ignored.has(filter)));
  const pull = new ListPull(context, kind, honoured, after, options, { ignored, dimensions, defaultPageSize });
  try {
    const result = await pull.run();
    if (result.pulled >= refreshStatisticsFromRows) await refreshStatistics(db, 'pull');
    return result;
  } catch (error) {
    if (!(error instanceof ListUnprovable)) throw error;
    const isWholeList = Object.keys(filters).length === 0;
    const pulled = isWholeList ? await pullByInvoice(context, kind, pullFiltered(context, kind, options)) : null;
    if (pulled) return pulled;
    throw new ListUnprovable(listTexts.unprovable({ list: kind, reason: error.message }));
  }
}

function pullFiltered(context: PullContext, kind: RecordKind, options: PullOptions) {
  return (filters: Record<string, string>, onSaved: (saved: SaveResult) => void) =>
    pullList(context, kind, filters, null, {
      keepWalk: false,
      onSaved: (saved) => {
        onSaved(saved);
        options.onSaved?.(saved);
      },
    });
}

class ListPull {
  readonly #context: PullContext;
  readonly #kind: RecordKind;
  readonly #filters: Record<string, string>;
  readonly #after: number | null;
  readonly #keepWalk: boolean;
  #left: Left | null;
  readonly #onSaved: ((saved: SaveResult) => void) | undefined;
  readonly #expectedRecords: number | null;
  readonly #ignored: Set<string>;
  readonly #dimensions: Dimension[];
  #defaultPageSize: number;
  #received = 0;
  #pulled = 0;
  #listCount = 0;
  #read: ReadSpan | null = null;

  constructor(
    context: PullContext,
    kind: RecordKind,
    filters: Record<string, string>,
    after: number | null,
    options: PullOptions,
    {
      ignored,
      dimensions,
      defaultPageSize,
    }: { ignored: Set<string>; dimensions: Dimension[]; defaultPageSize: number },
  ) {
    this.#context = context;
    this.#kind = kind;
    this.#filters = { ...filters };
    this.#after = after;
    this.#keepWalk = options.keepWalk ?? true;
    this.#left = options.left ?? null;
    this.#onSaved = options.onSaved;
    this.#expectedRecords = options.expectedRecords ?? null;
    this.#ignored = ignored;
    this.#dimensions = dimensions;
    this.#defaultPageSize = defaultPageSize;
  }

  /** Walks the list. Each time the server turns out to ignore a filter, it starts again without that filter. */
  async run(): Promise<PullResult> {
    for (;;) {
      try {
        return await this.#walk();
      } catch (error) {
        if (!(error instanceof FilterIgnored) || !(error.filter in this.#filters)) throw error;
        // Without the filter the list contains more records, so the result is the same and the weight is higher.
        delete this.#filters[error.filter];
        await this.#noteIgnored(error.filter);
        // An answer may have revealed another default page size.
        const { db, dialect, installation } = this.#context;
        this.#defaultPageSize = (await readDefaultPageSizes(db, installation, dialect))[this.#kind];
      }
    }
  }

  async #walk(): Promise<PullResult> {
    const { dialect } = this.#context;
    const question = JSON.stringify([this.#filters, this.#after]);
    const left = this.#keepWalk ? await this.#leftOf(question) : null;
    const saved = left?.saved ?? null;
    this.#read = saved && readSpanOf(saved.read);
    if (left) {
      this.#received = left.counted.seen;
      this.#pulled = left.counted.pulled;
    }
    const { began } = await walk(this.#ports(question, left?.counted.seen ?? 0), {
      base: this.#filters,
      after: this.#after,
      resume: saved?.state ?? null,
      defaultPageSize: this.#defaultPageSize,
      maxPageSize: dialect.max_page_size,
      ignored: this.#ignored,
      dimensions: this.#dimensions,
      expectedRecords: this.#expectedRecords,
    });
    const read = this.#read;
    if (read === null) throw new Error('a walk ended without an answer');
    return { seen: this.#received, pulled: this.#pulled, began, read };
  }

  /** The progress that the caller has read is valid only for the first walk. */
  async #leftOf(question: string): Promise<LeftWalk> {
    const left = this.#left ?? (await leftWalk(this.#context, this.#kind));
    this.#left = null;
    return left(question);
  }

  #ports(question: string, receivedBefore: number): WalkPorts {
    const { dialect, timezone } = this.#context;
    return {
      ask: async (request) => {
        const answer = await this.#ask(request);
        if (answer === null) return null;
        refuseForeignPage(this.#kind, answer, Object.keys(this.#filters).length === 0 && this.#after === null);
        await observeServer(this.#context, this.#kind, answer);
        this.#read = spanOf(this.#read ?? answer, answer);
        return answer;
      },
      contradicted: (sent, item) => {
        const filter = contradictedFilter(sent, recordOf(this.#kind, item, dialect), timezone);
        return filter === null ? [] : [filter];
      },
      save: async (answer, state) => {
        await this.#save(question, answer, state);
        this.#listCount = Math.max(this.#listCount, receivedBefore + answer.count, this.#received);
        this.#context.onProgress({ stream: this.#kind, received: this.#received, total: this.#listCount });
      },
      ignored: async (filter) => {
        this.#ignored.add(filter);
        await this.#noteIgnored(filter);
      },
    };
  }

  #noteIgnored(filter: string): Promise<void> {
    const { installation, transact } = this.#context;
    return transact((trx) => noteIgnored(trx, installation, this.#kind, filter));
  }

  /** Requests one page. Null if a page after the first does not exist, because the list has become shorter. */
  async #ask({ filters, pageSize, page }: WalkRequest): Promise<ListAnswer | null> {
    const { client, priority } = this.#context;
    try {
      return await client.list(this.#kind, filters, pageSize, {
        priority,
        defaultPageSize: this.#defaultPageSize,
        ...(page === undefined ? {} : { page }),
      });
    } catch (error) {
      if (page !== undefined && error instanceof PracticeError && error.code === 'not_found') return null;
      const refused = refusedFilter(error, filters);
      throw refused === null ? error : new FilterIgnored(refused);
    }
  }

  async #save(question: string, answer: ListAnswer, state: WalkState): Promise<void> {
    const context = this.#context;
    const received = this.#received + receivedIn(answer);
    // Most windows find nothing. An empty page, or an empty list that another attempt would request again, needs no
    // saving.
    const keepsWalk = this.#keepWalk && received > 0;
    if (receivedIn(answer) === 0 && !keepsWalk) return;
    const save = async (trx: Connection, saved: SaveResult) => {
      const pulled = this.#pulled + saved.pulled;
      if (saved.ids.length < answer.results.length) await noteRepeatsRecords(trx, context.installation, this.#kind);
      if (keepsWalk) {
        const read = savedSpan(this.#read ?? answer);
        const walk = { question, filters: this.#filters, state, run: context.run, received, pulled, read };
        await saveWalk(trx, context, this.#kind, walk);
      }
      await context.watch?.saved(trx, this.#kind, saved);
      this.#onSaved?.(saved);
      return pulled;
    };
    this.#pulled = await saveAnswer(context, this.#kind, answer, save);
    this.#received = received;
  }
}
