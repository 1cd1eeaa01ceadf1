import { businessDate, hasOffset, instantOf } from '../../domain/dates.ts';
import type { SourceRecord } from '../../records/types.ts';
import { toleranceMs } from './timestamps.ts';

const dayMs = 86_400_000;

/**
 * The first of the sent filters that a record contradicts, so that the server has ignored it (field-notes: an
 * unsupported filter is silently ignored). A filter on a field that the record does not have passes. Null if all pass.
 */
export function contradictedFilter(
  filters: Record<string, string>,
  record: SourceRecord,
  timezone: string,
): string | null {
  for (const [filter, value] of Object.entries(filters)) if (!matches(filter, value, record, timezone)) return filter;
  return null;
}

function matches(filter: string, value: string, record: SourceRecord, timezone: string): boolean {
  const cut = filter.lastIndexOf('__');
  const [field, operator] = [filter.slice(0, cut), filter.slice(cut + 2)];
  switch (field) {
    case 'id':
      return compares(operator, record.id, Number(value), 0);
    case 'invoice':
      if (!('invoiceId' in record)) return true;
      // A reference to an invoice of another installation does not show whether the filter was honoured.
      if (record.defects.some(({ code }) => code === 'foreign_reference')) return true;
      return value.split(',').includes(String(record.invoiceId));
    case 'modified':
      return matchesTime(operator, value, record.modified, timezone);
    case 'date_added':
      return matchesTime(operator, value, 'dateAdded' in record ? record.dateAdded : null, timezone);
    case 'invoice_date':
      return matchesDay(operator, value, 'invoiceDate' in record ? record.invoiceDate : null, timezone);
    default:
      return true;
  }
}

/** Whether `found <operator> asked` is true within a tolerance. */
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

function matchesTime(operator: string, value: string, text: string | null, timezone: string): boolean {
  if (operator === 'is_null') return text === null;
  const found = text === null ? null : instantOf(text, timezone);
  const asked = instantOf(value, timezone);
  if (text === null || found === null || asked === null) return true;
  return compares(operator, found.getTime(), asked.getTime(), toleranceMs(found, hasOffset(text), timezone));
}

/** A field that is a timestamp has one day of tolerance, because the server may take its date in another time zone. */
function matchesDay(operator: string, value: string, text: string | null, timezone: string): boolean {
  if (operator === 'is_null') return text === null;
  const found = text === null ? null : businessDate(text, timezone);
  if (text === null || found === null) return true;
  const day = (date: string) => Date.parse(`${date}T00:00:00Z`);
  return compares(operator, day(found), day(value), text.length > value.length ? dayMs : 0);
}
