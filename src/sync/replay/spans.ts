/**
 * The parts of each stream that windows and replays read, as intervals. Pure. For invoices, prepayments and rows:
 * source times of changes in ms, `from <= modified < to`. For payments: ids, `from < id <= to`. Two intervals join if
 * the `to` of one is the `from` of the next.
 */
import type { InstallationId, RecordKind } from '../../terms.ts';

/** `from` null: from the beginning. `to` null: up to the present, or unknown. */
export interface Bounds {
  from: number | null;
  to: number | null;
}

export type StreamBounds = Record<RecordKind, Bounds>;

export const changeStreams = ['invoice', 'prepayment', 'row'] as const satisfies readonly RecordKind[];

/** A window with the spans that it has stored. */
export interface NotedWindow {
  id: number;
  installation: InstallationId;
  kind: 'window' | 'backfill' | 'replay';
  outcome: 'open' | 'closed' | 'failed';
  openedAt: Date;
  /** The window's interval. */
  own: Bounds;
  /** For an unread stream, what the window should have read; otherwise what it has read. Null if it stored nothing. */
  spans: StreamBounds | null;
  unread: RecordKind[];
}

/** An interval that has ended. The replay reads the changes in it. */
interface PastBounds extends Bounds {
  to: number;
}

/** One interval of each stream, which one replay reads. */
export interface Span {
  /** The windows that it repeats. Empty for given times in which no window ran. */
  windows: number[];
  invoice: PastBounds;
  prepayment: PastBounds;
  row: PastBounds;
  payment: Bounds;
}

/** A window that cannot be replayed. */
export interface Unrepeatable {
  window: number;
  reason: 'loads everything' | 'noted nothing';
}

/**
 * The span that a replay of a window reads. `settled` is a payment id: all payments that existed when the window opened
 * have an id up to it. Null: up to the present.
 */
export function spanOf(
  { id, kind, openedAt, spans, unread }: NotedWindow,
  settled: number | null,
): Span | Unrepeatable {
  if (spans === null) return { window: id, reason: 'noted nothing' };
  if (changeStreams.some((stream) => spans[stream].from === null)) return { window: id, reason: 'loads everything' };
  const past = ({ from, to }: Bounds): PastBounds => ({ from, to: to ?? openedAt.getTime() });
  const { from, to } = spans.payment;
  // If the window's cursor has no id yet, no payment counts as read.
  const through = unread.includes('payment') ? settled : (to ?? (kind === 'window' ? from : null));
  return {
    windows: [id],
    ...{ invoice: past(spans.invoice), prepayment: past(spans.prepayment), row: past(spans.row) },
    payment: { from, to: through },
  };
}

/**
 * Joins the spans of several windows that have no gap between them, so that one replay reads all failed windows of an
 * outage.
 */
export function mergeSpans(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const span of spans.toSorted((a, b) => (a.invoice.from ?? 0) - (b.invoice.from ?? 0))) {
    const last = merged.at(-1);
    if (last && [...changeStreams, 'payment' as const].every((stream) => meets(last[stream], span[stream])))
      merged.splice(-1, 1, join(last, span));
    else merged.push(span);
  }
  return merged;
}

function meets(one: Bounds, other: Bounds): boolean {
  const reaches = (a: Bounds, b: Bounds) => a.to === null || b.from === null || b.from <= a.to;
  return reaches(one, other) && reaches(other, one);
}

function join(one: Span, other: Span): Span {
  const past = (a: PastBounds, b: PastBounds): PastBounds => ({
    from: ofBoth(a.from, b.from, Math.min),
    to: Math.max(a.to, b.to),
  });
  return {
    windows: [...new Set([...one.windows, ...other.windows])].toSorted((a, b) => a - b),
    invoice: past(one.invoice, other.invoice),
    prepayment: past(one.prepayment, other.prepayment),
    row: past(one.row, other.row),
    payment: {
      from: ofBoth(one.payment.from, other.payment.from, Math.min),
      to: ofBoth(one.payment.to, other.payment.to, Math.max),
    },
  };
}

function ofBoth(one: number | null, other: number | null, which: (a: number, b: number) => number): number | null {
  return one === null || other === null ? null : which(one, other);
}
