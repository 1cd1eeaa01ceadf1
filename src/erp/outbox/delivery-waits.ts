import { bool, instant, integer, nullable, type RowOf } from '../../db/columns.ts';
import { type Connection, rows } from '../../db/rows.ts';
import type { InstallationId } from '../../terms.ts';

const shape = {
  installation: integer,
  /** Whether a process delivers to the company now, or did until some seconds ago. */
  isUnderWay: bool,
  /** Number of units that were sent and cannot be looked up yet. */
  inDoubt: integer,
  /** When these units can be looked up; null if there are none, or if no delivery has taken them over yet. */
  looksUpAt: nullable(instant),
  looksUpInMs: nullable(integer),
  /** Since when the next unit has waited without any answer of the ERP; null if no unit waits. */
  waitingSince: nullable(instant),
};

/** The reason why units wait that are sent automatically, apart from errors of the ERP. */
export type UnitWait = RowOf<typeof shape>;

/** The waits of installations, each with the key of its company. */
export function deliveryWaits(
  db: Connection,
  installations: readonly { id: InstallationId; company: string }[],
): Promise<UnitWait[]> {
  return rows(
    db,
    shape,
    `select i.id as installation, l.is_held as "isUnderWay", d.n as "inDoubt", d.looks_up_at as "looksUpAt",
       greatest(0, ceil(extract(epoch from d.looks_up_at - clock_timestamp()) * 1000))::bigint as "looksUpInMs",
       greatest(w.enqueued_at, case when w.enqueued_at is not null then c.last_answer_at end) as "waitingSince"
     from unnest(?::bigint[], ?::text[]) as i(id, company)
     left join erp_company c on c.company = i.company
     cross join lateral (
       select exists (select from lease e where e.installation = 0 and e.lane = 'delivery' and e.company = i.company and e.holder <> ''
         and e.expires_at > clock_timestamp()) as is_held) l
     cross join lateral (
       select count(*)::int as n, case when count(*) > 0 then greatest(max(u.not_before), c.look_up_from) end as looks_up_at from erp_unit u
       where u.installation = i.id
         and (u.state = 'sending' and (not l.is_held or c.look_up_from is not null)
           or u.state = 'uncertain' and u.not_before > clock_timestamp())) d
     left join lateral (
       select u.enqueued_at from erp_unit u where u.installation = i.id and u.state = 'pending' and not u.needs_approval
       order by u.is_backlog, u.kind, u.seq limit 1) w on true`,
    [installations.map(({ id }) => id), installations.map(({ company }) => company)],
  );
}
