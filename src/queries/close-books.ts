import { z } from 'zod';
import { requestDay } from '../actions/asking.ts';
import { type ActedBy, checkShown, hashOf } from '../actions/record.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import { integer, numeric } from '../db/columns.ts';
import { type Connection, row } from '../db/rows.ts';
import { noteLateAtClose } from '../documents/mark.ts';
import { dateIn } from '../domain/dates.ts';
import { UserError } from '../domain/errors.ts';
import { formatMoney, Money, sum } from '../domain/money.ts';
import type { Ed25519Key } from '../domain/signature.ts';
import {
  closeBooks,
  closedThrough,
  closeObstacle,
  holdPeriodAlone,
  recordedCloses,
  reopenBooks,
  reopenObstacle,
} from '../ledger/close.ts';
import { type BooksHead, booksHead } from '../ledger/head.ts';
import { filedReturns } from '../ledger/vat-returns.ts';
import type { CalendarDate } from '../terms.ts';
import { booksErrors } from '../texts/errors/books.ts';
import { type ClosingChecklist, closingChecklist } from './closing.ts';
import { quickItems } from './closing-items.ts';
import { prepareReturn, vatPeriodOfMonth } from './vat-returns.ts';
import { verdicts } from './verdict.ts';

/**
 * Closes and reopenings as the command line and the daemon perform them: the effect that the person saw must still be the
 * effect in the transaction that performs it.
 */

/** The requests of users to close the books through a day, and to reopen them from a day on. */
export const closeRequest = z.object({ through: requestDay });
export const reopenRequest = z.object({ from: requestDay });

/** What a close through a day would lock. */
export interface CloseEffect {
  through: CalendarDate;
  /** The last closed day so far; null if no day is closed. */
  closedThrough: CalendarDate | null;
  /** Entries from the first open day to the last day, and the sum of their debits. */
  entries: number;
  debit: string;
  /** The VAT period with the last day, and the tax that its return declares by the present books, in all versions. */
  vat: { period: string; tax: string };
  /** The reason why the close is not possible; null if it is. */
  obstacle: UserError | null;
  /** The effect as canonical text, without times and states of deliveries: they change without a change of the books. */
  shown: string;
}

export async function closeEffect(
  db: Connection,
  installation: InstallationConfig,
  through: CalendarDate,
  now: Date,
): Promise<CloseEffect> {
  const { id, decimals } = installation;
  const closed = await closedThrough(db, id);
  const { entries, debit } = await row(
    db,
    { entries: integer, debit: numeric },
    `select (select count(*) from entry e where e.installation = ? and e.entry_date > days.after and e.entry_date <= ?::date) as entries,
       (select coalesce(sum(d.debit), 0) from account_day d
        where d.installation = ? and d.entry_date > days.after and d.entry_date <= ?::date) as debit
     from (select coalesce(?::date, '-infinity'::date) as after) days`,
    [id, through, id, through, closed],
  );
  const period = await vatPeriodOfMonth(db, installation, through.slice(0, 7));
  const vat = await prepareReturn(db, installation, period, { isCorrection: false, take: null });
  const { filed, since } = vat.view;
  // After a filing, `toFile` is only what changed.
  const tax = sum((vat.versions.length > 0 ? [...filed, ...since] : vat.toFile).map((line) => line.tax));
  const { last_window: window, undelivered: _, ...items } = await quickItems(db, installation, through, 0);
  const failing = (await verdicts(db, [installation])).get(id)?.reconciled?.failing ?? [];
  const effect = {
    ...{ through, closedThrough: closed, entries, debit: formatMoney(new Money(debit), decimals) },
    vat: { period: period.name, tax: formatMoney(tax, decimals) },
  };
  return {
    ...effect,
    obstacle: obstacleOf(installation, effect, { isRead: window.ok, now }),
    shown: JSON.stringify([effect, vat.shown, window.ok, items, failing]),
  };
}

function obstacleOf(
  installation: InstallationConfig,
  effect: Pick<CloseEffect, 'through' | 'closedThrough'>,
  { isRead, now }: { isRead: boolean; now: Date },
): UserError | null {
  const obstacle = dayObstacle(installation, effect, now);
  // Latest days up to the close may not be posted yet: windows post them (ACCOUNTING R13).
  const policy = installation.mapping.policies.vat_due;
  const hasLatestDay = policy !== null && (policy.latest !== null || policy.restAtEnd);
  if (obstacle !== null || !hasLatestDay || isRead) return obstacle;
  const { through } = effect;
  return new UserError(booksErrors.latestDaysOpen({ installation: installation.id, through }), 1);
}

/** The reason why the books cannot be closed through a day: it is not over, or a later day is closed. Null otherwise. */
export function dayObstacle(
  { id, timezone }: Pick<InstallationConfig, 'id' | 'timezone'>,
  { through, closedThrough: closed }: Pick<CloseEffect, 'through' | 'closedThrough'>,
  now: Date,
): UserError | null {
  if (through < dateIn(timezone, now)) return closeObstacle(id, through, closed);
  return new UserError(booksErrors.dayNotOver({ installation: id, day: through }), 2);
}

/** A close or reopening as a person agreed to it. */
export interface AgreedClose {
  by: ActedBy;
  second: string | null;
  /** The hash of the effect that the person saw. */
  shown: string | null;
}

export interface ClosePorts {
  clock(): Date;
  config: { sealKey: Ed25519Key | null };
}

/**
 * Closes the books of an installation through a day, in the transaction of the caller. `checklist` is the one that the person
 * saw; if it is absent, it is made from the database. Books that are closed through that day stay as they are.
 * Throws UserError if the close is not possible, or would do something else than was shown.
 */
export async function closeAsShown(
  trx: Connection,
  installation: InstallationConfig,
  { through, checklist: seen, ...agreed }: AgreedClose & { through: CalendarDate; checklist?: ClosingChecklist | null },
  { clock, config: { sealKey } }: ClosePorts,
): Promise<BooksHead> {
  const { id, timezone, fiscalYearStart } = installation;
  const now = clock();
  if ((await closedThrough(trx, id)) === through) return booksHead(trx, id);
  // The checklist reads every row, so it comes before the lock.
  const checklist = seen ?? (await closingChecklist({ db: trx, practice: null }, installation, through, null, now));
  await holdPeriodAlone(trx, id);
  const { obstacle, shown } = await closeEffect(trx, installation, through, now);
  if (obstacle !== null) throw obstacle;
  checkShown(agreed.shown, hashOf(shown));
  const details = { ...agreed.by, second: agreed.second, checklist, shown };
  return closeBooks(trx, { id, today: dateIn(timezone, now), fiscalYearStart, details }, through, {
    sealKey,
    onClosed: (closing, of) => noteLateAtClose(closing, of, through),
  });
}

/** What a reopening from a day on would open. */
export interface ReopenEffect {
  from: CalendarDate;
  closedThrough: CalendarDate | null;
  /** The VAT periods with a filed return and days that would be open. */
  filed: string[];
  obstacle: UserError | null;
  /** The effect as canonical text. */
  shown: string;
}

export async function reopenEffect(
  db: Connection,
  { id }: Pick<InstallationConfig, 'id'>,
  from: CalendarDate,
): Promise<ReopenEffect> {
  const closed = await closedThrough(db, id);
  const opened = (await filedReturns(db, id)).filter(({ through }) => through >= from);
  const filed = [...new Set(opened.map(({ period }) => period))];
  const last = (await recordedCloses(db, id)).at(-1)?.seq ?? null;
  const obstacle = reopenObstacle(id, from, closed);
  return { from, closedThrough: closed, filed, obstacle, shown: JSON.stringify([from, closed, filed, last]) };
}

/**
 * Opens the books of an installation from a day on, in the transaction of the caller. Throws UserError if that is not possible,
 * or would do something else than was shown.
 */
export async function reopenAsShown(
  trx: Connection,
  installation: Pick<InstallationConfig, 'id'>,
  { from, ...agreed }: AgreedClose & { from: CalendarDate },
  { config: { sealKey } }: Pick<ClosePorts, 'config'>,
): Promise<BooksHead> {
  await holdPeriodAlone(trx, installation.id);
  const { obstacle, shown } = await reopenEffect(trx, installation, from);
  if (obstacle !== null) throw obstacle;
  checkShown(agreed.shown, hashOf(shown));
  const details = { ...agreed.by, second: agreed.second, checklist: null, shown };
  return reopenBooks(trx, installation.id, from, details, sealKey);
}
