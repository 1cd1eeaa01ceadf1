import { businessDate, instantOf } from '../../domain/dates.ts';
import type { Dialect } from '../../records/dialect.ts';
import { recordOf } from '../../records/schema.ts';
import type { SourceRecord } from '../../records/types.ts';
import type { RecordKind } from '../../terms.ts';
import { filterTimestamp } from './filters.ts';

/** A filter that bounds a dimension, and how the bound `v` is written for it. */
export interface Bound {
  filter: string;
  write(v: number): string;
}

/**
 * What a list can be divided by: each record has a whole number, and the part `from <= number < to` of the list can be asked for.
 * Several filters may serve as a bound; the first that the server is not known to ignore is sent.
 */
export interface Dimension {
  name: string;
  /** Keeps `number >= v`. */
  lower: Bound[];
  /** Keeps `number < v`. */
  upper: Bound[];
  /** Asks for records without the field; null where every record has it. */
  absent: string | null;
  /** No two records have the same number. */
  unique: boolean;
  /** No number is lower; null: unknown. */
  least: number | null;
  /** A record's number; null when it has none. */
  numberOf(item: { id: number; value: unknown }): number | null;
}

/** Ids: whatever the list. `__gt` is specified; of the others the list's own operators may know some (Conventions 6). */
export const idDimension: Dimension = {
  name: 'id',
  lower: [
    { filter: 'id__gt', write: (v) => String(v - 1) },
    { filter: 'id__gte', write: (v) => String(v) },
  ],
  upper: [
    { filter: 'id__lt', write: (v) => String(v) },
    { filter: 'id__lte', write: (v) => String(v - 1) },
  ],
  absent: null,
  unique: true,
  least: 1,
  numberOf: ({ id }) => id,
};

const dayMs = 86_400_000;

/**
 * What else the lists of a kind can perhaps be divided by, the surest first: only `invoice_date` with both bounds is specified,
 * the others are tried and held against the records and counts that come back.
 */
export function furtherDimensions(
  kind: RecordKind,
  zone: { dialect: Dialect; timezone: string; style: 'offset' | 'naive' },
): Dimension[] {
  const { dialect, timezone, style } = zone;
  const names = dialect.fields;
  const text = (item: { value: unknown }, field: (record: SourceRecord) => string | null) =>
    field(recordOf(kind, item, dialect));
  const days = (name: string, field: (record: SourceRecord) => string | null): Dimension => ({
    name,
    lower: [{ filter: `${name}__gte`, write: dayText }],
    upper: [
      { filter: `${name}__lte`, write: (v) => dayText(v - 1) },
      { filter: `${name}__lt`, write: dayText },
    ],
    absent: `${name}__is_null`,
    unique: false,
    least: null,
    numberOf: (item) => {
      const day = businessDate(text(item, field) ?? '', timezone);
      return day === null ? null : Date.parse(`${day}T00:00:00Z`) / dayMs;
    },
  });
  const seconds = (name: string, field: (record: SourceRecord) => string | null): Dimension => {
    const write = (v: number) => filterTimestamp(new Date(v * 1000), style, timezone);
    return {
      name,
      lower: [{ filter: `${name}__gte`, write }],
      upper: [
        { filter: `${name}__lt`, write },
        // Everything below the second `v`, its fractions included.
        { filter: `${name}__lte`, write: (v) => write(v - 1).replace(/(Z?)$/, '.999999$1') },
      ],
      absent: `${name}__is_null`,
      unique: false,
      least: null,
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
