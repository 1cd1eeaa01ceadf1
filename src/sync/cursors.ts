import { z } from 'zod';
import { integer, oneOf, storedJson } from '../db/columns.ts';
import { type Connection, execute, rows } from '../db/rows.ts';
import { type RecordKind, recordKinds } from '../terms.ts';

const time = z.iso.datetime({ offset: true });
const ms = z.number();

const cursorValue = z.strictObject({
  /** For invoices, prepayments and rows (watermark.ts): the time up to which changes were read, ISO 8601. */
  watermark: time.exactOptional(),
  /** The database's time of that request, and how many ms the source's clock was ahead of the database's. */
  askedAt: time.exactOptional(),
  skew: ms.exactOptional(),
  /** The last watermark at which the clocks of source and database agreed. */
  agreed: time.exactOptional(),
  /**
   * After the source's clock was set forward: the earlier skew, and until when transactions stamped with it may still
   * commit.
   */
  before: z.strictObject({ skew: ms, until: time }).exactOptional(),
  /**
   * A time before the watermark. It is present if an unfinished later window found that the source's clock was set
   * back.
   */
  askFrom: time.exactOptional(),
  /** For payments: the id above which the next walk starts. Null: from the beginning. */
  after: z.int().nullable().exactOptional(),
});

/** How far the completed walks of one stream have read. */
export type CursorValue = z.infer<typeof cursorValue>;

/** A stream's cursor. Before its first completed walk, `value` is null and `revision` is 0. */
export interface Cursor {
  value: CursorValue | null;
  revision: number;
}

export type Cursors = Record<RecordKind, Cursor>;

const emptyCursor: Cursor = { value: null, revision: 0 };

/** The installation's cursors (table `sync_cursor`). */
export async function readCursors(db: Connection, installation: number): Promise<Cursors> {
  const found = await rows(
    db,
    { stream: oneOf(recordKinds), value: storedJson('sync_cursor.value', cursorValue), revision: integer },
    'select stream, value, revision from sync_cursor where installation = ?',
    [installation],
  );
  const cursors: Cursors = { invoice: emptyCursor, prepayment: emptyCursor, payment: emptyCursor, row: emptyCursor };
  for (const { stream, value, revision } of found) {
    cursors[stream] = { value, revision };
  }
  return cursors;
}

/** Whether no window has read anything yet, so that the next one is the first load. */
export function isNothingRead({ invoice }: Cursors): boolean {
  return invoice.value === null;
}

/** A cursor's new value, and the revision at which the old value was read. */
export interface CursorMove {
  stream: RecordKind;
  value: CursorValue;
  revision: number;
}

/** Moves cursors by compare-and-set on their revisions. A cursor that another window has moved since stays as it is. */
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
