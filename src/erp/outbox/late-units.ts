import { type Connection, execute } from '../../db/rows.ts';
import type { ClosedDays } from '../../domain/dates.ts';
import { deliveryFindings } from '../../texts/findings/delivery.ts';
import { closedInErpCode } from './cancel-out.ts';

/** Problem codes of refused units that the ERP may still have, or that an accountant has discarded. */
const otherwiseDecided = ['erp_differs', 'erp_doubled', 'erp_unverified', 'erp_company_changed', 'erp_draft_deleted'];

/**
 * Marks units as late if the ERP does not have them and their dates are closed there (ACCOUNTING "Dates"). vetledger
 * no longer sends late units; they wait for a decision. Units that wait for approval keep their state, since they are not sent
 * anyway. Units that the ERP may have are looked up first, by their delivery.
 */
export async function markLate(trx: Connection, company: string, closed: readonly ClosedDays[]): Promise<void> {
  if (closed.length === 0) return;
  await execute(
    trx,
    `update erp_unit u set late_since = clock_timestamp(),
       state = case when needs_approval then state else 'refused' end,
       problem_code = case when needs_approval then problem_code else ? end,
       problem_message = case when needs_approval then problem_message
         else replace(?::text, '{date}', unit_date::text) end,
       problem_since = case when needs_approval then problem_since else clock_timestamp() end,
       not_before = case when needs_approval then not_before end
     from unnest(?::date[], ?::date[]) as closed(from_day, through)
     where company = ? and late_since is null and state in ('pending', 'refused')
       and unit_date between coalesce(closed.from_day, '-infinity') and closed.through and undo_of is null and erp_id is null
       and case state when 'pending' then attempts = 0 else problem_code <> all(?::text[]) end`,
    [
      ...[closedInErpCode, deliveryFindings.periodClosedBefore({ date: '{date}' })],
      ...[closed.map(({ from }) => from), closed.map(({ through }) => through)],
      ...[company, otherwiseDecided],
    ],
  );
}
