import { z } from 'zod';
import { type ActedBy, recordAction } from '../actions/record.ts';
import { date, instant, integer, nullable, oneOf, storedJson, text } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { type Connection, execute, row, rows } from '../db/rows.ts';
import { dayAfter, daysFrom } from '../domain/dates.ts';
import { UserError } from '../domain/errors.ts';
import type { Ed25519Key } from '../domain/signature.ts';
import { storable } from '../domain/text.ts';
import type { CalendarDate, InstallationId } from '../terms.ts';
import { booksErrors } from '../texts/errors/books.ts';
import { type BooksHead, booksHead } from './head.ts';
import { closeKinds } from './journal/chain.ts';
import { sealBooks } from './seals.ts';
import { summariseBatch } from './summaries/summarise.ts';

/** The last day closed by `vetledger ledger close`, and not opened again since; null where none is. */
export async function closedThrough(db: Connection, installation: InstallationId): Promise<CalendarDate | null> {
  const { through } = await row(db, { through: nullable(date) }, 'select closed_through(?) as through', [installation]);
  return through;
}

/**
 * Holds the installation's closed period as it is until the end of the transaction: a close waits for it, or it waits for the
 * close. What is posted in this transaction, and judged by `closedThrough` read after this, is never behind a close.
 */
export async function holdPeriod(trx: Connection, installation: InstallationId): Promise<void> {
  await execute(trx, 'select hold_period(?)', [installation]);
}

/** Who answers for a close or a reopening, and on what ground: an action, whose hash is in the close's link of the journal's chain. */
export interface CloseDetails extends ActedBy {
  /** The second person, where the configuration asks for two (`two_persons`). */
  second: string | null;
  /** Of a close: the checklist as it was shown before. */
  checklist: unknown;
}

export interface BooksToClose {
  id: InstallationId;
  /** Days before this one are over: their entries are summed up before the books are closed. */
  today: CalendarDate;
  details?: CloseDetails;
}

export interface CloseOptions {
  /** Seals the closed books. */
  sealKey?: Ed25519Key | null;
  /** Called in the transaction for each installation that is closed now. */
  onClosed?: (trx: Connection, installation: InstallationId) => Promise<void>;
}

/**
 * Closes the books of these installations through a day, all or none of them; nothing is posted on or before that day any more
 * (ACCOUNTING "Locked"), and seals them where there is a key. Waits for postings under way. Returns the heads of the closed books.
 * Throws UserError `period_closed` where they are closed through a later day.
 */
export async function closePeriods(
  db: Db,
  books: readonly BooksToClose[],
  through: CalendarDate,
  { sealKey = null, onClosed = async () => undefined }: CloseOptions = {},
): Promise<BooksHead[]> {
  return inOrder(db, books, sealKey, async (trx, each) => {
    if (await closePeriod(trx, each, through)) await onClosed(trx, each.id);
  });
}

/**
 * Opens the books of these installations again from a day on, all or none of them. Documents that were late at the close stay
 * held until they are decided. Throws UserError `period_open` where nothing on or after that day is closed.
 */
export async function reopenPeriods(
  db: Db,
  installations: readonly InstallationId[],
  from: CalendarDate,
  details: CloseDetails,
  sealKey: Ed25519Key | null = null,
): Promise<BooksHead[]> {
  const books = installations.map((id) => ({ id }));
  return inOrder(db, books, sealKey, async (trx, { id }) => {
    await execute(trx, 'select hold_period_alone(?)', [id]);
    refuseOpen(id, from, await closedThrough(trx, id));
    await append(trx, id, 'reopen', daysFrom(from, -1), details);
  });
}

/** Throws UserError where the books are not closed on or after a day. */
export function refuseOpen(installation: InstallationId, from: CalendarDate, closed: CalendarDate | null): void {
  if (closed !== null && from <= closed) return;
  throw new UserError(booksErrors.periodOpen({ installation, day: from, closedThrough: closed }), 2);
}

/** Throws UserError where the books are closed through a later day. */
export function refuseEarlier(installation: InstallationId, through: CalendarDate, closed: CalendarDate | null): void {
  if (closed === null || closed <= through) return;
  throw new UserError(
    booksErrors.closedLater({ installation, closedThrough: closed, reopenFrom: dayAfter(through) }),
    2,
  );
}

/** In one order, so that two closes of several installations never wait for each other. */
async function inOrder<Books extends { id: InstallationId }>(
  db: Db,
  books: readonly Books[],
  sealKey: Ed25519Key | null,
  change: (trx: Connection, each: Books) => Promise<void>,
): Promise<BooksHead[]> {
  return db.transaction(async (trx) => {
    const heads: BooksHead[] = [];
    for (const each of [...books].sort((a, b) => a.id - b.id)) {
      await change(trx, each);
      if (sealKey !== null) await sealBooks(trx, each.id, sealKey);
      heads.push(await booksHead(trx, each.id));
    }
    return heads;
  });
}

/** False where the books are closed through that day already. */
async function closePeriod(
  trx: Connection,
  { id, today, details }: BooksToClose,
  through: CalendarDate,
): Promise<boolean> {
  await execute(trx, 'select hold_period_alone(?)', [id]);
  const closed = await closedThrough(trx, id);
  if (closed === through) return false;
  refuseEarlier(id, through, closed);
  // Entries that a window posted since the days were summed up: their summaries must not come after the close.
  while ((await summariseBatch(trx, id, { before: today, windowId: null })).length > 0);
  await append(trx, id, 'close', through, details);
  return true;
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
  { second, checklist, ...by }: CloseDetails,
): Promise<{ id: number; text: string }> {
  const input = { through, second };
  const shown = checklist === null ? {} : { shown: JSON.stringify(checklist) };
  const { id, hash } = await recordAction(trx, { installation, kind: `${kind}_books`, by, input, ...shown });
  // As PostgreSQL keeps it, so that the hash is over what is read back.
  return { id, text: storable(JSON.stringify({ action: hash, checklist })) };
}

/** A close or a reopening, as it was recorded. */
export interface RecordedClose {
  kind: (typeof closeKinds)[number];
  /** Its place in the chain. */
  seq: number;
  /** The last closed day after it. */
  through: CalendarDate;
  at: Date;
  /** Who answers for it; absent where that was not recorded. */
  by?: string;
  second?: string | null;
  /** Of a reopening. */
  reason?: string | null;
  checklist?: unknown;
}

/** The closes and reopenings of an installation in their order. */
export async function recordedCloses(db: Connection, installation: InstallationId): Promise<RecordedClose[]> {
  const found = await rows(
    db,
    {
      ...{ kind: oneOf(closeKinds), seq: integer, through: date, at: instant },
      details: storedJson('ledger_close.details', z.object({ checklist: z.unknown().optional() })),
      ...{ by: nullable(text), second: nullable(text), reason: nullable(text) },
    },
    `select c.kind, c.seq, c.through, c.closed_at as at, c.details, a.acted_by as by, a.input ->> 'second' as second,
       case c.kind when 'reopen' then a.reason end as reason
     from ledger_close c left join action_done a on a.id = c.action_id where c.installation = ? order by c.seq`,
    [installation],
  );
  return found.map(({ details, by, second, reason, ...close }) =>
    by === null ? close : { ...close, by, second, reason, checklist: details.checklist },
  );
}
