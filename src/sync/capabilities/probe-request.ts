import { businessDate, hasOffset, instantOf } from '../../domain/dates.ts';
import type { SourceRecord } from '../../records/types.ts';
import { probeTexts } from '../../texts/reports/filters.ts';
import { filterTimestamp } from '../walk/timestamps.ts';

/** A value of a filter. The answer to a request with it shows whether the server honours the filter. */
export interface ProbeRequest {
  value: string;
  /**
   * Whether the filter keeps a record (`in`) or leaves it out. `either` if that depends on how the server interprets
   * the value.
   */
  side(record: SourceRecord): 'in' | 'out' | 'either';
}

/**
 * Filters have whole seconds. In the repeated hour of a clock change, a timestamp without offset stands for two
 * instants.
 */
const toleranceMs = { offset: 1_000, naive: 3_601_000 } as const;
const secondMs = 1_000;
const dayMs = 86_400_000;

/**
 * The value for `filter` that divides the records of an unfiltered page most evenly, or the reason why no value divides
 * them. Pure and deterministic.
 */
export function probeRequestOf(filter: string, records: SourceRecord[], timezone: string): ProbeRequest | string {
  const cut = filter.lastIndexOf('__');
  const field = filter.slice(0, cut);
  const operator = filter.slice(cut + 2);
  if (records.length < 2) return records.length === 0 ? probeTexts.noRecords : probeTexts.oneRecord;
  const candidates =
    operator === 'in' || operator === 'is'
      ? invoiceSets(operator, records)
      : boundsBetween(field, operator, records, timezone);
  let best: { candidate: ProbeRequest; smallerSide: number } | null = null;
  for (const candidate of candidates) {
    const sides = Map.groupBy(records, (record) => candidate.side(record));
    const smallerSide = Math.min(sides.get('in')?.length ?? 0, sides.get('out')?.length ?? 0);
    if (smallerSide > (best?.smallerSide ?? 0)) best = { candidate, smallerSide };
  }
  return best?.candidate ?? probeTexts.tooSimilar({ field });
}

/** Single invoices of the records (`is`), or pairs of consecutive ones (`in`). */
function invoiceSets(operator: 'in' | 'is', records: SourceRecord[]): ProbeRequest[] {
  const invoices = [...new Set(records.map(invoiceIdOf).filter((id) => id !== null))];
  const sets = operator === 'is' ? invoices.map((id) => [id]) : neighbours(invoices);
  return sets.map((set) => ({
    value: set.join(','),
    side: (record) => (set.includes(invoiceIdOf(record) ?? -1) ? 'in' : 'out'),
  }));
}

function invoiceIdOf(record: SourceRecord): number | null {
  return 'invoiceId' in record ? record.invoiceId : null;
}

function neighbours(numbers: readonly number[]): [number, number][] {
  const pairs: [number, number][] = [];
  let previous: number | null = null;
  for (const number of numbers) {
    if (previous !== null) pairs.push([previous, number]);
    previous = number;
  }
  return pairs;
}

/** A field that a filter limits, as a number. */
interface Scale {
  numberOf(record: SourceRecord): number | null;
  write(bound: number): string;
  /** Bounds are multiples of this. */
  unit: number;
  /** A record that is closer to the bound than this may be on either side. */
  tolerance: number;
}

/** A bound between each two consecutive values of the records. */
function boundsBetween(field: string, operator: string, records: SourceRecord[], timezone: string): ProbeRequest[] {
  const { numberOf, write, unit, tolerance } = scaleOf(field, records, timezone);
  const numbers = [...new Set(records.map(numberOf).filter((number) => number !== null))].sort((a, b) => a - b);
  const round = operator === 'gt' || operator === 'lte' ? Math.floor : Math.ceil;
  return neighbours(numbers).map(([lower, higher]) => {
    const bound = round((lower + higher) / 2 / unit) * unit;
    return {
      value: write(bound),
      side: (record) => {
        const number = numberOf(record);
        if (number === null || Math.abs(number - bound) < tolerance) return 'either';
        const isAbove = number > bound || (number === bound && ['gte', 'lt'].includes(operator));
        return isAbove === operator.startsWith('g') ? 'in' : 'out';
      },
    };
  });
}

function scaleOf(field: string, records: SourceRecord[], timezone: string): Scale {
  if (field === 'id') return { numberOf: ({ id }) => id, write: String, unit: 1, tolerance: 0 };
  if (field === 'invoice_date') {
    return {
      numberOf: (record) => ('invoiceDate' in record ? dayMsOf(record.invoiceDate, timezone) : null),
      write: (bound) => new Date(bound).toISOString().slice(0, 10),
      unit: dayMs,
      // The server may read a date with a time as the day before.
      tolerance: dayMs,
    };
  }
  const stamp = records.map(modifiedOf).find((text) => text !== null) ?? '';
  const style = hasOffset(stamp) ? 'offset' : 'naive';
  return {
    numberOf: (record) => instantOf(modifiedOf(record) ?? '', timezone)?.getTime() ?? null,
    write: (bound) => filterTimestamp(new Date(bound), style, timezone),
    unit: secondMs,
    tolerance: toleranceMs[style],
  };
}

function modifiedOf(record: SourceRecord): string | null {
  return 'modified' in record ? record.modified : null;
}

function dayMsOf(invoiceDate: string | null, timezone: string): number | null {
  const date = invoiceDate === null ? null : businessDate(invoiceDate, timezone);
  return date === null ? null : Date.parse(`${date}T00:00:00Z`);
}
