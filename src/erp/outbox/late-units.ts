import { type Connection, execute } from '../../db/rows.ts';
import type { ClosedDays } from '../../domain/dates.ts';
import { closedInErpCode } from './cancel-out.ts';

/** Codes of refused units that the ERP may have all the same, or that an accountant has thrown out. */
const otherwiseDecided = ['erp_differs', 'erp_doubled', 'erp_unverified', 'erp_company_changed', 'erp_draft_deleted'];

/**
 * Makes the units late that a company's ERP does not have and whose days are closed there (ACCOUNTING "Dates"): they are sent no
 * more, and wait for a decision. One that waits for consent is only marked, since nothing of it is sent anyway. One that the ERP may
 * have is looked up first, by its delivery.
 */
export async function markLate(trx: Connection, company: string, closed: readonly ClosedDays[]): Promise<void> {
  if (closed.length === 0) return;
  await execute(
    trx,
    `update erp_unit u set late_since = clock_timestamp(),
       state = case when needs_consent then state else 'refused' end,
       problem_code = case when needs_consent then problem_code else ? end,
       problem_message = case when needs_consent then problem_message
         else 'the ERP’s period of ' || unit_date || ' was closed before it was sent' end,
       problem_since = case when needs_consent then problem_since else clock_timestamp() end,
       not_before = case when needs_consent then not_before end
     from unnest(?::date[], ?::date[]) as closed(from_day, through)
     where company = ? and late_since is null and state in ('pending', 'refused')
       and unit_date between coalesce(closed.from_day, '-infinity') and closed.through and undo_of is null and erp_id is null
       and case state when 'pending' then attempts = 0 else problem_code <> all(?::text[]) end`,
    [
      closedInErpCode,
      ...[closed.map(({ from }) => from), closed.map(({ through }) => through)],
      ...[company, otherwiseDecided],
    ],
  );
}
