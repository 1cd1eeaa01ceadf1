import { instant, integer, integersOrNulls, manyOf, nullable, oneOf, type RowOf } from '../../db/columns.ts';
import { type Binding, type Connection, rows } from '../../db/rows.ts';
import type { ReadAt } from '../../domain/read-at.ts';
import { type InstallationId, type RecordKind, recordKinds } from '../../terms.ts';
import { type CursorMove, type Cursors, readCursors } from '../cursors.ts';
import { changedFrom } from '../watermark.ts';
import type { Bounds, changeStreams, NotedWindow, StreamBounds } from './spans.ts';

/**
 * The spans of each stream that windows store (columns `…_span` and `unread_streams` of `sync_window`). They are kept
 * small, because a year has 105,000 windows. In most windows three of the four spans equal the window's interval, and
 * are stored as null.
 */

/**
 * The parts that a live window will read: from each cursor up to `to`. `opened` is null if the source did not answer.
 */
export function openingSpans(cursors: Cursors, opened: ReadAt | null, to: Date): StreamBounds {
  const from = positions(cursors, opened);
  const changes = (stream: (typeof changeStreams)[number]): Bounds => ({ from: from[stream], to: to.getTime() });
  return {
    ...{ invoice: changes('invoice'), prepayment: changes('prepayment'), row: changes('row') },
    payment: { from: from.payment, to: null },
  };
}

/**
 * The parts that a backfill will read: everything. Only payments that had settled when the backfill opened certainly
 * count as read. If the backfill limits invoices by date, no invoice counts as read.
 */
export function backfillSpans({ payment }: Cursors, fromDate: string | null, to: Date): StreamBounds {
  const all = { from: null, to: to.getTime() };
  return {
    invoice: fromDate === null ? all : { from: null, to: null },
    ...{ prepayment: all, row: all, payment: { from: null, to: payment.value?.after ?? null } },
  };
}

/** The parts that a live window has read if it has moved every cursor. */
export function readSpans(before: Cursors, opened: ReadAt, moves: readonly CursorMove[]): StreamBounds {
  const from = positions(before, opened);
  const moved = Object.fromEntries(moves.map(({ stream, value, revision }) => [stream, { value, revision }]));
  const to = positions({ ...before, ...moved }, null);
  return eachStream((stream) => ({ from: from[stream], to: to[stream] }));
}

function positions(cursors: Cursors, opened: ReadAt | null): Record<RecordKind, number | null> {
  const of = (stream: RecordKind) => changedFrom(cursors[stream].value, opened)?.getTime() ?? null;
  return {
    ...{ invoice: of('invoice'), prepayment: of('prepayment'), row: of('row') },
    payment: cursors.payment.value?.after ?? null,
  };
}

/**
 * An open window with its spans at its end. A closed window has read every stream. A failed live window has read those
 * whose cursors have moved. Null if the window is not open.
 */
export async function endedWindow(
  trx: Connection,
  id: number,
  outcome: 'closed' | 'failed',
): Promise<NotedWindow | null> {
  const [window] = await selectWindows(trx, `id = ? and outcome = 'open'`, [id]);
  if (window === undefined) return null;
  const { installation, kind, spans } = window;
  if (spans === null) return { ...window, outcome };
  if (kind !== 'window') return { ...window, outcome, unread: outcome === 'closed' ? [] : window.unread };
  const now = positions(await readCursors(trx, installation), null);
  const unread = recordKinds.filter((stream) => outcome === 'failed' && now[stream] === spans[stream].from);
  const ended = (stream: RecordKind): Bounds =>
    unread.includes(stream) ? spans[stream] : { from: spans[stream].from, to: now[stream] };
  return { ...window, outcome, unread, spans: eachStream(ended) };
}

export function eachStream(of: (stream: RecordKind) => Bounds): StreamBounds {
  return { invoice: of('invoice'), prepayment: of('prepayment'), row: of('row'), payment: of('payment') };
}

export const spanShape = {
  invoice_span: nullable(integersOrNulls),
  prepayment_span: nullable(integersOrNulls),
  row_span: nullable(integersOrNulls),
  payment_span: nullable(integersOrNulls),
};

/** The columns of a window's spans, in the order of `spanBindings`. */
export const spanColumns = Object.keys(spanShape);

/** A window's spans for its row. A span that equals the window's interval is null. */
export function spanBindings(spans: StreamBounds | null, own: Bounds): Binding[] {
  return (['invoice', 'prepayment', 'row', 'payment'] as const).map((stream) => {
    if (spans === null) return null;
    const { from, to } = spans[stream];
    return stream !== 'payment' && from === own.from && to === own.to ? null : [from, to];
  });
}

/** SQL: a window's interval as a span, which most windows have for their changes. */
const ownSpan = `array[(extract(epoch from from_time) * 1000)::bigint, (extract(epoch from to_time) * 1000)::bigint]`;

/** SQL: a window's span of a stream. */
export function spanSql(stream: RecordKind): string {
  return stream === 'payment' ? 'payment_span' : `coalesce(${stream}_span, ${ownSpan})`;
}

/** SQL: the columns of `spanShape` with complete spans. */
export const selectedSpans = recordKinds.map((stream) => `${spanSql(stream)} as ${stream}_span`).join(', ');

/** The spans of a row that was selected with `selectedSpans`. */
export function spansOf(found: RowOf<typeof spanShape>): StreamBounds {
  return eachStream((stream) => boundsOf(found[`${stream}_span`]));
}

const windowColumns = {
  id: integer,
  installation: integer,
  kind: oneOf(['window', 'backfill', 'replay']),
  outcome: oneOf(['open', 'closed', 'failed']),
  opened_at: instant,
};

/** Selects windows. `condition` follows `where`, and may end with order and limit. */
export async function selectWindows(
  db: Connection,
  condition: string,
  bindings: readonly Binding[],
): Promise<NotedWindow[]> {
  const found = await rows(
    db,
    { ...windowColumns, ...spanShape, own: integersOrNulls, unread: manyOf(recordKinds) },
    `select ${Object.keys(windowColumns).join(', ')}, ${ownSpan} as own, unread_streams as unread, ${selectedSpans}
     from sync_window where ${condition}`,
    bindings,
  );
  return found.map((window) => {
    const { id, installation, kind, outcome, opened_at: openedAt, own, unread, payment_span } = window;
    const spans = payment_span && spansOf(window);
    return { id, installation, kind, outcome, openedAt, own: boundsOf(own), spans, unread };
  });
}

function boundsOf(span: readonly (number | null)[] | null): Bounds {
  const [from = null, to = null] = span ?? [];
  return { from, to };
}

/** The installation of each of these windows. Windows that do not exist are left out. */
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
