import { type ActedBy, recordAction } from '../actions/record.ts';
import { bool, instant, integer, oneOf, type RowOf, text } from '../db/columns.ts';
import { type Connection, execute, maybeRow, rows } from '../db/rows.ts';
import type { InstallationId } from '../terms.ts';

/**
 * Windows that somebody holds back (table `window_pause`); the action that the row names says who, and why. The row is the truth, and
 * holds whether Temporal can be reached or not.
 */

const ways = ['command', 'temporal'] as const;

/** Where it was done: by one of our commands, or in Temporal, by its UI or a client of its. */
export type Via = (typeof ways)[number];

export interface WindowAction extends ActedBy {
  via: Via;
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
  acted_at: instant,
};
const selected = `select p.installation, p.is_paused, p.is_followed, p.n, a.input ->> 'via' as via, a.acted_by, a.reason, a.acted_at
  from window_pause p join action_done a on a.id = p.action_id`;

/** Whether an installation's windows are paused, and what the Schedule knows of it; null where nobody has ever paused them. */
export async function pauseState(db: Connection, installation: InstallationId): Promise<PauseState | null> {
  const found = await maybeRow(db, shape, `${selected} where p.installation = ?`, [installation]);
  return found && stateOf(found);
}

/** The same of many installations, by installation. */
export async function pauseStates(
  db: Connection,
  installations: readonly InstallationId[],
): Promise<Map<InstallationId, PauseState>> {
  const found = await rows(db, shape, `${selected} where p.installation = any(?)`, [installations]);
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
  const now = await heldState(trx, installation);
  if ((now?.is_paused ?? false) === isPaused) return false;
  await save(trx, installation, { isPaused, isFollowed: false }, by);
  return true;
}

function heldState(trx: Connection, installation: InstallationId) {
  const sql = 'select is_paused, n from window_pause where installation = ? for update';
  return maybeRow(trx, { is_paused: bool, n: integer }, sql, [installation]);
}

async function save(
  trx: Connection,
  installation: InstallationId,
  { isPaused, isFollowed }: Pick<PauseState, 'isPaused' | 'isFollowed'>,
  { via, ...by }: WindowAction,
): Promise<void> {
  const kind = isPaused ? 'pause_windows' : 'resume_windows';
  const { id: action } = await recordAction(trx, { installation, kind, by, input: { via } });
  await execute(
    trx,
    `insert into window_pause as p (installation, is_paused, is_followed, action_id) values (?, ?, ?, ?)
     on conflict (installation) do update set is_paused = excluded.is_paused, is_followed = excluded.is_followed, n = p.n + 1,
       action_id = excluded.action_id`,
    [installation, isPaused, isFollowed, action],
  );
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
  by: ActedBy,
): Promise<boolean> {
  const now = await heldState(trx, installation);
  if ((now?.n ?? 0) !== (seen?.n ?? 0)) return false;
  await save(trx, installation, { isPaused, isFollowed: true }, { ...by, via: 'temporal' });
  return true;
}

function stateOf(row: RowOf<typeof shape>): PauseState {
  const { is_paused: isPaused, is_followed: isFollowed, acted_by: actedBy, acted_at: since, ...rest } = row;
  return { ...rest, isPaused, isFollowed, actedBy, since };
}
