import type { InstallationConfig } from '../config/load-config.ts';
import { type Db, withoutIdleTimeout } from '../db/pool.ts';
import type { Connection } from '../db/rows.ts';
import { waitingDocuments } from '../documents/claim-documents.ts';
import type { DocumentCursor, StoredDocument } from '../documents/document.ts';
import { type DocumentSelection, documentsInForce } from '../documents/in-force.ts';
import { entryId } from '../domain/entry.ts';
import type { Remap } from '../posting/index.ts';
import type { Decision } from '../posting/types.ts';
import type { InstallationId } from '../terms.ts';
import type { Appended } from './append-decided.ts';
import { haveConditionsChanged } from './conditions.ts';
import type { DocumentWithHistory } from './history.ts';
import {
  type JudgedDocument,
  judgeDocuments,
  judgingBatch,
  kindsOf,
  type RemapPass,
  type RemappedCase,
  remapDocuments,
  remapPasses,
} from './judge-documents.ts';
import { currentLockDates, haveLockDatesMoved, type LockDateSource } from './lock-dates.ts';
import { postingContexts } from './posting-context.ts';
import type { DecidedVats } from './prepayment-shares.ts';
import { requireStart } from './start-date.ts';
import type { DecidedInvoices } from './vat-due-batch.ts';

/** A judged document. `entryIds` are the ids that its entries would get. */
export type PreviewedDocument = Appended<JudgedDocument>;

/** A posted document and its judgement under a mapping. `entryIds` are those of the correction's entries, in order. */
export interface RemappedDocument {
  document: DocumentWithHistory;
  remap: Remap;
  entryIds: string[];
}

/**
 * Yields what the next window would post from the present mirror: judges every waiting document as a window does and
 * gives its entries their ids. Reads one batch at a time from one read-only snapshot.
 */
export async function* previewPosting(
  db: Db,
  installation: InstallationConfig,
  source: LockDateSource,
  clock: (() => Date) | null = null,
): AsyncGenerator<PreviewedDocument[]> {
  const { id } = installation;
  yield* fromSnapshot(db, async function* (trx) {
    await requireStart(trx, installation);
    const lockDateOf = currentLockDates(trx, source, id);
    const contextFor = postingContexts(installation, lockDateOf, clock);
    const conditionsChanged =
      (await haveConditionsChanged(trx, installation)) || (await haveLockDatesMoved(trx, installation, lockDateOf));
    const next = (after: DocumentCursor) =>
      waitingDocuments(trx, id, { after, limit: judgingBatch, conditionsChanged });
    for await (const batch of batches(next)) {
      const { judged } = await judgeDocuments(trx, installation, contextFor, batch, { finalRound: true });
      yield judged.map((one) => ({ ...one, entryIds: nextEntryIds(id, one.document, one.decision) }));
    }
  });
}

/** Yields what `repost` would post under the installation's mapping. */
export async function* previewRemap(
  db: Db,
  installation: InstallationConfig,
  source: LockDateSource,
  selection: DocumentSelection,
): AsyncGenerator<RemappedDocument[]> {
  const { id } = installation;
  yield* fromSnapshot(db, async function* (trx) {
    await requireStart(trx, installation);
    const contextFor = postingContexts(installation, currentLockDates(trx, source, id));
    const decided: DecidedVats = new Map();
    const decidedInvoices: DecidedInvoices = new Map();
    for await (const { pass, batch } of batchesInForce(trx, id, selection)) {
      const options = { pass, decided, decidedInvoices };
      const { remapped } = await remapDocuments(trx, installation, contextFor, batch, options);
      yield remapped.map(({ document, remap }) => ({
        document,
        remap,
        entryIds: remap.outcome === 'corrected' ? nextEntryIds(id, document, remap.decision) : [],
      }));
    }
  });
}

/** A posted document under two mappings. */
export interface ComparedDocument extends Pick<RemappedCase, 'document' | 'isClosed'> {
  older: Remap;
  newer: Remap;
}

/** Yields every posted document with its entry under each of the two mappings, judged by its stored facts. */
export async function* compareMappings(
  db: Db,
  mappings: { older: InstallationConfig; newer: InstallationConfig },
  source: LockDateSource,
  selection: DocumentSelection,
): AsyncGenerator<ComparedDocument[]> {
  const { older, newer } = mappings;
  yield* fromSnapshot(db, async function* (trx) {
    await requireStart(trx, newer);
    const judgeUnder = (installation: InstallationConfig) => {
      const contextFor = postingContexts(installation, currentLockDates(trx, source, installation.id));
      const decided: DecidedVats = new Map();
      const decidedInvoices: DecidedInvoices = new Map();
      return (batch: StoredDocument[], pass: RemapPass) =>
        remapDocuments(trx, installation, contextFor, batch, { pass, decided, decidedInvoices });
    };
    const [underOlder, underNewer] = [judgeUnder(older), judgeUnder(newer)];
    for await (const { pass, batch } of batchesInForce(trx, newer.id, selection)) {
      const { remapped: olders } = await underOlder(batch, pass);
      const { remapped: newers } = await underNewer(batch, pass);
      yield newers.map(({ document, remap, isClosed }, index) => ({
        ...{ document, isClosed, newer: remap },
        older: (olders[index] as RemappedCase).remap,
      }));
    }
  });
}

/** Reads from one read-only snapshot, which ends with the reader; the reader may stop early. */
async function* fromSnapshot<One>(
  db: Db,
  read: (trx: Connection) => AsyncGenerator<One>,
): AsyncGenerator<One, void, void> {
  const trx = await db.transaction({ isolationLevel: 'repeatable read', readOnly: true });
  await withoutIdleTimeout(trx);
  try {
    yield* read(trx);
  } finally {
    await trx.rollback();
  }
}

/** The documents with an entry in force, in the passes of a repost. */
async function* batchesInForce(
  trx: Connection,
  installation: InstallationId,
  selection: DocumentSelection,
): AsyncGenerator<{ pass: RemapPass; batch: StoredDocument[] }> {
  for (const pass of remapPasses) {
    const next = (after: DocumentCursor) =>
      documentsInForce(trx, installation, selection, { kinds: kindsOf[pass], after, limit: judgingBatch, lock: false });
    for await (const batch of batches(next)) yield { pass, batch };
  }
}

async function* batches(next: (after: DocumentCursor) => Promise<StoredDocument[]>): AsyncGenerator<StoredDocument[]> {
  for (let after: DocumentCursor = null; ; ) {
    const batch: StoredDocument[] = await next(after);
    const last = batch.at(-1);
    if (last === undefined) return;
    yield batch;
    if (batch.length < judgingBatch) return;
    after = last;
  }
}

function nextEntryIds(installation: number, document: DocumentWithHistory, { entries }: Decision): string[] {
  return entries.map((_, index) => entryId(installation, document, document.entryCount + index + 1));
}
