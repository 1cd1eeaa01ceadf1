import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { InstallationConfig } from '../config/load.ts';
import {
  type Lease,
  LeaseLost,
  leasedTransactions,
  releaseLease,
  renewLease,
  type Transact,
  takeLease,
} from '../db/lease.ts';
import type { Db } from '../db/pool.ts';
import type { DocumentCursor } from '../documents/document.ts';
import { type DocumentSelection, documentsInForce } from '../documents/in-force.ts';
import { saveRemapped } from '../documents/save.ts';
import { UserError } from '../domain/errors.ts';
import { holdPeriod } from '../ledger/close.ts';
import { appendDecided, stateAfter } from './append.ts';
import { holdIdentity, requireIdentity } from './identity.ts';
import { judgingBatch, remapDocuments } from './judge.ts';
import { currentLockDates, type LockDateSource } from './lock-dates.ts';
import { holdMapping } from './mapping-generation.ts';
import { type ContextFor, postingContexts } from './posting-context.ts';
import type { RemappedDocument } from './preview.ts';
import { requireStart } from './start-date.ts';

const pollMs = 1_000;

export interface RepostOptions {
  selection: DocumentSelection;
  /** Checked between batches: what is posted by then stays, and the next repost goes on from there. */
  signal: AbortSignal;
  /** How long to wait for a window under way. */
  waitSeconds: number;
  /** Called once when there is one to wait for. */
  onWait: () => void;
}

/**
 * Posts the corrections that the installation's mapping asks for, a batch a transaction; each batch is yielded once it is in
 * the books. The repost holds the lease of the live lane, so that it never runs beside a window, and renews it with each batch,
 * so that it posts nothing more once the lease is lost. A second repost posts nothing. Throws UserError when the lease cannot
 * be had or was lost.
 */
export async function* repost(
  db: Db,
  installation: InstallationConfig,
  source: LockDateSource,
  options: RepostOptions,
): AsyncGenerator<RemappedDocument[]> {
  const { id } = installation;
  const lease = await waitForLease(db, id, options);
  const transact = leasedTransactions(db, lease, options);
  try {
    await requireIdentity(db, installation);
    await requireStart(db, installation);
    const contextFor = postingContexts(installation, currentLockDates(db, source, id));
    for (let after: DocumentCursor = null; ; ) {
      options.signal.throwIfAborted();
      if (!(await renewLease(db, lease))) throw new LeaseLost(lease);
      const batch: RemappedDocument[] = await repostBatch(transact, installation, contextFor, options.selection, after);
      const last = batch.at(-1);
      if (last === undefined) return;
      yield batch;
      if (batch.length < judgingBatch) return;
      after = last.document;
    }
  } catch (error) {
    throw error instanceof LeaseLost ? leaseLost(id) : error;
  } finally {
    await releaseLease(db, lease);
  }
}

async function repostBatch(
  transact: Transact,
  installation: InstallationConfig,
  contextFor: ContextFor,
  selection: DocumentSelection,
  after: DocumentCursor,
): Promise<RemappedDocument[]> {
  const { id } = installation;
  return transact(async (trx) => {
    await holdPeriod(trx, id);
    await holdMapping(trx, installation);
    await holdIdentity(trx, installation, { posting: false });
    const documents = await documentsInForce(trx, id, selection, { after, limit: judgingBatch, lock: true });
    const remapped = await remapDocuments(trx, installation, contextFor, documents);
    const toSave = remapped.filter(isToSave).map((one) => ({ ...one, decision: one.remap.decision }));
    const appended = await appendDecided(trx, installation, toSave, null);
    await saveRemapped(trx, id, appended.map(stateAfter));
    const entryIds = new Map(appended.map((one) => [one.document, one.entryIds]));
    return remapped.map((one) => ({ ...one, entryIds: entryIds.get(one.document) ?? [] }));
  });
}

/** Corrections, corrections that a closed period holds, and held ones that nobody asks for any more. The rest is the next window's. */
function isToSave({ document, remap: { outcome } }: Pick<RemappedDocument, 'document' | 'remap'>): boolean {
  return outcome === 'corrected' || outcome === 'change_held' || (outcome === 'same' && document.remapHeld);
}

async function waitForLease(db: Db, installation: number, options: RepostOptions): Promise<Lease> {
  const { signal, waitSeconds, onWait } = options;
  const holder = `repost/${randomUUID()}`;
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    signal.throwIfAborted();
    const lease = await takeLease(db, { installation, lane: 'live' }, holder);
    if (lease !== null) return lease;
    if (waitedMs === 0) onWait();
    if (waitedMs >= waitSeconds * 1000) {
      throw new UserError(
        'window_busy',
        `A window of installation ${installation} is still under way; nothing was posted.`,
        'Wait for it to end (see `vetledger windows`), and repost again.',
        4,
      );
    }
    await sleep(pollMs, undefined, { signal });
  }
}

function leaseLost(installation: number): UserError {
  return new UserError(
    'repost_superseded',
    `A window of installation ${installation} has begun, since the repost stood still for too long. What was posted by then stays.`,
    'Repost again: it goes on with the documents that still differ.',
    4,
  );
}
