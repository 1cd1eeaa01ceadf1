import { businessDate, instantOf } from '../../domain/dates.ts';
import type { Dialect } from '../../records/dialect.ts';
import { recordOf } from '../../records/schema.ts';
import type { SourceRecord } from '../../records/types.ts';
import type { RecordKind } from '../../terms.ts';
import { filterTimestamp, type TimestampStyle } from './timestamps.ts';

/** A filter that limits a dimension. */
export interface Bound {
  filter: string;
  /** Writes a bound as the filter's value. */
  write(bound: number): string;
}

/**
 * A field by which a list can be divided. It gives each record an integer, and the range `from <= number < to` can be
 * requested. Several filters may express a bound. The first one that the server is not known to ignore is used.
 */
export interface Dimension {
  name: string;
  /** Filters for `number >= bound`. */
  lower: Bound[];
  /** Filters for `number < bound`. */
  upper: Bound[];
  /** The filter for records without the field. Null if every record has it. */
  absent: string | null;
  /** Whether every record has a different number. */
  isUnique: boolean;
  /** The lowest possible number. Null if unknown. */
  least: number | null;
  /** The highest number that a filter can express. */
  greatest: number;
  /** A record's number. Null if it has none. */
  numberOf(item: { id: number; value: unknown }): number | null;
}

/**
 * Every list can be divided by ids. `id__gt` is specified; a list may support some of the others (practice-api:
 * Conventions 6).
 */
export const idDimension: Dimension = {
  name: 'id',
  lower: [
    { filter: 'id__gt', write: (bound) => String(bound - 1) },
    { filter: 'id__gte', write: (bound) => String(bound) },
  ],
  upper: [
    { filter: 'id__lt', write: (bound) => String(bound) },
    { filter: 'id__lte', write: (bound) => String(bound - 1) },
  ],
  absent: null,
  isUnique: true,
  least: 1,
  greatest: Number.MAX_SAFE_INTEGER,
  numberOf: ({ id }) => id,
};

const dayMs = 86_400_000;
/** The last day with a year of four digits. */
const lastMs = Date.parse('9999-12-31T00:00:00Z');

/**
 * The dimensions by which a list may be divided, besides ids; the most likely first. Only `invoice_date` with both
 * bounds is specified. The others are tried, and checked against the records and counts of their answers.
 */
export function furtherDimensions(
  kind: RecordKind,
  zone: { dialect: Dialect; timezone: string; style: TimestampStyle },
): Dimension[] {
  const { dialect, timezone, style } = zone;
  const names = dialect.fields;
  const text = (item: { value: unknown }, field: (record: SourceRecord) => string | null) =>
    field(recordOf(kind, item, dialect));
  const days = (name: string, field: (record: SourceRecord) => string | null): Dimension => ({
    name,
    lower: [{ filter: `${name}__gte`, write: dayText }],
    upper: [
      { filter: `${name}__lte`, write: (bound) => dayText(bound - 1) },
      { filter: `${name}__lt`, write: dayText },
    ],
    absent: `${name}__is_null`,
    isUnique: false,
    least: null,
    greatest: lastMs / dayMs,
    numberOf: (item) => {
      const day = businessDate(text(item, field) ?? '', timezone);
      return day === null ? null : Date.parse(`${day}T00:00:00Z`) / dayMs;
    },
  });
  const seconds = (name: string, field: (record: SourceRecord) => string | null): Dimension => {
    const write = (bound: number) => filterTimestamp(new Date(bound * 1000), style, timezone);
    return {
      name,
      lower: [{ filter: `${name}__gte`, write }],
      upper: [
        { filter: `${name}__lt`, write },
        // Includes the last fraction of the second before.
        { filter: `${name}__lte`, write: (bound) => write(bound - 1).replace(/(Z?)$/, '.999999$1') },
      ],
      absent: `${name}__is_null`,
      isUnique: false,
      least: null,
      greatest: lastMs / 1000,
      numberOf: (item) => {
        const at = instantOf(text(item, field) ?? '', timezone);
        return at === null ? null : Math.floor(at.getTime() / 1000);
      },
    };
  };
  const modified = (name: string) => seconds(name, (record) => record.modified);
  switch (kind) {
    case 'invoice':
      return [
        days(names.invoice.invoice_date, (record) => ('invoiceDate' in record ? record.invoiceDate : null)),
        modified(names.invoice.modified),
      ];
    case 'row':
      return [modified(names.row.modified)];
    case 'prepayment':
      return [modified(names.prepayment.modified)];
    case 'payment':
      return [
        seconds(names.payment.date_added, (record) => ('dateAdded' in record ? record.dateAdded : null)),
        modified(names.payment.modified),
      ];
  }
}

function dayText(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}
