import type { InstallationConfig } from '../config/load.ts';
import { instant } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { type Connection, row } from '../db/rows.ts';
import { claimDocuments } from '../documents/claim.ts';
import { saveJudged } from '../documents/save.ts';
import { settleAll } from '../domain/concurrency.ts';
import { holdPeriod } from '../ledger/close.ts';
import { appendDecided, stateAfter } from './append.ts';
import { judgeDocuments, judgingBatch } from './judge.ts';
import type { ContextFor } from './posting-context.ts';

/** Posters at work. Each claims batches of its own: one judges while the other's entries are on their way into the database. */
const posters = 2;

export interface PostOptions {
  windowId: number | null;
  /** Judges even the documents whose parts could not be fetched again. */
  finalRound: boolean;
  /** Checked between batches. */
  signal: AbortSignal;
  /** Called after each batch with the number of documents judged so far. */
  onProgress: (judged: number) => void;
}

/** Judges and posts every document that waits, a batch a transaction; returns how many entries were appended. */
export async function postWaiting(
  db: Db,
  installation: InstallationConfig,
  contextFor: ContextFor,
  { windowId, finalRound, signal, onProgress }: PostOptions,
): Promise<number> {
  // By the database's clock, as `judged_at` is: the last round judges each document once.
  const { now } = await row(db, { now: instant }, 'select clock_timestamp() as now');
  let posted = 0;
  let judged = 0;
  const poster = async () => {
    for (;;) {
      signal.throwIfAborted();
      const batch = await db.transaction((trx) =>
        postBatch(trx, installation, contextFor, windowId, { finalRound, judgedBefore: now }),
      );
      if (batch.documents === 0) return;
      posted += batch.entries;
      judged += batch.documents;
      onProgress(judged);
    }
  };
  await settleAll(Array.from({ length: posters }, poster));
  return posted;
}

/** Judges and posts the next documents that wait, in the caller's transaction. */
export async function postBatch(
  trx: Connection,
  installation: InstallationConfig,
  contextFor: ContextFor,
  windowId: number | null,
  { finalRound, judgedBefore }: { finalRound: boolean; judgedBefore: Date },
): Promise<{ documents: number; entries: number }> {
  const options = { limit: judgingBatch, includeAwaitingParts: finalRound, judgedBefore };
  const claimed = await claimDocuments(trx, installation.id, options);
  if (claimed.length === 0) return { documents: 0, entries: 0 };
  await holdPeriod(trx, installation.id);
  const judged = await judgeDocuments(trx, installation, contextFor, claimed, { finalRound });
  const appended = await appendDecided(trx, installation, judged, windowId);
  await saveJudged(
    trx,
    installation.id,
    appended.map((one) => ({
      ...stateAfter(one),
      mark: one.document.mark,
      state: one.decision.state,
      documentDate: one.decision.documentDate,
      awaitsParts: one.awaitsParts,
      reports: one.decision.reports,
    })),
  );
  return { documents: claimed.length, entries: appended.reduce((sum, { entryIds }) => sum + entryIds.length, 0) };
}
