import { bool, instant, integer, oneOf, text } from '../db/columns.ts';
import { type Connection, execute, maybeRow, rows } from '../db/rows.ts';
import type { InstallationId } from '../terms.ts';

/**
 * Windows that somebody holds back (table `window_pause`), and who has paused, resumed, cancelled or nudged them, and why (table
 * `window_action`, append-only). The row is the truth, and holds whether Temporal can be reached or not.
 */

const ways = ['command', 'temporal'] as const;

/** Where it was done: by one of our commands, or in Temporal, by its UI or a client of its. */
export type Via = (typeof ways)[number];

export interface WindowAction {
  via: Via;
  actedBy: string;
  reason: string;
  /** What it concerned, such as the ids of workflows. */
  details?: string;
}

export interface PauseState {
  installation: InstallationId;
  isPaused: boolean;
  /** Whether the Schedule has been told. */
  isFollowed: boolean;
  /** Grows with each change. */
  n: number;
  via: Via;
  actedBy: string;
  reason: string;
  since: Date;
}

const shape = {
  installation: integer,
  is_paused: bool,
  is_followed: bool,
  n: integer,
  via: oneOf(ways),
  acted_by: text,
  reason: text,
  changed_at: instant,
};
const columns = Object.keys(shape).join(', ');

/** Whether an installation's windows are paused, and what the Schedule knows of it; null where nobody has ever paused them. */
export async function pauseState(db: Connection, installation: InstallationId): Promise<PauseState | null> {
  const found = await maybeRow(db, shape, `select ${columns} from window_pause where installation = ?`, [installation]);
  return found && stateOf(found);
}

/** The same of many installations, by installation. */
export async function pauseStates(
  db: Connection,
  installations: readonly InstallationId[],
): Promise<Map<InstallationId, PauseState>> {
  const found = await rows(db, shape, `select ${columns} from window_pause where installation = any(?)`, [
    installations,
  ]);
  return new Map(found.map((row) => [row.installation, stateOf(row)]));
}

/** The pause of an installation's windows; null where they are not paused. */
export async function windowPause(db: Connection, installation: InstallationId): Promise<PauseState | null> {
  const state = await pauseState(db, installation);
  return state?.isPaused ? state : null;
}

/** Pauses or resumes an installation's windows, and records it; false where nothing changes. */
export async function setPaused(
  trx: Connection,
  installation: InstallationId,
  isPaused: boolean,
  by: WindowAction,
): Promise<boolean> {
  const changed = await execute(
    trx,
    `insert into window_pause as p (installation, is_paused, via, acted_by, reason)
     select ?::bigint, ?::boolean, ?, ?, ?
     where ?::boolean or exists (select from window_pause where installation = ? and is_paused)
     on conflict (installation) do update set is_paused = excluded.is_paused, is_followed = false, n = p.n + 1,
       via = excluded.via, acted_by = excluded.acted_by, reason = excluded.reason, changed_at = clock_timestamp()
     where p.is_paused <> excluded.is_paused`,
    [installation, isPaused, by.via, by.actedBy, by.reason, isPaused, installation],
  );
  if (changed > 0) await recordWindowAction(trx, installation, isPaused ? 'pause' : 'resume', by);
  return changed > 0;
}

/** Notes that the Schedule has been told of the change `n`. */
export async function noteFollowed(db: Connection, { installation, n }: PauseState): Promise<void> {
  await execute(db, 'update window_pause set is_followed = true where installation = ? and n = ?', [installation, n]);
}

/**
 * Notes what somebody has done to the Schedule in Temporal, unless the pause has changed since `seen` was read; false then.
 */
export async function noteDoneInTemporal(
  trx: Connection,
  installation: InstallationId,
  seen: PauseState | null,
  isPaused: boolean,
  by: Omit<WindowAction, 'via'>,
): Promise<boolean> {
  const changed = await execute(
    trx,
    `insert into window_pause as p (installation, is_paused, is_followed, via, acted_by, reason)
     values (?, ?, true, 'temporal', ?, ?)
     on conflict (installation) do update set is_paused = excluded.is_paused, is_followed = true, n = p.n + 1,
       via = excluded.via, acted_by = excluded.acted_by, reason = excluded.reason, changed_at = clock_timestamp()
     where p.n = ?`,
    [installation, isPaused, by.actedBy, by.reason, seen?.n ?? 0],
  );
  if (changed > 0) {
    await recordWindowAction(trx, installation, isPaused ? 'pause' : 'resume', { ...by, via: 'temporal' });
  }
  return changed > 0;
}

/** Writes down what somebody has done to an installation's windows. */
export async function recordWindowAction(
  trx: Connection,
  installation: InstallationId,
  action: 'pause' | 'resume' | 'cancel' | 'nudge',
  { via, actedBy, reason, details = '' }: WindowAction,
): Promise<void> {
  await execute(
    trx,
    'insert into window_action (installation, action, via, details, reason, acted_by) values (?, ?, ?, ?, ?, ?)',
    [installation, action, via, details, reason, actedBy],
  );
}

function stateOf(row: {
  installation: number;
  is_paused: boolean;
  is_followed: boolean;
  n: number;
  via: Via;
  acted_by: string;
  reason: string;
  changed_at: Date;
}): PauseState {
  const { is_paused: isPaused, is_followed: isFollowed, acted_by: actedBy, changed_at: since, ...rest } = row;
  return { ...rest, isPaused, isFollowed, actedBy, since };
}
