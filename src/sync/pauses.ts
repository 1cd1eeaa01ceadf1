import { type ActedBy, recordAction } from '../actions/record.ts';
import { bool, instant, integer, text } from '../db/columns.ts';
import { type Connection, execute, maybeRow, rows } from '../db/rows.ts';
import type { InstallationId } from '../terms.ts';

/**
 * Windows that the operator has paused (table `window_pause`). The row names the action, which contains who paused them
 * and why. The row decides, even if Temporal cannot be reached. There is no row if the windows were never paused.
 */
export interface PauseState {
  installation: InstallationId;
  isPaused: boolean;
  /** Id of the action. The id increases with each change. */
  n: number;
  actedBy: string;
  reason: string;
  /** The time of the action that paused or resumed the windows. */
  since: Date;
}

const shape = { installation: integer, isPaused: bool, n: integer, actedBy: text, reason: text, since: instant };

/**
 * Whether the windows of these installations are paused, by installation. Installations that were never paused are left
 * out.
 */
export async function pauseStates(
  db: Connection,
  installations: readonly InstallationId[],
): Promise<Map<InstallationId, PauseState>> {
  const found = await rows(
    db,
    shape,
    `select p.installation, p.is_paused as "isPaused", p.action_id as n, a.acted_by as "actedBy", a.reason, a.acted_at as since
     from window_pause p join action_done a on a.id = p.action_id where p.installation = any(?)`,
    [installations],
  );
  return new Map(found.map((row) => [row.installation, row]));
}

/** The pause of an installation's windows. Null if they are not paused. */
export async function windowPause(db: Connection, installation: InstallationId): Promise<PauseState | null> {
  const state = (await pauseStates(db, [installation])).get(installation);
  return state?.isPaused ? state : null;
}

/** Pauses or resumes an installation's windows, and records the action. Returns false if nothing changes. */
export async function setPaused(
  trx: Connection,
  installation: InstallationId,
  isPaused: boolean,
  by: ActedBy,
): Promise<boolean> {
  const sql = 'select is_paused from window_pause where installation = ? for update';
  const now = await maybeRow(trx, { is_paused: bool }, sql, [installation]);
  if ((now?.is_paused ?? false) === isPaused) return false;
  const kind = isPaused ? 'pause_windows' : 'resume_windows';
  const { id: action } = await recordAction(trx, { installation, kind, by, input: {} });
  await execute(
    trx,
    `insert into window_pause (installation, is_paused, action_id) values (?, ?, ?)
     on conflict (installation) do update set is_paused = excluded.is_paused, action_id = excluded.action_id`,
    [installation, isPaused, action],
  );
  return true;
}
