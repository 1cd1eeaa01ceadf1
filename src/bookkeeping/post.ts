import type { InstallationConfig } from '../config/load-config.ts';
import { isCausedByData, retryingTransaction } from '../db/database-errors.ts';
import { databaseNow } from '../db/database-now.ts';
import type { Transact } from '../db/lease.ts';
import type { Connection } from '../db/rows.ts';
import { refreshStatistics, refreshStatisticsFromRows } from '../db/statistics.ts';
import { claimDocuments, claimThese } from '../documents/claim-documents.ts';
import type { StoredDocument } from '../documents/document.ts';
import { holdDocument, internalError } from '../documents/hold.ts';
import { saveJudged } from '../documents/save.ts';
import { settleAll } from '../domain/concurrency.ts';
import { divideFailed } from '../domain/divide-failed.ts';
import { holdPeriod } from '../ledger/close.ts';
import { followClaimed, followMarked, notePrepayments } from '../prepayments/follow.ts';
import type { DocumentKind, DocumentRef } from '../terms.ts';
import { appendDecided, stateAfter } from './append-decided.ts';
import { holdIdentity } from './identity.ts';
import { judgeDocuments, judgingBatch } from './judge-documents.ts';
import { holdMapping } from './mapping-versions.ts';
import type { ContextFor } from './posting-context.ts';
import { holdSharesIfGiven, markOtherTakers, postsVatAtReceipt } from './prepayment-shares.ts';
import { postsVatOnPayment } from './vat-due-batch.ts';
import { followMoves } from './vat-due-marks.ts';

/** The database's statistics are updated whenever the number of judged documents has grown by this factor. */
const refreshGrowth = 4;
/**
 * Number of concurrent posters. Each claims its own batches: one judges while the database stores the other's entries.
 */
const posters = 2;

export interface PostOptions {
  windowId: number | null;
  /** In the final round, documents whose parts could not be fetched again are judged, too. */
  finalRound: boolean;
  /** Runs one transaction per batch. */
  transact: Transact;
  /** The posting calls this after each batch with the number of documents judged so far. */
  onProgress: (judged: number) => void;
  /** The posting calls this with each document that is held because posting it failed unexpectedly. */
  onHeld?: (document: DocumentRef, error: unknown) => void;
}

/**
 * Judges and posts all waiting documents, one transaction per batch. Returns the number of appended entries. If a
 * document makes its batch fail unexpectedly, it is held (`internal_error`) and the others are posted.
 */
export async function postWaiting(
  db: Connection,
  installation: InstallationConfig,
  contextFor: ContextFor,
  { windowId, finalRound, transact, onProgress, onHeld = () => undefined }: PostOptions,
): Promise<number> {
  // The database's clock also sets `judged_at`. With the same clock, the last round judges each document once.
  const now = await databaseNow(db);
  const options = { finalRound, judgedBefore: now, transact, onHeld };
  await followMarked(db, installation, transact);
  let posted = 0;
  let judged = 0;
  let refreshAt = refreshStatisticsFromRows;
  const poster = async (kind?: DocumentKind) => {
    for (;;) {
      const batch = await postNext(installation, contextFor, windowId, { ...options, ...(kind ? { kind } : {}) });
      if (batch.documents === 0) return;
      posted += batch.entries;
      judged += batch.documents;
      onProgress(judged);
      if (judged < refreshAt) continue;
      refreshAt = judged * refreshGrowth;
      await refreshStatistics(db, 'post');
    }
  };
  // Prepayments come first, because the VAT of their uses depends on them.
  if (postsVatAtReceipt(installation)) await poster('prepayment');
  // Invoices come before payments, because payments move the VAT of invoices.
  if (postsVatOnPayment(installation)) await poster('invoice');
  await settleAll(Array.from({ length: posters }, () => poster()));
  return posted;
}

interface Batch {
  documents: number;
  entries: number;
}

/** Posts the next batch in one transaction. If it fails because of its data, posts it part by part. */
async function postNext(
  installation: InstallationConfig,
  contextFor: ContextFor,
  windowId: number | null,
  options: Required<Pick<PostOptions, 'finalRound' | 'transact' | 'onHeld'>> & {
    judgedBefore: Date;
    kind?: DocumentKind;
  },
): Promise<Batch> {
  const { transact, onHeld } = options;
  let claimed: readonly StoredDocument[] = [];
  const inTransaction = (claim: (trx: Connection) => Promise<StoredDocument[]>) =>
    retryingTransaction(transact, async (trx) => {
      claimed = await claim(trx);
      return postClaimed(trx, installation, contextFor, windowId, claimed, options);
    });
  try {
    return await inTransaction((trx) => claimNext(trx, installation.id, options));
  } catch (error) {
    const batches = await divideFailed(claimed, error, {
      work: (part) => inTransaction((trx) => claimThese(trx, installation.id, part)),
      isTheirs: isCausedByData,
      culprit: async (document, failure) => {
        const problem = internalError(document, 'posting it', failure);
        await transact((trx) => holdDocument(trx, installation.id, document, problem));
        onHeld(document, failure);
        return { documents: 1, entries: 0 };
      },
    });
    return {
      documents: batches.reduce((judged, { documents }) => judged + documents, 0),
      entries: batches.reduce((appended, { entries }) => appended + entries, 0),
    };
  }
}

/** Judges and posts the next waiting documents in the caller's transaction. */
export async function postBatch(
  trx: Connection,
  installation: InstallationConfig,
  contextFor: ContextFor,
  windowId: number | null,
  options: { finalRound: boolean; judgedBefore: Date },
): Promise<Batch> {
  const claimed = await claimNext(trx, installation.id, options);
  return postClaimed(trx, installation, contextFor, windowId, claimed, options);
}

function claimNext(
  trx: Connection,
  installation: number,
  { finalRound, ...options }: { finalRound: boolean; judgedBefore: Date; kind?: DocumentKind },
): Promise<StoredDocument[]> {
  return claimDocuments(trx, installation, { limit: judgingBatch, includeAwaitingParts: finalRound, ...options });
}

/**
 * Judges and posts claimed documents in the transaction that claimed them. With `onlyCertain`, documents stay marked if
 * a first load may still read something that changes their entries.
 */
export async function postClaimed(
  trx: Connection,
  installation: InstallationConfig,
  contextFor: ContextFor,
  windowId: number | null,
  claimed: readonly StoredDocument[],
  { finalRound, onlyCertain = false }: { finalRound: boolean; onlyCertain?: boolean },
): Promise<Batch> {
  if (claimed.length === 0) return { documents: 0, entries: 0 };
  if (onlyCertain) await notePrepayments(trx, installation, idsOf('prepayment', claimed));
  else await followClaimed(trx, installation, claimed);
  await holdPeriod(trx, installation.id);
  await holdSharesIfGiven(trx, installation, claimed);
  const batch = await judgeDocuments(trx, installation, contextFor, claimed, { finalRound });
  const judged = batch.judged.filter(({ isCertain }) => isCertain || !onlyCertain);
  await holdMapping(trx, installation);
  await holdIdentity(trx, installation, { posting: judged.some(({ decision }) => decision.entries.length > 0) });
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
  await markOtherTakers(trx, installation, appended);
  await followMoves(trx, installation, batch);
  return { documents: claimed.length, entries: appended.reduce((sum, { entryIds }) => sum + entryIds.length, 0) };
}

function idsOf(kind: DocumentKind, documents: readonly DocumentRef[]): number[] {
  return documents.flatMap((document) => (document.kind === kind ? document.id : []));
}
