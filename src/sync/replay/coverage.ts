import { type Connection, execute } from '../../db/rows.ts';
import type { InstallationId } from '../../terms.ts';
import { selectWindows } from './noted-windows.ts';
import { type Bounds, changeStreams, type NotedWindow } from './spans.ts';

/**
 * Finds the windows that have read the parts that a failed window left unread (table `window_unread`). A failed window
 * is covered when later windows, replays or backfills have read each stream that it left unread, and one of them has
 * closed. Closing means that everything read until then was judged and posted. Each window that ends subtracts the
 * parts that it has read from the unread parts of earlier windows. The cost therefore depends only on the windows that
 * are not covered yet.
 */

const streams = [...changeStreams, 'payment' as const];
/**
 * Maximum number of failed windows that `--failed` considers; the newest ones count. It is three and a half days of
 * failures every five minutes.
 */
const failedAtMost = 1_000;

/**
 * Stores the parts that an ending window has left unread, and subtracts the parts that it has read from the unread
 * parts of other windows. It runs in the transaction of the window's end. A row of idle windows is named once.
 */
export async function noteEnded(trx: Connection, window: NotedWindow): Promise<void> {
  const { id, installation, outcome } = window;
  if (outcome === 'failed') {
    await execute(
      trx,
      `insert into window_unread (window_id, installation, ${streams.map((stream) => `${stream}_left`).join(', ')})
       values (?, ?, ${streams.map(() => '?::int8multirange').join(', ')}) on conflict do nothing`,
      [id, installation, ...streams.map((stream) => multirange(leftBy(window, stream)))],
    );
  }
  const read = streams.map((stream) => multirange(readBy(window, stream)));
  if (outcome === 'failed' && read.every((each) => each === nothing)) return;
  const all = (each: (stream: (typeof streams)[number]) => string, joined: string) => streams.map(each).join(joined);
  await execute(
    trx,
    `update window_unread set ${all((stream) => `${stream}_left = ${stream}_left - ${stream}_read`, ', ')},
       covered_by = array_remove(covered_by, ?::bigint) || ?::bigint, is_covered = closed and ${all(isRead, ' and ')}
     from (select ?::bool as closed, ${all((stream) => `?::int8multirange as ${stream}_read`, ', ')}) ended
     where installation = ? and not is_covered and window_id < ?
       and (${all((stream) => `${stream}_left && ${stream}_read`, ' or ')} or closed and ${all(isRead, ' and ')})`,
    [id, id, outcome === 'closed', ...read, installation, id],
  );
}

const isRead = (stream: string) => `${stream}_left <@ ${stream}_read`;

/** The part of a stream that a window has read. Null if it has read nothing. */
function readBy({ kind, spans, unread }: NotedWindow, stream: (typeof streams)[number]): Bounds | null {
  if (spans === null || unread.includes(stream)) return null;
  if (stream !== 'payment') return spans[stream].to === null ? null : spans[stream];
  // A window reads all payments above its cursor without an upper limit. A replay has a limit if its windows had read
  // their payments.
  return kind === 'replay' ? spans.payment : { ...spans.payment, to: null };
}

/**
 * The part of a stream that a window should have read but has not. Null if there is none, or if it cannot be expressed
 * as a time interval.
 */
function leftBy({ spans, unread }: NotedWindow, stream: (typeof streams)[number]): Bounds | null {
  if (spans === null || !unread.includes(stream)) return null;
  return stream !== 'payment' && spans[stream].to === null ? null : spans[stream];
}

const nothing = '{}';

function multirange(bounds: Bounds | null): string {
  if (bounds === null) return nothing;
  const { from, to } = bounds;
  return from !== null && to !== null && from >= to ? nothing : `{[${from ?? ''},${to ?? ''})}`;
}

/** The failed live windows that are not covered yet, the oldest first. */
export async function uncoveredWindows(db: Connection, installation: InstallationId): Promise<NotedWindow[]> {
  const newest = await selectWindows(
    db,
    `id in (select window_id from window_unread where installation = ? and not is_covered) and kind = 'window'
     order by id desc limit ?`,
    [installation, failedAtMost],
  );
  return newest.toReversed();
}
