import { bool, instant, json, nullable } from '../db/columns.ts';
import { type Connection, execute, maybeRow } from '../db/rows.ts';
import { type ClosedDays, dayAfter, daysFrom } from '../domain/dates.ts';
import { isJsonObject, type JsonValue, readJson } from '../records/json.ts';
import type { CalendarDate } from '../terms.ts';
import { type LockKind, lockKinds } from './capabilities.ts';
import { companyKey } from './entry-key.ts';
import { erpPriorities } from './erp-pace.ts';
import { markLate } from './outbox/late-units.ts';
import type { ErpPeriods, ErpTarget } from './port.ts';

/** Kinds of locks that prevent posting. A closed purchase ledger does not, because vetledger posts sales only. */
const postingKinds: readonly LockKind[] = ['general', 'vat', 'year'];

/** The ERP's periods as they were last read. */
export interface StoredPeriods {
  periods: ErpPeriods;
  readAt: Date;
  /** True if they were read within `recentSeconds`, so the ERP is not queried again. */
  isRecent: boolean;
}

/** How long stored periods are used before the ERP is queried again. */
const recentSeconds = 900;

/**
 * Stores the ERP's periods. Units whose period is closed, and that the ERP does not have, become late. The company must
 * have a row in `erp_company`.
 */
export async function storePeriods(db: Connection, company: string, periods: ErpPeriods): Promise<void> {
  await execute(db, 'update erp_company set periods = ?::json, periods_read_at = clock_timestamp() where company = ?', [
    JSON.stringify(periods),
    company,
  ]);
  await markLate(db, company, closedDays(periods));
}

/**
 * Reads the ERP's periods unless they were read recently. So vetledger notices a closed period even if it has nothing
 * to send.
 */
export async function refreshPeriods(
  db: Connection,
  target: Pick<ErpTarget, 'capabilities' | 'company' | 'periods'>,
  signal: AbortSignal,
): Promise<void> {
  if (!target.capabilities.periods.readable) return;
  const company = companyKey(target.company);
  if ((await storedPeriods(db, company))?.isRecent) return;
  const periods = await target.periods({ signal, priority: erpPriorities.review });
  await execute(db, 'insert into erp_company (company, kind, name) values (?, ?, ?) on conflict do nothing', [
    ...[company, target.company.kind, target.company.id],
  ]);
  await storePeriods(db, company, periods);
}

/** The periods that were stored last; null if the ERP was never queried. */
export async function storedPeriods(db: Connection, company: string): Promise<StoredPeriods | null> {
  const found = await maybeRow(
    db,
    { periods: nullable(json), readAt: nullable(instant), isRecent: nullable(bool) },
    `select periods, periods_read_at as "readAt", periods_read_at > clock_timestamp() - make_interval(secs => ?) as "isRecent"
     from erp_company where company = ?`,
    [recentSeconds, company],
  );
  if (found === null || found.periods === null || found.readAt === null) return null;
  return { periods: periodsOf(readJson(found.periods)), readAt: found.readAt, isRecent: found.isRecent === true };
}

/**
 * The kind of lock that closes a day, or `missing` if the ERP has periods but none for this day. Null if the day is
 * open.
 */
export function obstacleOf(periods: ErpPeriods, date: CalendarDate): LockKind | 'missing' | null {
  for (const kind of postingKinds) if (isClosed(periods, kind, date)) return kind;
  return isMissing(periods, date) ? 'missing' : null;
}

/**
 * The days that are closed for posting, in order and without overlap. Days without a period in the ERP are not among
 * them: delivering an entry reports the missing period.
 */
export function closedDays(periods: ErpPeriods): ClosedDays[] {
  return merged(postingKinds.flatMap((kind) => closedOfKind(periods, kind)));
}

/**
 * The last day of the first closed stretch, if the general ledger is closed from the beginning of the ERP's periods.
 * Null if the first day is open.
 */
export function closedFromTheBeginning(periods: ErpPeriods): CalendarDate | null {
  const kinds: readonly LockKind[] = ['general', 'year'];
  const [first] = merged(kinds.flatMap((kind) => closedOfKind(periods, kind)));
  if (first === undefined) return null;
  const starts = (periods.periods ?? []).filter(({ kind }) => kinds.includes(kind)).map(({ from }) => from);
  return first.from === null || starts.every((start) => first.from === null || first.from <= start)
    ? first.through
    : null;
}

/** Sorts runs of days, and merges those that overlap or are adjacent. */
function merged(runs: ClosedDays[]): ClosedDays[] {
  const found: ClosedDays[] = [];
  for (const days of runs.sort(byStart)) {
    const last = found.at(-1);
    if (last && (days.from === null || days.from <= dayAfter(last.through))) {
      if (days.through > last.through) last.through = days.through;
    } else found.push({ ...days });
  }
  return found;
}

function closedOfKind({ periods, lockedThrough }: ErpPeriods, kind: LockKind): ClosedDays[] {
  const locked = lockedThrough.filter((lock) => lock.kind === kind).map(({ date }) => ({ from: null, through: date }));
  const ofKind = (periods ?? []).filter((period) => period.kind === kind);
  const open = ofKind.filter(({ isOpen }) => isOpen);
  // Periods may overlap: an adjustment period may be open within a closed month.
  return [...locked, ...ofKind.filter(({ isOpen }) => !isOpen).flatMap((period) => without(period, open))];
}

/** The days of a period that are in none of the other periods. */
function without(
  { from, through }: { from: CalendarDate; through: CalendarDate },
  others: readonly { from: CalendarDate; through: CalendarDate }[],
): ClosedDays[] {
  let rest = [{ from, through }];
  for (const other of others) {
    rest = rest.flatMap((days) => {
      if (other.through < days.from || other.from > days.through) return [days];
      const before = other.from > days.from ? [{ from: days.from, through: daysFrom(other.from, -1) }] : [];
      const after = other.through < days.through ? [{ from: dayAfter(other.through), through: days.through }] : [];
      return [...before, ...after];
    });
  }
  return rest;
}

function isClosed(periods: ErpPeriods, kind: LockKind, date: CalendarDate): boolean {
  return closedOfKind(periods, kind).some(({ from, through }) => (from === null || from <= date) && date <= through);
}

function isMissing({ periods }: ErpPeriods, date: CalendarDate): boolean {
  const general = periods?.filter(({ kind }) => kind === 'general') ?? [];
  return general.length > 0 && !general.some(({ from, through }) => from <= date && date <= through);
}

function byStart(a: ClosedDays, b: ClosedDays): number {
  const [first, second] = [a.from ?? '', b.from ?? ''];
  return first < second ? -1 : first > second ? 1 : 0;
}

/** Parses the stored text. Invalid parts are left out. */
function periodsOf(value: JsonValue): ErpPeriods {
  const { periods, lockedThrough } = isJsonObject(value) ? value : {};
  return {
    periods: Array.isArray(periods)
      ? periods.flatMap((each) => {
          if (!isJsonObject(each)) return [];
          const { from, through, isOpen, kind } = each;
          if (typeof from !== 'string' || typeof through !== 'string' || typeof isOpen !== 'boolean') return [];
          return isLockKind(kind) ? { from, through, isOpen, kind } : [];
        })
      : null,
    lockedThrough: (Array.isArray(lockedThrough) ? lockedThrough : []).flatMap((each) => {
      if (!isJsonObject(each)) return [];
      const { kind, date } = each;
      return isLockKind(kind) && typeof date === 'string' ? { kind, date } : [];
    }),
  };
}

function isLockKind(value: JsonValue): value is LockKind {
  return typeof value === 'string' && (lockKinds as readonly string[]).includes(value);
}
