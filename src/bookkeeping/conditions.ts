import { hash } from 'node:crypto';
import type { InstallationConfig } from '../config/load.ts';
import type { Connection } from '../db/rows.ts';
import { markForChangedConditions } from '../documents/mark.ts';
import { closedThrough } from '../ledger/close.ts';
import { departmentLocks } from '../mirror/department-locks.ts';
import { noteConditionsHash, readConditionsHash } from '../mirror/installation-state.ts';

/** Whether mapping, start date, time zone, closed period or a lock date have changed since documents were last marked for it. */
export async function haveConditionsChanged(db: Connection, installation: InstallationConfig): Promise<boolean> {
  return (await readConditionsHash(db, installation.id)) !== (await conditionsHash(db, installation));
}

/** Marks the documents that may be posted now, where a condition has changed (ACCOUNTING "Held"); in the caller's transaction. */
export async function markAfterChangedConditions(trx: Connection, installation: InstallationConfig): Promise<void> {
  const conditions = await conditionsHash(trx, installation);
  if ((await readConditionsHash(trx, installation.id)) === conditions) return;
  await markForChangedConditions(trx, installation.id);
  await noteConditionsHash(trx, installation.id, conditions);
}

/** A hash of everything besides its facts that decides whether a document is posted. */
async function conditionsHash(db: Connection, installation: InstallationConfig): Promise<string> {
  const { id, mappingHash, startDate, timezone } = installation;
  const lockDates = [...(await departmentLocks(db, id))];
  return hash('sha256', JSON.stringify([mappingHash, startDate, timezone, await closedThrough(db, id), lockDates]));
}
