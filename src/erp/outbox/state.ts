import { type ActedBy, recordAction } from '../../actions/record.ts';
import { text } from '../../db/columns.ts';
import { type Connection, execute, rows } from '../../db/rows.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';
import { pauseOf } from './outbox-queries.ts';

/**
 * Makes refused units pending: those with these ids, or all for null. Each is looked up before it is sent; if the ERP
 * has it, it is only compared. Returns the ids of the units that were refused. Without `by`, the caller records the action.
 */
export async function retryUnits(
  trx: Connection,
  installation: InstallationId,
  ids: readonly string[] | null,
  by: ActedBy | null,
): Promise<string[]> {
  const retried = await rows(
    trx,
    { unit_id: text },
    // `answered` changes the attempt's id, so the ERP does not replay an earlier answer. `batch_limit` stays.
    `update erp_unit u set state = 'pending', not_before = null, doubt = null, unknown_refusals = 0, answered = answered + 1,
       problem_code = null, problem_message = null, problem_since = null, settled_at = null,
       company = coalesce((select nullif(c.company, '') from erp_cursor c where c.installation = u.installation), u.company)
     where installation = ? and state = 'refused' and (?::text[] is null or unit_id = any(?::text[])) returning unit_id`,
    [installation, ids, ids],
  );
  if (by !== null && retried.length > 0) {
    const result = { retried: retried.length };
    await recordAction(trx, { installation, kind: 'retry_delivery', by, input: { units: ids ?? 'all' }, result });
  }
  return retried.map(({ unit_id }) => unit_id);
}

/** Approves the delivery of the units of first loads and backfills up to a date. Returns their number. */
export async function approveUnits(
  trx: Connection,
  installation: InstallationId,
  through: CalendarDate,
  by: ActedBy,
): Promise<number> {
  const approved = await execute(
    trx,
    // After a restored backup the ERP may have these units, so they are looked up before they are sent
    // (look-up-first.ts).
    `update erp_unit u set needs_approval = false,
       state = case when l.installation is null then u.state else 'uncertain' end,
       doubt = case when l.installation is null then u.doubt else 'no_answer' end
     from (select ?::bigint as id) asked left join erp_look_up l on l.installation = asked.id
     where u.installation = asked.id and u.state = 'pending' and u.needs_approval and u.unit_date <= ?::date`,
    [installation, through],
  );
  await recordAction(trx, { installation, kind: 'approve_delivery', by, input: { through }, result: { approved } });
  return approved;
}

/** Pauses an installation's delivery from the next batch on. Returns false if it is already paused. */
export async function pauseDelivery(trx: Connection, installation: InstallationId, by: ActedBy): Promise<boolean> {
  if ((await pauseOf(trx, installation)) !== null) return false;
  const { id: action } = await recordAction(trx, { installation, kind: 'pause_delivery', by, input: {} });
  // If two calls run at once, the later one is stored.
  await execute(
    trx,
    `insert into erp_pause (installation, action_id) values (?, ?)
     on conflict (installation) do update set action_id = excluded.action_id`,
    [installation, action],
  );
  return true;
}

/** Ends the pause of an installation's delivery. Returns false if it is not paused. */
export async function resumeDelivery(trx: Connection, installation: InstallationId, by: ActedBy): Promise<boolean> {
  const resumed = await execute(trx, 'delete from erp_pause where installation = ?', [installation]);
  if (resumed > 0) await recordAction(trx, { installation, kind: 'resume_delivery', by, input: {} });
  return resumed > 0;
}
