import { randomUUID } from 'node:crypto';
import {
  type Lease,
  LeaseExpired,
  LeaseLost,
  leasedTransactions,
  releaseLease,
  renewLease,
  type Transact,
  takeLease,
} from '../../db/lease.ts';
import type { Db } from '../../db/pool.ts';
import type { Clock } from '../../domain/clock.ts';
import { UserError } from '../../domain/errors.ts';
import type { InstallationId } from '../../terms.ts';

/**
 * One reading of an installation's books at a time. Each counts on from the last and forgets what it has not seen itself: two at once
 * would forget what the other has just noted. A reading holds the lease of the lane `books`; the one of a process that was killed runs
 * out, and is taken over within the wait.
 */
export interface BooksTurn {
  /** Aborts with the caller's, and when somebody else has taken over. */
  signal: AbortSignal;
  /** Write transactions of the reading; of one that was taken over, none is written. */
  transact: Transact;
}

export interface BooksTurnPorts {
  db: Db;
  clock: Clock;
  signal: AbortSignal;
  /** Called once, before the first wait. */
  onWaiting(): void;
}

/** Longer than the lease of a killed process lasts. */
export const booksWaitMs = 120_000;
const pollMs = 2_000;
export const renewBooksEveryMs = 30_000;

/** Does work as the only reader of an installation's books. Throws UserError where another reading does not end in time. */
export async function inTurn<Result>(
  ports: BooksTurnPorts,
  installation: InstallationId,
  work: (turn: BooksTurn) => Promise<Result>,
): Promise<Result> {
  const { db, clock } = ports;
  const lease = await waitForLease(ports, installation);
  const over = new AbortController();
  const lost = new AbortController();
  const signal = AbortSignal.any([ports.signal, lost.signal]);
  const renewing = keepRenewing({ db, clock, over: over.signal, lost }, lease);
  try {
    return await work({ signal, transact: leasedTransactions(db, lease, { signal }) });
  } catch (error) {
    const isTaken = lost.signal.aborted || error instanceof LeaseLost || error instanceof LeaseExpired;
    throw isTaken ? takenOver(installation, error) : error;
  } finally {
    over.abort();
    await renewing;
    // Without a database the lease runs out by itself; how the work ended is what is told.
    await releaseLease(db, lease).catch(() => undefined);
  }
}

async function waitForLease(
  { db, clock, signal, onWaiting }: BooksTurnPorts,
  installation: InstallationId,
): Promise<Lease> {
  const holder = `reconcile/${randomUUID()}`;
  const deadline = clock.elapsed() + booksWaitMs;
  for (let isFirst = true; ; isFirst = false) {
    const lease = await takeLease(db, { installation, lane: 'books' }, holder);
    if (lease !== null) return lease;
    if (clock.elapsed() >= deadline) throw busy(installation);
    if (isFirst) onWaiting();
    await clock.sleep(pollMs, signal);
  }
}

async function keepRenewing(
  { db, clock, over, lost }: { db: Db; clock: Clock; over: AbortSignal; lost: AbortController },
  lease: Lease,
): Promise<void> {
  while (!over.aborted) {
    await clock.sleep(renewBooksEveryMs, over).catch(() => undefined);
    if (over.aborted) return;
    // A database that is away for a moment is asked again; every write checks the lease itself.
    const isHeld = await renewLease(db, lease).catch(() => true);
    if (!isHeld) {
      lost.abort(new LeaseLost(lease));
      return;
    }
  }
}

function busy(installation: InstallationId): UserError {
  return new UserError(
    'erp_books_busy',
    `Another \`vetledger reconcile --erp\` is reading the books of installation ${installation} back from the ERP, and was not done within ${booksWaitMs / 1000} s.`,
    'Wait for it to end, and run the command again.',
    4,
  );
}

function takenOver(installation: InstallationId, cause: unknown): UserError {
  return new UserError(
    'erp_books_taken_over',
    `The reading of the books of installation ${installation} stood still for so long that another \`vetledger reconcile --erp\` could take its place. What it had noted by then stays.`,
    'Run the command again once the other one has ended: it goes on from there.',
    4,
    cause,
  );
}
