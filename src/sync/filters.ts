import { instantOf } from '../domain/dates.ts';
import type { SourceRecord } from '../domain/records.ts';

/** Source clocks and ours may differ by this much in a comparison of `modified` (DESIGN "Sync": 1 s of tolerance). */
const toleranceMs = 1_000;
/** Where `modified` has no offset, an hour of it may be told twice or not at all near a change of clocks. */
const clockChangeToleranceMs = 3_600_000;

/**
 * The first of the sent filters that a record contradicts: the server ignored it (field-notes: an unsupported filter is
 * silently ignored). A filter whose field the record lacks cannot be checked and counts as kept. Null when all are kept.
 */
export function contradicted(filters: Record<string, string>, record: SourceRecord, timezone: string): string | null {
  for (const [filter, value] of Object.entries(filters)) if (!keeps(filter, value, record, timezone)) return filter;
  return null;
}

function keeps(filter: string, value: string, record: SourceRecord, timezone: string): boolean {
  switch (filter) {
    case 'id__gt':
      return record.id > Number(value);
    case 'id__lt':
      return record.id < Number(value);
    case 'modified__gte': {
      const text = 'modified' in record ? record.modified : null;
      const modified = text === null ? null : instantOf(text, timezone);
      const asked = instantOf(value, timezone);
      if (text === null || modified === null || asked === null) return true;
      const tolerance = hasOffset(text) ? toleranceMs : nakedTolerance(modified, timezone);
      return modified.getTime() >= asked.getTime() - tolerance;
    }
    case 'invoice__is':
      return 'invoiceId' in record && record.invoiceId === Number(value);
    case 'invoice__in':
      return 'invoiceId' in record && record.invoiceId !== null && value.split(',').includes(String(record.invoiceId));
    default:
      return true;
  }
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
 * An instant as a filter's value, in the style the server itself uses: with `Z`, or, for a server whose timestamps carry no
 * offset, as local time of the installation's zone.
 */
export function filterTimestamp(instant: Date, style: 'offset' | 'naive', timezone: string): string {
  if (style === 'offset') return `${instant.toISOString().slice(0, 19)}Z`;
  const parts = new Intl.DateTimeFormat('sv-SE', {
    timeZone: timezone,
    dateStyle: 'short',
    timeStyle: 'medium',
  }).format(instant);
  return parts.replace(' ', 'T');
}
