-- Undone deliveries (src/erp/outbox/undo.ts). An undo is a unit of its own: `<unit>/undo/<n>`, which reverses what came before it. Odd
-- ones reverse the unit, even ones send it again.
alter table erp_unit
  -- The unit of the general ledger that it undoes or sends again; null for a unit of the general ledger itself.
  add column undo_of text,
  add column undo_n integer,
  -- It was not sent yet when it was undone, and is not sent before `deliver retry`.
  add column is_undone boolean not null default false,
  add constraint erp_unit_undo check ((undo_of is null) = (undo_n is null));
create index erp_unit_undo_of on erp_unit (installation, undo_of, undo_n) where undo_of is not null;

-- As before, and for the lines of undone units.
create or replace function note_open_items() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
begin
  with moved as (
    select now_is.installation, now_is.unit_id, coalesce(now_is.undo_of, now_is.unit_id) as entry_id,
      case when now_is.undo_n % 2 = 1 then -1 else 1 end as sign
    from after_it now_is join before_it was using (installation, unit_id)
    where now_is.kind = 'entry' and now_is.state <> was.state and 'delivered' in (now_is.state, was.state)
  ), lines as (
    select m.installation, l.invoice_id, m.unit_id, l.line, l.account,
      m.sign * case when l.side = 'debit' then l.amount else -l.amount end as amount
    from moved m join entry_line l on l.entry_id = m.entry_id
    where l.role = 'receivable' and l.invoice_id is not null
  ), kept as (
    insert into erp_open_line (installation, invoice_id, unit_id, line, account, amount)
    select installation, invoice_id, unit_id, line, account, amount from lines on conflict do nothing
  )
  insert into erp_open_item (installation, invoice_id)
  select distinct installation, invoice_id from lines order by installation, invoice_id
  on conflict (installation, invoice_id)
  do update set touched = erp_open_item.touched + 1, touched_at = clock_timestamp(), not_before = null, failures = 0;
  return null;
end $$;
