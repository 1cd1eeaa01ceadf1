import { type ReadAt, readAtOf, savedReadAt } from '../../domain/read-at.ts';
import type { ListAnswer } from '../../practice/client.ts';
import { receivedIn } from './count-proof.ts';
import type { Bound, Dimension } from './dimensions.ts';
import { pageSizeFor } from './page-size.ts';
import { FilterIgnored, type WalkOptions, type WalkPorts, type WalkRequest, type WalkState } from './types.ts';

/** A range of one dimension, `from <= number < to`, or the records without a number in it. A null bound is no limit. */
export type Range = { from: number | null; to: number | null } | 'absent';

/** The part of a list within a range of each named dimension. `{}` is the whole list. */
export type RangeFilter = Record<string, Range>;

/** The server ignores every filter that could limit a dimension, so the range cannot be requested. */
export class Unbounded extends Error {
  readonly dimension: string;
  constructor(dimension: string) {
    super(`no filter bounds ${dimension}`);
    this.dimension = dimension;
  }
}

/**
 * The requests of one walk. It translates ranges into filters, checks each answer against the sent filters, and keeps
 * what the answers show about the server.
 */
export class WalkRequests {
  received = 0;
  began: ReadAt | null = null;
  /** The highest count of any answer, which is an upper bound for every request. */
  largestCount: number | null = null;
  readonly ignored: Set<string>;
  /** The largest page by offset that is requested. It is reduced after a page was too large to be read. */
  largestOffsetPage = Number.POSITIVE_INFINITY;
  /** Whether the server has honoured an upper bound of ids exactly. */
  isUpperIdHonoured = false;
  readonly #ports: WalkPorts;
  readonly #options: WalkOptions;
  readonly #dimensions: Map<string, Dimension>;
  /** The server's maximum. It is known after a first page has fewer records than requested. */
  #maxPageSize: number;

  constructor(ports: WalkPorts, options: WalkOptions, dimensions: Dimension[]) {
    this.#ports = ports;
    this.#options = options;
    this.#dimensions = new Map(dimensions.map((dimension) => [dimension.name, dimension]));
    this.#maxPageSize = options.maxPageSize;
    this.ignored = new Set(options.ignored);
    if (options.resume?.began) {
      this.began = readAtOf(options.resume.began);
      this.received = options.resume.received;
    }
  }

  pageSizeFor(remaining: number): number {
    return pageSizeFor(remaining, this.#options.defaultPageSize, this.#maxPageSize);
  }

  get largestPageSize(): number {
    return this.pageSizeFor(Number.MAX_SAFE_INTEGER);
  }

  /** The filter that limits a dimension on one side: the first that the server is not known to ignore. */
  boundOf(dimension: Dimension, side: 'lower' | 'upper'): Bound | undefined {
    return dimension[side].find(({ filter }) => !this.ignored.has(filter));
  }

  /**
   * Requests one page of a range. Null if there is no such page. `ordered` adds `ordering=id`. If the server ignores or
   * refuses a filter, that is stored and the request repeated with the next suitable filter. Throws Unbounded if none
   * is left, and FilterIgnored for a filter of the walk's base.
   */
  async ask(ranges: RangeFilter, pageSize: number | null, page = 1, ordered = false): Promise<ListAnswer | null> {
    for (;;) {
      const order = ordered && !this.ignored.has('ordering') ? { ordering: 'id' } : {};
      const filters = { ...withinBoth(this.#options.base, this.#filtersOf(ranges)), ...order };
      const answer = await this.#unlessRefused({ filters, pageSize, ...(page === 1 ? {} : { page }) });
      if (answer === 'refused') continue;
      if (answer === null) return null;
      this.#record(answer, pageSize, page);
      const ignored = this.#contradictedFilter(filters, answer);
      if (ignored === null) return answer;
      if (ignored in this.#options.base) throw new FilterIgnored(ignored);
      await this.noteIgnored(ignored);
    }
  }

  /** The first page of a range. */
  async firstPage(ranges: RangeFilter, pageSize: number | null, ordered = false): Promise<ListAnswer> {
    const answer = await this.ask(ranges, pageSize, 1, ordered);
    if (answer === null) throw new Error('the server has no first page of a list');
    return answer;
  }

  async noteIgnored(filter: string): Promise<void> {
    this.ignored.add(filter);
    await this.#ports.ignored(filter);
  }

  /** Saves a page together with the progress of the walk. */
  save(
    answer: ListAnswer,
    progress: Pick<WalkState, 'proven' | 'after' | 'expected' | 'open' | 'copies'>,
  ): Promise<void> {
    const { received, began } = this;
    return this.#ports.save(answer, { ...progress, received, began: began && savedReadAt(began) });
  }

  #record(answer: ListAnswer, pageSize: number | null, page: number): void {
    const received = receivedIn(answer);
    this.began ??= { sourceTime: answer.sourceTime, askedAt: answer.askedAt };
    this.received += received;
    this.largestCount = Math.max(this.largestCount ?? 0, answer.count);
    const isCapped = pageSize !== null && page === 1 && received > 0 && received < Math.min(pageSize, answer.count);
    if (isCapped) this.#maxPageSize = Math.min(this.#maxPageSize, received);
  }

  async #unlessRefused(request: WalkRequest): Promise<ListAnswer | null | 'refused'> {
    try {
      return await this.#ports.ask(request);
    } catch (error) {
      if (!(error instanceof FilterIgnored) || error.filter in this.#options.base) throw error;
      await this.noteIgnored(error.filter);
      return 'refused';
    }
  }

  #filtersOf(ranges: RangeFilter): Record<string, string> {
    const filters: Record<string, string> = {};
    for (const [name, range] of Object.entries(ranges)) {
      const dimension = this.#dimensions.get(name);
      if (dimension === undefined) throw new Error(`this list has no dimension ${name}`);
      const add = (side: 'lower' | 'upper', number: number) => {
        const bound = this.boundOf(dimension, side);
        if (!bound) throw new Unbounded(name);
        filters[bound.filter] = bound.write(number);
      };
      if (range === 'absent') {
        if (dimension.absent === null || this.ignored.has(dimension.absent)) throw new Unbounded(name);
        filters[dimension.absent] = 'true';
        continue;
      }
      if (range.from !== null) add('lower', range.from);
      if (range.to !== null) add('upper', range.to);
    }
    return filters;
  }

  #contradictedFilter(filters: Record<string, string>, answer: ListAnswer): string | null {
    for (const item of answer.results) {
      const [filter] = this.#ports.contradicted(filters, item);
      if (filter !== undefined) return filter;
    }
    return null;
  }
}

/**
 * Combines the filters of a range with those of the list that the walk reads. Of two bounds, the tighter one is used.
 */
function withinBoth(base: Record<string, string>, range: Record<string, string>): Record<string, string> {
  const both = { ...base, ...range };
  for (const [filter, bound] of Object.entries(range)) {
    const ofList = base[filter];
    if (ofList === undefined || ofList === bound) continue;
    const isLower = isNumber(bound) && isNumber(ofList) ? Number(ofList) < Number(bound) : ofList < bound;
    if (/__lte?$/.test(filter) === isLower) both[filter] = ofList;
  }
  return both;
}

const isNumber = (text: string) => /^-?\d+$/.test(text);
