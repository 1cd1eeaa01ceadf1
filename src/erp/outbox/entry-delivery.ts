/**
 * SQL that joins the delivery of entry `e` as `d`. `is_settled`: the entry was cancelled out, and not sent. `is_late`:
 * its period was closed in the ERP before it was sent. There is no row for an entry that is not delivered.
 * Under row-level security, PostgreSQL searches no index for the value of a `coalesce` or of a sub-select.
 */
export const deliveryOfEntry = `left join lateral (
  select u.state = 'cancelled_out' as is_settled, u.late_since is not null as is_late
  from (select max(m.summary_id) as id from summary_member m where m.entry_id = e.id) summary
  join erp_unit u on u.installation = e.installation and u.unit_id = case when summary.id is null then e.id else summary.id end
) d on true`;

/** SQL expression beside `deliveryOfEntry`: whether the lines of entry `e` are late (ACCOUNTING "Dates"). */
export const isLateForVat = '(e.is_late or coalesce(d.is_late, false))';

/** SQL expression beside `deliveryOfEntry`: the id of entry `e` if it was cancelled out; otherwise null. */
export const settledEntry = '(case when d.is_settled then e.id end)';
