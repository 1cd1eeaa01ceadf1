import { randomUUID } from 'node:crypto';
import type { InstallationConfig } from '../config/load-config.ts';
import { isCausedByData, retryingTransaction } from '../db/database-errors.ts';
import { LeaseBusy, LeaseLost, leasedTransactions, releaseLease, renewLease, type Transact } from '../db/lease.ts';
import type { Db } from '../db/pool.ts';
import type { Connection } from '../db/rows.ts';
import { waitForLease } from '../db/with-lease.ts';
import type { DocumentCursor, StoredDocument } from '../documents/document.ts';
import { internalError } from '../documents/hold.ts';
import { type DocumentSelection, documentsInForce } from '../documents/in-force.ts';
import { markKnown } from '../documents/mark.ts';
import { saveRemapped } from '../documents/save.ts';
import { type ReportedDocument, saveReports } from '../documents/scrub-reports.ts';
import type { Clock } from '../domain/clock.ts';
import { divideFailed } from '../domain/divide-failed.ts';
import { UserError } from '../domain/errors.ts';
import type { Problem } from '../domain/problems.ts';
import { holdPeriod } from '../ledger/close.ts';
import { type DocumentRef, documentKinds } from '../terms.ts';
import { booksErrors } from '../texts/errors/books.ts';
import { appendDecided, stateAfter } from './append-decided.ts';
import { withHistory } from './history.ts';
import { holdIdentity, requireIdentity } from './identity.ts';
import {
  judgingBatch,
  kindsOf,
  type RemapPass,
  type RemappedCase,
  remapDocuments,
  remapPasses,
} from './judge-documents.ts';
import { currentLockDates, knownLockDates, type LockDateSource } from './lock-dates.ts';
import { holdMapping } from './mapping-versions.ts';
import { type ContextFor, postingContexts } from './posting-context.ts';
import { holdSharesIfGiven, markOtherTakers } from './prepayment-shares.ts';
import type { RemappedDocument } from './preview.ts';
import { requireStart } from './start-date.ts';
import { followMoves } from './vat-due-marks.ts';

export interface RepostOptions {
  selection: DocumentSelection;
  /** Checked between batches. Batches that were posted stay, and the next repost continues after them. */
  signal: AbortSignal;
  clock: Clock;
  /** How long to wait for a running window. */
  waitSeconds: number;
  /** The repost calls this once if it has to wait for a window. */
  onWait: () => void;
  /** The repost calls this under its lease, before it posts. It refuses the repost by an error. `renew` keeps the lease. */
  check?: (renew: () => Promise<void>) => Promise<void>;
}

/**
 * Posts the corrections for the installation's mapping, one transaction per batch; yields each batch after its commit.
 * A document that makes its batch fail unexpectedly keeps its entry and is held (`internal_error`). The repost takes
 * the lease of the live lane, so that no window runs at the same time, and renews it with each batch. Without the lease
 * it posts nothing. A second repost posts nothing. Throws UserError if the lease is taken or was lost.
 */
export async function* repost(
  db: Db,
  installation: InstallationConfig,
  source: LockDateSource,
  options: RepostOptions,
): AsyncGenerator<RemappedDocument[]> {
  const { id } = installation;
  const { clock, signal, waitSeconds, onWait } = options;
  const wait = { holder: `repost/${randomUUID()}`, waitMs: waitSeconds * 1000, onWaiting: onWait };
  const lease = await waitForLease({ db, clock, signal }, { installation: id, lane: 'live' }, wait).catch((error) => {
    throw error instanceof LeaseBusy ? new UserError(booksErrors.windowBusy({ installation: id }), 4) : error;
  });
  const transact = leasedTransactions(db, lease, options);
  const renew = async () => {
    if (!(await renewLease(db, lease))) throw new LeaseLost(lease);
  };
  try {
    await options.check?.(renew);
    await requireIdentity(db, installation);
    await requireStart(db, installation);
    const contextFor = postingContexts(installation, currentLockDates(db, source, id));
    for (const pass of remapPasses) {
      for (let after: DocumentCursor = null; ; ) {
        options.signal.throwIfAborted();
        await renew();
        const batch: Reposted = await repostBatch(transact, installation, contextFor, options.selection, pass, after);
        if (batch.last === null) break;
        yield batch.documents;
        after = batch.last;
      }
    }
  } catch (error) {
    throw error instanceof LeaseLost ? new UserError(booksErrors.repostSuperseded({ installation: id }), 4) : error;
  } finally {
    await releaseLease(db, lease);
  }
}

interface Reposted {
  documents: RemappedDocument[];
  /** The last document of the batch; null after the last batch. */
  last: DocumentCursor;
}

/**
 * Posts the corrections of the next documents in one transaction. If it fails because of its data, posts them part by
 * part.
 */
async function repostBatch(
  transact: Transact,
  installation: InstallationConfig,
  contextFor: ContextFor,
  selection: DocumentSelection,
  pass: RemapPass,
  after: DocumentCursor,
): Promise<Reposted> {
  const { id } = installation;
  let locked: readonly StoredDocument[] = [];
  const post = (documents: DocumentSelection, from: DocumentCursor) =>
    retryingTransaction(transact, async (trx) => {
      locked = await documentsInForce(trx, id, documents, {
        ...{ kinds: kindsOf[pass], after: from, limit: judgingBatch, lock: true },
      });
      await holdBooks(trx, installation, locked);
      return repostLocked(trx, installation, contextFor, locked, pass);
    });
  try {
    const documents = await post(selection, after);
    return { documents, last: locked.at(-1) ?? null };
  } catch (error) {
    const batch = locked;
    const parts = await divideFailed(batch, error, {
      work: (part) => post({ ...selection, documents: [...part] }, null),
      isTheirs: isCausedByData,
      culprit: (document, failure) => transact((trx) => holdUncorrected(trx, id, selection, document, failure)),
    });
    return { documents: parts.flat(), last: batch.at(-1) ?? null };
  }
}

/** Until the transaction ends, no period is closed, and neither the mapping nor the shares of prepayments change. */
async function holdBooks(
  trx: Connection,
  installation: InstallationConfig,
  locked: readonly StoredDocument[],
): Promise<void> {
  await holdPeriod(trx, installation.id);
  await holdSharesIfGiven(trx, installation, locked);
  await holdMapping(trx, installation);
  await holdIdentity(trx, installation, { posting: false });
}

/**
 * Posts the correction of one document in the transaction of the caller, while windows may run: its row is locked, as in a window. After the
 * locks, `check` may refuse it by an error.
 */
export async function repostDocument(
  trx: Connection,
  installation: InstallationConfig,
  document: DocumentRef,
  check: () => Promise<void>,
): Promise<void> {
  const { id } = installation;
  await requireStart(trx, installation);
  const selection = { documents: [document], from: null, to: null };
  const options = { kinds: documentKinds, after: null, limit: 1, lock: true };
  const locked = await documentsInForce(trx, id, selection, options);
  await holdBooks(trx, installation, locked);
  await check();
  const contextFor = postingContexts(installation, knownLockDates(trx, id));
  for (const pass of remapPasses) await repostLocked(trx, installation, contextFor, locked, pass);
}

async function repostLocked(
  trx: Connection,
  installation: InstallationConfig,
  contextFor: ContextFor,
  documents: readonly StoredDocument[],
  pass: RemapPass,
): Promise<RemappedDocument[]> {
  const batch = await remapDocuments(trx, installation, contextFor, documents, { pass });
  const { remapped } = batch;
  const toSave = remapped.filter(isToSave).map((one) => ({ ...one, decision: one.remap.decision }));
  const appended = await appendDecided(trx, installation, toSave, null);
  await saveRemapped(trx, installation.id, appended.map(stateAfter));
  await saveReports(trx, installation.id, remapped.filter(isProven).map(reportsOf));
  await markOtherTakers(trx, installation, appended);
  await followMoves(trx, installation, batch);
  await markLeft(trx, installation.id, remapped);
  const entryIds = new Map(appended.map((one) => [one.document, one.entryIds]));
  return remapped.map((one) => ({ ...one, entryIds: entryIds.get(one.document) ?? [] }));
}

/**
 * Marks documents with new facts and held documents for the next window, which may fetch their rows and payments first.
 */
async function markLeft(trx: Connection, installation: number, remapped: readonly RemappedCase[]): Promise<void> {
  const isLeft = ({ remap: { outcome } }: RemappedCase) => outcome === 'left' || outcome === 'held';
  const left = remapped.filter(isLeft).map(({ document }) => document);
  for (const kind of documentKinds) {
    const ids = left.flatMap((document) => (document.kind === kind ? document.id : []));
    await markKnown(trx, installation, kind, ids);
  }
}

/**
 * Whether the remarks are complete without fetching anything again. For other documents the next window reports them.
 */
function isProven({ remap: { outcome, decision } }: Pick<RemappedDocument, 'remap'>): boolean {
  return outcome !== 'left' && outcome !== 'held' && !decision.refetch;
}

function reportsOf({ document: { kind, id }, remap }: Pick<RemappedDocument, 'document' | 'remap'>): ReportedDocument {
  return { kind, id, reports: remap.decision.reports };
}

/** Holds a document whose correction fails. It keeps its entry, its marks and its state. */
async function holdUncorrected(
  trx: Connection,
  installation: number,
  selection: DocumentSelection,
  { kind, id }: DocumentRef,
  error: unknown,
): Promise<RemappedDocument[]> {
  const ref = { kind, id };
  const only = { kinds: documentKinds, after: null, limit: 1, lock: true };
  const found = await documentsInForce(trx, installation, { ...selection, documents: [ref] }, only);
  const held = (await withHistory(trx, installation, found)).map((document) => {
    const { state, documentDate } = document;
    const problem: Problem = { ...internalError(ref, 'correcting it', error), document: ref };
    const { late = null } = document.before;
    const decision = { state, documentDate, remapHeld: true, late, problem, entries: [], reports: [], refetch: false };
    return { document, remap: { outcome: 'held' as const, decision, required: null }, entryIds: [] };
  });
  await saveRemapped(
    trx,
    installation,
    held.map(({ document, remap: { decision } }) => stateAfter({ document, decision, entryIds: [] })),
  );
  return held;
}

/**
 * Documents to save: corrections, corrections that are held, and documents whose held correction is no longer required.
 */
function isToSave({ document, remap: { outcome } }: Pick<RemappedDocument, 'document' | 'remap'>): boolean {
  return outcome === 'same' ? document.remapHeld : outcome !== 'left';
}
