import { z } from 'zod';
import { bool, integer, nullable, oneOf, storedJson, text } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { pruneBatch, pruneInBatches } from '../db/prune.ts';
import { type Connection, execute, maybeRow, rows } from '../db/rows.ts';
import { readAtOf, readSpanOf, savedReadAt, savedSpan } from '../domain/read-at.ts';
import { type RecordKind, recordKinds } from '../terms.ts';
import type { PullContext, PullCounts, PullOwner, PullResult } from './context.ts';
import type { WalkState } from './walk/types.ts';

/**
 * Walks of lists that are under way or finished (table `sync_walk`), one for each list and owner. A walk under way is
 * saved with each page, so that it resumes after its process was killed. A finished walk is kept until its owner's
 * cursor has moved or its backfill has ended, so that a later attempt does not read the list again.
 */

/** An older walk is not resumed; the list is read again from the beginning. */
export const keptForHours = 72;

type Scope = Pick<PullContext, 'db' | 'installation' | 'owner' | 'run'>;
type WriteScope = Scope & Pick<PullContext, 'transact'>;

const time = z.iso.datetime();
const count = z.int();
const readAt = z.strictObject({ sourceTime: time, askedAt: time });
const readSpan = z.strictObject({ sourceTime: time, askedAt: time, answeredAt: time });

const walkState: z.ZodType<WalkState> = z.strictObject({
  proven: count.nullable(),
  after: count.nullable(),
  expected: count.nullable(),
  open: count.nullable(),
  copies: count.exactOptional(),
  received: count,
  began: readAt.nullable(),
});

const savedWalk = z.strictObject({
  question: z.string(),
  filters: z.record(z.string(), z.string()),
  state: walkState,
  /** The run of the counts below. */
  run: z.string(),
  received: count,
  pulled: count,
  /** The time span of the answers so far, of all runs. */
  read: readSpan,
});

const finishedWalk = z.strictObject({
  question: z.string(),
  run: z.string(),
  seen: count,
  pulled: count,
  began: readAt,
  read: readSpan,
  /** Present if the row sets of a scan of all rows were accepted (row-scan.ts). */
  setsSettled: z.literal(true).exactOptional(),
});

/** A walk under way. `question` identifies what it reads: its filters and the id above which it began. */
export type SavedWalk = z.infer<typeof savedWalk>;
type FinishedWalk = z.infer<typeof finishedWalk>;

const storedState = storedJson('sync_walk.state', z.union([savedWalk, finishedWalk]));

/** The saved progress of an earlier attempt to read a list. */
export interface LeftWalk {
  /** The walk under way with the same question. Null if the walk begins again. */
  saved: SavedWalk | null;
  /**
   * The records of the list that this run has received so far. They continue to count if the run reads again from an
   * earlier time, because the source's clock was set back.
   */
  counted: PullCounts;
}

export const nothingLeft: LeftWalk = { saved: null, counted: { seen: 0, pulled: 0 } };

/** A saved walk, under way or finished. `isKept`: it is recent enough to be resumed. */
export interface StoredWalk {
  walk: SavedWalk | FinishedWalk;
  isKept: boolean;
}

/**
 * The saved walks of an owner, as far as the caller knows them. Null if a list has none. A walk that found nothing is
 * kept here without being saved. Lists that are not in the map are read from the database.
 */
export type KnownWalks = Map<RecordKind, StoredWalk | null>;

/** Reads the saved walks of an owner in one statement. */
export async function readWalks({ db, installation, owner }: Scope): Promise<KnownWalks> {
  const found = await rows(
    db,
    { stream: oneOf(recordKinds), state: storedState, isKept: bool },
    `select stream, state, saved_at > clock_timestamp() - make_interval(hours => ?) as "isKept" from sync_walk
     where installation = ? and owner = ?`,
    [keptForHours, installation, owner],
  );
  const known: KnownWalks = new Map(recordKinds.map((stream) => [stream, null]));
  for (const { stream, state, isKept } of found) known.set(stream, { walk: state, isKept });
  return known;
}

/** The saved walk of a list. Null if there is none. */
export async function storedWalk(
  { db, installation, owner }: Scope,
  stream: RecordKind,
  known?: KnownWalks,
): Promise<StoredWalk | null> {
  const walk = known?.get(stream);
  if (walk !== undefined) return walk;
  const found = await maybeRow(
    db,
    { state: storedState, isKept: bool },
    `select state, saved_at > clock_timestamp() - make_interval(hours => ?) as "isKept" from sync_walk
     where installation = ? and stream = ? and owner = ?`,
    [keptForHours, installation, stream, owner],
  );
  return found && { walk: found.state, isKept: found.isKept };
}

/** Returns the saved progress for a question. The walk calls it at most once. */
export type Left = (question: string) => LeftWalk;

/** The saved progress of the walk of a list. */
export async function leftWalk(context: Scope, stream: RecordKind): Promise<Left> {
  return leftOf(await storedWalk(context, stream), context.run);
}

function leftOf(stored: StoredWalk | null, run: string): Left {
  return (question) => {
    if (stored === null) return nothingLeft;
    const { walk, isKept } = stored;
    const seen = 'received' in walk ? walk.received : walk.seen;
    return {
      saved: isKept && 'received' in walk && walk.question === question ? walk : null,
      counted: walk.run === run ? { seen, pulled: walk.pulled } : nothingLeft.counted,
    };
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
 * Walks a list, unless a finished walk of the same `question` is saved, whose result is then returned. A backfill that
 * was killed while reading rows therefore does not read its invoices again. A walk that found nothing is saved only
 * with `keepsEmpty`; otherwise another attempt sends its one request again. `known` saves reading the saved walk, and
 * receives a walk that found nothing.
 */
export async function walkOnce(
  context: WriteScope,
  stream: RecordKind,
  question: string,
  walk: (left: Left) => Promise<PullResult>,
  { keepsEmpty = true, known }: { keepsEmpty?: boolean; known?: KnownWalks | undefined } = {},
): Promise<PullResult> {
  const stored = await storedWalk(context, stream, known);
  const before = finishedOf(stored, context.run, question);
  if (before) return before;
  known?.delete(stream);
  const result = await walk(leftOf(stored, context.run));
  if (!keepsEmpty && result.seen === 0) {
    known?.set(stream, { walk: finishedWalkOf(context, question, result), isKept: true });
    return result;
  }
  await context.transact((trx) => saveFinished(trx, context, stream, question, result));
  return result;
}

function finishedWalkOf(
  { run }: Pick<Scope, 'run'>,
  question: string,
  { seen, pulled, began, read }: PullResult,
): FinishedWalk {
  return {
    ...{ question: finishedQuestion(question), run, seen, pulled },
    ...{ began: savedReadAt(began), read: savedSpan(read) },
  };
}

async function saveFinished(
  trx: Connection,
  context: Scope,
  stream: RecordKind,
  question: string,
  result: PullResult,
): Promise<void> {
  const { installation, owner } = context;
  await execute(
    trx,
    `insert into sync_walk (installation, stream, owner, state)
     values (?, ?, ?, ?::json)
     on conflict (installation, stream, owner) do update set state = excluded.state, saved_at = clock_timestamp()`,
    [installation, stream, owner, JSON.stringify(finishedWalkOf(context, question, result))],
  );
}

/**
 * The result of a finished walk; null for any other. If another run finished it, the counts are 0, because that run has
 * reported them.
 */
export function finishedOf(stored: StoredWalk | null, run: string, question: string): PullResult | null {
  if (stored === null || !stored.isKept || 'received' in stored.walk) return null;
  const { walk } = stored;
  if (walk.question !== finishedQuestion(question)) return null;
  const { seen, pulled } = walk.run === run ? walk : { seen: 0, pulled: 0 };
  return { seen, pulled, began: readAtOf(walk.began), read: readSpanOf(walk.read) };
}
/** Whether the row sets of a finished scan were accepted. */
export function areSetsAccepted(stored: StoredWalk): boolean {
  return 'setsSettled' in stored.walk;
}

/** Stores that the row sets of the finished scan were accepted. */
export async function noteSetsAccepted(trx: Connection, { installation, owner }: Scope): Promise<void> {
  await execute(
    trx,
    `update sync_walk set state = (state::jsonb || '{"setsSettled": true}')::json
     where installation = ? and stream = 'row' and owner = ?`,
    [installation, owner],
  );
}

/** Deletes the saved walks of some lists, by default all, of an owner. */
export async function forgetWalks(
  db: Connection,
  installation: number,
  owner: PullOwner,
  streams: readonly RecordKind[] = recordKinds,
): Promise<void> {
  await execute(db, 'delete from sync_walk where installation = ? and owner = ? and stream = any(?)', [
    installation,
    owner,
    streams,
  ]);
}

export interface SavedProgress {
  stream: RecordKind;
  /** The question of a finished walk. Null for a walk under way. */
  finishedQuestion: string | null;
  /** The first invoice date of the request. Null: all dates. */
  invoicedFrom: string | null;
  /** Records left of a walk under way. Null before its first answer. */
  recordsLeft: number | null;
  /** Records that the walk has received. */
  received: number;
}

/** The progress of an owner's saved walks. */
export async function savedProgress(db: Connection, installation: number, owner: PullOwner): Promise<SavedProgress[]> {
  const found = await rows(
    db,
    {
      stream: oneOf(recordKinds),
      question: text,
      invoiced_from: nullable(text),
      expected: nullable(integer),
      received: integer,
    },
    `select stream, state->>'question' as question, state->'filters'->>'invoice_date__gte' as invoiced_from,
       (state->'state'->>'expected')::bigint as expected, coalesce(state->>'received', state->>'seen')::bigint as received
     from sync_walk where installation = ? and owner = ? and saved_at > clock_timestamp() - make_interval(hours => ?)`,
    [installation, owner, keptForHours],
  );
  return found.map(({ stream, question, invoiced_from, expected, received }) => ({
    stream,
    finishedQuestion: question.startsWith(finishedMark) ? question.slice(finishedMark.length).trimStart() : null,
    invoicedFrom: invoiced_from,
    recordsLeft: expected,
    received,
  }));
}

const finishedMark = 'finished';

/**
 * Marks a question as finished. A walk under way cannot have such a question, because theirs are JSON arrays
 * (pull-list.ts).
 */
function finishedQuestion(question: string): string {
  return `${finishedMark} ${question}`.trimEnd();
}

/** Removes walks that were not continued for this number of days. Returns the number of removed walks. */
export function pruneWalks(db: Db, days: number, signal: AbortSignal): Promise<number> {
  return pruneInBatches(
    db,
    `delete from sync_walk where ctid in (select ctid from sync_walk
       where saved_at < clock_timestamp() - make_interval(days => ?) limit ${pruneBatch})`,
    days,
    signal,
  );
}
