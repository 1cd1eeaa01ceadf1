/**
 * SQL: joins as `d` what became of entry `e` on its way into the ERP: `is_settled`: it was settled against another entry, and none
 * of them was sent; `is_late`: its period was closed in the ERP before it was sent. No row where it is delivered nowhere.
 */
export const deliveryOfEntry = `left join lateral (
  select u.state = 'cancelled_out' as is_settled, u.late_since is not null as is_late from erp_unit u
  where u.installation = e.installation
    and u.unit_id = coalesce((select m.summary_id from summary_member m where m.entry_id = e.id), e.id)
) d on true`;

/** SQL, beside `deliveryOfEntry`: whether the lines of entry `e` are late (ACCOUNTING "Dates"). */
export const isLateForVat = '(e.is_late or coalesce(d.is_late, false))';

/** SQL, beside `deliveryOfEntry`: the id of entry `e` where it was settled without being sent, and otherwise null. */
export const settledEntry = '(case when d.is_settled then e.id end)';
