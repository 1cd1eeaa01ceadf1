/**
 * Which windows have read what a failed window was to read, and whether the windows have left a gap. Pure: told by what each
 * window noted of its streams, never by the present cursors alone.
 */
import { type RecordKind, recordKinds } from '../../terms.ts';
import { changeStreams, type Interval, readOf, type StreamReadings, startsBy, without } from './intervals.ts';

export interface ReadWindow {
  id: number;
  kind: 'window' | 'backfill' | 'replay';
  outcome: 'open' | 'closed' | 'failed';
  /** Null where the window never opened. */
  streams: StreamReadings | null;
  /** Its own interval, for messages: of the invoices. */
  from: Date | null;
  to: Date | null;
}

/**
 * The windows that cover a failed one, in their order; null while it is not covered. It is covered once each stream that it left
 * unread was read by later windows, replays or backfills, and one of them has closed: closing means that everything read until
 * then was judged and posted. `later` holds windows after it, the oldest first.
 */
export function coveredBy(failed: ReadWindow, later: Iterable<ReadWindow>): number[] | null {
  const left = failed.streams === null ? null : needsOf(failed.streams);
  const by: number[] = [];
  for (const window of later) {
    if (window.outcome === 'open') continue;
    const helped = left === null ? false : takeOff(left, failed, window);
    if (helped) by.push(window.id);
    // Windows go on where the last one's cursors stand: what never opened, with none before it, is covered by the next that closes.
    const isRead = left === null ? window.kind === 'window' : isNothing(left);
    if (!isRead || window.outcome !== 'closed') continue;
    return by.at(-1) === window.id ? by : [...by, window.id];
  }
  return null;
}

interface Needs {
  /** What is left to read of each stream of changes. */
  changes: Record<(typeof changeStreams)[number], Interval[]>;
  /** Payments above this id, as of the window's opening; undefined: none are left. */
  paymentsAbove: number | null | undefined;
}

function needsOf(streams: StreamReadings): Needs {
  const need = (stream: (typeof changeStreams)[number]): Interval[] => {
    const { from, to, isRead } = streams[stream];
    return isRead || to === null || (from !== null && from >= to) ? [] : [{ from, to }];
  };
  return {
    changes: { invoice: need('invoice'), prepayment: need('prepayment'), row: need('row') },
    paymentsAbove: streams.payment.isRead ? undefined : streams.payment.from,
  };
}

function isNothing({ changes, paymentsAbove }: Needs): boolean {
  return paymentsAbove === undefined && changeStreams.every((stream) => changes[stream].length === 0);
}

function takeOff(left: Needs, failed: ReadWindow, { kind, streams }: ReadWindow): boolean {
  if (streams === null) return false;
  let helped = false;
  for (const stream of changeStreams) {
    const read = readOf(streams[stream]);
    if (read === null) continue;
    const rest = without(left.changes[stream], read);
    if (JSON.stringify(rest) !== JSON.stringify(left.changes[stream])) helped = true;
    left.changes[stream] = rest;
  }
  // The question for payments has no upper end, but that of a replay of windows that had read them.
  const { from, to, isRead } = streams.payment;
  const failedTo = failed.streams?.payment.to ?? null;
  const reaches = kind !== 'replay' || to === null || (failedTo !== null && failedTo <= to);
  if (left.paymentsAbove !== undefined && isRead && reaches && startsBy(from, left.paymentsAbove)) {
    left.paymentsAbove = undefined;
    helped = true;
  }
  return helped;
}

/** What no window has read although a later one began above it. */
export interface Gap {
  stream: RecordKind;
  /** Source times in ms, or ids of payments; `from` null: from the beginning. */
  from: number | null;
  to: number;
  /** The time that the windows before and behind it were about: replaying it closes the gap. */
  since: Date | null;
  until: Date | null;
}

interface Candidate {
  stream: RecordKind;
  left: Interval[];
  since: Date | null;
  until: Date | null;
}

/**
 * Follows the windows of an installation in their order and finds where one began above all that was read before it. What a
 * replay or a backfill has read is no gap, whenever it did.
 */
export class GapFinder {
  readonly #reach = new Map<RecordKind, number>();
  #candidates: Candidate[] = [];
  readonly #beside: { stream: RecordKind; read: Interval }[] = [];
  #lastTo: Date | null = null;
  /** From when the check holds: the opening of the first window; null before it. */
  since: Date | null = null;

  add(window: ReadWindow): void {
    const { kind, streams } = window;
    if (streams === null) return;
    for (const stream of recordKinds) {
      const { from } = streams[stream];
      if (kind === 'window') this.#begin(stream, from, window.to);
      const read = readOf(streams[stream]);
      if (read === null) continue;
      if (kind === 'window') this.#advance(stream, read.to);
      else this.#beside.push({ stream, read });
      this.#candidates = this.#candidates.map((each) =>
        each.stream === stream ? { ...each, left: without(each.left, read) } : each,
      );
    }
    if (kind !== 'window') return;
    this.since ??= window.from ?? window.to;
    this.#lastTo = window.to ?? this.#lastTo;
  }

  /** The present cursor of a stream while no window is under way. */
  cursor(stream: RecordKind, at: number | null): void {
    if (this.#reach.has(stream)) this.#begin(stream, at, null);
  }

  gaps(): Gap[] {
    return this.#candidates.flatMap(({ stream, left, since, until }) =>
      left.map(({ from, to }) => ({ stream, from, to, since, until })),
    );
  }

  #begin(stream: RecordKind, from: number | null, until: Date | null): void {
    const reach = this.#reach.get(stream);
    const at = from ?? Number.NEGATIVE_INFINITY;
    if (from !== null && reach !== undefined && from > reach) {
      let left: Interval[] = [{ from: Number.isFinite(reach) ? reach : null, to: from }];
      for (const each of this.#beside) if (each.stream === stream) left = without(left, each.read);
      if (left.length > 0) this.#candidates.push({ stream, left, since: this.#lastTo, until });
    }
    this.#advance(stream, at);
  }

  #advance(stream: RecordKind, to: number): void {
    this.#reach.set(stream, Math.max(this.#reach.get(stream) ?? to, to));
  }
}
