import type { ReadAt, SavedReadAt } from '../../domain/read-at.ts';
import type { ListAnswer } from '../../practice/client.ts';
import type { Dimension } from './dimensions.ts';

export interface WalkRequest {
  filters: Record<string, string>;
  /** Null: the server's default. */
  pageSize: number | null;
  /** From 1, which is also the default. */
  page?: number;
}

/** The progress of a walk, committed in one transaction with each page, so that a walk whose process was killed resumes. */
export interface WalkState {
  /** Every record with an id up to here is proven received. */
  proven: number | null;
  /** The next keyset page starts above this id. */
  after: number | null;
  /** The count of the next answer that proves the page between `proven` and `after`; null when no page awaits its proof. */
  expected: number | null;
  /** How many records that page holds. */
  open: number | null;
  /** How many of them stand there more than once; none in a state that does not tell. */
  copies?: number;
  received: number;
  /** When the walk's first answer was read, kept when it resumes: the next walk must cover what changed later. */
  began: SavedReadAt | null;
}

export interface WalkPorts {
  /** Null when a page after the first does not exist (any more). Throws FilterIgnored when the server refuses a filter. */
  ask(request: WalkRequest): Promise<ListAnswer | null>;
  /** The filters sent that this record contradicts. */
  violated(filters: Record<string, string>, item: ListAnswer['results'][number]): string[];
  /** Saves a page and the walk's state in one transaction. */
  save(answer: ListAnswer, state: WalkState): Promise<void>;
  /** Called once for each filter of the walk's own that the server is found to ignore or refuse. */
  ignored(filter: string): Promise<void>;
}

export interface WalkOptions {
  /** Sent with every request; a record that contradicts one of these filters throws FilterIgnored. */
  base: Record<string, string>;
  /** Only records above this id are wanted; null: all. */
  after: number | null;
  resume: WalkState | null;
  defaultPageSize: number;
  maxPageSize: number;
  /** Filters that the server is known to ignore for this list. */
  ignored: ReadonlySet<string>;
  /** What the list can perhaps be divided by, besides ids. */
  dimensions: Dimension[];
  /** How many records are expected: the first request asks for as many. Null: unknown. */
  expectedRecords?: number | null;
}

export interface WalkResult {
  /** Records received, repeated ones included. */
  received: number;
  /** When the first answer was read: the walk covers what was committed by then. */
  began: ReadAt;
}

/** The server ignores a filter of `base`: the caller notes that and walks without the filter. */
export class FilterIgnored extends Error {
  readonly filter: string;
  constructor(filter: string) {
    super(`the server ignores the filter ${filter}`);
    this.filter = filter;
  }
}

/** No way of reading the list could be proven complete. The message says what was tried; nothing is skipped in silence. */
export class ListUnprovable extends Error {}
