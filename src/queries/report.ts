import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { type Outside, outsideBooks, outsideByKind } from '../documents/outside-books.ts';
import {
  dateIn,
  dayAfter,
  daysFrom,
  fiscalYearStart,
  instantOf,
  isCalendarDate,
  monthBounds,
} from '../domain/dates.ts';
import { type Split, seqRecordedBy } from '../ledger/account-days.ts';
import { type ReportKind, type ReportName, reports } from '../reports/index.ts';
import type { InstallationReport } from '../reports/installation-report.ts';
import type { LinePlace, Period } from '../reports/report-sections.ts';
import type { CalendarDate } from '../terms.ts';
import { reportTexts } from '../texts/reports/reports.ts';
import { openingVatNotDue } from './opening-vat.ts';

/** The days of a report as a user names them: one of a day, a month and a span. */
export interface ReportDays {
  asOf?: CalendarDate;
  /** `YYYY-MM` */
  month?: string;
  from?: CalendarDate;
  to?: CalendarDate;
}

export interface ReportChoice {
  days: ReportDays;
  split: Split | null;
  /** Only entries recorded by this time in the clinic's zone. A day counts to its end. Null for all entries. */
  recordedBy: string | null;
  /** Whether figures of accounts list their lines. */
  documents: boolean;
  /** The account of the report `account`. */
  account: string | null;
  /** Lists only lines of the accounts after this place. The figures stay those of the whole period. */
  after?: LinePlace | null;
  now: Date;
}

/** Makes a report. Call it in a transaction with one snapshot, so that its figures agree. */
export async function makeReport(
  db: Connection,
  name: ReportName,
  installation: InstallationConfig,
  { days, split, recordedBy, documents, account, after = null, now }: ReportChoice,
): Promise<InstallationReport> {
  const { id, timezone } = installation;
  const kind: ReportKind = reports[name];
  const period = reportPeriod(kind.of, days, dateIn(timezone, now), installation);
  const recorded = recordedInstant(recordedBy, timezone);
  const upToSeq = recorded && (await seqRecordedBy(db, id, recorded));
  // A place before the period would show lines of other days.
  const place = after !== null && after.day >= (period.from ?? after.day) ? after : null;
  return {
    ...{ report: name, installation, period, of: kind.of, recordedBy: recorded },
    sections: [
      ...(await kind.make(db, installation, period, { split, upToSeq, documents, account, after: place })),
      ...(name === 'cutover' ? await openingVatNotDue(db, installation) : []),
    ],
    outside: await outsideOf(db, installation, kind, period),
    notes: name === 'prepayments' ? vatLeftNotes(installation) : [],
  };
}

/** Explains the column of VAT, if the mapping posts VAT on prepayments. */
function vatLeftNotes({ mapping }: InstallationConfig): string[] {
  const policy = mapping.policies.prepayment_vat;
  return policy === 'listed' ? [] : [reportTexts.prepaymentVatLeft({ from: policy.from })];
}

function recordedInstant(recordedBy: string | null, timezone: string): Date | null {
  if (recordedBy === null) return null;
  if (!isCalendarDate(recordedBy)) return instantOf(recordedBy, timezone);
  const end = instantOf(dayAfter(recordedBy), timezone);
  return end && new Date(end.getTime() - 1);
}

/** Documents outside the books that would belong to the figures: dated in the period, or without a known date. */
export async function outsideOf(
  db: Connection,
  { id, decimals }: InstallationConfig,
  kind: ReportKind,
  period: Period,
): Promise<Outside> {
  if (kind.documents.length === 0) return {};
  const groups = await outsideBooks(db, [id], kind.of === 'span' ? { ...period, from: null } : period);
  return outsideByKind(
    groups.filter((group) => kind.documents.includes(group.kind)),
    decimals,
  );
}

/** The period of a report. Default: the last full month, or today. */
export function reportPeriod(
  of: ReportKind['of'],
  { asOf, month, from, to }: ReportDays,
  today: CalendarDate,
  { startDate, fiscalYearStart: firstMonth }: Pick<InstallationConfig, 'startDate' | 'fiscalYearStart'>,
): Period {
  if (of === 'start') return { from: null, through: daysFrom(startDate ?? today, -1) };
  if (of === 'month') return monthBounds(month ?? lastMonth(today));
  if (of === 'day') return { from: null, through: asOf ?? today };
  if (month !== undefined) return monthBounds(month);
  if (from !== undefined && to !== undefined) return { from, through: to };
  const through = asOf ?? today;
  return { from: fiscalYearStart(through, firstMonth), through };
}

/** The last month that is over. */
export function lastMonth(today: CalendarDate): string {
  return daysFrom(`${today.slice(0, 7)}-01`, -1).slice(0, 7);
}
