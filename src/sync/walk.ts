import type { ListAnswer } from '../practice/client.ts';

/**
 * Walks one list of the source completely, whatever its order (DESIGN "Sync: a walk is believed only when it proves itself").
 *
 * - A single page whose `count` fits is complete in any order.
 * - Keyset: pages asked by `id__gt` stand only if each answer's `count` falls by just the records received before it.
 * - Where the list is not ascending, or that proof keeps failing, the id range is split with `id__lt` until every part is
 *   a single page; where `id__lt` or `id__gt` is ignored, pages are walked by offset until their union is the whole count.
 */
export interface WalkRequest {
  filters: Record<string, string>;
  pageSize: number | null;
  page?: number;
}

/** Committed with each page, so that a killed walk goes on where it was. */
export interface WalkState {
  /** Every id up to here is proven received. */
  proven: number | null;
  /** The next page starts above this id. */
  after: number | null;
  /** The count that the next answer must give to prove the page between `proven` and `after`; null when nothing is open. */
  expected: number | null;
  received: number;
  /** Source time of the walk's first answer, kept over a resume: what changed later, the next walk must cover. */
  began: string | null;
}

export interface WalkPorts {
  ask(request: WalkRequest): Promise<ListAnswer>;
  /** Names of the sent filters that this record contradicts. */
  violated(filters: Record<string, string>, item: ListAnswer['results'][number]): string[];
  save(answer: ListAnswer, state: WalkState): Promise<void>;
  /** Told once when the server is found to ignore `id__gt` or `id__lt`. */
  ignored(filter: string): Promise<void>;
}

export interface WalkOptions {
  /** Filters of every question; a record that contradicts one of them throws FilterIgnored. */
  base: Record<string, string>;
  after: number | null;
  resume: WalkState | null;
  defaultPageSize: number;
  maxPageSize: number;
  /** What is known of `id__gt` and `id__lt` on this list. */
  honours: { idGt: boolean; idLt: boolean };
}

export interface WalkResult {
  /** Records received, repeats included. */
  received: number;
  /** The first answer's source time: the walk covers what was committed by then. */
  began: Date;
}

/** A filter of `base` that the server answered past: the caller remembers it and asks without. */
export class FilterIgnored extends Error {
  readonly filter: string;
  constructor(filter: string) {
    super(`the server ignores the filter ${filter}`);
    this.filter = filter;
  }
}

/** The list could not be proven complete in any way; nothing is skipped in silence. */
export class ListUnprovable extends Error {}

const keysetTries = 3;
const rangeTries = 4;
const pagingPasses = 40;
/** Passes in a row that brought nothing new, after which no further one is hoped for. */
const stalledPasses = 8;
const maxOffset = 10_000;

/** Smallest page size worth its weight for `remaining` records: a multiple of the default, within the maximum. */
export function pageSizeFor(remaining: number, defaultPageSize: number, maxPageSize: number): number {
  const largest = Math.max(defaultPageSize, Math.floor(maxPageSize / defaultPageSize) * defaultPageSize);
  return Math.min(largest, Math.max(1, Math.ceil(remaining / defaultPageSize)) * defaultPageSize);
}

export async function walk(ports: WalkPorts, options: WalkOptions): Promise<WalkResult> {
  const walker = new Walker(ports, options);
  return walker.run();
}

type Order = 'ascending' | 'descending' | 'none';

/** A record listed twice in a row (a join gone wrong in the server) does not change the order. */
function orderOf(ids: number[]): Order {
  if (ids.every((id, i) => i === 0 || id >= ids[i - 1]!)) return 'ascending';
  if (ids.every((id, i) => i === 0 || id <= ids[i - 1]!)) return 'descending';
  return 'none';
}

/** Notes how often each record stands in one and the same answer, beyond once: its copies count in `count`, too. */
function noteCopies(ids: number[], copies: Map<number, number>): void {
  for (const [id, same] of Map.groupBy(ids, (each) => each)) {
    if (same.length > 1) copies.set(id, Math.max(copies.get(id) ?? 0, same.length - 1));
  }
}

class Walker {
  private readonly ports: WalkPorts;
  private readonly options: WalkOptions;
  private received = 0;
  private began: Date | null = null;
  private idGt: boolean;
  private idLt: boolean;
  /** Learnt when a first page is shorter than it was asked for: the server's own cap, where it is below the specification's. */
  private maxPageSize: number;
  /** The largest count seen: how much there can be to ask for. */
  private largest: number | null = null;

  constructor(ports: WalkPorts, options: WalkOptions) {
    this.ports = ports;
    this.options = options;
    this.idGt = options.honours.idGt;
    this.idLt = options.honours.idLt;
    this.maxPageSize = options.maxPageSize;
  }

  async run(): Promise<WalkResult> {
    const resume = this.options.resume;
    if (resume?.began) {
      this.began = new Date(resume.began);
      this.received = resume.received;
    }
    try {
      if (this.idGt) await this.keyset();
      else await this.pages();
    } catch (error) {
      // Where the highest ids come first, it can be any later answer that gives the ignored filter away.
      if (!(error instanceof FilterIgnored) || error.filter !== 'id__gt') throw error;
      this.idGt = false;
      await this.ports.ignored('id__gt');
      await this.pages();
    }
    return { received: this.received, began: this.began! };
  }

  /** Asks above `after` and below `before`; throws FilterIgnored for a contradicted filter of any kind. */
  private async ask(after: number | null, before: number | null, pageSize: number | null, page?: number) {
    const filters = { ...this.options.base };
    if (after !== null && this.idGt) filters.id__gt = String(after);
    if (before !== null) filters.id__lt = String(before);
    const answer = await this.ports.ask({ filters, pageSize, ...(page === undefined ? {} : { page }) });
    this.began ??= answer.sourceTime;
    this.received += answer.results.length;
    this.largest = Math.max(this.largest ?? 0, answer.count);
    const received = answer.results.length;
    if (pageSize !== null && (page ?? 1) === 1 && received > 0 && received < Math.min(pageSize, answer.count)) {
      this.maxPageSize = Math.min(this.maxPageSize, received);
    }
    for (const item of answer.results) {
      const name = this.ports.violated(filters, item)[0];
      if (name !== undefined) throw new FilterIgnored(name);
    }
    return answer;
  }

  private size(remaining: number): number {
    return pageSizeFor(remaining, this.options.defaultPageSize, this.maxPageSize);
  }

  private state(proven: number | null, after: number | null, expected: number | null): WalkState {
    return { proven, after, expected, received: this.received, began: this.began?.toISOString() ?? null };
  }

  private async keyset(): Promise<void> {
    let state = this.options.resume ?? this.state(this.options.after, this.options.after, null);
    let tries = 0;
    for (;;) {
      // The first page goes without page_size: it weighs 1, and teaches the default and the count.
      const pageSize = state.expected === null ? null : this.size(state.expected);
      const answer = await this.ask(state.after, null, pageSize);
      if (state.expected !== null && answer.count !== state.expected) {
        // The page before is not proven: something was inserted or deleted meanwhile, or the order is not by id.
        if (++tries >= keysetTries) return this.range(state.proven, null, null, 0);
        state = this.state(state.proven, state.proven, null);
        continue;
      }
      if (state.expected !== null) tries = 0;
      if (answer.results.length >= answer.count) {
        await this.ports.save(answer, this.state(state.after, state.after, null));
        return;
      }
      const ids = answer.results.map((item) => item.id);
      if (ids.length === 0 || orderOf(ids) !== 'ascending') return this.range(state.after, null, answer, 0);
      const highest = ids[ids.length - 1]!;
      state = this.state(state.after, highest, answer.count - answer.results.length);
      await this.ports.save(answer, state);
    }
  }

  /** Completes the ids strictly between `low` and `high` by splitting; `answer` is one already received for that range. */
  private async range(
    low: number | null,
    high: number | null,
    answer: ListAnswer | null,
    depth: number,
  ): Promise<void> {
    if (!this.idLt) return this.pages();
    if (depth > 64) throw new ListUnprovable('the list changes faster than it can be walked');
    for (let attempt = 0; attempt < rangeTries; attempt++) {
      try {
        const current: ListAnswer = answer ?? (await this.ask(low, high, this.size(this.largest ?? 1)));
        answer = null;
        await this.ports.save(current, this.state(low, low, null));
        if (current.results.length >= current.count) return;
        const ids = current.results.map((item) => item.id);
        if (ids.length === 0) continue;
        const remaining = current.count - ids.length;
        if (orderOf(ids) === 'descending') {
          const lowest = ids[ids.length - 1]!;
          const rest = await this.ask(low, lowest, this.size(remaining));
          if (rest.count === remaining) return this.range(low, lowest, rest, depth + 1);
          continue;
        }
        const middle = [...ids].sort((a, b) => a - b)[Math.floor(ids.length / 2)]!;
        const below = await this.ask(low, middle, this.size(current.count));
        const above = await this.ask(middle - 1, high, this.size(current.count));
        // Parts that do not add up were changed in between, or the list is cut: ask again.
        if (below.count + above.count !== current.count || below.count === current.count) continue;
        await this.range(low, middle, below, depth + 1);
        return this.range(middle - 1, high, above, depth + 1);
      } catch (error) {
        if (!(error instanceof FilterIgnored) || error.filter !== 'id__lt') throw error;
        this.idLt = false;
        await this.ports.ignored('id__lt');
        return this.pages();
      }
    }
    return this.pages();
  }

  /** The dearer way: pages by offset, until their union is as large as a count that did not move. */
  private async pages(): Promise<void> {
    if (this.largest === null) {
      // As in `keyset`: weighs 1, and teaches the count.
      const answer = await this.ask(this.options.after, null, null);
      await this.ports.save(answer, this.state(this.options.after, this.options.after, null));
      if (answer.results.length >= answer.count) return;
    }
    let ids = new Set<number>();
    let copies = new Map<number, number>();
    let stalled = 0;
    for (let pass = 0; pass < pagingPasses; pass++) {
      let count: number | null = null;
      let stable = true;
      let grown = false;
      // The server may cap the page size: the fullest page of a pass tells what a page is.
      let fullest = 1;
      // Another size in each third pass, no divisor of the others: copies that stood on two pages come together on one.
      let pageSize = Math.max(1, this.size(this.largest ?? 1) - (pass % 3) * 7);
      for (let page = 1; ; page++) {
        if (count !== null && (page - 1) * fullest >= maxOffset) {
          throw new ListUnprovable(
            `the list holds ${count} records, its pages end at ${maxOffset}, and it honours no id filter to go on with`,
          );
        }
        const answer: ListAnswer = await this.ask(this.options.after, null, pageSize, page);
        await this.ports.save(answer, this.state(this.options.after, this.options.after, null));
        count ??= answer.count;
        if (answer.count !== count) stable = false;
        for (const item of answer.results) {
          if (!ids.has(item.id)) grown = true;
          ids.add(item.id);
        }
        noteCopies(
          answer.results.map((item) => item.id),
          copies,
        );
        fullest = Math.max(fullest, answer.results.length);
        // Asked for just what a page holds, the next pages begin where they did and weigh less.
        if (page === 1) pageSize = Math.min(pageSize, Math.max(1, answer.results.length));
        if (ids.size >= count || answer.results.length === 0 || page * fullest >= count) break;
      }
      const counted = ids.size + [...copies.values()].reduce((n, more) => n + more, 0);
      if (stable && counted === count) return;
      // Deleted or moved meanwhile: what was gathered no longer tells. Without an order each pass adds some.
      if (!stable || counted > count) {
        ids = new Set();
        copies = new Map();
      } else {
        stalled = grown ? 0 : stalled + 1;
        if (stalled >= stalledPasses) break;
      }
    }
    throw new ListUnprovable('its pages never added up to its count, however often they were asked for');
  }
}
