import type { ReadAt, SavedReadAt } from '../../domain/read-at.ts';
import type { ListAnswer } from '../../practice/client.ts';
import type { Dimension } from './dimensions.ts';

export interface WalkRequest {
  filters: Record<string, string>;
  /** The requested page size. Null requests the server's default. */
  pageSize: number | null;
  /** The number of the page, from 1. Default: 1. */
  page?: number;
}

/**
 * The progress of a walk. It is saved in the same transaction as each page, so that the walk resumes after its process
 * was killed.
 */
export interface WalkState {
  /** Every record with an id up to this was certainly received. */
  proven: number | null;
  /** The next keyset page starts above this id. */
  after: number | null;
  /**
   * The count of the next answer that proves the page between `proven` and `after`. Null if no page waits for its
   * proof.
   */
  expected: number | null;
  /** The number of records on the page that waits for its proof. */
  open: number | null;
  /** The number of repeated records on that page. Absent if there are none. */
  copies?: number;
  received: number;
  /**
   * The time of the walk's first answer. It is kept when the walk resumes, because the next walk must cover later
   * changes.
   */
  began: SavedReadAt | null;
}

export interface WalkPorts {
  /** Null if a page after the first does not exist (any more). Throws FilterIgnored if the server refuses a filter. */
  ask(request: WalkRequest): Promise<ListAnswer | null>;
  /** The sent filters that this record contradicts. */
  contradicted(filters: Record<string, string>, item: ListAnswer['results'][number]): string[];
  /** Saves a page and the walk's state in one transaction. */
  save(answer: ListAnswer, state: WalkState): Promise<void>;
  /** Called once for each filter that the walk has added and that the server ignores or refuses. */
  ignored(filter: string): Promise<void>;
}

export interface WalkOptions {
  /** Filters of every request. A record that contradicts one of them throws FilterIgnored. */
  base: Record<string, string>;
  /** Reads only records above this id. Null reads all. */
  after: number | null;
  resume: WalkState | null;
  defaultPageSize: number;
  maxPageSize: number;
  /** Filters that the server is known to ignore for this list. */
  ignored: ReadonlySet<string>;
  /** The dimensions by which the list may be divided, besides ids. */
  dimensions: Dimension[];
  /** Expected number of records. The first request asks for as many. Null: unknown. */
  expectedRecords?: number | null;
}

export interface WalkResult {
  /** Records received, repeated ones included. */
  received: number;
  /** The time of the first answer. The walk covers all changes that were committed by then. */
  began: ReadAt;
}

/** The server ignores a filter of `base`. The caller stores that and walks without the filter. */
export class FilterIgnored extends Error {
  readonly filter: string;
  constructor(filter: string) {
    super(`the server ignores the filter ${filter}`);
    this.filter = filter;
  }
}

/** No way of reading the list could be proven complete. The message names the ways that were tried. */
export class ListUnprovable extends Error {}
