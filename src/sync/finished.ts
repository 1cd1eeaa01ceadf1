import type { Knex } from 'knex';
import type { Db } from '../db/pool.ts';
import type { RecordKind } from '../terms.ts';
import type { PullContext, PullOwner, PullResult } from './pull.ts';

/** As long as an unfinished walk is taken up again. */
export const keptForHours = 72;

type Scope = Pick<PullContext, 'db' | 'installation' | 'owner' | 'run'>;

/**
 * Walks a list, unless a run that was stopped before its own end has walked it already: a list that is done stays noted in its
 * walk's place until `forgetWalks`, so that a backfill killed among its rows does not ask for its invoices again. `question`
 * tells walks of the same list apart.
 */
export async function walkOnce(
  context: Scope,
  stream: RecordKind,
  question: string,
  walk: () => Promise<PullResult>,
): Promise<PullResult> {
  const finished = await finishedWalk(context, stream, question);
  if (finished) return finished;
  const result = await walk();
  const { db, installation, owner, run } = context;
  await db.raw(
    `insert into sync_walk (installation, stream, owner, state)
     values (?, ?, ?, json_build_object('question', ?::text, 'run', ?::text, 'seen', ?::int, 'pulled', ?::int,
       'began', ?::timestamptz, 'earliest', ?::timestamptz))
     on conflict (installation, stream, owner) do update set state = excluded.state, saved_at = clock_timestamp()`,
    [
      installation,
      stream,
      owner,
      finishedQuestion(question),
      run,
      result.seen,
      result.pulled,
      result.began,
      result.earliest,
    ],
  );
  return result;
}

/** The walk of a list that is done and not forgotten yet; what an earlier run received was counted by that run. */
export async function finishedWalk(context: Scope, stream: RecordKind, question: string): Promise<PullResult | null> {
  const { db, installation, owner, run } = context;
  const found = await db.raw<{ rows: PullResult[] }>(
    `select case when state->>'run' = ? then (state->>'seen')::int else 0 end as seen,
       case when state->>'run' = ? then (state->>'pulled')::int else 0 end as pulled,
       (state->>'began')::timestamptz as began, (state->>'earliest')::timestamptz as earliest
     from sync_walk where installation = ? and stream = ? and owner = ? and state->>'question' = ?
       and saved_at > clock_timestamp() - make_interval(hours => ?)`,
    [run, run, installation, stream, owner, finishedQuestion(question), keptForHours],
  );
  return found.rows[0] ?? null;
}

/** Forgets walks, finished or not: those of one list, or all of an owner. */
export async function forgetWalks(
  db: Db | Knex.Transaction,
  installation: number,
  owner: PullOwner,
  stream: RecordKind | null = null,
): Promise<void> {
  await db.raw(`delete from sync_walk where installation = ? and owner = ? and stream = coalesce(?, stream)`, [
    installation,
    owner,
    stream,
  ]);
}

/** No walk under way has such a question: theirs are JSON lists (src/sync/pull.ts). */
export function finishedQuestion(question: string): string {
  return `finished ${question}`.trimEnd();
}
