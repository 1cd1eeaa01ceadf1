import type { InstallationConfig } from '../config/load-config.ts';
import { bool } from '../db/columns.ts';
import type { Transact } from '../db/lease.ts';
import { type Connection, row } from '../db/rows.ts';
import { ConfigError } from '../domain/errors.ts';
import { stateAtOpening, storeStartDate } from '../mirror/installation-state.ts';
import type { CalendarDate } from '../terms.ts';
import { booksErrors } from '../texts/errors/books.ts';
import type { PlainError } from '../texts/plain-error.ts';

/**
 * What is wrong with a start date that was moved after something was posted, or null. `start_date` is the cut-over (ACCOUNTING
 * Dates): what lies between the old day and the new one would be posted a second time, beside the old books, or be taken out
 * of these.
 */
async function movedStart(
  db: Connection,
  installation: InstallationConfig,
  before: CalendarDate | null | undefined,
): Promise<PlainError | null> {
  if (before === undefined || before === installation.startDate) return null;
  const { posted } = await row(
    db,
    { posted: bool },
    `select exists (select from entry where installation = ?) as posted`,
    [installation.id],
  );
  if (!posted) return null;
  return booksErrors.startDateMoved({
    installation: installation.id,
    configured: installation.startDate,
    stored: before,
  });
}

/**
 * What is wrong with the start date of a window that opens, or null: it is noted then. `before` is the noted one, which most windows find
 * the same.
 */
export async function startAtOpening(
  { db, transact }: { db: Connection; transact: Transact },
  installation: InstallationConfig,
  before: CalendarDate | null | undefined,
): Promise<PlainError | null> {
  if (before === installation.startDate) return null;
  const moved = await movedStart(db, installation, before);
  if (moved === null) await transact((trx) => storeStartDate(trx, installation.id, installation.startDate));
  return moved;
}

/** Throws ConfigError where the start date was moved: no window opens then, so there is nothing to preview or to repost. */
export async function requireStart(db: Connection, installation: InstallationConfig): Promise<void> {
  const moved = await movedStart(db, installation, (await stateAtOpening(db, installation.id)).startDate);
  if (moved) throw new ConfigError(moved);
}
