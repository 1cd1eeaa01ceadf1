import { bool, columnList, date, instant, integer, json, nullable, oneOf, type RowOf, text } from '../../db/columns.ts';
import { type Connection, row, rows } from '../../db/rows.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';
import { type OutboxUnit, unitShape } from './unit.ts';

/** Units that wait for `vetledger deliver --approve`, with the first and last date. */
export interface WaitingForApproval {
  n: number;
  from: string | null;
  through: string | null;
}

export async function waitingForApproval(db: Connection, installation: InstallationId): Promise<WaitingForApproval> {
  return (await approvalsWaitedFor(db, [installation])).get(installation) ?? { n: 0, from: null, through: null };
}

async function approvalsWaitedFor(
  db: Connection,
  installations: readonly InstallationId[],
): Promise<Map<InstallationId, WaitingForApproval>> {
  const found = await rows(
    db,
    { installation: integer, n: integer, from: nullable(text), through: nullable(text) },
    `select installation, count(*)::int as n, min(unit_date)::text as "from", max(unit_date)::text as through
     from erp_unit where installation = any(?) and state = 'pending' and needs_approval group by installation`,
    [installations],
  );
  return new Map(found.map(({ installation, ...waiting }) => [installation, waiting]));
}

/** Units by id, in the order of their chains. Unknown ids are left out. */
export function unitsById(db: Connection, installation: InstallationId, ids: readonly string[]): Promise<OutboxUnit[]> {
  return rows(
    db,
    unitShape,
    `select ${columnList(unitShape)} from erp_unit where installation = ? and unit_id = any(?::text[]) order by kind desc, seq`,
    [installation, ids],
  );
}

/**
 * The ERP's ids of the entries that these units reverse, by the id of the reversed unit. Only entries that the same
 * company has posted.
 */
export async function reversedIds(
  db: Connection,
  installation: InstallationId,
  units: readonly OutboxUnit[],
): Promise<Map<string, string>> {
  const reversals = units.filter(({ reverses }) => reverses !== null);
  const [first] = reversals;
  if (first === undefined) return new Map();
  const found = await rows(
    db,
    { unit_id: text, erp_id: text },
    `select unit_id, erp_id from erp_unit
     where installation = ? and unit_id = any(?::text[]) and company = ? and state = 'delivered' and erp_id is not null`,
    [installation, reversals.map(({ reverses }) => reverses), first.company],
  );
  return new Map(found.map(({ unit_id, erp_id }) => [unit_id, erp_id]));
}

/** The undos and redos of these units, in order (undo.ts). */
export function undosOf(db: Connection, installation: InstallationId, ids: readonly string[]): Promise<OutboxUnit[]> {
  return rows(
    db,
    unitShape,
    `select ${columnList(unitShape)} from erp_unit
     where installation = ? and undo_of = any(?::text[]) order by undo_of, undo_n`,
    [installation, ids],
  );
}

/**
 * A page of units in an open state (including refused ones), in the order of their chains. `after`: the last unit of
 * the page before.
 */
export function unitsInState(
  db: Connection,
  installation: InstallationId,
  state: 'pending' | 'sending' | 'uncertain' | 'drafted' | 'refused' | 'handed_over',
  { after, limit }: { after: OutboxUnit | null; limit: number },
): Promise<OutboxUnit[]> {
  return rows(
    db,
    unitShape,
    `select ${columnList(unitShape)} from erp_unit
     where installation = ? and state = ? and (kind, seq) > (?::text, ?::bigint) order by kind, seq limit ?`,
    [installation, state, after?.kind ?? '', after?.seq ?? 0, limit],
  );
}

/** The progress of an installation's delivery. No unit is counted twice. */
export interface DeliveryCounts {
  /** Units that the ERP has, or that are in written files. */
  delivered: number;
  /** Units that will be sent automatically, including those in doubt. */
  left: number;
  uncertain: number;
  /** Drafts that wait for the accountant. */
  drafted: number;
  unapproved: number;
  refused: number;
}

export async function deliveryCounts(db: Connection, installation: InstallationId): Promise<DeliveryCounts> {
  const [outbox] = await outboxStates(db, [installation]);
  if (outbox === undefined) throw new RangeError('an installation that was asked for has a state');
  return outbox.counts;
}

/** The outbox of an installation: its counts, and its oldest open date. */
export interface OutboxState {
  installation: InstallationId;
  counts: DeliveryCounts;
  approval: WaitingForApproval;
  /** Date of the oldest unit that is sent automatically; null if there is none. */
  oldest: CalendarDate | null;
}

/** The outboxes of these installations. The number of statements does not depend on their number. */
export async function outboxStates(db: Connection, installations: readonly InstallationId[]): Promise<OutboxState[]> {
  const settled = await countsOf(db, installations);
  const work = await dueWorks(db, installations);
  const approvals = await approvalsWaitedFor(db, installations);
  const oldest = await oldestOpenDates(db, installations);
  return installations.map((installation) => {
    const { delivered, uncertain, drafted, refused } = settled.get(installation) ?? nothing;
    const approval = approvals.get(installation) ?? { n: 0, from: null, through: null };
    return {
      installation,
      counts: {
        ...{ delivered, left: work.get(installation)?.left ?? 0 },
        ...{ uncertain, drafted, unapproved: approval.n, refused },
      },
      approval,
      oldest: oldest.get(installation) ?? null,
    };
  });
}

const nothing = { delivered: 0, uncertain: 0, drafted: 0, refused: 0 };

/**
 * Delivered units are counted from the table `erp_delivered`, which triggers keep up to date, since their number grows
 * every year. Units in other states are few, and each state has an index.
 */
async function countsOf(
  db: Connection,
  installations: readonly InstallationId[],
): Promise<Map<InstallationId, typeof nothing>> {
  const found = await rows(
    db,
    { installation: integer, delivered: integer, uncertain: integer, drafted: integer, refused: integer },
    `select i.id as installation,
       coalesce((select n from erp_delivered where installation = i.id), 0) as delivered,
       (select count(*) from erp_unit where installation = i.id and state = 'uncertain') as uncertain,
       (select count(*) from erp_unit where installation = i.id and state = 'drafted') as drafted,
       (select count(*) from erp_unit where installation = i.id and state = 'refused') as refused
     from unnest(?::bigint[]) i(id)`,
    [installations],
  );
  return new Map(found.map(({ installation, ...counts }) => [installation, counts]));
}

/** Number of units that were confirmed or written into files since an instant. */
export async function deliveredSince(db: Connection, installation: InstallationId, since: Date): Promise<number> {
  const { n } = await row(
    db,
    { n: integer },
    `select count(*)::int as n from erp_unit where installation = ? and settled_at >= ?
     and state in ('delivered', 'handed_over', 'acknowledged')`,
    [installation, since],
  );
  return n;
}

/**
 * The automatic work of a delivery. `left`: units that are due now or later without any action by a person.
 * `nextDueMs`: milliseconds until one of them is due, 0 if one is due now, null if there are none. Units behind a
 * refused unit, or behind one that waits for approval, are not counted. Neither are drafts: they are due again every few
 * minutes.
 */
export async function dueWork(db: Connection, installation: InstallationId): Promise<DueWork> {
  return (await dueWorks(db, [installation])).get(installation) ?? { left: 0, nextDueMs: null };
}

export interface DueWork {
  left: number;
  nextDueMs: number | null;
}

async function dueWorks(
  db: Connection,
  installations: readonly InstallationId[],
): Promise<Map<InstallationId, DueWork>> {
  const found = await rows(
    db,
    { installation: integer, left: integer, next_due_ms: nullable(integer) },
    // A recursive query walks from each waiting unit to its predecessors, and finds those that are stuck. Few units
    // have a predecessor.
    `with recursive waiting as (
       select installation, unit_id, follows from erp_unit
       where installation = any(?) and state = 'pending' and not needs_approval and follows is not null
     ), up as (
       select w.installation, w.unit_id, w.follows as at from waiting w
       union
       select up.installation, up.unit_id, p.follows from up
       join erp_unit p on p.installation = up.installation and p.unit_id = up.at
       where p.state = 'pending' and not p.needs_approval and p.follows is not null
     ), behind as (
       select up.installation, up.unit_id,
         bool_or(p.state = 'refused' or (p.state = 'pending' and p.needs_approval)) as is_stuck,
         bool_or(p.state in ('pending', 'sending', 'uncertain')) as is_waiting
       from up join erp_unit p on p.installation = up.installation and p.unit_id = up.at group by up.installation, up.unit_id
     ), open as (
       select u.installation, u.not_before, coalesce(b.is_waiting, false) as is_waiting
       from erp_unit u left join behind b on b.installation = u.installation and b.unit_id = u.unit_id
       where u.installation = any(?) and u.state = 'pending' and not u.needs_approval and not coalesce(b.is_stuck, false)
       union all
       select installation, not_before, false from erp_unit where installation = any(?) and state in ('sending', 'uncertain')
     ), due as (
       select installation, 1 as n, case when not is_waiting then coalesce(not_before, clock_timestamp()) end as at from open
       union all
       select installation, 0, clock_timestamp() from erp_unit
       where installation = any(?) and state = 'drafted' and coalesce(not_before, '-infinity') <= clock_timestamp()
     )
     select installation, sum(n)::int as left, case when min(at) is not null
       then greatest(0, ceil(extract(epoch from min(at) - clock_timestamp()) * 1000))::bigint end as next_due_ms
     from due group by installation`,
    [installations, installations, installations, installations],
  );
  return new Map(found.map(({ installation, left, next_due_ms: nextDueMs }) => [installation, { left, nextDueMs }]));
}

/** Date of the oldest unit that is sent automatically; null if there is none. */
export async function oldestOpenDate(db: Connection, installation: InstallationId): Promise<CalendarDate | null> {
  return (await oldestOpenDates(db, [installation])).get(installation) ?? null;
}

async function oldestOpenDates(
  db: Connection,
  installations: readonly InstallationId[],
): Promise<Map<InstallationId, CalendarDate | null>> {
  const found = await rows(
    db,
    { installation: integer, oldest: nullable(date) },
    `select i.id as installation, least(
       (select min(unit_date) from erp_unit where installation = i.id and state = 'pending' and not needs_approval),
       (select min(unit_date) from erp_unit where installation = i.id and state in ('sending', 'uncertain'))) as oldest
     from unnest(?::bigint[]) i(id)`,
    [installations],
  );
  return new Map(found.map(({ installation, oldest }) => [installation, oldest]));
}

/** Number of units whose outcome is in doubt. */
export async function countInDoubt(db: Connection, installation: InstallationId): Promise<number> {
  const { n } = await row(
    db,
    { n: integer },
    `select count(*)::int as n from erp_unit where installation = ? and state in ('sending', 'uncertain')`,
    [installation],
  );
  return n;
}

/** Whether a unit of any installation is marked as being sent to the company. */
export async function isSendingTo(db: Connection, company: string): Promise<boolean> {
  const { found } = await row(
    db,
    { found: bool },
    `select exists (select from erp_unit where company = ? and state = 'sending') as found`,
    [company],
  );
  return found;
}

const pauseShape = { installation: integer, acted_by: text, reason: text, acted_at: instant };

/** Who paused an installation's delivery, and why (table `erp_pause`). */
export type DeliveryPause = RowOf<typeof pauseShape>;

/** The pause of an installation's delivery; null if it is not paused. */
export async function pauseOf(db: Connection, installation: InstallationId): Promise<DeliveryPause | null> {
  return (await pausesOf(db, [installation]))[0] ?? null;
}

export function pausesOf(db: Connection, installations: readonly InstallationId[]): Promise<DeliveryPause[]> {
  return rows(
    db,
    pauseShape,
    `select p.installation, a.acted_by, a.reason, a.acted_at from erp_pause p join action_done a on a.id = p.action_id
     where p.installation = any(?)`,
    [installations],
  );
}

const pauseChangeShape = {
  id: integer,
  installation: integer,
  kind: oneOf(['pause_delivery', 'resume_delivery']),
  acted_by: text,
  reason: text,
};

/** The last pause or resumption of each installation's delivery (src/actions). */
export function lastPauseChanges(
  db: Connection,
  installations: readonly InstallationId[],
): Promise<RowOf<typeof pauseChangeShape>[]> {
  return rows(
    db,
    pauseChangeShape,
    `select distinct on (installation) id, installation, kind, acted_by, reason from action_done
     where installation = any(?) and kind in ('pause_delivery', 'resume_delivery') order by installation, id desc`,
    [installations],
  );
}

const companyShape = {
  company: text,
  kind: text,
  name: text,
  not_before: nullable(instant),
  last_error_code: nullable(text),
  last_error_message: nullable(text),
  last_error_at: nullable(instant),
  last_answer_at: nullable(instant),
  periods: nullable(json),
  periods_read_at: nullable(instant),
  drafts_swept: integer,
};

/** The stored state of a company of an ERP (table `erp_company`). */
export type CompanyState = RowOf<typeof companyShape>;

/** The state of a company; null if nothing was ever sent to it. */
export async function companyState(db: Connection, company: string): Promise<CompanyState | null> {
  return (await companyStates(db, [company]))[0] ?? null;
}

export function companyStates(db: Connection, companies: readonly string[]): Promise<CompanyState[]> {
  return rows(db, companyShape, `select ${columnList(companyShape)} from erp_company where company = any(?)`, [
    companies,
  ]);
}
