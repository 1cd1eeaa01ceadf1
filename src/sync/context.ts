import type { Transact } from '../db/lease.ts';
import type { Db } from '../db/pool.ts';
import type { Connection } from '../db/rows.ts';
import type { ReadAt, ReadSpan } from '../domain/read-at.ts';
import type { FindOwnEchoes, MirrorScope, SaveResult } from '../mirror/types.ts';
import type { PracticeClient } from '../practice/client.ts';
import type { RecordKind } from '../terms.ts';

/** The kind of work that pulls. Each owner has its own saved walks. */
export type PullOwner = 'window' | 'backfill' | 'replay' | 'scrub';

/** Called for everything that a pull changes in the mirror, in the transaction of the change. */
export interface PullWatch {
  saved(trx: Connection, kind: RecordKind, saved: SaveResult): Promise<void>;
  /** Called with the invoice of each row that a newly fetched row set did not contain any more. */
  rowsGone(trx: Connection, invoices: number[]): Promise<void>;
}

/** The parameters of all pulls of an installation. */
export interface PullContext extends MirrorScope {
  /** Database handle for reading. */
  db: Db;
  /** Runs transactions that write. Each one checks the lease of the lane that pulls. */
  transact: Transact;
  client: Pick<PracticeClient, 'list'>;
  owner: PullOwner;
  /** The id of the workflow run. A later attempt of the same run continues the counts of a failed attempt. */
  run: string;
  /** Priority in the rate budget. The lowest number goes first. */
  priority: number;
  /**
   * The overlap of windows (DESIGN "Sync"): the longest time between a record's `modified` and the commit of its
   * transaction in the source.
   */
  overlapMs: number;
  findOwnEchoes: FindOwnEchoes;
  watch?: PullWatch;
  /**
   * Whether the source's timestamps without offset are known to be local time of the installation. Otherwise they may
   * be UTC.
   */
  naiveTimesAreLocal?: boolean;
  /** The walk calls this after each page. `total` is the source's count for this walk. */
  onProgress(progress: { stream: RecordKind; received: number; total: number }): void;
}

export interface PullCounts {
  /** Records received, repeated ones included. */
  seen: number;
  /** New or changed versions. */
  pulled: number;
}

export interface PullResult extends PullCounts {
  /** The time of the first answer. The next pull of this stream must read changes from then on. */
  began: ReadAt;
  /** The time span of all answers. If the last answer with a record is earlier, the record was not in the list. */
  read: ReadSpan;
}

export function addCounts(total: PullCounts, { seen, pulled }: PullCounts): void {
  total.seen += seen;
  total.pulled += pulled;
}
