import type { ListAnswer } from '../../practice/client.ts';
import type { Dimension } from './dimensions.ts';
import { FilterIgnored, type WalkOptions, type WalkPorts, type WalkRequest, type WalkState } from './types.ts';

/** A range of one dimension, `from <= number < to`, or the records that have no number in it. */
export type Range = { from: number | null; to: number | null } | 'absent';

/** A part of the list: a range in each of some dimensions, by their names. */
export type Part = Record<string, Range>;

/** A range cannot be asked for: the server ignores every filter that could bound it. */
export class Unbounded extends Error {
  readonly dimension: string;
  constructor(dimension: string) {
    super(`no filter bounds ${dimension}`);
    this.dimension = dimension;
  }
}

/** Smallest page size worth its weight for `remaining` records: a multiple of the default, within the maximum. */
export function pageSizeFor(remaining: number, defaultPageSize: number, maxPageSize: number): number {
  const largest = Math.max(defaultPageSize, Math.floor(maxPageSize / defaultPageSize) * defaultPageSize);
  return Math.min(largest, Math.max(1, Math.ceil(remaining / defaultPageSize)) * defaultPageSize);
}

/** The questions of one walk: puts parts into filters, checks what comes back, and learns from it. */
export class Questions {
  received = 0;
  began: Date | null = null;
  /** The largest count seen: how much there can be to ask for. */
  largest: number | null = null;
  readonly ignored: Set<string>;
  /** An upper bound of ids has taken away just what it was to. */
  isHonoured = false;
  readonly #ports: WalkPorts;
  readonly #options: WalkOptions;
  readonly #dimensions: Map<string, Dimension>;
  /** The server's own cap, learnt when a first page is shorter than it was asked for. */
  #cap: number;

  constructor(ports: WalkPorts, options: WalkOptions, dimensions: Dimension[]) {
    this.#ports = ports;
    this.#options = options;
    this.#dimensions = new Map(dimensions.map((dimension) => [dimension.name, dimension]));
    this.#cap = options.maxPageSize;
    this.ignored = new Set(options.ignored);
    if (options.resume?.began) {
      this.began = new Date(options.resume.began);
      this.received = options.resume.received;
    }
  }

  size(remaining: number): number {
    return pageSizeFor(remaining, this.#options.defaultPageSize, this.#cap);
  }

  get largestPage(): number {
    return this.size(Number.MAX_SAFE_INTEGER);
  }

  /** Whether a dimension's bounds on this side may still be honoured. */
  bounds(dimension: Dimension, side: 'lower' | 'upper'): boolean {
    return dimension[side].some(({ filter }) => !this.ignored.has(filter));
  }

  /**
   * One page of a part; null when there is no such page. `ordered` asks for the list in the order of ids. A filter found
   * ignored, or refused, is noted, and the next one that serves is sent. Throws Unbounded when none is left, FilterIgnored for a filter of
   * the walk's base.
   */
  async ask(part: Part, pageSize: number | null, page = 1, ordered = false): Promise<ListAnswer | null> {
    for (;;) {
      const order = ordered && !this.ignored.has('ordering') ? { ordering: 'id' } : {};
      const filters = { ...this.#options.base, ...this.#filtersOf(part), ...order };
      const answer = await this.#unlessRefused({ filters, pageSize, ...(page === 1 ? {} : { page }) });
      if (answer === 'refused') continue;
      if (answer === null) return null;
      const received = answer.results.length;
      this.began ??= answer.sourceTime;
      this.received += received;
      this.largest = Math.max(this.largest ?? 0, answer.count);
      if (pageSize !== null && page === 1 && received > 0 && received < Math.min(pageSize, answer.count)) {
        this.#cap = Math.min(this.#cap, received);
      }
      const ignored = this.#contradicted(filters, answer);
      if (ignored === null) return answer;
      if (ignored in this.#options.base) throw new FilterIgnored(ignored);
      await this.note(ignored);
    }
  }

  async #unlessRefused(request: WalkRequest): Promise<ListAnswer | null | 'refused'> {
    try {
      return await this.#ports.ask(request);
    } catch (error) {
      if (!(error instanceof FilterIgnored) || error.filter in this.#options.base) throw error;
      await this.note(error.filter);
      return 'refused';
    }
  }

  /** The first page of a part. */
  async first(part: Part, pageSize: number | null, ordered = false): Promise<ListAnswer> {
    return (await this.ask(part, pageSize, 1, ordered))!;
  }

  async note(ignored: string): Promise<void> {
    this.ignored.add(ignored);
    await this.#ports.ignored(ignored);
  }

  /** Saves a page together with how far the walk has proven itself. */
  save(answer: ListAnswer, progress: Pick<WalkState, 'proven' | 'after' | 'expected' | 'open'>): Promise<void> {
    const { received, began } = this;
    return this.#ports.save(answer, { ...progress, received, began: began?.toISOString() ?? null });
  }

  #filtersOf(part: Part): Record<string, string> {
    const filters: Record<string, string> = {};
    for (const [name, range] of Object.entries(part)) {
      const dimension = this.#dimensions.get(name)!;
      const add = (side: 'lower' | 'upper', v: number) => {
        const bound = dimension[side].find(({ filter }) => !this.ignored.has(filter));
        if (!bound) throw new Unbounded(name);
        filters[bound.filter] = bound.write(v);
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

  #contradicted(filters: Record<string, string>, answer: ListAnswer): string | null {
    for (const item of answer.results) {
      const name = this.#ports.violated(filters, item)[0];
      if (name !== undefined) return name;
    }
    return null;
  }
}
