import { ApplicationFailure } from '@temporalio/common';
import type { Knex } from 'knex';
import {
  appendDecided,
  conditionsHash,
  judgeDocuments,
  judgingBatch,
  movedStart,
  type PostingConditions,
  postingConditions,
} from '../src/bookkeeping/judge.ts';
import type { InstallationConfig } from '../src/config/load.ts';
import type { Db } from '../src/db/pool.ts';
import { claimDocuments, countWaiting, isDoubtful, saveJudged } from '../src/documents/documents.ts';
import { departmentLocks, noteDepartmentLock } from '../src/mirror/department-locks.ts';
import { noteConditionsHash, noteStartDate, readConditionsHash } from '../src/mirror/installation-state.ts';
import type { PracticeClient } from '../src/practice/client.ts';
import type { OpenWindow } from '../src/sync/sync-windows.ts';
import type { WindowInput } from '../workflows/messages.ts';
import { type ActivityDeps, alive, allEnded, installationOf } from './context.ts';

export interface PostReport {
  /** Entries appended, reversals included. */
  posted: number;
  /** Documents held at the end. */
  held: number;
  /** Documents whose parts are to be fetched again before they are judged for good. */
  refetch: number;
}

/**
 * Judges every waiting document of the installation: loads its facts, asks the pure core, appends the entries and records
 * the state, a batch a transaction. `last` judges even those whose parts could not be fetched again yet.
 */
export function postActivities(deps: ActivityDeps) {
  return {
    async post(input: WindowInput, window: OpenWindow, last: boolean): Promise<PostReport> {
      return alive(deps, input, window, async (liveness) => {
        const installation = installationOf(deps, input.installation);
        const client = deps.practice(installation.id);
        const conditions = await postingConditions(deps.db, installation, (department) =>
          sourceLock(deps, client, installation.id, department),
        );
        const judgedBefore = await databaseNow(deps.db);
        const total = { posted: 0, judged: 0 };
        const postAll = async () => {
          for (;;) {
            liveness.signal.throwIfAborted();
            const batch = await deps.db.transaction((trx) =>
              postBatch(trx, installation, conditions, window.id, { last, judgedBefore }),
            );
            if (batch.documents === 0) return;
            total.posted += batch.entries;
            total.judged += batch.documents;
            liveness.beat({ step: 'posting', done: total.judged, total: null });
          }
        };
        await allEnded(Array.from({ length: posters }, postAll));
        const { held, wanted } = await countWaiting(deps.db, input.installation);
        return { posted: total.posted, held, refetch: wanted };
      });
    },
  };
}

/** Each batch is claimed by one of them alone: one judges while the other's entries are on their way into the database. */
const posters = 2;

/** The database's clock: `judged_at` is written by it. */
async function databaseNow(db: Db): Promise<Date> {
  const found = await db.raw<{ rows: { now: Date }[] }>(`select clock_timestamp() as now`);
  return found.rows[0]!.now;
}

/** Judges and posts the next waiting documents, in the caller's transaction. */
export async function postBatch(
  trx: Knex.Transaction,
  installation: InstallationConfig,
  conditions: PostingConditions,
  windowId: number | null,
  options: { last: boolean; judgedBefore: Date },
): Promise<{ documents: number; entries: number }> {
  const claimed = await claimDocuments(trx, installation.id, { limit: judgingBatch, ...options });
  if (claimed.length === 0) return { documents: 0, entries: 0 };
  const judged = await judgeDocuments(trx, installation, conditions, claimed, options.last);
  const entries = await appendDecided(trx, installation, judged, windowId);
  await saveJudged(trx, installation.id, judged);
  return { documents: claimed.length, entries };
}

/** A department's lock date, as the source says now; when it cannot say, the last one known, with a warning (field-notes). */
async function sourceLock(deps: ActivityDeps, client: PracticeClient, installation: number, department: number) {
  const said = await client.departmentSettings(department);
  if (said !== 'unknown') {
    await noteDepartmentLock(deps.db, installation, department, said.lockDate);
    return said.lockDate;
  }
  deps.log.warn(
    { installation, department },
    'the source does not tell this department’s lock date; the last known one is used',
  );
  return (await departmentLocks(deps.db, installation)).get(department) ?? null;
}

/** Asks again for the lock dates that are known, where they lock posting: a document may be held by one that has moved. */
export async function refreshLocks(deps: ActivityDeps, installation: InstallationConfig): Promise<void> {
  if (!installation.mapping.policies.follow_source_lock) return;
  const client = deps.practice(installation.id);
  for (const department of (await departmentLocks(deps.db, installation.id)).keys()) {
    await sourceLock(deps, client, installation.id, department);
  }
}

/** Opens no window over a start date that was moved once something is posted, and notes the one in force. */
export async function refuseMovedStart(db: Db, installation: InstallationConfig): Promise<void> {
  const moved = await movedStart(db, installation);
  if (moved) throw ApplicationFailure.nonRetryable(moved.message, moved.code, moved);
  await noteStartDate(db, installation.id, installation.startDate);
}

/**
 * Marks documents whose cause may be gone: when the mapping, the start date or a lock differs from when they were last
 * judged, everything that has a problem or lies before the start date is judged again (ACCOUNTING "Held").
 */
export async function markAfterChangedConditions(db: Db, installation: InstallationConfig): Promise<void> {
  const conditions = await conditionsHash(db, installation);
  if ((await readConditionsHash(db, installation.id)) === conditions) return;
  await db.transaction(async (trx) => {
    await trx.raw(
      `update document set dirty = true, dirty_mark = dirty_mark + 1 where installation = ? and ${isDoubtful}`,
      [installation.id],
    );
    await noteConditionsHash(trx, installation.id, conditions);
  });
}
