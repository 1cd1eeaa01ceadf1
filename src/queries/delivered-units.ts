import { date, instant, integer, nullable, numeric, oneOf, text } from '../db/columns.ts';
import { type Binding, type Connection, row, rows } from '../db/rows.ts';
import { type UnitState, unitStates } from '../erp/outbox/unit.ts';
import { type CalendarDate, documentKinds, type InstallationId } from '../terms.ts';
import { erpTodoOf } from './delivery-status.ts';

/** The state of a unit for a person: a unit that waits for approval has a separate state. */
export type ListedState = UnitState | 'unapproved';

/** Which units to list. Without a field, all. */
export interface UnitFilter {
  state?: ListedState | null;
  from?: CalendarDate | null;
  through?: CalendarDate | null;
  /** The id of a unit or document, or the ERP's number. */
  search?: string | null;
  batch?: number | null;
}

const listedState = `case when u.state = 'pending' and u.needs_approval then 'unapproved' else u.state end`;
const listedStates = [...unitStates, 'unapproved'] as const;

/** States of units that are not settled. Each has an index. */
const openStates = ['pending', 'unapproved', 'sending', 'uncertain', 'drafted', 'refused'] as const;

/** SQL: unit `u` is in this state. PostgreSQL searches the index of a state only if the statement names the state. */
function isIn(state: ListedState): string {
  if (state === 'unapproved') return `u.state = 'pending' and u.needs_approval`;
  return state === 'pending' ? `u.state = 'pending' and not u.needs_approval` : `u.state = '${state}'`;
}

/** SQL: the debits of unit `u`. Under row-level security, PostgreSQL searches no index for the value of a `coalesce`. */
const posting = 'case when u.undo_of is null then u.unit_id else u.undo_of end';
const debit = `case u.kind
  when 'entry' then (select sum(amount) from entry_line l where l.entry_id = ${posting} and l.side = 'debit')
  else (select sum(amount) from summary_line l where l.summary_id = ${posting} and l.side = 'debit') end`;

interface Condition {
  sql: string;
  bindings: readonly Binding[];
}

/** SQL: unit `u` meets the filter. */
async function matched(db: Connection, installation: InstallationId, filter: UnitFilter): Promise<Condition> {
  const { state, from, through, search, batch } = filter;
  const named = search == null ? null : await unitsNamed(db, installation, search);
  const parts: (Condition | null)[] = [
    { sql: 'u.installation = ?', bindings: [installation] },
    state == null ? null : { sql: isIn(state), bindings: [] },
    from == null ? null : { sql: 'u.unit_date >= ?::date', bindings: [from] },
    through == null ? null : { sql: 'u.unit_date <= ?::date', bindings: [through] },
    batch == null ? null : { sql: 'u.batch = ?::bigint', bindings: [batch] },
    named && {
      sql: '(u.unit_id = any(?::text[]) or u.undo_of = any(?::text[]) or u.erp_number = ?)',
      bindings: [named, named, search ?? null],
    },
  ];
  const given = parts.filter((part) => part !== null);
  return { sql: given.map(({ sql }) => sql).join(' and '), bindings: given.flatMap(({ bindings }) => bindings) };
}

/** The unit with this id, or the units of the document with this id: `123`, `invoice/123` or `4711/invoice/123/1`. */
async function unitsNamed(db: Connection, installation: InstallationId, search: string): Promise<string[]> {
  const [, kind, id] = /^(?:\d+\/)?(?:([a-z]+)[/ ])?(\d{1,15})(?:\/\d+)?$/.exec(search) ?? [];
  if (id === undefined) return [search];
  const kinds = documentKinds.filter((each) => kind === undefined || each === kind);
  const found = await rows(
    db,
    { id: text },
    'select id from entry where installation = ? and kind = any(?::text[]) and document_id = ?',
    [installation, kinds, id],
  );
  const units = found.map((entry) => entry.id);
  return units.includes(search) ? [search] : units;
}

export interface UnitTotal {
  state: ListedState;
  units: number;
  from: CalendarDate;
  through: CalendarDate;
  /** The debits of the units. Null for units that are settled, because their number grows every year. */
  amount: string | null;
}

/** The number of units by state, with the amounts of those that are not settled yet. */
export async function unitTotals(
  db: Connection,
  installation: InstallationId,
  filter: UnitFilter,
): Promise<UnitTotal[]> {
  const { state = null, search = null, batch = null } = filter;
  const { sql, bindings } = await matched(db, installation, filter);
  const figures = `count(*) as units, min(u.unit_date) as "from", max(u.unit_date) as through`;
  const open = openStates
    .filter((each) => state === null || each === state)
    .map(
      (each) =>
        `select '${each}' as state, ${figures}, sum(${debit}) as amount from erp_unit u where ${sql} and ${isIn(each)}`,
    );
  const isNarrow = search !== null || batch !== null;
  const settled = isNarrow
    ? `select u.state, ${figures}, null::numeric as amount from erp_unit u where ${sql} and u.state <> all(?::text[]) group by u.state`
    : `select u.state, sum(u.n)::bigint as units, min(u.unit_date) as "from", max(u.unit_date) as through, null::numeric as amount from erp_settled_day u where ${sql} and u.n <> 0 group by u.state`;
  const isSettled = state === null || !openStates.some((each) => each === state);
  return rows(
    db,
    { state: oneOf(listedStates), units: integer, from: date, through: date, amount: nullable(numeric) },
    `select * from (${[...open, ...(isSettled ? [settled] : [])].join(' union all ')}) totals where units > 0 order by state`,
    [...open.flatMap(() => bindings), ...(isSettled ? [...bindings, ...(isNarrow ? [openStates] : [])] : [])],
  );
}

/** The sum of the debits of these units. Null without units. */
export async function debitsOf(
  db: Connection,
  installation: InstallationId,
  ids: readonly string[],
): Promise<string | null> {
  const found = await row(
    db,
    { amount: nullable(numeric) },
    // A join: an undo may name 200,000 units, and a search for each of them costs twice as much.
    `with chosen as materialized (
       select u.kind, ${posting} as id from erp_unit u where installation = ? and unit_id = any(?::text[]))
     select sum(amount) as amount from (
       select l.amount from chosen join entry_line l on l.entry_id = chosen.id and l.side = 'debit' where chosen.kind = 'entry'
       union all
       select l.amount from chosen join summary_line l on l.summary_id = chosen.id and l.side = 'debit' where chosen.kind <> 'entry') lines`,
    [installation, ids],
  );
  return found.amount;
}

/** The ids of the units of a filter, the smallest first. */
export async function unitIds(
  db: Connection,
  installation: InstallationId,
  filter: UnitFilter,
  limit: number,
): Promise<string[]> {
  const { sql, bindings } = await matched(db, installation, filter);
  const found = await rows(
    db,
    { id: text },
    `select u.unit_id as id from erp_unit u where ${sql} order by u.unit_id limit ?`,
    [...bindings, limit],
  );
  return found.map(({ id }) => id);
}

export interface ListedUnit {
  id: string;
  date: CalendarDate;
  state: ListedState;
  attempts: number;
  sentAt: Date | null;
  settledAt: Date | null;
  erpNumber: string | null;
  erpDate: CalendarDate | null;
  batch: number | null;
  /** `message` is null without names, because the ERP wrote it and it may name a client. */
  problem: { code: string; message: string | null; todo: string } | null;
}

/** The last unit of a page of units. */
export type AfterUnit = Pick<ListedUnit, 'id' | 'date'>;

/** Units, the newest date first. `withNames`: with the messages of the ERP. */
export async function listUnits(
  db: Connection,
  installation: InstallationId,
  filter: UnitFilter,
  { after, limit, withNames }: { after: AfterUnit | null; limit: number; withNames: boolean },
): Promise<ListedUnit[]> {
  const { sql, bindings } = await matched(db, installation, filter);
  const found = await rows(
    db,
    {
      ...{ id: text, date, state: oneOf(listedStates), attempts: integer, sentAt: nullable(instant) },
      ...{ settledAt: nullable(instant), erpNumber: nullable(text), erpDate: nullable(date), batch: nullable(integer) },
      ...{ code: nullable(text), message: nullable(text) },
    },
    `select u.unit_id as id, u.unit_date as date, ${listedState} as state, u.attempts, u.sent_at as "sentAt", u.settled_at as "settledAt",
       u.erp_number as "erpNumber", u.erp_date as "erpDate", u.batch, u.problem_code as code,
       case when ? then u.problem_message end as message
     from erp_unit u where ${sql} ${after === null ? '' : 'and (u.unit_date, u.unit_id) < (?::date, ?::text)'}
     order by u.unit_date desc, u.unit_id desc limit ?`,
    [withNames, ...bindings, ...(after === null ? [] : [after.date, after.id]), limit],
  );
  return found.map(({ code, message, ...unit }) => ({
    ...unit,
    problem: code === null ? null : { code, message, todo: erpTodoOf(code) },
  }));
}

/** A file with units, as `deliver` wrote it. */
export interface ListedBatch {
  number: number;
  format: string;
  file: string;
  units: number;
  createdAt: Date;
  writtenAt: Date | null;
  withdrawnAt: Date | null;
  acknowledgedAt: Date | null;
}

/** The newest batches of files, or the one with this number. */
export async function listBatches(
  db: Connection,
  installation: InstallationId,
  { number = null, limit }: { number?: number | null; limit: number },
): Promise<ListedBatch[]> {
  return rows(
    db,
    {
      ...{ number: integer, format: text, file: text, units: integer, createdAt: instant },
      ...{ writtenAt: nullable(instant), withdrawnAt: nullable(instant), acknowledgedAt: nullable(instant) },
    },
    `select number, format, file, units, created_at as "createdAt", written_at as "writtenAt", withdrawn_at as "withdrawnAt",
       acknowledged_at as "acknowledgedAt" from erp_batch
     where installation = ? and (?::bigint is null or number = ?) order by number desc limit ?`,
    [installation, number, number, limit],
  );
}
