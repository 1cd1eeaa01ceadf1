import {
  type Lane,
  type Lease,
  LeaseLost,
  leasedTransactions,
  releaseLease,
  renewLease,
  type Transact,
} from '../src/db/lease.ts';
import type { Db } from '../src/db/pool.ts';
import type { Connection } from '../src/db/rows.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import type { WindowInput } from '../workflows/messages.ts';

/** The right to write for one lane of an installation. */
export interface LaneWriter {
  lease: Lease;
  /** Runs a write transaction of the lane. Starts none once the work must stop. */
  transact: Transact;
  /** Runs a transaction like `transact`, also while the work stops. Use it to record an effect outside the database. */
  record: Transact;
}

export function laneOf(kind: WindowInput['kind']): Lane {
  return kind === 'window' ? 'live' : kind;
}

/** Calls `onBegun` before each transaction. After it, calls the function that `onBegun` returned, and `onEnded`. */
export function laneWriter(
  db: Db,
  lease: Lease,
  { signal, onBegun, onEnded }: { signal: AbortSignal; onBegun: () => () => void; onEnded: () => void },
): LaneWriter {
  const never = new AbortController().signal;
  const observed =
    (transact: Transact): Transact =>
    async (work) => {
      const over = onBegun();
      try {
        return await transact(work);
      } finally {
        over();
      }
    };
  return {
    lease,
    transact: observed(leasedTransactions(db, lease, { signal, onEnded })),
    record: observed(leasedTransactions(db, lease, { signal: never, onEnded })),
  };
}

/** Renews the lease of an open window and returns it. Throws LeaseLost. */
export async function renewedLease(db: Db, input: WindowInput, { token }: OpenWindow): Promise<Lease> {
  const lease = { installation: input.installation, lane: laneOf(input.kind), token };
  if (!(await renewLease(db, lease))) throw new LeaseLost(lease);
  return lease;
}

/** Releases the lease of a window that ends. Waits until no transaction writes under the lease. */
export async function releaseWindow(trx: Connection, input: WindowInput, { token }: OpenWindow): Promise<void> {
  await releaseLease(trx, { installation: input.installation, lane: laneOf(input.kind), token });
}
