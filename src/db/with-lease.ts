import type { Clock } from '../domain/clock.ts';
import {
  type Lease,
  LeaseBusy,
  LeaseLost,
  type LeaseScope,
  leasedTransactions,
  leaseSeconds,
  releaseLease,
  renewLease,
  type Transact,
  takeLease,
} from './lease.ts';
import type { Db } from './pool.ts';

export interface LeasePorts {
  db: Db;
  clock: Clock;
  signal: AbortSignal;
}

export interface LeaseWait {
  holder: string;
  /** Limit of the wait for another holder to end. Default: no wait. */
  waitMs?: number;
  /** The wait for the lease calls this once, before the first wait. */
  onWaiting?(): void;
}

const pollMs = 2_000;

/** Takes a lease, or waits for it. Throws LeaseBusy. */
export async function waitForLease<Scope extends LeaseScope>(
  { db, clock, signal }: LeasePorts,
  scope: Scope,
  { holder, waitMs = 0, onWaiting }: LeaseWait,
): Promise<Lease<Scope>> {
  const deadline = clock.elapsed() + waitMs;
  for (let isFirst = true; ; isFirst = false) {
    signal.throwIfAborted();
    const lease = await takeLease(db, scope, holder);
    if (lease !== null) return lease;
    if (clock.elapsed() >= deadline) throw new LeaseBusy(scope);
    if (isFirst) onWaiting?.();
    await clock.sleep(pollMs, signal);
  }
}

/** A lease that is held by running work. */
export interface Held {
  /** Aborts with the caller's signal, and if the lease is lost. */
  signal: AbortSignal;
  /** Runs a write transaction. Writes nothing if the lease is lost. */
  transact: Transact;
}

/**
 * Takes a lease, or waits for it, and runs work under it. The lease is renewed meanwhile and released at the end.
 * Throws LeaseBusy and LeaseLost.
 */
export async function withLease<Result>(
  ports: LeasePorts & LeaseWait,
  scope: LeaseScope,
  work: (held: Held) => Promise<Result>,
): Promise<Result> {
  return keepLease(ports, await waitForLease(ports, scope, ports), work);
}

/**
 * Does the same as `withLease` for a lease that is already held. If the work fails, the lease is marked as not ended
 * cleanly.
 */
export async function keepLease<Result>(
  { db, clock, signal }: LeasePorts,
  lease: Lease,
  work: (held: Held) => Promise<Result>,
): Promise<Result> {
  const over = new AbortController();
  const lost = new AbortController();
  const renewing = keepRenewing({ db, clock, over: over.signal, lost }, lease);
  const stop = AbortSignal.any([signal, lost.signal]);
  let isInOrder = false;
  try {
    const result = await work({ signal: stop, transact: leasedTransactions(db, lease, { signal: stop }) });
    isInOrder = true;
    return result;
  } catch (error) {
    throw lost.signal.aborted ? lost.signal.reason : error;
  } finally {
    over.abort();
    await renewing;
    await releaseLease(db, lease, { isInOrder }).catch((error: unknown) => {
      // If the database does not answer, the lease expires automatically. The caller gets the failure of the work.
      if (isInOrder) throw error;
    });
  }
}

async function keepRenewing(
  { db, clock, over, lost }: { db: Db; clock: Clock; over: AbortSignal; lost: AbortController },
  lease: Lease,
): Promise<void> {
  const everyMs = (leaseSeconds(lease) * 1000) / 3;
  while (!over.aborted) {
    await clock.sleep(everyMs, over).catch(() => undefined);
    if (over.aborted) return;
    // If the database does not answer for a moment, the renewal is repeated later. Every write checks the lease anyway.
    const isHeld = await renewLease(db, lease).catch(() => true);
    if (!isHeld) {
      lost.abort(new LeaseLost(lease));
      return;
    }
  }
}
