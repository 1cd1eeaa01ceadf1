import { date, nullable } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { type Connection, execute, row } from '../db/rows.ts';
import { UserError } from '../domain/errors.ts';
import type { Ed25519Key } from '../domain/signature.ts';
import type { CalendarDate, InstallationId } from '../terms.ts';
import { type BooksHead, booksHead } from './head.ts';
import { sealBooks } from './seals.ts';
import { summariseBatch } from './summaries/append.ts';

/** The last day closed by `vetledger ledger close`, or null. */
export async function closedThrough(db: Connection, installation: InstallationId): Promise<CalendarDate | null> {
  const { through } = await row(
    db,
    { through: nullable(date) },
    'select max(through) as through from ledger_close where installation = ?',
    [installation],
  );
  return through;
}

/**
 * Holds the installation's closed period as it is until the end of the transaction: a close waits for it, or it waits for the
 * close. What is posted in this transaction, and judged by `closedThrough` read after this, is never behind a close.
 */
export async function holdPeriod(trx: Connection, installation: InstallationId): Promise<void> {
  await execute(trx, 'select hold_period(?)', [installation]);
}

export interface BooksToClose {
  id: InstallationId;
  /** Days before this one are over: their entries are summed up before the books are closed. */
  today: CalendarDate;
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
  sealKey: Ed25519Key | null = null,
): Promise<BooksHead[]> {
  return db.transaction(async (trx) => {
    const heads: BooksHead[] = [];
    // In one order, so that two closes of several installations never wait for each other.
    for (const each of [...books].sort((a, b) => a.id - b.id)) {
      await closePeriod(trx, each, through);
      if (sealKey !== null) await sealBooks(trx, each.id, sealKey);
      heads.push(await booksHead(trx, each.id));
    }
    return heads;
  });
}

async function closePeriod(trx: Connection, { id, today }: BooksToClose, through: CalendarDate): Promise<void> {
  await execute(trx, 'select hold_period_alone(?)', [id]);
  const closed = await closedThrough(trx, id);
  if (closed === through) return;
  if (closed !== null && closed > through) {
    throw new UserError(
      'period_closed',
      `The books of installation ${id} are closed through ${closed} already.`,
      'A closed period is not opened again; give a later date.',
      2,
    );
  }
  // Entries that a window posted since the days were summed up: their summaries must not come after the close.
  while ((await summariseBatch(trx, id, { before: today, windowId: null })).length > 0);
  await execute(trx, 'insert into ledger_close (installation, through) values (?, ?)', [id, through]);
}
