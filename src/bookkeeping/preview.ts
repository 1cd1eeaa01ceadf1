import type { Knex } from 'knex';
import type { InstallationConfig } from '../config/load.ts';
import type { Db } from '../db/pool.ts';
import {
  type ClaimedDocument,
  type DocumentSelection,
  documentsInForce,
  type JudgedDocument,
  waitingDocuments,
} from '../documents/documents.ts';
import { entryId } from '../domain/entry.ts';
import { ConfigError } from '../domain/errors.ts';
import { departmentLocks } from '../mirror/department-locks.ts';
import { readConditionsHash } from '../mirror/installation-state.ts';
import type { Remap } from '../posting/index.ts';
import type { Decision } from '../posting/types.ts';
import type { PracticeClient } from '../practice/client.ts';
import type { CalendarDate } from '../terms.ts';
import {
  conditionsHash,
  judgeDocuments,
  judgingBatch,
  type LockOf,
  movedStart,
  postingConditions,
  remapDocuments,
} from './judge.ts';

/** A document in the books and what a mapping makes of it; `entryIds` of the correction's entries, in order. */
export interface RemappedDocument {
  document: ClaimedDocument;
  remap: Remap;
  entryIds: string[];
}

export const everything: DocumentSelection = { documents: null, from: null, to: null };

/**
 * What the next window would post, by what is in the mirror now: every document that waits is judged as a window judges it,
 * with the ids its entries would get. A batch at a time from one snapshot that cannot be written to; ending early ends it.
 */
export async function* previewPosting(
  db: Db,
  installation: InstallationConfig,
  practice: PracticeClient,
): AsyncGenerator<JudgedDocument[]> {
  const trx = await snapshot(db);
  try {
    await requireStart(trx, installation);
    const lockOf = lockNow(trx, practice, installation.id);
    const conditions = await postingConditions(trx, installation, lockOf);
    const known = await readConditionsHash(trx, installation.id);
    const doubtful =
      known !== (await conditionsHash(trx, installation)) || (await haveLocksMoved(trx, installation, lockOf));
    for (let after: ClaimedDocument | null = null; ; ) {
      const batch: ClaimedDocument[] = await waitingDocuments(trx, installation.id, {
        after,
        limit: judgingBatch,
        doubtful,
      });
      const judged = await judgeDocuments(trx, installation, conditions, batch, true);
      for (const one of judged) one.entryIds = nextEntryIds(installation.id, one.document, one.decision);
      if (judged.length > 0) yield judged;
      if (batch.length < judgingBatch) return;
      after = batch.at(-1)!;
    }
  } finally {
    await trx.rollback();
  }
}

/** What `repost` would post with the installation's mapping, in the same way. */
export async function* previewRemap(
  db: Db,
  installation: InstallationConfig,
  practice: PracticeClient,
  selection: DocumentSelection,
): AsyncGenerator<RemappedDocument[]> {
  const trx = await snapshot(db);
  try {
    await requireStart(trx, installation);
    const conditions = await postingConditions(trx, installation, lockNow(trx, practice, installation.id));
    for (let after: ClaimedDocument | null = null; ; ) {
      const options = { after, limit: judgingBatch, lock: false };
      const batch: ClaimedDocument[] = await documentsInForce(trx, installation.id, selection, options);
      const remapped = await remapDocuments(trx, installation, conditions, batch);
      if (remapped.length > 0) {
        yield remapped.map(({ document, remap }) => ({
          document,
          remap,
          entryIds: remap.outcome === 'corrected' ? nextEntryIds(installation.id, document, remap.decision) : [],
        }));
      }
      if (batch.length < judgingBatch) return;
      after = batch.at(-1)!;
    }
  } finally {
    await trx.rollback();
  }
}

function snapshot(db: Db): Promise<Knex.Transaction> {
  return db.transaction({ isolationLevel: 'repeatable read', readOnly: true });
}

function nextEntryIds(installation: number, document: ClaimedDocument, { entries }: Decision): string[] {
  return entries.map((_, index) => entryId(installation, document, document.entryCount + index + 1));
}

/** A moved start date opens no window, so there is nothing to preview or to repost. Throws ConfigError. */
export async function requireStart(db: Db, installation: InstallationConfig): Promise<void> {
  const moved = await movedStart(db, installation);
  if (moved) throw new ConfigError(moved.code, `The ${moved.message}.`, `${moved.todo.replace(/^s/, 'S')}.`);
}

/** A department's lock date, as the source says now, asked once; when it cannot say, the last one known. Notes nothing. */
export function lockNow(db: Db, practice: PracticeClient, installation: number): LockOf {
  const told = new Map<number, CalendarDate | null>();
  return async (department) => {
    if (!told.has(department)) {
      const said = await practice.departmentSettings(department);
      const lock = said === 'unknown' ? await lastLock(db, installation, department) : said.lockDate;
      told.set(department, lock);
    }
    return told.get(department) ?? null;
  };
}

async function lastLock(db: Db, installation: number, department: number): Promise<CalendarDate | null> {
  return (await departmentLocks(db, installation)).get(department) ?? null;
}

/** Whether a window would find known lock dates moved when it opens, and judge again what they may have held. */
async function haveLocksMoved(db: Db, { id, mapping }: InstallationConfig, lockOf: LockOf): Promise<boolean> {
  if (!mapping.policies.follow_source_lock) return false;
  for (const [department, lastRead] of await departmentLocks(db, id)) {
    if ((await lockOf(department)) !== lastRead) return true;
  }
  return false;
}
