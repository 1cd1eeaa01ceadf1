import { randomUUID } from 'node:crypto';
import type { InstallationConfig } from '../config/load-config.ts';
import {
  type Lease,
  LeaseExpired,
  LeaseLost,
  leasedTransactions,
  releaseLease,
  renewLease,
  type Transact,
  takeLease,
} from '../db/lease.ts';
import type { Db } from '../db/pool.ts';
import { sleep } from '../domain/concurrency.ts';
import { dateIn } from '../domain/dates.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { priorities } from '../practice/budget.ts';
import type { PracticeClient } from '../practice/client.ts';
import { type ReconcileInput, type ReconcileReport, reconcileBooks, reportOf } from '../reconcile/index.ts';
import type { Refetched } from '../reconcile/reconcile-report.ts';
import { saveVerdicts } from '../reconcile/verdict.ts';
import { pullById } from '../sync/by-id.ts';
import type { PullContext } from '../sync/context.ts';
import type { DocumentRef, InstallationId, SourceRef } from '../terms.ts';
import { reconcileErrors } from '../texts/errors/reconcile.ts';
import { ownEchoes } from '../writeback/echoes.ts';
import { type SourceCountNote, sourceCounts } from './source-counts.ts';
import { clockPutBackAt, windowUnderWay } from './windows.ts';

/** Limit of the wait for an open window: until its end, the mirror holds documents that are not posted yet. */
const windowWaitMs = 120_000;
const windowPollMs = 500;
/** Limit of disputed documents per installation that are fetched again in a run (ACCOUNTING E3). */
export const disputedLimit = 200;
/** The lane of windows is held at most this long, so that a waiting window is delayed only shortly. */
const holdLaneMs = 20_000;

export interface ReconcilePorts {
  db: Db;
  clock: () => Date;
  practice(installation: InstallationId): PracticeClient;
  /** Priority of the requests to the practice API. Default: `priorities.live`. */
  priority?: number;
  /** Ends the work between two statements. */
  signal?: AbortSignal;
}

/** A count or a record that the reconciliation could not read, or a window for which it waits. */
export type ReconcileNote =
  | SourceCountNote
  | { reason: 'waiting_for_window' | 'window_under_way' | 'waiting_for_reading' }
  | { reason: 'clock_put_back'; at: Date }
  | { reason: 'disputed_not_fetched'; message: string }
  | { reason: 'mirror_not_refreshed'; documents: number };

export type OnNote = (installation: InstallationId, note: ReconcileNote) => void;

/**
 * Counts the documents of the source, and reconciles. If the ledger differs from the amounts that the mirror shows as
 * due (E2) or unused (E3), the documents are fetched again first. If one has changed, the equations are checked again.
 */
export async function reconcileWithSource(
  ports: ReconcilePorts,
  installations: readonly InstallationConfig[],
  onNote: OnNote,
): Promise<ReconcileReport> {
  for (const { id } of installations) await windowEnded(ports, id, (note) => onNote(id, note));
  const inputs: ReconcileInput[] = [];
  for (const { id, currency, decimals, timezone, startDate, dialect, mapping } of installations) {
    inputs.push({
      ...{ id, currency, decimals, timezone, startDate, dialect, mapping },
      today: dateIn(timezone, ports.clock()),
      refundLowersUnused: dialect.prepayment.refund_lowers_unused_amount,
      sourceCounts: await sourceCounts(ports, id, (note) => onNote(id, note)),
    });
  }
  for (const { id } of installations) {
    const at = await clockPutBackAt(ports.db, id);
    if (at !== null) onNote(id, { reason: 'clock_put_back', at });
  }
  const first = await reconcileBooks(ports.db, inputs, ports.signal);
  const refetched = new Map<InstallationId, Refetched>();
  for (const installation of installations) {
    const { id } = installation;
    const disputed = (first.disputed.get(id) ?? []).filter(isOfSource);
    if (disputed.length === 0) continue;
    refetched.set(id, await fetchAgain(ports, installation, disputed, (note) => onNote(id, note)));
  }
  const isChanged = [...refetched.values()].some(({ changed }) => changed > 0);
  const { report } = isChanged ? await reconcileBooks(ports.db, inputs, ports.signal) : first;
  await saveVerdicts(ports.db, report.installations);
  return reportOf(
    report.installations.map((each) => {
      const again = refetched.get(each.installation);
      return again === undefined ? each : { ...each, refetched: again };
    }),
  );
}

/** Only records of the source can be fetched again. */
function isOfSource(document: DocumentRef): document is SourceRef {
  return document.kind !== 'vat_due';
}

async function windowEnded(
  { db, clock, signal }: ReconcilePorts,
  installation: InstallationId,
  note: (note: ReconcileNote) => void,
): Promise<void> {
  const deadlineMs = clock().getTime() + windowWaitMs;
  for (let isNoted = false; clock().getTime() < deadlineMs; isNoted = true) {
    signal?.throwIfAborted();
    if (!(await windowUnderWay(db, installation))) return;
    if (!isNoted) note({ reason: 'waiting_for_window' });
    await sleep(windowPollMs);
  }
  note({ reason: 'window_under_way' });
}

/**
 * Fetches disputed documents again. Holds the lease of the live lane meanwhile, since only its holder writes to the
 * mirror, and releases the lane between two parts. If a window or another command holds the lane, or the source does
 * not answer, the remaining documents are left out, with a note.
 */
async function fetchAgain(
  ports: ReconcilePorts,
  installation: InstallationConfig,
  disputed: readonly SourceRef[],
  note: (note: ReconcileNote) => void,
): Promise<Refetched> {
  const { db } = ports;
  const waiting = disputed.slice(0, disputedLimit);
  const refetched = { documents: 0, changed: 0 };
  const left = () => ({ ...refetched, left: disputed.length - refetched.documents });
  while (waiting.length > 0) {
    const lease = await takeLease(db, { installation: installation.id, lane: 'live' }, `reconcile/${randomUUID()}`);
    if (lease === null) {
      note({ reason: 'mirror_not_refreshed', documents: waiting.length });
      return left();
    }
    const ended = new AbortController();
    const before = refetched.documents;
    try {
      const signal = anySignal(ended.signal, ports.signal);
      const transact = leasedTransactions(db, lease, { signal });
      await fetchPart(ports, installation, waiting, { transact, lease, signal, refetched });
      if (refetched.documents === before) {
        note({ reason: 'disputed_not_fetched', message: reconcileErrors.noRoom });
        return left();
      }
    } catch (error) {
      if (!(error instanceof PracticeError || error instanceof LeaseLost || error instanceof LeaseExpired)) throw error;
      note({ reason: 'disputed_not_fetched', message: error.message });
      return left();
    } finally {
      ended.abort();
      await releaseLease(db, lease);
    }
  }
  return left();
}

function anySignal(one: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other === undefined ? one : AbortSignal.any([one, other]);
}

/**
 * Fetches the documents in `waiting`, removes them from it and counts them. Ends when `waiting` is empty, or when the
 * lane was held for its time limit.
 */
async function fetchPart(
  ports: ReconcilePorts,
  { id: installation, timezone, dialect, keepRaw, overlapSeconds }: InstallationConfig,
  waiting: SourceRef[],
  {
    transact,
    lease,
    signal,
    refetched,
  }: { transact: Transact; lease: Lease; signal: AbortSignal; refetched: Omit<Refetched, 'left'> },
): Promise<void> {
  const { db, priority = priorities.live } = ports;
  // Also limits the wait of a request for the rate budget.
  const isOver = AbortSignal.timeout(holdLaneMs);
  const context: PullContext = {
    ...{ installation, timezone, dialect, keepRaw, db, transact, priority },
    client: ports.practice(installation).forWindow({ signal: AbortSignal.any([signal, isOver]) }),
    ...{ owner: 'window', run: '' },
    overlapMs: overlapSeconds * 1000,
    findOwnEchoes: ownEchoes(db, installation, dialect),
    onProgress: () => undefined,
  };
  try {
    for (let [next] = waiting; next !== undefined && !isOver.aborted; [next] = waiting) {
      await renewLease(db, lease);
      refetched.changed += (await pullById(context, next.kind, next.id)).pulled;
      refetched.documents += 1;
      waiting.shift();
    }
  } catch (error) {
    signal.throwIfAborted();
    if (!isOver.aborted) throw error;
  }
}
