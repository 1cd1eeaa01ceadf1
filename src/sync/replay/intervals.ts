/**
 * What windows read of each stream, as intervals of numbers. Pure. Of invoices, prepayments and rows: the source times of
 * changes in ms, `from <= modified < to`. Of payments: ids, `from < id <= to`. Both join where one's `to` is the next one's
 * `from`.
 */
import type { RecordKind } from '../../terms.ts';

export interface Interval {
  /** Null: from the beginning. */
  from: number | null;
  to: number;
}

/** One stream of a window: what it was to read, and whether it has. */
export interface StreamReading {
  from: number | null;
  /** Where the reading ends, or was to end; null: nobody knows, since it was never read (payments), or has no end. */
  to: number | null;
  isRead: boolean;
}

export type StreamReadings = Record<RecordKind, StreamReading>;

export const changeStreams = ['invoice', 'prepayment', 'row'] as const satisfies readonly RecordKind[];

export function startsBy(one: number | null, other: number | null): boolean {
  return one === null || (other !== null && one <= other);
}

/** What is left of some intervals without another one. */
export function without(intervals: readonly Interval[], read: Interval): Interval[] {
  return intervals.flatMap((interval) => {
    const below: Interval[] =
      read.from !== null && startsBy(interval.from, read.from)
        ? [{ from: interval.from, to: Math.min(interval.to, read.from) }]
        : [];
    const above: Interval[] =
      read.to < interval.to ? [{ from: Math.max(interval.from ?? read.to, read.to), to: interval.to }] : [];
    const isApart =
      (read.from !== null && read.from >= interval.to) || (interval.from !== null && read.to <= interval.from);
    return isApart ? [interval] : [...below, ...above].filter(({ from, to }) => from === null || from < to);
  });
}

/** What a window has read of a stream; null where that is nothing. */
export function readOf({ from, to, isRead }: StreamReading): Interval | null {
  return isRead && to !== null && (from === null || from < to) ? { from, to } : null;
}
