/**
 * SQL that joins the delivery of entry `e` as `d`. `is_settled`: the entry was cancelled out, and not sent. `is_late`:
 * its period was closed in the ERP before it was sent. There is no row for an entry that is not delivered.
 */
export const deliveryOfEntry = `left join lateral (
  select u.state = 'cancelled_out' as is_settled, u.late_since is not null as is_late from erp_unit u
  where u.installation = e.installation
    and u.unit_id = coalesce((select m.summary_id from summary_member m where m.entry_id = e.id), e.id)
) d on true`;

/** SQL expression beside `deliveryOfEntry`: whether the lines of entry `e` are late (ACCOUNTING "Dates"). */
export const isLateForVat = '(e.is_late or coalesce(d.is_late, false))';

/** SQL expression beside `deliveryOfEntry`: the id of entry `e` if it was cancelled out; otherwise null. */
export const settledEntry = '(case when d.is_settled then e.id end)';
