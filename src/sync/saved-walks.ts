import { bool, integer, json, nullable, oneOf, text } from '../db/columns.ts';
import { type Connection, execute, maybeRow, rows } from '../db/rows.ts';
import { readAtOf, readSpanOf, type SavedReadAt, type SavedSpan, savedReadAt, savedSpan } from '../domain/read-at.ts';
import { type RecordKind, recordKinds } from '../terms.ts';
import type { PullContext, PullCounts, PullOwner, PullResult } from './context.ts';
import type { WalkState } from './walk/types.ts';

/**
 * The walks of lists that are under way or finished (table `sync_walk`), one for each list and owner. A walk under way is saved
 * with each page, so that a killed process resumes it. A finished walk stays until its owner's cursor has moved or its backfill
 * has ended, so that a later attempt does not read the list again.
 */

/** An older walk is not used again: the list is read anew. */
export const keptForHours = 72;

type Scope = Pick<PullContext, 'db' | 'installation' | 'owner' | 'run'>;
type WriteScope = Scope & Pick<PullContext, 'transact'>;

/** A walk under way. `question` identifies what is read: its filters and the id above which it began. */
export interface SavedWalk {
  question: string;
  filters: Record<string, string>;
  state: WalkState;
  /** Of this run, the counts below. */
  run: string;
  received: number;
  pulled: number;
  /** Of all runs: when the answers so far were read. */
  read: SavedSpan;
}

/** What is left of an earlier attempt to read a list. */
export interface LeftWalk {
  /** The walk under way that asks the same question; null: it begins anew. */
  saved: SavedWalk | null;
  /**
   * What this run has received so far of the list: a run that asks again from an earlier time, the source's clock having been put
   * back, goes on counting.
   */
  counted: PullCounts;
}

export const nothingLeft: LeftWalk = { saved: null, counted: { seen: 0, pulled: 0 } };

export async function leftWalk(context: Scope, stream: RecordKind, question: string): Promise<LeftWalk> {
  const { db, installation, owner, run } = context;
  const found = await maybeRow(
    db,
    { state: json, isKept: bool },
    `select state, saved_at > clock_timestamp() - make_interval(hours => ?) as "isKept" from sync_walk
     where installation = ? and stream = ? and owner = ?`,
    [keptForHours, installation, stream, owner],
  );
  if (found === null) return nothingLeft;
  const walk: SavedWalk | FinishedWalk = JSON.parse(found.state);
  const seen = 'received' in walk ? walk.received : walk.seen;
  return {
    saved: found.isKept && 'received' in walk && walk.question === question ? walk : null,
    counted: walk.run === run ? { seen, pulled: walk.pulled } : nothingLeft.counted,
  };
}

export async function saveWalk(
  db: Connection,
  { installation, owner }: Pick<Scope, 'installation' | 'owner'>,
  stream: RecordKind,
  walk: SavedWalk,
): Promise<void> {
  await execute(
    db,
    `insert into sync_walk (installation, stream, owner, state) values (?, ?, ?, ?::json)
     on conflict (installation, stream, owner) do update set state = excluded.state, saved_at = clock_timestamp()`,
    [installation, stream, owner, JSON.stringify(walk)],
  );
}

/**
 * Walks a list, unless a finished walk of the same `question` is saved, whose result is returned then: a backfill killed among
 * its rows does not read its invoices again. Without `keepsEmpty`, a walk that found nothing is not saved: another attempt asks its
 * one question again.
 */
export async function walkOnce(
  context: WriteScope,
  stream: RecordKind,
  question: string,
  walk: () => Promise<PullResult>,
  { keepsEmpty = true }: { keepsEmpty?: boolean } = {},
): Promise<PullResult> {
  const before = await finishedWalk(context, stream, question);
  if (before) return before;
  const result = await walk();
  if (!keepsEmpty && result.seen === 0) return result;
  await context.transact((trx) => saveFinished(trx, context, stream, question, result));
  return result;
}

async function saveFinished(
  trx: Connection,
  { installation, owner, run }: Scope,
  stream: RecordKind,
  question: string,
  { seen, pulled, began, read }: PullResult,
): Promise<void> {
  const finished: FinishedWalk = {
    ...{ question: finishedQuestion(question), run, seen, pulled },
    ...{ began: savedReadAt(began), read: savedSpan(read) },
  };
  await execute(
    trx,
    `insert into sync_walk (installation, stream, owner, state)
     values (?, ?, ?, ?::json)
     on conflict (installation, stream, owner) do update set state = excluded.state, saved_at = clock_timestamp()`,
    [installation, stream, owner, JSON.stringify(finished)],
  );
}

/** The result of a finished walk; its counts are 0 where another run made it, since that run has reported them. */
export async function finishedWalk(context: Scope, stream: RecordKind, question: string): Promise<PullResult | null> {
  const { db, installation, owner, run } = context;
  const found = await maybeRow(
    db,
    { state: json },
    `select state from sync_walk where installation = ? and stream = ? and owner = ? and state->>'question' = ?
       and saved_at > clock_timestamp() - make_interval(hours => ?)`,
    [installation, stream, owner, finishedQuestion(question), keptForHours],
  );
  if (found === null) return null;
  const finished: FinishedWalk = JSON.parse(found.state);
  const { seen, pulled } = finished.run === run ? finished : { seen: 0, pulled: 0 };
  return { seen, pulled, began: readAtOf(finished.began), read: readSpanOf(finished.read) };
}

interface FinishedWalk extends PullCounts {
  question: string;
  run: string;
  began: SavedReadAt;
  read: SavedSpan;
}

export async function isWalkSaved({ db, installation, owner }: Scope, stream: RecordKind): Promise<boolean> {
  const sql = 'select from sync_walk where installation = ? and stream = ? and owner = ?';
  return (await rows(db, {}, sql, [installation, stream, owner])).length > 0;
}

/** Deletes the saved walks of one list, or all of an owner. */
export async function forgetWalks(
  db: Connection,
  installation: number,
  owner: PullOwner,
  stream: RecordKind | null = null,
): Promise<void> {
  await execute(db, 'delete from sync_walk where installation = ? and owner = ? and stream = coalesce(?, stream)', [
    installation,
    owner,
    stream,
  ]);
}

export interface SavedProgress {
  stream: RecordKind;
  /** The question of a finished walk; null for one under way. */
  finishedQuestion: string | null;
  /** The first invoice date asked for; null: all dates. */
  invoicedFrom: string | null;
  /** Records left of a walk under way; null where its first answer is still to come. */
  recordsLeft: number | null;
}

/** How far an owner's saved walks are. */
export async function savedProgress(db: Connection, installation: number, owner: PullOwner): Promise<SavedProgress[]> {
  const found = await rows(
    db,
    {
      stream: oneOf(recordKinds),
      question: text,
      invoiced_from: nullable(text),
      expected: nullable(integer),
    },
    `select stream, state->>'question' as question, state->'filters'->>'invoice_date__gte' as invoiced_from,
       (state->'state'->>'expected')::bigint as expected
     from sync_walk where installation = ? and owner = ? and saved_at > clock_timestamp() - make_interval(hours => ?)`,
    [installation, owner, keptForHours],
  );
  return found.map(({ stream, question, invoiced_from, expected }) => ({
    stream,
    finishedQuestion: question.startsWith(finishedMark) ? question.slice(finishedMark.length).trimStart() : null,
    invoicedFrom: invoiced_from,
    recordsLeft: expected,
  }));
}

const finishedMark = 'finished';

/** No walk under way has such a question: theirs are JSON arrays (pull-list.ts). */
function finishedQuestion(question: string): string {
  return `${finishedMark} ${question}`.trimEnd();
}
