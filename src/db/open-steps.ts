import type { ApiUse } from '../domain/api-use.ts';
import type { Trouble } from '../domain/trouble.ts';
import { bool, instant, integer, nullable, storedJson, text } from './columns.ts';
import type { Db } from './pool.ts';
import { pruneBatch, pruneInBatches } from './prune.ts';
import { type Connection, execute, maybeRow, rows } from './rows.ts';
import { storedTrouble, storedUse } from './stored-schemas.ts';

/**
 * Activities that do not simply go on (table `open_step`): an attempt failed, waits or takes long. Their rows are the one place that
 * says why, since when, how often, and what the attempts have cost. Most activities never have one.
 */

/** An activity of a workflow's run, by Temporal's ids. */
export interface StepKey {
  runId: string;
  activity: string;
}

export interface OpenStep {
  /** The attempt that wrote this; those that came to a process without the installation do not count. */
  attempt: number;
  /** Whether it came to its end; the process of one that did not has died, or stood still for too long. */
  isEnded: boolean;
  /** Attempts so far that ended for a reason that nothing explains. */
  unexplained: number;
  /** What keeps the activity from going on. */
  trouble: Trouble | null;
  /** What its attempts have cost so far. */
  api: ApiUse;
  /** What it waits for; null: it goes on, or has waited for less than five seconds. */
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

/** What the attempts before have left; null: nothing. */
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

/** Writes how an activity is. Absolute, so that writing it twice changes nothing; nothing where a later attempt has written. */
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

/** Removes what the attempts up to this one have left. */
export async function removeStep(db: Connection, { runId, activity }: StepKey, attempt: number): Promise<void> {
  await execute(db, `delete from open_step where ${ofActivity} and attempt <= ?`, [runId, activity, attempt]);
}

/** Removes what the activities of a run have left, and returns it: the run is over. */
export function takeSteps(db: Connection, runId: string): Promise<Pick<OpenStep, 'trouble' | 'api'>[]> {
  return rows(
    db,
    { installation: integer, trouble: troubleColumn, api: useColumn },
    'delete from open_step where run_id = ? returning installation, trouble, api',
    [runId],
  );
}

/** Removes rows that an attempt wrote after the end of its window, and those of activities whose process died and that nothing repeats. */
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
