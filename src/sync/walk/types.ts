import type { ListAnswer } from '../../practice/client.ts';
import type { Dimension } from './dimensions.ts';

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
  /** Records of that page. */
  open: number | null;
  received: number;
  /** Source time of the walk's first answer, kept over a resume: what changed later, the next walk must cover. */
  began: string | null;
}

export interface WalkPorts {
  /** Null when a page after the first does not exist (any more). */
  ask(request: WalkRequest): Promise<ListAnswer | null>;
  /** Names of the sent filters that this record contradicts. */
  violated(filters: Record<string, string>, item: ListAnswer['results'][number]): string[];
  save(answer: ListAnswer, state: WalkState): Promise<void>;
  /** Told once when the server is found to ignore a filter that the walk itself chose. */
  ignored(filter: string): Promise<void>;
}

export interface WalkOptions {
  /** Filters of every question; a record that contradicts one of them throws FilterIgnored. */
  base: Record<string, string>;
  after: number | null;
  resume: WalkState | null;
  defaultPageSize: number;
  maxPageSize: number;
  /** Filters that this list is known to ignore. */
  ignored: ReadonlySet<string>;
  /** What else than ids the list can perhaps be divided by. */
  dimensions: Dimension[];
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
