import { randomUUID } from 'node:crypto';
import type { InstallationConfig } from '../config/load-config.ts';
import {
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
import { type ReconcileInput, type ReconcileReport, reconcileBooks } from '../reconcile/index.ts';
import { saveVerdicts } from '../reconcile/verdict.ts';
import { pullById } from '../sync/by-id.ts';
import type { PullContext } from '../sync/context.ts';
import type { DocumentRef, InstallationId } from '../terms.ts';
import { ownEchoes } from '../writeback/echoes.ts';
import { type SourceCountNote, sourceCounts } from './source-counts.ts';
import { clockPutBackAt, windowUnderWay } from './windows.ts';

/** How long a window under way is waited for: until its end, documents are in the mirror that are not posted yet. */
const windowWaitMs = 120_000;
const windowPollMs = 500;
/** How many disputed documents of an installation are fetched again (ACCOUNTING E3). */
const disputedLimit = 50;

export interface ReconcilePorts {
  db: Db;
  clock: () => Date;
  practice(installation: InstallationId): PracticeClient;
}

/** A count or a record that reconcile did without, or a window that it waits for. */
export type ReconcileNote =
  | SourceCountNote
  | { reason: 'waiting_for_window' | 'window_under_way' | 'waiting_for_reading' }
  | { reason: 'clock_put_back'; at: Date }
  | { reason: 'disputed_not_fetched'; message: string }
  | { reason: 'mirror_not_refreshed'; documents: number };

export type OnNote = (installation: InstallationId, note: ReconcileNote) => void;

/**
 * Counts what the source has, and reconciles. Where the ledger differs from what the mirror says is due (E2) or unused (E3),
 * the documents are fetched again first, and the equations checked again if one has changed.
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
  const first = await reconcileBooks(ports.db, inputs);
  let changed = 0;
  for (const installation of installations) {
    const { id } = installation;
    const disputed = first.disputed.get(id) ?? [];
    changed += await fetchAgain(ports, installation, disputed, (note) => onNote(id, note));
  }
  const { report } = changed === 0 ? first : await reconcileBooks(ports.db, inputs);
  await saveVerdicts(ports.db, report.installations);
  return report;
}

async function windowEnded(
  { db, clock }: ReconcilePorts,
  installation: InstallationId,
  note: (note: ReconcileNote) => void,
): Promise<void> {
  const deadlineMs = clock().getTime() + windowWaitMs;
  for (let isNoted = false; clock().getTime() < deadlineMs; isNoted = true) {
    if (!(await windowUnderWay(db, installation))) return;
    if (!isNoted) note({ reason: 'waiting_for_window' });
    await sleep(windowPollMs);
  }
  note({ reason: 'window_under_way' });
}

/**
 * Fetches disputed documents again, under the lease of the live lane: nothing but its holder writes into the mirror. Returns how
 * many have changed; none, with a note, where a window or another command holds the lane.
 */
async function fetchAgain(
  ports: ReconcilePorts,
  installation: InstallationConfig,
  disputed: readonly DocumentRef[],
  note: (note: ReconcileNote) => void,
): Promise<number> {
  if (disputed.length === 0) return 0;
  const { db } = ports;
  const lease = await takeLease(db, { installation: installation.id, lane: 'live' }, `reconcile/${randomUUID()}`);
  if (lease === null) {
    note({ reason: 'mirror_not_refreshed', documents: disputed.length });
    return 0;
  }
  const ended = new AbortController();
  try {
    const transact = leasedTransactions(db, lease, { signal: ended.signal });
    return await fetchUnderLease(
      ports,
      installation,
      disputed,
      transact,
      async () => void (await renewLease(db, lease)),
      note,
    );
  } finally {
    ended.abort();
    await releaseLease(db, lease);
  }
}

async function fetchUnderLease(
  ports: ReconcilePorts,
  { id: installation, timezone, dialect, keepRaw, overlapSeconds }: InstallationConfig,
  disputed: readonly DocumentRef[],
  transact: Transact,
  renew: () => Promise<void>,
  note: (note: ReconcileNote) => void,
): Promise<number> {
  const { db } = ports;
  const context: PullContext = {
    ...{
      installation,
      timezone,
      dialect,
      keepRaw,
      db,
      transact,
      client: ports.practice(installation),
      owner: 'window',
      run: '',
    },
    priority: priorities.live,
    overlapMs: overlapSeconds * 1000,
    findOwnEchoes: ownEchoes(db, installation, dialect),
    onProgress: () => undefined,
  };
  let changed = 0;
  try {
    for (const { kind, id } of disputed.slice(0, disputedLimit)) {
      await renew();
      changed += (await pullById(context, kind, id)).pulled;
    }
  } catch (error) {
    if (!(error instanceof PracticeError || error instanceof LeaseLost || error instanceof LeaseExpired)) throw error;
    note({ reason: 'disputed_not_fetched', message: error.message });
  }
  return changed;
}
