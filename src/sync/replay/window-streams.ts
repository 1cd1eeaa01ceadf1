import { instant, integer, json, nullable, oneOf, text } from '../../db/columns.ts';
import { type Connection, maybeRow, rows } from '../../db/rows.ts';
import type { ReadAt } from '../../domain/read-at.ts';
import { type InstallationId, type RecordKind, recordKinds } from '../../terms.ts';
import { type Cursors, readCursors } from '../cursors.ts';
import { changedFrom } from '../watermark.ts';
import type { ReadWindow } from './coverage.ts';
import { changeStreams, type StreamReading, type StreamReadings } from './intervals.ts';

/**
 * What windows note of each stream (column `sync_window.streams`). Kept small, since there are 105,000 windows in a year: what is
 * missing equals the window's own `from_time` and `to_time`, and a stream of a closed window was read up to there.
 */

interface StoredStream {
  /** Times as ISO 8601, payments as ids; null: from the beginning. */
  from?: string | number | null;
  /** Null: not read. */
  to?: string | number | null;
  /** Of the cursor when the window opened; gone once it has ended. */
  revision?: number;
}

type StoredStreams = Partial<Record<RecordKind, StoredStream>> & {
  /** A replay of what the mirror holds: nothing was asked of the source. */
  mirror?: true;
};

/** What a live window notes as it opens: where each cursor stands, by which it is told at the end what was read. */
export function openingStreams(cursors: Cursors, window: { from: string | null; opened: ReadAt }): string {
  const streams: StoredStreams = {};
  for (const stream of changeStreams) {
    const { value, revision } = cursors[stream];
    const from = changedFrom(value, window.opened)?.toISOString() ?? null;
    streams[stream] = { ...(from === window.from ? {} : { from }), revision };
  }
  const { value, revision } = cursors.payment;
  streams.payment = { from: value?.after ?? null, revision };
  return JSON.stringify(streams);
}

/** What a backfill notes: of payments it has read what had settled when it opened, of invoices nothing where they are cut off by date. */
export function backfillStreams({ payment }: Cursors, fromDate: string | null): string {
  const streams: StoredStreams = { payment: { from: null, to: payment.value?.after ?? null } };
  if (fromDate !== null) streams.invoice = { to: null };
  return JSON.stringify(streams);
}

/** What a replay notes, all of it as it opens: it moves no cursor. */
export function replayStreams(
  readings: Record<RecordKind, { from: number | null; to: number | null }>,
  isMirror: boolean,
) {
  const streams: StoredStreams = isMirror ? { mirror: true } : {};
  for (const stream of changeStreams) {
    const { from, to } = readings[stream];
    streams[stream] = { from: timeText(from), to: timeText(to) };
  }
  streams.payment = { ...readings.payment };
  return JSON.stringify(streams);
}

const timeText = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());

/**
 * A live window's streams as it ends: a stream was read where its cursor has moved since the opening. Null where nothing is to be
 * noted: for other kinds, and windows that have ended.
 */
export async function endedStreams(
  trx: Connection,
  windowId: number,
  outcome: 'closed' | 'failed',
): Promise<string | null> {
  const found = await maybeRow(
    trx,
    { installation: integer, streams: json, to_time: nullable(instant) },
    `select installation, streams, to_time from sync_window
     where id = ? and kind = 'window' and outcome = 'open' and streams is not null`,
    [windowId],
  );
  if (found === null) return null;
  const stored: StoredStreams = JSON.parse(found.streams);
  const cursors = await readCursors(trx, found.installation);
  const ended: StoredStreams = {};
  for (const stream of recordKinds) {
    const { revision = 0, ...noted } = stored[stream] ?? {};
    const to = cursors[stream].revision === revision ? null : endOf(stream, cursors);
    const isAsItsWindow = outcome === 'closed' && to !== null && to === found.to_time?.toISOString();
    const entry = isAsItsWindow ? noted : { ...noted, to };
    if (Object.keys(entry).length > 0) ended[stream] = entry;
  }
  return JSON.stringify(ended);
}

function endOf(stream: RecordKind, cursors: Cursors): string | number | null {
  const { value } = cursors[stream];
  return (stream === 'payment' ? value?.after : value?.watermark) ?? null;
}

const windowColumns = {
  id: integer,
  installation: integer,
  kind: oneOf(['window', 'backfill', 'replay']),
  trigger: text,
  outcome: oneOf(['open', 'closed', 'failed']),
  from_time: nullable(instant),
  to_time: nullable(instant),
  opened_at: instant,
  closed_at: nullable(instant),
  streams: nullable(json),
};

/** A window with what it noted of its streams. */
export interface NotedWindow extends ReadWindow {
  installation: InstallationId;
  trigger: string;
  openedAt: Date;
  closedAt: Date | null;
}

/** The windows that a condition selects; it begins after `where` and ends with order and limit. */
export async function selectWindows(
  db: Connection,
  condition: string,
  bindings: readonly (string | number | Date | null | readonly number[])[],
): Promise<NotedWindow[]> {
  const found = await rows(
    db,
    windowColumns,
    `select ${Object.keys(windowColumns).join(', ')} from sync_window where ${condition}`,
    bindings,
  );
  return found.map(
    ({ from_time: from, to_time: to, opened_at: openedAt, closed_at: closedAt, streams, ...window }) => ({
      ...window,
      ...{ from, to, openedAt, closedAt },
      streams: streams === null ? null : readings(JSON.parse(streams), { ...window, from, to, openedAt }),
    }),
  );
}

type Told = Pick<NotedWindow, 'kind' | 'outcome' | 'from' | 'to' | 'openedAt'>;

function readings(stored: StoredStreams, window: Told): StreamReadings {
  return {
    invoice: readingOf(stored, 'invoice', window),
    prepayment: readingOf(stored, 'prepayment', window),
    payment: readingOf(stored, 'payment', window),
    row: readingOf(stored, 'row', window),
  };
}

function readingOf(
  stored: StoredStreams,
  stream: RecordKind,
  { kind, outcome, from, to, openedAt }: Told,
): StreamReading {
  const noted = stored[stream] ?? {};
  const isChanges = stream !== 'payment';
  const start = noted.from === undefined ? (isChanges ? (from?.getTime() ?? null) : null) : numberOf(noted.from);
  const end = noted.to === undefined ? (isChanges ? (to?.getTime() ?? null) : null) : numberOf(noted.to);
  if (kind === 'replay') return { from: start, to: end, isRead: outcome === 'closed' && stored.mirror !== true };
  const isRead =
    outcome === 'closed' ? stream === 'payment' || noted.to !== null : kind === 'window' && (noted.to ?? null) !== null;
  // What a window was to read ends at its first answer; where it got none, at its opening.
  const wanted = isChanges ? (to ?? openedAt).getTime() : null;
  return { from: start, to: isRead ? end : wanted, isRead };
}

function numberOf(noted: string | number | null): number | null {
  return typeof noted === 'string' ? Date.parse(noted) : noted;
}

/** The installation of each of these windows; those that do not exist are missing. */
export async function installationsOfWindows(
  db: Connection,
  ids: readonly number[],
): Promise<Map<number, InstallationId>> {
  const found = await rows(
    db,
    { id: integer, installation: integer },
    'select id, installation from sync_window where id = any(?)',
    [ids],
  );
  return new Map(found.map(({ id, installation }) => [id, installation]));
}
