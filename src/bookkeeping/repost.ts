import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { leaseSeconds } from '../../activities/context.ts';
import type { InstallationConfig } from '../config/load.ts';
import { releaseLease, renewLease, takeLease } from '../db/lease.ts';
import type { Db } from '../db/pool.ts';
import {
  type ClaimedDocument,
  type DocumentSelection,
  documentsInForce,
  type JudgedDocument,
  saveRemapped,
} from '../documents/documents.ts';
import { UserError } from '../domain/errors.ts';
import type { PracticeClient } from '../practice/client.ts';
import { appendDecided, judgingBatch, postingConditions, remapDocuments } from './judge.ts';
import { lockNow, type RemappedDocument, requireStart } from './preview.ts';

const pollMs = 1_000;

export interface RepostOptions {
  selection: DocumentSelection;
  /** Checked between batches: what is posted by then stays, and the next repost goes on from there. */
  signal: AbortSignal;
  /** How long to wait for a window under way. */
  waitSeconds: number;
  /** Told once when there is one to wait for. */
  onWait: () => void;
}

/**
 * Posts the corrections that the installation's mapping asks for, a batch a transaction, each given out once it is in the
 * books. It holds the installation's lease, so that it never runs beside a window; each batch renews it, so that one that was
 * lost posts nothing more. Posting again posts nothing. Throws UserError when the lease cannot be had, or was lost.
 */
export async function* repost(
  db: Db,
  installation: InstallationConfig,
  practice: PracticeClient,
  options: RepostOptions,
): AsyncGenerator<RemappedDocument[]> {
  const token = await waitForLease(db, installation.id, options);
  try {
    await requireStart(db, installation);
    const conditions = await postingConditions(db, installation, lockNow(db, practice, installation.id));
    for (let after: ClaimedDocument | null = null; ; ) {
      options.signal.throwIfAborted();
      const batch: RemappedDocument[] = await db.transaction(async (trx) => {
        // Its row stays locked until the end: no window can take the lease while the batch is posted.
        if (!(await renewLease(trx, installation.id, token, leaseSeconds))) throw leaseLost(installation.id);
        const selected = { after, limit: judgingBatch, lock: true };
        const claimed = await documentsInForce(trx, installation.id, options.selection, selected);
        const remapped = await remapDocuments(trx, installation, conditions, claimed);
        const all = remapped.map((one): RemappedDocument & JudgedDocument => ({
          ...one,
          decision: one.remap.decision,
          entryIds: [],
          waits: false,
        }));
        const toSave = all.filter(isToSave);
        await appendDecided(trx, installation, toSave, null);
        await saveRemapped(trx, installation.id, toSave);
        return all;
      });
      if (batch.length > 0) yield batch;
      if (batch.length < judgingBatch) return;
      after = batch.at(-1)!.document;
    }
  } finally {
    await releaseLease(db, installation.id, token);
  }
}

/** Corrections, corrections that are held, and held ones that nobody asks for any more. The rest is the next window's. */
function isToSave({ document, remap }: RemappedDocument): boolean {
  const { outcome } = remap;
  return (
    outcome === 'corrected' || outcome === 'change_held' || (outcome === 'same' && Boolean(document.before.remapHeld))
  );
}

async function waitForLease(db: Db, installation: number, options: RepostOptions): Promise<number> {
  const { signal, waitSeconds, onWait } = options;
  const holder = `repost/${randomUUID()}`;
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    signal.throwIfAborted();
    const token = await takeLease(db, installation, holder, leaseSeconds);
    if (token !== null) return token;
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
