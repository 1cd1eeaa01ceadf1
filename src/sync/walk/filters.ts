import { businessDate, instantOf } from '../../domain/dates.ts';
import type { SourceRecord } from '../../records/types.ts';

/** Source clocks and ours may differ by this much in a comparison of `modified` (DESIGN "Sync": 1 s of tolerance). */
const toleranceMs = 1_000;
/** Where `modified` has no offset, an hour of it may be told twice or not at all near a change of clocks. */
const clockChangeToleranceMs = 3_600_000;
const dayMs = 86_400_000;

/**
 * The first of the sent filters that a record contradicts: the server ignored it (field-notes: an unsupported filter is
 * silently ignored). A filter whose field the record lacks cannot be checked and counts as kept. Null when all are kept.
 */
export function contradicted(filters: Record<string, string>, record: SourceRecord, timezone: string): string | null {
  for (const [filter, value] of Object.entries(filters)) if (!keeps(filter, value, record, timezone)) return filter;
  return null;
}

function keeps(filter: string, value: string, record: SourceRecord, timezone: string): boolean {
  const cut = filter.lastIndexOf('__');
  const [field, operator] = [filter.slice(0, cut), filter.slice(cut + 2)];
  switch (field) {
    case 'id':
      return compares(operator, record.id, Number(value), 0);
    case 'invoice':
      return !('invoiceId' in record) || value.split(',').includes(String(record.invoiceId));
    case 'modified':
      return keepsTime(operator, value, record.modified, timezone);
    case 'date_added':
      return keepsTime(operator, value, 'dateAdded' in record ? record.dateAdded : null, timezone);
    case 'invoice_date':
      return keepsDay(operator, value, 'invoiceDate' in record ? record.invoiceDate : null, timezone);
    default:
      return true;
  }
}

/** Whether `found` stands to `asked` as the operator says, give or take a tolerance. */
function compares(operator: string, found: number, asked: number, tolerance: number): boolean {
  switch (operator) {
    case 'gt':
      return found > asked - tolerance;
    case 'gte':
      return found >= asked - tolerance;
    case 'lt':
      return found < asked + tolerance;
    case 'lte':
      return found <= asked + tolerance;
    default:
      return true;
  }
}

function keepsTime(operator: string, value: string, text: string | null, timezone: string): boolean {
  if (operator === 'is_null') return text === null;
  const found = text === null ? null : instantOf(text, timezone);
  const asked = instantOf(value, timezone);
  if (text === null || found === null || asked === null) return true;
  const tolerance = hasOffset(text) ? toleranceMs : nakedTolerance(found, timezone);
  return compares(operator, found.getTime(), asked.getTime(), tolerance);
}

/** Days, with one of tolerance for a field that is a timestamp: the server may cut it in another zone. */
function keepsDay(operator: string, value: string, text: string | null, timezone: string): boolean {
  if (operator === 'is_null') return text === null;
  const found = text === null ? null : businessDate(text, timezone);
  if (text === null || found === null) return true;
  const day = (date: string) => Date.parse(`${date}T00:00:00Z`);
  return compares(operator, day(found), day(value), text.length > value.length ? dayMs : 0);
}

export function hasOffset(timestamp: string): boolean {
  return /(Z|[+-]\d{2}:?\d{2})$/i.test(timestamp.trim());
}

function nakedTolerance(instant: Date, timezone: string): number {
  const before = offsetAt(new Date(instant.getTime() - 2 * clockChangeToleranceMs), timezone);
  const after = offsetAt(new Date(instant.getTime() + 2 * clockChangeToleranceMs), timezone);
  return before === after ? toleranceMs : clockChangeToleranceMs + toleranceMs;
}

function offsetAt(instant: Date, timezone: string): string {
  const parts = new Intl.DateTimeFormat('en', { timeZone: timezone, timeZoneName: 'longOffset' }).formatToParts(
    instant,
  );
  return parts.find((part) => part.type === 'timeZoneName')?.value ?? '';
}

/**
 * An instant as a lower bound in a filter, in the style the server itself uses: with `Z`, or, for a server whose timestamps carry
 * no offset, as local time of the installation's zone. Near a change of clocks that is an hour earlier: the server may take a
 * time told twice for the later one.
 */
export function filterTimestamp(instant: Date, style: 'offset' | 'naive', timezone: string): string {
  if (style === 'offset') return `${instant.toISOString().slice(0, 19)}Z`;
  const isNear = nakedTolerance(instant, timezone) > toleranceMs;
  const text = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'medium' }).format(
    isNear ? instant.getTime() - clockChangeToleranceMs : instant,
  );
  return text.replace(' ', 'T');
}

/**
 * As `filterTimestamp`, for asking what has changed since an instant. A time without offset may be the installation's or UTC
 * (practice-api, Conventions 4, says neither): the earliest of the zones it may be in loses nothing with any of them, and asks for
 * some hours more where that is not needed.
 */
export function sinceTimestamp(instant: Date, style: 'offset' | 'naive', zones: readonly string[]): string {
  return zones.map((zone) => filterTimestamp(instant, style, zone)).sort()[0]!;
}
