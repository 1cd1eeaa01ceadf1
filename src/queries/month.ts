import { z } from 'zod';
import type { InstallationConfig } from '../config/load-config.ts';
import { date, nullable } from '../db/columns.ts';
import { type Connection, row } from '../db/rows.ts';
import { dateIn, dayAfter, monthBounds } from '../domain/dates.ts';
import { closedThrough, type RecordedClose, recordedCloses } from '../ledger/close.ts';
import { type FiledReturn, filedReturns } from '../ledger/vat-returns.ts';
import type { CalendarDate, InstallationId } from '../terms.ts';
import { quickItems } from './closing-items.ts';
import { lastMonth } from './report.ts';
import { type Verdict, verdicts } from './verdict.ts';

/** Documents of each list of the checklist on a page. */
const mostListed = 100;

/** The items of the checklist that have a count. */
export const countedItems = [
  'held',
  'late',
  'drafts',
  'remarks',
  'undelivered',
  'differences',
  'clearing',
  'unused_prepayments',
  'owed_as_revenue',
  'liabilities_in_debit',
  'vat_returns',
] as const;
export type CountedItem = (typeof countedItems)[number];
export type ItemCounts = Partial<Record<CountedItem, number>>;

/** A month before or after its close. */
export interface MonthState {
  month: string;
  from: CalendarDate;
  through: CalendarDate;
  /** Whether the last day is over, so that the month may be closed. */
  isOver: boolean;
  isClosed: boolean;
  items: Awaited<ReturnType<typeof quickItems>>;
  counts: ItemCounts;
  /** The last reconciliation; its differences are those of the checklist. */
  reconciled: Verdict['reconciled'];
  /** The close of the month; if there is none, the last close before it. */
  compared: { close: RecordedClose; counts: ItemCounts | null } | null;
  /** Closes and reopenings since the month began, the newest first. */
  closes: RecordedClose[];
  /** The filed VAT returns of periods with days of the month. */
  filed: FiledReturn[];
}

/** The first month that is over and not closed. If there is none, the last month. `now` decides which month is over. */
export async function monthToClose(
  db: Connection,
  { id, timezone, startDate }: Pick<InstallationConfig, 'id' | 'timezone' | 'startDate'>,
  now: Date,
): Promise<string> {
  const last = lastMonth(dateIn(timezone, now));
  const first = await firstOpenDay(db, { id, startDate });
  return first !== null && first < `${last}-01` ? first.slice(0, 7) : last;
}

/** The first day that is not closed. Null if nothing was ever posted. */
export async function firstOpenDay(
  db: Connection,
  { id, startDate }: Pick<InstallationConfig, 'id' | 'startDate'>,
): Promise<CalendarDate | null> {
  const closed = await closedThrough(db, id);
  return closed === null ? firstDay(db, id, startDate) : dayAfter(closed);
}

async function firstDay(
  db: Connection,
  installation: InstallationId,
  startDate: CalendarDate | null,
): Promise<CalendarDate | null> {
  const { day } = await row(
    db,
    { day: nullable(date) },
    'select min(entry_date) as day from entry where installation = ? and entry_date >= coalesce(?::date, entry_date)',
    [installation, startDate],
  );
  return day;
}

/**
 * What a close of the month would find, from the database alone, and what its close found. `lastDay`: of a close within the month.
 */
export async function monthState(
  db: Connection,
  installation: InstallationConfig,
  month: string,
  now: Date,
  lastDay?: CalendarDate,
): Promise<MonthState> {
  const { id, timezone } = installation;
  const { from, through: end } = monthBounds(month);
  const through = lastDay ?? end;
  const items = await quickItems(db, installation, through, mostListed);
  const reconciled = (await verdicts(db, [installation])).get(id)?.reconciled ?? null;
  const closes = await recordedCloses(db, id);
  const closed = await closedThrough(db, id);
  const { unused, ...found } = items;
  const failing = (reconciled?.failing ?? []).map((equation) => ({ equation }));
  return {
    ...{ month, from, through, items, reconciled },
    isOver: through < dateIn(timezone, now),
    isClosed: closed !== null && closed >= through,
    counts: countsOf({ ...found, differences: { equations: failing }, unused_prepayments: { accounts: unused } }),
    compared: comparedClose(closes, through),
    closes: closes.filter((each) => each.through >= from || each.kind === 'reopen').toReversed(),
    filed: (await filedReturns(db, id)).filter((each) => each.from <= through && from <= each.through),
  };
}

function comparedClose(closes: readonly RecordedClose[], through: CalendarDate): MonthState['compared'] {
  let own: RecordedClose | null = null;
  let before: RecordedClose | null = null;
  for (const each of closes) {
    if (each.through < through) own = null;
    else if (each.kind === 'close') own ??= each;
    if (each.kind === 'close' && each.through < through) before = each;
  }
  const close = own ?? before;
  if (close === null) return null;
  const stored = storedChecklist.safeParse(close.checklist);
  return { close, counts: stored.success ? countsOf(stored.data) : null };
}

const counted = z.object({ count: z.number() });
const accounts = z.object({ accounts: z.array(z.unknown()) });
/** What counts need of a stored checklist. Checklists of earlier versions lack some items. */
const storedChecklist = z.object({
  ...{ held: counted, late: counted, drafts: counted.optional(), remarks: counted, undelivered: counted.nullable() },
  differences: z.object({ equations: z.array(z.unknown()) }),
  ...{ clearing: accounts, unused_prepayments: accounts },
  ...{ owed_as_revenue: z.object({ found: z.array(z.object({ rows: z.number() })) }).optional() },
  ...{ liabilities_in_debit: accounts.optional() },
  vat_returns: z.object({ changed: z.array(z.unknown()), late: z.object({ missed: z.number() }) }).optional(),
});

function countsOf(of: z.infer<typeof storedChecklist>): ItemCounts {
  const { held, late, drafts, remarks, undelivered, differences, clearing } = of;
  const all: Record<CountedItem, number | undefined> = {
    ...{ held: held.count, late: late.count, drafts: drafts?.count, remarks: remarks.count },
    ...{ undelivered: undelivered?.count, differences: differences.equations.length },
    ...{ clearing: clearing.accounts.length, unused_prepayments: of.unused_prepayments.accounts.length },
    owed_as_revenue: of.owed_as_revenue?.found.reduce((count, { rows }) => count + rows, 0),
    liabilities_in_debit: of.liabilities_in_debit?.accounts.length,
    vat_returns: of.vat_returns && of.vat_returns.changed.length + of.vat_returns.late.missed,
  };
  return Object.fromEntries(Object.entries(all).filter(([, count]) => count !== undefined));
}
