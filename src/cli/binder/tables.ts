import type { InstallationConfig } from '../../config/load-config.ts';
import type { Connection } from '../../db/rows.ts';
import { instantOf, monthBounds } from '../../domain/dates.ts';
import type { ClosedMonth } from '../../ledger/close-of-month.ts';
import { bookedPrepayments } from '../../reports/booked-prepayments.ts';
import { bookedVat } from '../../reports/booked-vat.ts';
import { trialBalance } from '../../reports/books.ts';
import { decisions } from '../../reports/decisions.ts';
import { lateEntries } from '../../reports/late-entries.ts';
import { receivables } from '../../reports/receivables.ts';
import type { Section } from '../../reports/report-sections.ts';
import { bookedVouchers } from '../../reports/vouchers.ts';
import type { InstallationReport } from '../commands/report-output.ts';
import { closeTables } from './close-tables.ts';

/** The tables of a binder, one section in each report, by what was recorded at the close. */
export async function binderTables(
  db: Connection,
  installation: InstallationConfig,
  month: string,
  closed: ClosedMonth,
): Promise<InstallationReport[]> {
  const days = monthBounds(month);
  const { seq, at } = closed.close;
  const recorded = { upToSeq: seq };
  const { id, timezone } = installation;
  const [checklist, ...aboutClose] = closeTables(closed, timezone);
  const ofMonth = [
    ...(checklist === undefined ? [] : [checklist]),
    ...(await trialBalance(db, installation, days, { ...recorded, split: null, documents: false, account: null })),
    ...(await bookedVat(db, installation, days, recorded)),
  ];
  const atEnd = [
    ...(await receivables(db, installation, days, recorded)),
    await bookedPrepayments(db, installation, days, recorded),
    await bookedVouchers(db, installation, days, recorded),
  ];
  const decided = [
    await lateEntries(db, id, days, recorded, at),
    ...aboutClose,
    await decisions(db, installation, { from: instantOf(days.from, timezone) ?? at, to: at }),
  ];
  const table = (made: Section, of: 'month' | 'day'): InstallationReport => ({
    ...{ report: made.shape.name, installation, of, sections: [made], recordedBy: null, outside: {} },
    period: of === 'month' ? days : { ...days, from: null },
  });
  return [
    ...ofMonth.map((each) => table(each, 'month')),
    ...atEnd.map((each) => table(each, 'day')),
    ...decided.map((each) => table(each, 'month')),
  ];
}
