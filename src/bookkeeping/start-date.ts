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
 * The error for a start date that was changed after something was posted; null if there is none. The old books contain everything
 * before `start_date` (ACCOUNTING Dates). With another date, documents between the two dates would be in both books, or in
 * neither.
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
 * The error for a changed start date when a window opens; null if there is none. Then it stores the configured date. `before` is
 * the stored date, which is usually the same.
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

/** Throws ConfigError if the start date was changed, because no window would open and the preview would be wrong. */
export async function requireStart(db: Connection, installation: InstallationConfig): Promise<void> {
  const moved = await movedStart(db, installation, (await stateAtOpening(db, installation.id)).startDate);
  if (moved) throw new ConfigError(moved);
}
