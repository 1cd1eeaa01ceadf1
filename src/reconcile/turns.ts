import { bool, date, instant, integer, nullable, storedJson } from '../db/columns.ts';
import { type Connection, execute, maybeRow, rows } from '../db/rows.ts';
import { storedError } from '../db/stored-schemas.ts';
import type { CalendarDate, InstallationId } from '../terms.ts';
import type { PlainError } from '../texts/plain-error.ts';

/**
 * The turns at which daemons reconcile automatically (table `reconcile_turn`): one turn a day for each installation. A
 * daemon that begins a turn holds the lease of the lane `reconcile`, so that two daemons never reconcile at once.
 */
export interface TurnState {
  installation: InstallationId;
  /** The newest day whose turn was begun. */
  day: CalendarDate;
  attempts: number;
  beganAt: Date;
  notBefore: Date;
  isDone: boolean;
  /** The error of the last attempt that ended; null if it succeeded. */
  error: PlainError | null;
}

/** Limit of attempts per turn, and the pause between them. */
export const attemptsAtMost = 3;
const apart = `interval '1 hour'`;

/** SQL condition: an attempt of a day's turn may begin. */
const mayBegin = (day: string) => `(t.day < ${day} or
  t.day = ${day} and not t.is_done and t.attempts < ${attemptsAtMost} and t.not_before <= clock_timestamp())`;

/** The installations whose turn of the day is due. */
export async function dueTurns(
  db: Connection,
  turns: readonly { installation: InstallationId; day: CalendarDate }[],
): Promise<Set<InstallationId>> {
  const due = await rows(
    db,
    { installation: integer },
    `select i.installation from unnest(?::bigint[], ?::date[]) as i(installation, day)
     left join reconcile_turn t on t.installation = i.installation
     where t.installation is null or ${mayBegin('i.day')}`,
    [turns.map(({ installation }) => installation), turns.map(({ day }) => day)],
  );
  return new Set(due.map(({ installation }) => installation));
}

/** Begins an attempt of a day's turn and returns its number; null if another daemon has taken the turn. */
export async function beginTurn(
  db: Connection,
  installation: InstallationId,
  day: CalendarDate,
): Promise<number | null> {
  const begun = await maybeRow(
    db,
    { attempts: integer },
    `insert into reconcile_turn as t (installation, day, attempts, not_before)
     values (?, ?, 1, clock_timestamp() + ${apart})
     on conflict (installation) do update set day = excluded.day,
       attempts = case when t.day = excluded.day then t.attempts + 1 else 1 end,
       began_at = clock_timestamp(), not_before = excluded.not_before, is_done = false
     where ${mayBegin('excluded.day')}
     returning attempts`,
    [installation, day],
  );
  return begun?.attempts ?? null;
}

/** Records the end of an attempt, and its error. */
export async function endTurn(db: Connection, installation: InstallationId, error: PlainError | null): Promise<void> {
  await execute(
    db,
    `update reconcile_turn set is_done = ?, error = ?::json, not_before = clock_timestamp() + ${apart} where installation = ?`,
    [error === null, error === null ? null : JSON.stringify(error), installation],
  );
}

/** Cancels an interrupted attempt, so that the next one may begin at once. */
export async function giveTurnBack(db: Connection, installation: InstallationId): Promise<void> {
  await execute(
    db,
    'update reconcile_turn set attempts = attempts - 1, not_before = clock_timestamp() where installation = ?',
    [installation],
  );
}

/** The newest turns of these installations. */
export async function turnStates(
  db: Connection,
  installations: readonly InstallationId[],
): Promise<Map<InstallationId, TurnState>> {
  const found = await rows(
    db,
    {
      ...{ installation: integer, day: date, attempts: integer, beganAt: instant, notBefore: instant, isDone: bool },
      error: nullable(storedJson('reconcile_turn.error', storedError)),
    },
    `select installation, day, attempts, began_at as "beganAt", not_before as "notBefore", is_done as "isDone", error
     from reconcile_turn where installation = any(?)`,
    [installations],
  );
  return new Map(found.map((state) => [state.installation, state]));
}
