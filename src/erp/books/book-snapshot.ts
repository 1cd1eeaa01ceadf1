import { rowsAsArrays } from '../../db/bulk.ts';
import { bool, date, instant, integer, json, nullable, numeric, oneOf, type RowOf, text } from '../../db/columns.ts';
import { type Connection, execute, maybeRow, row, rows } from '../../db/rows.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';
import { unitKinds, unitStates } from '../outbox/unit.ts';

/** SQL of the tables `erp_books_…`, which contain a snapshot of an installation's entries in the ERP. */

const readingShape = { run: integer, beganAt: instant, fullBeganAt: instant };

/** The last reading that was completed. */
export type Reading = RowOf<typeof readingShape>;

export function lastReading(db: Connection, installation: InstallationId): Promise<Reading | null> {
  return maybeRow(
    db,
    readingShape,
    `select run, began_at as "beganAt", full_began_at as "fullBeganAt" from erp_books_reading where installation = ?`,
    [installation],
  );
}

export async function noteReading(
  db: Connection,
  installation: InstallationId,
  { run, beganAt, fullBeganAt }: Reading,
): Promise<void> {
  await execute(
    db,
    `insert into erp_books_reading (installation, run, began_at, full_began_at) values (?, ?, ?, ?)
     on conflict (installation) do update set run = excluded.run, began_at = excluded.began_at,
       full_began_at = excluded.full_began_at`,
    [installation, run, beganAt, fullBeganAt],
  );
}

/**
 * First and last date of the installation's delivered entries, by our outbox and by the ERP; null if there are none.
 */
export async function deliveredSpan(
  db: Connection,
  installation: InstallationId,
): Promise<{ from: CalendarDate; through: CalendarDate } | null> {
  const { from, through } = await row(
    db,
    { from: nullable(date), through: nullable(date) },
    `select min(day) as "from", max(day) as through from (
       select unit_date as day from erp_unit where installation = ? and state in ('delivered', 'sending', 'uncertain')
       union all select erp_date from erp_unit where installation = ? and erp_date is not null
       union all select erp_date from erp_books_unit where installation = ?
     ) days`,
    [installation, installation, installation],
  );
  return from === null || through === null ? null : { from, through };
}

const knownShape = {
  installation: integer,
  unitId: text,
  kind: oneOf(unitKinds),
  key: text,
  erpId: nullable(text),
};

/** A unit of ours that an entry of the ERP may belong to. */
export type KnownUnit = RowOf<typeof knownShape>;

const knownColumns = `u.installation, u.unit_id as "unitId", u.kind, u.erp_key as key, u.erp_id as "erpId"`;

/** Units of any installation, by key. */
export function unitsByKey(db: Connection, keys: readonly string[]): Promise<KnownUnit[]> {
  return rows(db, knownShape, `select ${knownColumns} from erp_unit u where erp_key = any(?::text[])`, [keys]);
}

/** Units of an installation, by the ERP's ids under which earlier readings found them. */
export async function unitsSeenAs(
  db: Connection,
  installation: InstallationId,
  erpIds: readonly string[],
): Promise<Map<string, KnownUnit>> {
  const found = await rows(
    db,
    { ...knownShape, seenAs: text },
    `select ${knownColumns}, b.erp_id as "seenAs" from erp_books_unit b
     join erp_unit u on u.installation = b.installation and u.unit_id = b.unit_id
     where b.installation = ? and b.erp_id = any(?::text[])`,
    [installation, erpIds],
  );
  return new Map(found.map(({ seenAs, ...unit }) => [seenAs, unit]));
}

/** The next delivered units without an entry in the snapshot, in the order of their chains, after `after`. */
export function unitsNotFound(
  db: Connection,
  installation: InstallationId,
  { after, limit }: { after: string; limit: number },
): Promise<KnownUnit[]> {
  return rows(
    db,
    knownShape,
    `select ${knownColumns} from erp_unit u
     where installation = ? and unit_id > ? and state = 'delivered' and not exists (
       select from erp_books_unit b where b.installation = u.installation and b.unit_id = u.unit_id)
     order by unit_id limit ?`,
    [installation, after, limit],
  );
}

/** The next entries that differ and that this run has not read, by id, after `after`. */
export function differingUnits(
  db: Connection,
  installation: InstallationId,
  run: number,
  { after, limit }: { after: string; limit: number },
): Promise<(KnownUnit & { seenAs: string })[]> {
  return rows(
    db,
    { ...knownShape, seenAs: text },
    `select ${knownColumns}, b.erp_id as "seenAs" from erp_books_unit b
     join erp_unit u on u.installation = b.installation and u.unit_id = b.unit_id
     where b.installation = ? and not b.is_equal and b.run <> ? and b.erp_id > ? order by b.erp_id limit ?`,
    [installation, run, after, limit],
  );
}

/** The stored hashes of entries that were equal, by the ERP's id. */
export async function equalHashes(
  db: Connection,
  installation: InstallationId,
  erpIds: readonly string[],
): Promise<Map<string, string>> {
  const found = await rows(
    db,
    { erpId: text, contentHash: text },
    `select erp_id as "erpId", content_hash as "contentHash" from erp_books_unit
     where installation = ? and erp_id = any(?::text[]) and is_equal`,
    [installation, erpIds],
  );
  return new Map(found.map(({ erpId, contentHash }) => [erpId, contentHash]));
}

export interface SeenUnit {
  unitId: string;
  erpId: string;
  number: string | null;
  date: CalendarDate;
  contentHash: string;
  isEqual: boolean;
  message: string | null;
  difference: string;
  /** Sum of the entry's debits. */
  amount: string;
}

/** Stores entries of our units. */
export async function noteUnits(
  trx: Connection,
  installation: InstallationId,
  run: number,
  seen: readonly SeenUnit[],
): Promise<void> {
  if (seen.length === 0) return;
  const { from, bindings } = rowsAsArrays(
    'seen',
    {
      ...{ unit_id: 'text', erp_id: 'text', erp_number: 'text', erp_date: 'date', content_hash: 'text' },
      ...{ is_equal: 'boolean', message: 'text', difference: 'numeric', amount: 'numeric' },
    },
    seen.map((one) => ({
      ...{ unit_id: one.unitId, erp_id: one.erpId, erp_number: one.number, erp_date: one.date },
      ...{ content_hash: one.contentHash, is_equal: one.isEqual, message: one.message },
      ...{ difference: one.difference, amount: one.amount },
    })),
  );
  await execute(
    trx,
    `insert into erp_books_unit (installation, unit_id, erp_id, erp_number, erp_date, content_hash, is_equal, message,
       difference, amount, run)
     select distinct on (unit_id, erp_id) ?::bigint, unit_id, erp_id, erp_number, erp_date, content_hash, is_equal, message,
       difference, amount, ?::bigint
     from ${from}
     on conflict (installation, unit_id, erp_id) do update set erp_number = excluded.erp_number, erp_date = excluded.erp_date,
       content_hash = excluded.content_hash, is_equal = excluded.is_equal, message = excluded.message,
       difference = excluded.difference, amount = excluded.amount, run = excluded.run`,
    [installation, run, ...bindings],
  );
}

/** Records that entries are unchanged. */
export async function noteUnchanged(
  trx: Connection,
  installation: InstallationId,
  run: number,
  erpIds: readonly string[],
): Promise<void> {
  if (erpIds.length === 0) return;
  await execute(
    trx,
    'update erp_books_unit set run = ? where installation = ? and erp_id = any(?::text[]) and run <> ?',
    [run, installation, erpIds, run],
  );
}

export interface SeenForeign {
  erpId: string;
  number: string | null;
  date: CalendarDate;
  message: string;
  difference: string;
}

/** Stores other entries on owned accounts. */
export async function noteForeign(
  trx: Connection,
  installation: InstallationId,
  run: number,
  seen: readonly SeenForeign[],
): Promise<void> {
  if (seen.length === 0) return;
  const { from, bindings } = rowsAsArrays(
    'seen',
    { erp_id: 'text', erp_number: 'text', erp_date: 'date', message: 'text', difference: 'numeric' },
    seen.map((one) => ({
      ...{ erp_id: one.erpId, erp_number: one.number, erp_date: one.date },
      ...{ message: one.message, difference: one.difference },
    })),
  );
  await execute(
    trx,
    `insert into erp_books_foreign (installation, erp_id, erp_number, erp_date, message, difference, run)
     select distinct on (erp_id) ?::bigint, erp_id, erp_number, erp_date, message, difference, ?::bigint from ${from}
     on conflict (installation, erp_id) do update set erp_number = excluded.erp_number, erp_date = excluded.erp_date,
       message = excluded.message, difference = excluded.difference, run = excluded.run`,
    [installation, run, ...bindings],
  );
}

/** Ids of the next other entries that this run has not read, in order, after `after`. */
export async function foreignEntries(
  db: Connection,
  installation: InstallationId,
  run: number,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const found = await rows(
    db,
    { erpId: text },
    `select erp_id as "erpId" from erp_books_foreign
     where installation = ? and run <> ? and erp_id > ? order by erp_id limit ?`,
    [installation, run, after, limit],
  );
  return found.map(({ erpId }) => erpId);
}

/** Deletes entries from the snapshot that are neither ours nor on an owned account any more. */
export async function forget(trx: Connection, installation: InstallationId, erpIds: readonly string[]): Promise<void> {
  if (erpIds.length === 0) return;
  for (const table of ['erp_books_unit', 'erp_books_foreign']) {
    await execute(trx, `delete from ${table} where installation = ? and erp_id = any(?::text[])`, [
      installation,
      erpIds,
    ]);
  }
}

/**
 * Deletes entries of a date range that a complete reading did not find. Without a range, it does so for the whole
 * snapshot.
 */
export async function forgetUnseen(
  trx: Connection,
  installation: InstallationId,
  run: number,
  range: { from: CalendarDate; through: CalendarDate } | null,
): Promise<void> {
  for (const table of ['erp_books_unit', 'erp_books_foreign']) {
    await execute(
      trx,
      `delete from ${table} where installation = ? and run <> ?
         and erp_date between coalesce(?::date, '-infinity') and coalesce(?::date, 'infinity')`,
      [installation, run, range?.from ?? null, range?.through ?? null],
    );
  }
}

/** Number of entries and balances of a month at the last reading; null if it was never read. */
export async function storedMonth(
  db: Connection,
  installation: InstallationId,
  month: CalendarDate,
): Promise<{ entries: number; balances: string } | null> {
  return maybeRow(
    db,
    { entries: integer, balances: json },
    'select entries, balances from erp_books_month where installation = ? and month = ?',
    [installation, month],
  );
}

/**
 * The months that were completely read longest ago, at most `atMost`. Months that were read within `days` days are left
 * out.
 */
export async function monthsToReadAgain(
  db: Connection,
  installation: InstallationId,
  { atMost, days }: { atMost: number; days: number },
): Promise<Set<CalendarDate>> {
  const found = await rows(
    db,
    { month: date },
    `select month from erp_books_month where installation = ? and read_at < clock_timestamp() - make_interval(days => ?)
     order by read_at, month limit ?`,
    [installation, days, atMost],
  );
  return new Set(found.map(({ month }) => month));
}

export async function noteMonth(
  trx: Connection,
  installation: InstallationId,
  month: CalendarDate,
  { entries, balances }: { entries: number; balances: string },
): Promise<void> {
  await execute(
    trx,
    `insert into erp_books_month (installation, month, entries, balances) values (?, ?, ?, ?::json)
     on conflict (installation, month) do update set entries = excluded.entries, balances = excluded.balances,
       read_at = excluded.read_at`,
    [installation, month, entries, balances],
  );
}

/** Balances per owned account by our books: of delivered units, and of units that were found in the ERP. */
export async function ownBalances(
  db: Connection,
  company: string,
  accounts: readonly string[],
): Promise<Map<string, string>> {
  const found = await rows(
    db,
    { account: text, balance: numeric },
    `with held as (
       select u.kind, coalesce(u.undo_of, u.unit_id) as unit_id, case when u.undo_n % 2 = 1 then -1 else 1 end as sign
       from erp_unit u where u.company = ? and (u.state = 'delivered' or exists (
         select from erp_books_unit b where b.installation = u.installation and b.unit_id = u.unit_id))
     ), lines as (
       select l.account, l.side, l.amount * held.sign as amount from held join entry_line l on l.entry_id = held.unit_id
       where held.kind = 'entry' and l.account = any(?::text[])
       union all
       select l.account, l.side, l.amount * held.sign as amount from held join summary_line l on l.summary_id = held.unit_id
       where held.kind = 'daily_summary' and l.account = any(?::text[])
     )
     select account, sum(case side when 'debit' then amount else -amount end) as balance from lines group by account`,
    [company, accounts, accounts],
  );
  return new Map(found.map(({ account, balance }) => [account, balance]));
}

const reportedShape = {
  unitId: nullable(text),
  /**
   * State of the unit. Null for an entry that is not ours, and for a unit that may be in the ERP although it is not
   * delivered.
   */
  state: nullable(oneOf(unitStates)),
  erpNumber: nullable(text),
  erpDate: nullable(date),
  isEqual: bool,
  copies: integer,
  message: nullable(text),
  difference: numeric,
  amount: numeric,
};

/**
 * A finding about the ERP's books: a unit that differs, or occurs twice or unexpectedly, or an entry that is not ours.
 */
export type BookFinding = RowOf<typeof reportedShape>;

/**
 * SQL: a unit that is not delivered, but that the ERP may have. It was found there with differences, or will be looked
 * up again.
 */
const mayBeInErp = `((u.state = 'pending' and u.attempts > 0) or coalesce(u.problem_code in ('erp_differs', 'erp_doubled'), false))`;

/** All findings, including differences within the tolerance. Returns at most `limit`, and their number. */
export async function bookFindings(
  db: Connection,
  installation: InstallationId,
  limit: number,
): Promise<{ found: BookFinding[]; omitted: number }> {
  const all = `
    select b.unit_id as "unitId", case when ${mayBeInErp} then null else u.state end as state, b.erp_number as "erpNumber", b.erp_date as "erpDate", b.is_equal as "isEqual",
      (select count(*) from erp_books_unit c where c.installation = b.installation and c.unit_id = b.unit_id)::int as copies,
      b.message, b.difference, b.amount
    from erp_books_unit b join erp_unit u on u.installation = b.installation and u.unit_id = b.unit_id
    where b.installation = ? and (not b.is_equal or b.message is not null
      or (u.state in ('pending', 'refused', 'cancelled_out', 'excluded') and not ${mayBeInErp})
      or exists (select from erp_books_unit c where c.installation = b.installation and c.unit_id = b.unit_id and c.erp_id <> b.erp_id))
    union all
    select null, null, erp_number, erp_date, false, 1, message, difference, difference from erp_books_foreign where installation = ?`;
  const found = await rows(
    db,
    reportedShape,
    `select * from (${all}) found order by "erpDate", "unitId", "erpNumber" limit ?`,
    [installation, installation, limit],
  );
  if (found.length < limit) return { found, omitted: 0 };
  const { n } = await row(db, { n: integer }, `select count(*)::int as n from (${all}) found`, [
    installation,
    installation,
  ]);
  return { found, omitted: n - found.length };
}

/** Delivered units that the ERP no longer has. Returns at most `limit`, and the number of the others. */
export async function missingUnits(
  db: Connection,
  installation: InstallationId,
  limit: number,
): Promise<{ missing: { unitId: string; key: string; erpNumber: string | null; amount: string }[]; omitted: number }> {
  const where = `where u.installation = ? and u.state = 'delivered' and not exists (
    select from erp_books_unit b where b.installation = u.installation and b.unit_id = u.unit_id)`;
  const missing = await rows(
    db,
    { unitId: text, key: text, erpNumber: nullable(text), amount: numeric },
    `select u.unit_id as "unitId", u.erp_key as key, u.erp_number as "erpNumber", coalesce(
       case u.kind when 'entry' then (select sum(amount) from entry_line l where l.entry_id = case when u.undo_of is null then u.unit_id else u.undo_of end and l.side = 'debit')
       else (select sum(amount) from summary_line l where l.summary_id = case when u.undo_of is null then u.unit_id else u.undo_of end and l.side = 'debit') end, 0) as amount
     from erp_unit u ${where} order by u.unit_date, u.unit_id limit ?`,
    [installation, limit],
  );
  if (missing.length < limit) return { missing, omitted: 0 };
  const { n } = await row(db, { n: integer }, `select count(*)::int as n from erp_unit u ${where}`, [installation]);
  return { missing, omitted: n - missing.length };
}

const unsettledShape = {
  unitId: text,
  state: oneOf(unitStates),
  code: nullable(text),
  message: nullable(text),
};

/** Units in these states, which should not be in the ERP's books; at most `limit`. */
export function unsettledUnits(
  db: Connection,
  installation: InstallationId,
  states: readonly string[],
  limit: number,
): Promise<RowOf<typeof unsettledShape>[]> {
  return rows(
    db,
    unsettledShape,
    `select unit_id as "unitId", state, problem_code as code, problem_message as message from erp_unit
     where installation = ? and state = any(?::text[]) order by unit_date, unit_id limit ?`,
    [installation, states, limit],
  );
}

/** Whether the ERP's entries were read back at least once. */
export async function hasReadBooks(db: Connection, installation: InstallationId): Promise<boolean> {
  const { found } = await row(
    db,
    { found: bool },
    'select exists (select from erp_books_reading where installation = ?) as found',
    [installation],
  );
  return found;
}
