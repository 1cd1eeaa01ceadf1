import { date, nullable } from '../../db/columns.ts';
import { type Connection, row } from '../../db/rows.ts';
import type { ClosedDays } from '../../domain/dates.ts';
import type { DraftEntry, LedgerEntry } from '../../domain/entry.ts';
import { isPeriodClosed, type VatPeriodLength, vatPeriodOf } from '../../domain/vat-period.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';

/** The length of VAT periods, and closed days besides those that a close of our books closed. */
export interface VatPeriods {
  /** `month` unless given. */
  length: VatPeriodLength;
  /** Days that are or were closed in the ERP, and days before the start date. */
  closedDays: readonly ClosedDays[];
}

type VatLateness = Pick<LedgerEntry, 'vatPeriod' | 'isLate'>;

/**
 * The VAT period of a draft, and whether the draft is posted late: after that period was first closed (ACCOUNTING "Dates"). A reversal
 * has the period of the entry that it reverses.
 */
export async function vatLateness(
  trx: Connection,
  installation: InstallationId,
  { length, closedDays }: VatPeriods = { length: 'month', closedDays: [] },
): Promise<(draft: Pick<DraftEntry, 'documentDate'>, reversedPeriod: string | undefined) => VatLateness> {
  const through = await everClosedThrough(trx, installation);
  const closed = through === null ? closedDays : [...closedDays, { from: null, through }];
  return ({ documentDate }, reversedPeriod) => {
    const vatPeriod = reversedPeriod ?? vatPeriodOf(documentDate, length);
    return { vatPeriod, isLate: isPeriodClosed(vatPeriod, closed) };
  };
}

/** The last day that a close of our own books ever closed, even if it was opened again since. Null if there was no close. */
export async function everClosedThrough(trx: Connection, installation: InstallationId): Promise<CalendarDate | null> {
  const { through } = await row(
    trx,
    { through: nullable(date) },
    `select max(through) as through from ledger_close where installation = ? and kind = 'close'`,
    [installation],
  );
  return through;
}
