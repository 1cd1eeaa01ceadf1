import { bool, columnList, date, instant, integer, json, nullable, oneOf, type RowOf, text } from '../../db/columns.ts';
import { type Connection, maybeRow, row, rows } from '../../db/rows.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';
import { type OutboxUnit, type UnitState, unitShape, unitStates } from './unit.ts';

/** How many units are in each state; those that wait for consent are pending. */
export async function countsByState(db: Connection, installation: InstallationId): Promise<Record<UnitState, number>> {
  const found = await rows(
    db,
    { state: oneOf(unitStates), n: integer },
    'select state, count(*)::int as n from erp_unit where installation = ? group by state',
    [installation],
  );
  const counted = new Map(found.map(({ state, n }) => [state, n]));
  return Object.fromEntries(unitStates.map((state) => [state, counted.get(state) ?? 0])) as Record<UnitState, number>;
}

/** Units that wait for `vetledger deliver --approve`, and the days of the first and the last. */
export function waitingForConsent(db: Connection, installation: InstallationId) {
  return row(
    db,
    { n: integer, from: nullable(text), through: nullable(text) },
    `select count(*)::int as n, min(unit_date)::text as "from", max(unit_date)::text as through
     from erp_unit where installation = ? and state = 'pending' and needs_consent`,
    [installation],
  );
}

/** The units with these ids, in the order of their chains; unknown ids are left out. */
export function unitsById(db: Connection, installation: InstallationId, ids: readonly string[]): Promise<OutboxUnit[]> {
  return rows(
    db,
    unitShape,
    `select ${columnList(unitShape)} from erp_unit where installation = ? and unit_id = any(?::text[]) order by kind desc, seq`,
    [installation, ids],
  );
}

/** The undos of these units, and what was sent again after them, in their order (undo.ts). */
export function undosOf(db: Connection, installation: InstallationId, ids: readonly string[]): Promise<OutboxUnit[]> {
  return rows(
    db,
    unitShape,
    `select ${columnList(unitShape)} from erp_unit
     where installation = ? and undo_of = any(?::text[]) order by undo_of, undo_n`,
    [installation, ids],
  );
}

/** Units in one of the open states, refused ones among them, by chain; `after` is the last one of the page before. */
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

/** How far the delivery of an installation is; no unit is counted twice. */
export interface DeliveryCounts {
  /** The ERP has them, or the files that hold them are written. */
  delivered: number;
  /** They are sent by themselves, those in doubt included. */
  left: number;
  uncertain: number;
  /** Drafts that wait for the accountant. */
  drafted: number;
  unapproved: number;
  refused: number;
}

export async function deliveryCounts(db: Connection, installation: InstallationId): Promise<DeliveryCounts> {
  const { delivered, handed_over, acknowledged, uncertain, drafted, refused } = await countsByState(db, installation);
  const { left } = await dueWork(db, installation);
  const { n: unapproved } = await waitingForConsent(db, installation);
  return {
    delivered: delivered + handed_over + acknowledged,
    left,
    uncertain,
    ...{ drafted, unapproved, refused },
  };
}

/** How many units were confirmed, or written into files, since an instant. */
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
 * What delivery would do by itself: `left`, the units that are due now or later without anybody doing something; `nextDueMs`,
 * until one of them is due, 0 where one is, null where none will be. A unit behind one that is refused or waits for consent is
 * not among them, nor are drafts, which wait for the accountant: whoever asks every few minutes finds them due again then.
 */
export async function dueWork(
  db: Connection,
  installation: InstallationId,
): Promise<{ left: number; nextDueMs: number | null }> {
  const found = await row(
    db,
    { left: integer, next_due_ms: nullable(integer) },
    // A unit waits for its predecessor; which of the waiting ones are stuck is found by walking up from each, as few have one.
    `with recursive waiting as (
       select unit_id, follows from erp_unit
       where installation = ? and state = 'pending' and not needs_consent and follows is not null
     ), up as (
       select w.unit_id, w.follows as at from waiting w
       union
       select up.unit_id, p.follows from up join erp_unit p on p.installation = ? and p.unit_id = up.at
       where p.state = 'pending' and not p.needs_consent and p.follows is not null
     ), behind as (
       select up.unit_id,
         bool_or(p.state = 'refused' or (p.state = 'pending' and p.needs_consent)) as is_stuck,
         bool_or(p.state in ('pending', 'sending', 'uncertain')) as is_waiting
       from up join erp_unit p on p.installation = ? and p.unit_id = up.at group by up.unit_id
     ), open as (
       select u.unit_id, u.not_before, coalesce(b.is_waiting, false) as is_waiting
       from erp_unit u left join behind b on b.unit_id = u.unit_id
       where u.installation = ? and u.state = 'pending' and not u.needs_consent and not coalesce(b.is_stuck, false)
       union all
       select unit_id, not_before, false from erp_unit where installation = ? and state in ('sending', 'uncertain')
     ), next as (
       select coalesce(not_before, clock_timestamp()) as at from open where not is_waiting
       union all
       (select clock_timestamp() from erp_unit
        where installation = ? and state = 'drafted' and coalesce(not_before, '-infinity') <= clock_timestamp() limit 1)
     )
     select (select count(*)::int from open) as left,
       (select case when min(at) is not null
         then greatest(0, ceil(extract(epoch from min(at) - clock_timestamp()) * 1000))::bigint end from next) as next_due_ms`,
    [installation, installation, installation, installation, installation, installation],
  );
  return { left: found.left, nextDueMs: found.next_due_ms };
}

/** Date of the oldest unit that is sent by itself; null where none is. */
export async function oldestOpenDate(db: Connection, installation: InstallationId): Promise<CalendarDate | null> {
  const { oldest } = await row(
    db,
    { oldest: nullable(date) },
    `select least(
       (select min(unit_date) from erp_unit where installation = ? and state = 'pending' and not needs_consent),
       (select min(unit_date) from erp_unit where installation = ? and state in ('sending', 'uncertain'))) as oldest`,
    [installation, installation],
  );
  return oldest;
}

/** How many units nobody knows the outcome of. */
export async function countInDoubt(db: Connection, installation: InstallationId): Promise<number> {
  const { n } = await row(
    db,
    { n: integer },
    `select count(*)::int as n from erp_unit where installation = ? and state in ('sending', 'uncertain')`,
    [installation],
  );
  return n;
}

/** Whether a unit of any installation is being sent to the company, or its sender has died. */
export async function isSendingTo(db: Connection, company: string): Promise<boolean> {
  const { found } = await row(
    db,
    { found: bool },
    `select exists (select from erp_unit where company = ? and state = 'sending') as found`,
    [company],
  );
  return found;
}

const pauseShape = { installation: integer, paused_by: text, reason: text, paused_at: instant };

/** Who has paused an installation's delivery, and why (table `erp_pause`). */
export type DeliveryPause = RowOf<typeof pauseShape>;

/** The pause of an installation's delivery; null where it is not paused. */
export function pauseOf(db: Connection, installation: InstallationId): Promise<DeliveryPause | null> {
  return maybeRow(
    db,
    pauseShape,
    'select installation, paused_by, reason, paused_at from erp_pause where installation = ?',
    [installation],
  );
}

const companyShape = {
  company: text,
  kind: text,
  name: text,
  holder: text,
  not_before: nullable(instant),
  last_error_code: nullable(text),
  last_error_message: nullable(text),
  last_error_at: nullable(instant),
  last_answer_at: nullable(instant),
  periods: nullable(json),
  periods_read_at: nullable(instant),
};

/** What is known of a company of an ERP (table `erp_company`). */
export type CompanyState = RowOf<typeof companyShape>;

/** The state of a company; null where nothing was ever sent to it. */
export function companyState(db: Connection, company: string): Promise<CompanyState | null> {
  return maybeRow(db, companyShape, `select ${columnList(companyShape)} from erp_company where company = ?`, [company]);
}
