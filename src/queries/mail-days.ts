import { closedInErp } from '../bookkeeping/erp-locks.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import { bool, date, integer, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { type Connection, row, rows } from '../db/rows.ts';
import { hasOpenProblem } from '../documents/document.ts';
import { latestTurn, type Turn } from '../domain/daily-turn.ts';
import { daysFrom } from '../domain/dates.ts';
import { formatExact, Money } from '../domain/money.ts';
import { absenceProblems, lateProblems } from '../domain/problems.ts';
import { isPeriodClosed } from '../domain/vat-period.ts';
import { closedThrough } from '../ledger/close.ts';
import {
  closingItems,
  type DailySection,
  dailySections,
  linesAtMost,
  type NoticeAbout,
  remarkSections,
} from '../mail/notices.ts';
import { type CalendarDate, documentKinds } from '../terms.ts';
import { type ClosingItem, openClosingItems } from './closing.ts';
import { numbered } from './mail-lines.ts';
import type { AccountPorts } from './owed-as-revenue.ts';

/** Daily and monthly mails go out at 7:00 in the time zone of the clinic, after the nightly reconciliation. */
const span = { fromMinute: 7 * 60, toMinute: 7 * 60 + 1 };

/**
 * The days of the month on which the mail about the last month's close is sent. On the first, the close can begin. The
 * tenth leaves time before the VAT return, which is due on the tenth or later in the countries of the ready mappings.
 * On the tenth, the mail is sent only if the month is open.
 */
const monthlyDays = [10, 1];

/**
 * A problem may be stored up to this long after it was found. A mail leaves out newer problems, and the next mail has
 * them, so no problem is lost. Posting commits within seconds.
 */
const settleMs = 10 * 60_000;

/** The newest turn of the daily mail that is not in the future. */
export function dailyTurn(timezone: string, now: Date): Turn {
  return latestTurn({ span, timezone, share: 0 }, now);
}

/** The day of the newest turn of the monthly mail that is not in the future. */
export function monthlyTurn(timezone: string, now: Date): CalendarDate {
  const { day } = dailyTurn(timezone, now);
  const ofMonth = Number(day.slice(8));
  const turn = monthlyDays.find((each) => each <= ofMonth) ?? 1;
  return `${day.slice(0, 8)}${String(turn).padStart(2, '0')}`;
}

/** A daily mail that is made at `now` covers problems found until this time. */
export function seenUntil(now: Date): Date {
  return new Date(now.getTime() - settleMs);
}

type Installation = Pick<InstallationConfig, 'id' | 'decimals' | 'dialect'>;

/**
 * The content of a daily mail: problems and remarks about money that were found after `after` and not after `until`, and that are
 * still open. Null if there are none. `after` is null for the first mail of a recipient.
 */
export async function dailyNews(
  db: Connection,
  installation: Installation,
  { day, after, until }: { day: CalendarDate; after: Date | null; until: Date },
): Promise<NoticeAbout<'daily'> | null> {
  const counted = await countNew(db, installation, { after, until });
  const sections: NoticeAbout<'daily'>['sections'] = [];
  for (const [what, found] of Map.groupBy(counted, (each) => each.what)) {
    const count = found.reduce((all, { n }) => all + n, 0);
    if (count === 0) continue;
    sections.push({
      ...{ what, count, open: found.reduce((all, { open }) => all + open, 0) },
      sums: found.flatMap(({ kind, n, amount }) =>
        n === 0
          ? []
          : { kind, count: n, amount: amount === null ? null : formatExact(new Money(amount), installation.decimals) },
      ),
      lines: await newLines(db, installation, what, { after, until }),
    });
  }
  return sections.length === 0 ? null : { about: 'daily', day, sections };
}

/** Documents with an open problem, and with a remark after which money must be moved or matched. */
const concerned = `
  select kind, id, problem_code as code, problem_since as since, document_date as date, outside_amount as amount,
    case when problem_code = any(?::text[]) then 'late' when problem_code = any(?::text[]) then 'missing' else 'held' end as what
  from document where installation = ? and ${hasOpenProblem}
  union all
  select r.kind, r.id, r.code, r.since, d.document_date, r.amount, r.code
  from document_report r left join document d using (installation, kind, id)
  where r.installation = ? and r.code = any(?::text[])`;

const isNew = `since > coalesce(?::timestamptz, '-infinity') and since <= ?`;

interface Between {
  after: Date | null;
  until: Date;
}

function countNew(db: Connection, { id }: Installation, { after, until }: Between) {
  return rows(
    db,
    { what: oneOf(dailySections), kind: oneOf(documentKinds), n: integer, open: integer, amount: nullable(numeric) },
    `select what, kind, count(*) filter (where ${isNew}) as n, count(*) as open,
       sum(amount) filter (where ${isNew}) as amount
     from (${concerned}) c group by what, kind order by array_position(?::text[], what), kind`,
    [after, until, after, until, lateProblems, absenceProblems, id, id, remarkSections, dailySections],
  );
}

/** The first new documents of a section, by code, the oldest first. */
async function newLines(
  db: Connection,
  installation: Installation,
  what: DailySection,
  { after, until }: Between,
): Promise<NoticeAbout<'daily'>['sections'][number]['lines']> {
  const { id } = installation;
  const found = await rows(
    db,
    { kind: oneOf(documentKinds), id: integer, code: text, date: nullable(date), amount: nullable(numeric) },
    `select kind, id, code, date, amount from (${concerned}) c where what = ? and ${isNew}
     order by code, date nulls first, kind, id limit ${linesAtMost}`,
    [lateProblems, absenceProblems, id, id, remarkSections, what, after, until],
  );
  const lines = found.map(({ kind, id: document, code, date: day, amount }) => ({
    ...{ ref: { kind, id: document }, document: `${kind} ${document}`, number: null, code, date: day },
    amount: amount === null ? null : formatExact(new Money(amount), installation.decimals),
  }));
  return numbered(db, installation, lines);
}

/**
 * What a close through the end of last month still lacks on the day of a monthly mail. Null if that month is closed, or has no
 * entries before its end.
 */
export async function monthlyNews(
  ports: AccountPorts,
  installation: InstallationConfig,
  turn: CalendarDate,
): Promise<NoticeAbout<'monthly'> | null> {
  const { db } = ports;
  const { id } = installation;
  const through = daysFrom(`${turn.slice(0, 8)}01`, -1);
  const closed = await closedThrough(db, id);
  if (closed !== null && closed >= through) return null;
  if (isPeriodClosed(through.slice(0, 7), await closedInErp(db, installation))) return null;
  const { has } = await row(
    db,
    { has: bool },
    'select exists (select from entry where installation = ? and entry_date <= ?::date) as has',
    [id, through],
  );
  if (!has) return null;
  const found = await openClosingItems(ports, installation, through);
  const missing = closingItems.flatMap((item) => {
    const open: ClosingItem | undefined = found[item];
    return open === undefined ? [] : { item, ...open };
  });
  return { about: 'monthly', through, missing };
}
