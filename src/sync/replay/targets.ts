/**
 * What a replay is to ask: the windows or times that somebody names, as intervals of each stream. Pure.
 */
import { changeStreams, type StreamReading } from './intervals.ts';
import type { NotedWindow } from './window-streams.ts';

/** What a replay asks of one stream; source times in ms, or ids of payments; `to` null: up to the present. */
export interface Asked {
  from: number | null;
  to: number | null;
}

/** Changes of an interval that is over. */
interface AskedChanges extends Asked {
  to: number;
}

/** One interval of each stream, read by one replay. */
export interface Span {
  /** The windows that it repeats; none where times were given in which no window ran. */
  windows: number[];
  invoice: AskedChanges;
  prepayment: AskedChanges;
  row: AskedChanges;
  payment: Asked;
}

/** A window that a replay cannot repeat: it loaded everything, or never opened, with none before it. */
export interface Unrepeatable {
  window: number;
  reason: 'loads everything' | 'never opened';
}

/** The interval of each stream that a window was to read. `neighbours` are windows around it, in their order. */
export function spanOf(
  window: NotedWindow,
  neighbours: readonly NotedWindow[],
  overlapMs: number,
): Span | Unrepeatable {
  const { id, openedAt } = window;
  const streams = window.streams ?? streamsAround(window, neighbours);
  if (streams === null) return { window: id, reason: 'never opened' };
  if (changeStreams.some((stream) => streams[stream].from === null)) return { window: id, reason: 'loads everything' };
  const changes = (reading: StreamReading): AskedChanges => ({
    from: reading.from,
    to: reading.to ?? openedAt.getTime(),
  });
  const { payment } = streams;
  const through = payment.isRead ? payment.to : settledAfter(openedAt, neighbours, overlapMs);
  return {
    windows: [id],
    ...{ invoice: changes(streams.invoice), prepayment: changes(streams.prepayment), row: changes(streams.row) },
    payment: { from: payment.from, to: payment.isRead && through === null ? payment.from : through },
  };
}

/** The streams of a window that never opened: it would have begun where the one before it stood. */
export function streamsAround(
  { id, openedAt, to }: NotedWindow,
  neighbours: readonly NotedWindow[],
): NotedWindow['streams'] {
  const before = neighbours.findLast(
    (each) => each.id < id && each.kind === 'window' && each.streams !== null,
  )?.streams;
  if (!before) return null;
  const unread = ({ from, to: end, isRead }: StreamReading, until: number | null): StreamReading => ({
    from: isRead ? end : from,
    to: until,
    isRead: false,
  });
  const until = (to ?? openedAt).getTime();
  return {
    invoice: unread(before.invoice, until),
    prepayment: unread(before.prepayment, until),
    row: unread(before.row, until),
    payment: unread(before.payment, null),
  };
}

/**
 * A payment id below which every payment lies that was there at an instant: where the cursor stood after a window that began
 * more than the overlap after the first one that had read them. Null: no such window has run, and payments are asked for up to
 * the present.
 */
function settledAfter(instant: Date, neighbours: readonly NotedWindow[], overlapMs: number): number | null {
  const readers = neighbours.filter(({ kind, outcome }) => kind === 'window' && outcome === 'closed');
  const first = readers.find(({ openedAt }) => openedAt > instant);
  const settledAt = first?.closedAt && first.closedAt.getTime() + overlapMs;
  if (!settledAt) return null;
  const settled = readers.find(({ openedAt, streams }) => openedAt.getTime() > settledAt && streams?.payment.isRead);
  return settled?.streams?.payment.to ?? null;
}

/** The windows whose interval meets times that were given, in their order; the first load is none of them. */
export function windowsWithin(windows: readonly NotedWindow[], from: Date, to: Date): NotedWindow[] {
  return windows.filter((window) => {
    if (window.kind !== 'window' || window.outcome === 'open') return false;
    const start = window.streams === null ? window.from : timeOf(window.streams.invoice.from);
    const end = window.to ?? window.openedAt;
    return start !== null && start < to && end > from;
  });
}

/**
 * Times that were given, widened to the whole windows that they meet. What lies outside every window is asked for by its times:
 * its payments from where the cursor stood before, up to where it stood once they had settled; before the first window the ids
 * `mirrored` of those times.
 */
export function spanOfTimes(
  from: Date,
  to: Date,
  windows: readonly NotedWindow[],
  overlapMs: number,
  mirrored: Asked,
): Span {
  const within = windowsWithin(windows, from, to);
  const spans = within.map((each) => spanOf(each, windows, overlapMs)).filter((span) => 'windows' in span);
  const asked = { from: from.getTime(), to: to.getTime() };
  const live = windows.filter(({ kind, streams }) => kind === 'window' && streams !== null);
  const before = live.findLast(({ openedAt, streams }) => openedAt <= from && streams !== null)?.streams?.payment.from;
  const given: Span = {
    windows: [],
    ...{ invoice: asked, prepayment: asked, row: asked },
    payment:
      before === undefined || before === null ? mirrored : { from: before, to: settledAfter(to, windows, overlapMs) },
  };
  // Windows tell where their payments begin; only where none is met do the times have to.
  const [first] = spans;
  return spans.reduce(join, first ? { ...given, payment: first.payment } : given);
}

/** The spans of several windows; those that meet are read as one, so that an outage's failed windows are asked once. */
export function mergeSpans(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const span of spans.toSorted((a, b) => (a.invoice.from ?? 0) - (b.invoice.from ?? 0))) {
    const last = merged.at(-1);
    if (last && asks.every((stream) => meets(last[stream], span[stream]))) merged.splice(-1, 1, join(last, span));
    else merged.push(span);
  }
  return merged;
}

const asks = [...changeStreams, 'payment'] as const;

function meets(one: Asked, other: Asked): boolean {
  const reaches = (a: Asked, b: Asked) => a.to === null || b.from === null || b.from <= a.to;
  return reaches(one, other) && reaches(other, one);
}

function join(one: Span, other: Span): Span {
  const changes = (stream: (typeof changeStreams)[number]): AskedChanges => ({
    from: earliest(one[stream].from, other[stream].from),
    to: Math.max(one[stream].to, other[stream].to),
  });
  const [a, b] = [one.payment.to, other.payment.to];
  return {
    windows: [...new Set([...one.windows, ...other.windows])].toSorted((x, y) => x - y),
    ...{ invoice: changes('invoice'), prepayment: changes('prepayment'), row: changes('row') },
    payment: {
      from: earliest(one.payment.from, other.payment.from),
      to: a === null || b === null ? null : Math.max(a, b),
    },
  };
}

function earliest(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : Math.min(one, other);
}

function timeOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
