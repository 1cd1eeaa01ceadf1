import type { ApiUse } from '../domain/api-use.ts';
import type { Trouble } from '../domain/trouble.ts';
import { bool, instant, integer, nullable, storedJson, text } from './columns.ts';
import type { Db } from './pool.ts';
import { pruneBatch, pruneInBatches } from './prune.ts';
import { type Connection, execute, maybeRow, rows } from './rows.ts';
import { storedTrouble, storedUse } from './stored-schemas.ts';

/**
 * Rows of `open_step`: activities with a failed attempt, a wait or a long run time. They are the only place that shows
 * why, since when, how often, and at what cost. Most activities never have a row.
 */

/** An activity of a workflow run, by Temporal's ids. */
export interface StepKey {
  runId: string;
  activity: string;
}

export interface OpenStep {
  /** The attempt that wrote this. Attempts in processes that do not serve the installation do not count. */
  attempt: number;
  /** Whether the attempt recorded its end. If not, its process died or hung. */
  isEnded: boolean;
  /** Attempts so far that ended without an explanation. */
  unexplained: number;
  /** The errors that keep the activity from continuing. */
  trouble: Trouble | null;
  /** The cost of the attempts so far. */
  api: ApiUse;
  /** What the activity waits for; null if it continues, or has waited less than five seconds. */
  wait: StepWait | null;
}

export interface StepWait {
  /** `an answer of the practice API (GET /4711/invoice/)` */
  for: string;
  since: Date;
}

const troubleColumn = nullable(storedJson('open_step.trouble', storedTrouble));
const useColumn = storedJson('open_step.api', storedUse);
const ofActivity = 'run_id = ? and activity = ?';

/** The row that earlier attempts left; null if there is none. */
export async function readStep(db: Connection, key: StepKey): Promise<OpenStep | null> {
  const found = await maybeRow(
    db,
    {
      ...{ installation: integer, attempt: integer, isEnded: bool, unexplained: integer },
      ...{ trouble: troubleColumn, api: useColumn, waitsFor: nullable(text), waitsSince: nullable(instant) },
    },
    `select installation, attempt, is_ended as "isEnded", unexplained, trouble, api, waits_for as "waitsFor",
       waits_since as "waitsSince"
     from open_step where ${ofActivity}`,
    [key.runId, key.activity],
  );
  if (found === null) return null;
  const { installation: _, waitsFor, waitsSince, ...step } = found;
  return { ...step, wait: waitsFor !== null && waitsSince !== null ? { for: waitsFor, since: waitsSince } : null };
}

/**
 * Stores the whole state of an activity, so that storing it twice changes nothing. Does nothing if a later attempt has
 * written.
 */
export async function noteStep(
  db: Connection,
  { runId, activity }: StepKey,
  { installation, step, ...now }: OpenStep & { installation: number; step: string },
): Promise<void> {
  const { attempt, isEnded, unexplained, trouble, api, wait } = now;
  await execute(
    db,
    `insert into open_step as s (run_id, activity, installation, step, attempt, is_ended, unexplained, trouble, api, waits_for, waits_since)
     values (?, ?, ?, ?, ?, ?, ?, ?::json, ?::json, ?, ?)
     on conflict (run_id, activity) do update set attempt = excluded.attempt, is_ended = excluded.is_ended,
       unexplained = excluded.unexplained, trouble = excluded.trouble, api = excluded.api, waits_for = excluded.waits_for,
       waits_since = excluded.waits_since, noted_at = clock_timestamp()
     where s.attempt <= excluded.attempt`,
    [
      ...[runId, activity, installation, step, attempt, isEnded, unexplained],
      ...[trouble && JSON.stringify(trouble), JSON.stringify(api), wait?.for ?? null, wait?.since ?? null],
    ],
  );
}

/** An open step, for a page. */
export interface ShownStep {
  runId: string;
  step: string;
  attempt: number;
  waitsFor: string | null;
  waitsSince: Date | null;
  trouble: Trouble | null;
  notedAt: Date;
}

/** The open steps of an installation, the oldest note first. */
export function openSteps(db: Connection, installation: number): Promise<ShownStep[]> {
  return rows(
    db,
    {
      ...{ runId: text, step: text, attempt: integer, waitsFor: nullable(text), waitsSince: nullable(instant) },
      ...{ trouble: troubleColumn, notedAt: instant },
    },
    `select run_id as "runId", step, attempt, waits_for as "waitsFor", waits_since as "waitsSince", trouble, noted_at as "notedAt"
     from open_step where installation = ? order by noted_at`,
    [installation],
  );
}

/** Removes the row of this attempt or an earlier one. */
export async function removeStep(db: Connection, { runId, activity }: StepKey, attempt: number): Promise<void> {
  await execute(db, `delete from open_step where ${ofActivity} and attempt <= ?`, [runId, activity, attempt]);
}

/** Removes and returns the rows of a run that is over. */
export function takeSteps(db: Connection, runId: string): Promise<Pick<OpenStep, 'trouble' | 'api'>[]> {
  return rows(
    db,
    { installation: integer, trouble: troubleColumn, api: useColumn },
    'delete from open_step where run_id = ? returning installation, trouble, api',
    [runId],
  );
}

/**
 * Removes rows that an attempt wrote after its window had ended, and rows of activities that died and are not retried.
 */
export function pruneSteps(db: Db, signal: AbortSignal): Promise<number> {
  return pruneInBatches(
    db,
    `delete from open_step where (run_id, activity) in (
       select run_id, activity from open_step s
       where noted_at < clock_timestamp() - make_interval(days => ?) and not exists (
         select from sync_window w where w.installation = s.installation and w.outcome = 'open' and w.run_id = s.run_id)
       limit ${pruneBatch})`,
    1,
    signal,
  );
}
