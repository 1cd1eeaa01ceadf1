import { type VatFormCountry, vatFormCountries } from '../../../config/vat-forms.ts';
import { instantOf, isCalendarDate } from '../../../domain/dates.ts';
import { type Split, splits } from '../../../ledger/account-days.ts';
import type { ReportDays } from '../../../queries/report.ts';
import type { LinePlace } from '../../../reports/report-sections.ts';

/** What the form of a report asks for. */
export interface Choice {
  days: ReportDays;
  split: Split | null;
  recordedBy: string | null;
  account: string | null;
  form: VatFormCountry | null;
  /** Only figures or lines with this text. */
  search: string;
  /** A table of the report; null for all. */
  section: string | null;
  /** A figure of the table, whose documents are shown (`figureId`); null for the figures. */
  figure: string | null;
  /** Lines before the first one of the page. */
  skipped: number;
  /** The line of the books after which the page begins. Null at the beginning, and for lists that `skipped` divides. */
  after: LinePlace | null;
  /** The table of the file to download; null for a page. */
  csv: string | null;
  /** The fault of the entry. Null without a fault. */
  fault: 'days' | 'time' | null;
}

export type Query = Readonly<Record<string, string>>;

const longest = 100;

/** Reads the fields of the form. Fields with a fault count as empty. */
export function readChoice(query: Query): Choice {
  const text = (name: string) =>
    (query[name] ?? '')
      .slice(0, longest)
      .replace(/\p{Cc}/gu, '')
      .trim();
  const given = (name: string) => text(name) || null;
  const days = daysIn(given);
  const time = given('recorded_by');
  const isTime = time === null || instantOf(time, 'UTC') !== null;
  return {
    days: days ?? {},
    split: splits.find((each) => each === text('by')) ?? null,
    recordedBy: isTime ? time : null,
    account: given('account'),
    form: vatFormCountries.find((each) => each === text('form')) ?? null,
    search: text('q'),
    ...{ section: given('section'), figure: given('figure'), csv: given('csv') },
    skipped: /^\d{1,9}$/.test(text('line')) ? Number(text('line')) : 0,
    after: placeIn(text('after')),
    fault: days === null ? 'days' : isTime ? null : 'time',
  };
}

function placeIn(text: string): LinePlace | null {
  const [, day, seq, line] = /^(\d{4}-\d{2}-\d{2})_(\d{1,15})_(\d{1,9})$/.exec(text) ?? [];
  return day !== undefined && isCalendarDate(day) ? { day, seq: Number(seq), line: Number(line) } : null;
}

/** The place of a line as the field `after`. */
export function placeText({ day, seq, line }: LinePlace): string {
  return `${day}_${seq}_${line}`;
}

/** The days of a report. Null if they are no days, or more than one span. */
function daysIn(given: (name: string) => string | null): ReportDays | null {
  const [asOf, month, from, to] = [given('as_of'), given('month'), given('from'), given('to')];
  const spans = [asOf, month, from ?? to].filter((each) => each !== null);
  const dates = [asOf, month && `${month}-01`, from, to].filter((each) => each !== null);
  if (spans.length > 1 || !dates.every(isCalendarDate) || (from === null) !== (to === null)) return null;
  if (from !== null && to !== null) return from <= to ? { from, to } : null;
  return { ...(asOf !== null && { asOf }), ...(month !== null && { month }) };
}

/** The fields of a query that links of the page keep. */
export function keptFields(query: Query): Record<string, string> {
  const kept = ['as_of', 'month', 'from', 'to', 'by', 'recorded_by', 'account', 'form', 'q'];
  return Object.fromEntries(Object.entries(query).filter(([name]) => kept.includes(name)));
}
