import { bool, instant, integer, nullable } from '../../db/columns.ts';
import { type Connection, row, rows } from '../../db/rows.ts';
import { type InstallationId, type RecordKind, recordKinds } from '../../terms.ts';
import { readCursors } from '../cursors.ts';
import { changedFrom } from '../watermark.ts';
import { spanSql } from './noted-windows.ts';

/**
 * A part of a stream that no window, backfill or replay has read, although a window or the present cursor begins above
 * it.
 */
export interface Gap {
  stream: RecordKind;
  /** Source times in ms, or ids of payments. `from` null: from the beginning. */
  from: number | null;
  to: number;
  /** The end times of the windows before and after it. A replay of this interval closes the gap. */
  since: Date | null;
  until: Date | null;
}

export interface GapReport {
  /** The start of the checked time. Null if no window has opened yet. */
  since: Date | null;
  gaps: Gap[];
}

/**
 * Finds the parts of the streams that the windows of an installation, up to the present cursors, have left unread. It
 * uses the spans that each window stored, and not the table of failed windows.
 */
export async function gapsOf(db: Connection, installation: InstallationId): Promise<GapReport> {
  // The cursors are read before the windows. If a window closes in between, its spans include the cursors.
  const cursors = await readCursors(db, installation);
  const { isOpen, since } = await row(
    db,
    { isOpen: bool, since: nullable(instant) },
    `select exists (select from sync_window where installation = ? and kind = 'window' and outcome = 'open') as "isOpen",
       (select coalesce(from_time, to_time) from sync_window where installation = ? and kind = 'window'
          and payment_span is not null and to_time is not null order by id limit 1) as since`,
    [installation, installation],
  );
  const gaps: Gap[] = [];
  for (const stream of recordKinds) {
    const { value } = cursors[stream];
    const at = stream === 'payment' ? (value?.after ?? null) : (changedFrom(value, null)?.getTime() ?? null);
    for (const gap of await gapsOfStream(db, installation, stream, isOpen ? null : at)) gaps.push({ stream, ...gap });
  }
  return { since, gaps };
}

/** `cursor` is the present cursor of the stream. Null while a window is under way. */
function gapsOfStream(
  db: Connection,
  installation: InstallationId,
  stream: RecordKind,
  cursor: number | null,
): Promise<Omit<Gap, 'stream'>[]> {
  return rows(
    db,
    { from: nullable(integer), to: integer, since: nullable(instant), until: nullable(instant) },
    `with noted as materialized (
       select id, kind, to_time, span[1] as start, case when ? <> all (unread_streams) then span[2] end as stop
       from (select id, kind, to_time, unread_streams, ${spanSql(stream)} as span from sync_window
             where installation = ? and payment_span is not null) spans
     ), chain as (
       select (array_agg(start order by id))[1] as start, greatest(max(start), max(stop), ?::bigint) as stop
       from noted where kind = 'window' having count(*) > 0
     ), gap as (
       select unnest(int8multirange(int8range(start, stop)) - coalesce((
         select range_agg(int8range(start, stop)) from noted where stop > start or start is null and stop is not null), '{}')) as gap
       from chain where stop > start or start is null and stop is not null
     )
     select lower(gap) as from, upper(gap) as to, before.to_time as since, behind.to_time as until
     from gap
     left join lateral (
       select id, to_time from noted where kind = 'window' and start >= upper(gap) order by id limit 1) behind on true
     left join lateral (
       select to_time from noted where kind = 'window' and to_time is not null and (behind.id is null or id < behind.id)
       order by id desc limit 1) before on true
     order by gap`,
    [stream, installation, cursor],
  );
}
