import { integer, json, oneOf } from '../db/columns.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import { type RecordKind, recordKinds } from '../terms.ts';

/** How far the completed walks of one stream have read. */
export interface CursorValue {
  /** Invoices, prepayments and rows (watermark.ts): the time up to which changes were read, ISO 8601. */
  watermark?: string;
  /** When that was asked, by the database's clock, and how many ms the source's clock was ahead of it. */
  askedAt?: string;
  skew?: number;
  /** The last watermark at which both clocks agreed. */
  agreed?: string;
  /** After the source's clock was put forward: how far ahead it was before, for transactions of then that commit until then. */
  before?: { skew: number; until: string };
  /** Earlier than the watermark: a window since then, which has not ended, has seen the source's clock put back. */
  askFrom?: string;
  /** Payments: the id above which the next walk starts; null: from the beginning. */
  after?: number | null;
}

/** A stream's cursor; `value` is null and `revision` 0 before its first walk has completed. */
export interface Cursor {
  value: CursorValue | null;
  revision: number;
}

export type Cursors = Record<RecordKind, Cursor>;

const noCursor: Cursor = { value: null, revision: 0 };

/** The installation's cursors (table `sync_cursor`). */
export async function readCursors(db: Connection, installation: number): Promise<Cursors> {
  const found = await rows(
    db,
    { stream: oneOf(recordKinds), value: json, revision: integer },
    'select stream, value, revision from sync_cursor where installation = ?',
    [installation],
  );
  const cursors: Cursors = { invoice: noCursor, prepayment: noCursor, payment: noCursor, row: noCursor };
  for (const { stream, value, revision } of found) {
    cursors[stream] = { value: JSON.parse(value), revision };
  }
  return cursors;
}

/** A cursor's new value, and the revision that it was read with. */
export interface CursorMove {
  stream: RecordKind;
  value: CursorValue;
  revision: number;
}

/** Moves cursors by compare-and-set on the revisions that were read; one that another window has moved since stays as it is. */
export async function moveCursors(db: Connection, installation: number, moves: readonly CursorMove[]): Promise<void> {
  const moved = moves.filter(({ revision }) => revision > 0);
  if (moved.length > 0)
    await execute(
      db,
      `update sync_cursor c set value = moved.value, revision = c.revision + 1
       from unnest(?::text[], ?::json[], ?::bigint[]) as moved(stream, value, revision)
       where c.installation = ? and c.stream = moved.stream and c.revision = moved.revision`,
      [...columnsOf(moved), moved.map(({ revision }) => revision), installation],
    );
  const made = moves.filter(({ revision }) => revision === 0);
  if (made.length > 0)
    await execute(
      db,
      `insert into sync_cursor (installation, stream, value)
       select ?, stream, value from unnest(?::text[], ?::json[]) as made(stream, value) on conflict do nothing`,
      [installation, ...columnsOf(made)],
    );
}

function columnsOf(moves: readonly CursorMove[]): [string[], string[]] {
  return [moves.map(({ stream }) => stream), moves.map(({ value }) => JSON.stringify(value))];
}
