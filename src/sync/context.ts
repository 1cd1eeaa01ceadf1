import type { Transact } from '../db/lease.ts';
import type { Db } from '../db/pool.ts';
import type { Connection } from '../db/rows.ts';
import type { ReadAt, ReadSpan } from '../domain/read-at.ts';
import type { FindOwnEchoes, MirrorScope, SaveResult } from '../mirror/types.ts';
import type { PracticeClient } from '../practice/client.ts';
import type { RecordKind } from '../terms.ts';

/** Who pulls: a live window, or a backfill, replay or scrub beside it. Each has saved walks of its own. */
export type PullOwner = 'window' | 'backfill' | 'replay' | 'scrub';

/** Told of everything that a pull changes in the mirror, in the transaction that changes it. */
export interface PullWatch {
  saved(trx: Connection, kind: RecordKind, saved: SaveResult): Promise<void>;
  /** Rows that a whole set no longer held: the invoice of each. */
  rowsGone(trx: Connection, invoices: number[]): Promise<void>;
}

/** What every pull of an installation works with. */
export interface PullContext extends MirrorScope {
  /** For reading. */
  db: Db;
  /** For writing: each transaction holds the lease of the lane that pulls. */
  transact: Transact;
  client: Pick<PracticeClient, 'list'>;
  owner: PullOwner;
  /** The workflow run: a later attempt of the same run continues the counts of an attempt that died. */
  run: string;
  /** Priority in the rate budget; lower goes first. */
  priority: number;
  /** The overlap of windows (DESIGN "Sync"): how long after its `modified` a record's transaction may commit in the source. */
  overlapMs: number;
  findOwnEchoes: FindOwnEchoes;
  watch?: PullWatch;
  /** Whether the source's naive timestamps are known to be local time of the installation; otherwise they may be UTC. */
  naiveTimesAreLocal?: boolean;
  /** Called after each page. `total` is the source's count for this walk. */
  onProgress(progress: { stream: RecordKind; received: number; total: number }): void;
}

export interface PullCounts {
  /** Records received, repeated ones included. */
  seen: number;
  /** New or changed versions. */
  pulled: number;
}

export interface PullResult extends PullCounts {
  /** When the first answer was read: the next pull of this stream must ask for changes from then on. */
  began: ReadAt;
  /** When all answers were read: a record of the mirror that was answered before was not in the list. */
  read: ReadSpan;
}

export function addCounts(total: PullCounts, { seen, pulled }: PullCounts): void {
  total.seen += seen;
  total.pulled += pulled;
}
