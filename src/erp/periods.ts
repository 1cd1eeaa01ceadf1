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

/** Kinds of periods that nothing may be posted into once they are closed. A closed purchase ledger does not concern sales. */
const postingKinds: readonly LockKind[] = ['general', 'vat', 'year'];

/** What the ERP last said of its periods, and when. */
export interface StoredPeriods {
  periods: ErpPeriods;
  readAt: Date;
  /** Read so short ago that the ERP need not be asked again. */
  isRecent: boolean;
}

/** An ERP that refuses what is dated in a closed period is asked for its periods this seldom. */
const recentSeconds = 900;

/**
 * Stores what the ERP says of its periods, and makes the units late that it does not have and whose periods are closed. The
 * company's row must be there.
 */
export async function storePeriods(db: Connection, company: string, periods: ErpPeriods): Promise<void> {
  await execute(db, 'update erp_company set periods = ?::json, periods_read_at = clock_timestamp() where company = ?', [
    JSON.stringify(periods),
    company,
  ]);
  await markLate(db, company, closedDays(periods));
}

/** Asks the ERP for its periods where they were not asked for lately: a delivery without entries to send learns of a close, too. */
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

/** What delivery stored last; null where the ERP was never asked. */
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

/** For what kind the ERP's period of a day is closed, or that it has periods and none for this day; null: the day is open. */
export function obstacleOf(periods: ErpPeriods, date: CalendarDate): LockKind | 'missing' | null {
  for (const kind of postingKinds) if (isClosed(periods, kind, date)) return kind;
  return isMissing(periods, date) ? 'missing' : null;
}

/**
 * The days that are closed for posting, in order and without overlap. A day for which the ERP has no period is not among them:
 * that the period is missing is found when the entry is delivered.
 */
export function closedDays(periods: ErpPeriods): ClosedDays[] {
  return merged(postingKinds.flatMap((kind) => closedOfKind(periods, kind)));
}

/**
 * The last day through which the general ledger is closed from the beginning of the ERP's periods, without an open day before;
 * null where its first day is open.
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

/** Runs of days in their order; those that overlap or follow each other become one. */
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
  // Periods may overlap: an adjustment period is open beside a closed month.
  return [...locked, ...ofKind.filter(({ isOpen }) => !isOpen).flatMap((period) => without(period, open))];
}

/** The days of a period that none of these others has. */
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

/** Our own text, read back; what cannot be read is left out. */
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
