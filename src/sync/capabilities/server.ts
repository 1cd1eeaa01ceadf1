import { oneOf, text } from '../../db/columns.ts';
import { type Connection, execute, maybeRow, rows } from '../../db/rows.ts';
import type { Dialect } from '../../records/dialect.ts';
import { type RecordKind, recordKinds } from '../../terms.ts';
import type { TimestampStyle } from '../walk/timestamps.ts';

/** Observed properties of the source's server, except filters (table `source_capability`). */

type Capability = 'default_page_size' | 'timestamp_style' | 'repeats_records';

/**
 * The number of records on a page of each list without a page size, from which weights are calculated. It may differ
 * between lists. The dialect's value is used for lists whose answers have not shown theirs.
 */
export async function readDefaultPageSizes(
  db: Connection,
  installation: number,
  { default_page_size: unknown }: Pick<Dialect, 'default_page_size'>,
): Promise<Record<RecordKind, number>> {
  const learnt = await rows(
    db,
    { list: oneOf(recordKinds), value: text },
    `select list, value from source_capability where installation = ? and name = 'default_page_size' and list is not null`,
    [installation],
  );
  const sizes: Record<RecordKind, number> = { invoice: unknown, row: unknown, payment: unknown, prepayment: unknown };
  for (const { list, value } of learnt) sizes[list] = Number(value);
  return sizes;
}

export async function noteDefaultPageSize(
  db: Connection,
  installation: number,
  list: RecordKind,
  size: number,
): Promise<void> {
  await note(db, installation, list, 'default_page_size', String(size));
}

/** `offset` until an invoice has shown another style. */
export async function readTimestampStyle(db: Connection, installation: number): Promise<TimestampStyle> {
  return (await read(db, installation, null, 'timestamp_style')) === 'naive' ? 'naive' : 'offset';
}

export async function noteTimestampStyle(db: Connection, installation: number, style: TimestampStyle): Promise<void> {
  await note(db, installation, null, 'timestamp_style', style);
}

/**
 * Whether a list has contained a record more than once, as a faulty join in the server causes. Its count is then too
 * high.
 */
export async function repeatsRecords(db: Connection, installation: number, list: RecordKind): Promise<boolean> {
  return (await read(db, installation, list, 'repeats_records')) !== null;
}

export async function noteRepeatsRecords(db: Connection, installation: number, list: RecordKind): Promise<void> {
  await note(db, installation, list, 'repeats_records', 'true');
}

async function read(
  db: Connection,
  installation: number,
  list: RecordKind | null,
  name: Capability,
): Promise<string | null> {
  const found = await maybeRow(
    db,
    { value: text },
    'select value from source_capability where installation = ? and list is not distinct from ? and name = ?',
    [installation, list, name],
  );
  return found?.value ?? null;
}

async function note(
  db: Connection,
  installation: number,
  list: RecordKind | null,
  name: Capability,
  value: string,
): Promise<void> {
  await execute(
    db,
    `insert into source_capability (installation, list, name, value) values (?, ?, ?, ?)
     on conflict (installation, list, name) do update set value = excluded.value, noted_at = clock_timestamp()`,
    [installation, list, name, value],
  );
}
