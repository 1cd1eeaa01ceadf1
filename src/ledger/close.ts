import { z } from 'zod';
import { type ActedBy, recordAction } from '../actions/record.ts';
import { date, instant, integer, nullable, oneOf, storedJson, text } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { type Connection, execute, maybeRow, row, rows } from '../db/rows.ts';
import { dayAfter, daysFrom } from '../domain/dates.ts';
import { UserError } from '../domain/errors.ts';
import type { Ed25519Key } from '../domain/signature.ts';
import { postgresText } from '../domain/text.ts';
import type { CalendarDate, InstallationId } from '../terms.ts';
import { booksErrors } from '../texts/errors/books.ts';
import { type BooksHead, booksHead } from './head.ts';
import { closeKinds } from './journal/chain.ts';
import { sealBooks } from './seals.ts';
import { summariseBatch } from './summaries/summarise.ts';

/** The last day that `vetledger ledger close` closed and that was not opened again. Null if no day is closed. */
export async function closedThrough(db: Connection, installation: InstallationId): Promise<CalendarDate | null> {
  const { through } = await row(db, { through: nullable(date) }, 'select closed_through(?) as through', [installation]);
  return through;
}

/** `closedThrough` of several installations. Installations without a closed day are missing. */
export async function closedThroughOfAll(
  db: Connection,
  installations: readonly InstallationId[],
): Promise<Map<InstallationId, CalendarDate>> {
  const found = await rows(
    db,
    { installation: integer, through: nullable(date) },
    'select installation, closed_through(installation) as through from unnest(?::bigint[]) as i(installation)',
    [installations],
  );
  return new Map(
    found.flatMap(({ installation, through }) => (through === null ? [] : [[installation, through] as const])),
  );
}

/**
 * Prevents closes and reopenings until this transaction ends, so that `closedThrough`, read afterwards, stays right.
 * Waits for a close that is running.
 */
export async function holdPeriod(trx: Connection, installation: InstallationId): Promise<void> {
  await execute(trx, 'select hold_period(?)', [installation]);
}

/**
 * Who closed or reopened the books, and why. These details are stored as an action, and the close's link in the
 * journal's chain contains the action's hash.
 */
export interface CloseDetails extends ActedBy {
  /** The second person, if the configuration requires two (`two_persons`). */
  second: string | null;
  /** The checklist at the close; null for a reopening. */
  checklist: unknown;
  /** The canonical text of the effect that the person saw. */
  shown?: string;
}

export interface BooksToClose {
  id: InstallationId;
  /** Entries dated before this day are put into daily summaries before the close. */
  today: CalendarDate;
  /** The first month of a fiscal year, from 1, for voucher numbers of summaries. Default: January. */
  fiscalYearStart?: number;
  details?: CloseDetails;
}

export interface CloseOptions {
  /** The key that seals the closed books. */
  sealKey?: Ed25519Key | null;
  /** Called after the close, in its transaction. */
  onClosed?: (trx: Connection, installation: InstallationId) => Promise<void>;
}

/** Changes several installations in one transaction, in the order of their ids, so that two closes never wait for each other. */
export async function changeInOrder<Each extends { id: InstallationId }>(
  db: Db,
  books: readonly Each[],
  change: (trx: Connection, each: Each) => Promise<BooksHead>,
): Promise<BooksHead[]> {
  return db.transaction(async (trx) => {
    const heads: BooksHead[] = [];
    for (const each of [...books].sort((a, b) => a.id - b.id)) heads.push(await change(trx, each));
    return heads;
  });
}

/** Waits for running postings, and prevents postings, closes and reopenings until this transaction ends. */
export async function holdPeriodAlone(trx: Connection, installation: InstallationId): Promise<void> {
  await execute(trx, 'select hold_period_alone(?)', [installation]);
}

/**
 * Closes the books of an installation through a day, in the transaction of the caller, and seals them if there is a key. After
 * that, nothing is posted on or before the day (ACCOUNTING "Locked"). Returns the head of the closed books. Books that are
 * closed through that day stay as they are. Throws UserError `period_closed` if they are closed through a later day.
 */
export async function closeBooks(
  trx: Connection,
  { id, today, fiscalYearStart, details }: BooksToClose,
  through: CalendarDate,
  { sealKey = null, onClosed = async () => undefined }: CloseOptions = {},
): Promise<BooksHead> {
  await holdPeriodAlone(trx, id);
  const closed = await closedThrough(trx, id);
  if (closed !== through) {
    const obstacle = closeObstacle(id, through, closed);
    if (obstacle !== null) throw obstacle;
    // A window may have posted entries since the last summaries. Their summaries must come before the close.
    while ((await summariseBatch(trx, id, { before: today, windowId: null, fiscalYearStart })).length > 0);
    await append(trx, id, 'close', through, details);
    await onClosed(trx, id);
  }
  return sealedHead(trx, id, sealKey);
}

/**
 * Opens the books of an installation again from a day on, in the transaction of the caller. Documents that were late at the
 * close stay held until the accountant decides. Throws UserError `period_open` if that day and all later days are open.
 */
export async function reopenBooks(
  trx: Connection,
  installation: InstallationId,
  from: CalendarDate,
  details: CloseDetails,
  sealKey: Ed25519Key | null = null,
): Promise<BooksHead> {
  await holdPeriodAlone(trx, installation);
  const obstacle = reopenObstacle(installation, from, await closedThrough(trx, installation));
  if (obstacle !== null) throw obstacle;
  await append(trx, installation, 'reopen', daysFrom(from, -1), details);
  return sealedHead(trx, installation, sealKey);
}

async function sealedHead(
  trx: Connection,
  installation: InstallationId,
  sealKey: Ed25519Key | null,
): Promise<BooksHead> {
  if (sealKey !== null) await sealBooks(trx, installation, sealKey);
  return booksHead(trx, installation);
}

/** The reason why a day cannot be opened again; null if it is closed. */
export function reopenObstacle(
  installation: InstallationId,
  from: CalendarDate,
  closed: CalendarDate | null,
): UserError | null {
  if (closed !== null && from <= closed) return null;
  return new UserError(booksErrors.periodOpen({ installation, day: from, closedThrough: closed }), 2);
}

/** The reason why books cannot be closed through a day: a later day is closed. Null otherwise. */
export function closeObstacle(
  installation: InstallationId,
  through: CalendarDate,
  closed: CalendarDate | null,
): UserError | null {
  if (closed === null || closed <= through) return null;
  const reopenFrom = dayAfter(through);
  return new UserError(booksErrors.closedLater({ installation, closedThrough: closed, reopenFrom }), 2);
}

async function append(
  trx: Connection,
  installation: InstallationId,
  kind: RecordedClose['kind'],
  through: CalendarDate,
  details: CloseDetails | undefined,
): Promise<void> {
  const noted =
    details === undefined ? { id: null, text: '{}' } : await record(trx, installation, kind, through, details);
  await execute(
    trx,
    'insert into ledger_close (installation, through, kind, details, action_id) values (?, ?, ?, ?, ?)',
    [installation, through, kind, noted.text, noted.id],
  );
}

async function record(
  trx: Connection,
  installation: InstallationId,
  kind: RecordedClose['kind'],
  through: CalendarDate,
  { second, checklist, shown, ...by }: CloseDetails,
): Promise<{ id: number; text: string }> {
  const input = { through, second };
  const { id, hash } = await recordAction(trx, {
    ...{ installation, kind: `${kind}_books`, by, input },
    ...(shown === undefined ? {} : { shown }),
  });
  // PostgreSQL returns the text without NUL, so the hash covers that form.
  return { id, text: postgresText(JSON.stringify({ action: hash, checklist })) };
}

export interface RecordedClose {
  kind: (typeof closeKinds)[number];
  /** Position in the journal's chain. */
  seq: number;
  /** The last closed day after this close or reopening. */
  through: CalendarDate;
  at: Date;
  /** The person who closed or reopened; absent if it was not recorded. */
  by?: string;
  second?: string | null;
  /** What the person wrote; null for a close on the command line, which asks for no reason. */
  reason?: string | null;
  checklist?: unknown;
}

/** The last close or reopening of an installation, with the person's name. Null if its books were never closed. */
export function lastClose(
  db: Connection,
  installation: InstallationId,
): Promise<{ kind: RecordedClose['kind']; through: CalendarDate; by: string | null } | null> {
  return maybeRow(
    db,
    { kind: oneOf(closeKinds), through: date, by: nullable(text) },
    `select c.kind, c.through, a.subject as by from ledger_close c left join action a on a.id = c.action_id
     where c.installation = ? order by c.seq desc limit 1`,
    [installation],
  );
}

/** The closes and reopenings of an installation, in order. */
export async function recordedCloses(db: Connection, installation: InstallationId): Promise<RecordedClose[]> {
  const found = await rows(
    db,
    {
      ...{ kind: oneOf(closeKinds), seq: integer, through: date, at: instant },
      details: storedJson('ledger_close.details', z.object({ checklist: z.unknown().optional() })),
      ...{ by: nullable(text), second: nullable(text), reason: nullable(text) },
    },
    `select c.kind, c.seq, c.through, c.closed_at as at, c.details, a.acted_by as by,
       coalesce(a.input ->> 'second', p.subject) as second,
       nullif(a.reason, 'ledger close --through ' || c.through) as reason
     from ledger_close c left join action_done a on a.id = c.action_id
     left join action p on p.kind = 'approve_action' and (p.input ->> 'action')::bigint = c.action_id
     where c.installation = ? order by c.seq`,
    [installation],
  );
  return found.map(({ details, by, second, reason, ...close }) =>
    by === null ? close : { ...close, by, second, reason, checklist: details.checklist },
  );
}
