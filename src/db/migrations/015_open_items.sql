-- Matching of receivable lines in the ERP. A line that a delivered unit has on an invoice's receivable, as the ERP was given it.
create table erp_open_line (
  installation bigint not null,
  invoice_id bigint not null,
  unit_id text not null,
  -- Position in the unit.
  line integer not null,
  account text not null,
  -- Debit positive.
  amount numeric not null,
  primary key (installation, invoice_id, unit_id, line)
);

-- An invoice with such lines. Only those that a delivery has touched since they were settled last are looked at.
create table erp_open_item (
  installation bigint not null,
  invoice_id bigint not null,
  touched bigint not null default 1,
  touched_at timestamptz not null default clock_timestamp(),
  -- The value of `touched` that was settled last.
  settled bigint not null default 0,
  not_before timestamptz,
  failures integer not null default 0,
  -- Why lines that would settle it stay unmatched.
  remark text,
  remark_since timestamptz,
  primary key (installation, invoice_id)
);
create index erp_open_item_touched on erp_open_item (installation, touched_at, invoice_id)
  where touched <> settled or remark is not null;
create index erp_open_item_remark on erp_open_item (installation, invoice_id) where remark is not null;

-- Groups that we matched, or were about to: what anybody else matched is left alone.
create table erp_item_match (
  installation bigint not null,
  invoice_id bigint not null,
  -- The ERP's ids of the lines, sorted.
  line_ids text[] not null,
  -- The ERP's name of the group, once it was read back.
  group_id text,
  matched_at timestamptz not null default clock_timestamp(),
  primary key (installation, invoice_id, line_ids)
);

-- Whoever delivers a unit, or finds that it is not in the ERP after all, touches the items of its lines.
create function note_open_items() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
begin
  with moved as (
    select now_is.installation, now_is.unit_id
    from after_it now_is join before_it was using (installation, unit_id)
    where now_is.kind = 'entry' and now_is.state <> was.state and 'delivered' in (now_is.state, was.state)
  ), lines as (
    select m.installation, l.invoice_id, m.unit_id, l.line, l.account,
      case when l.side = 'debit' then l.amount else -l.amount end as amount
    from moved m join entry_line l on l.entry_id = m.unit_id
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
create trigger erp_unit_open_items after update on erp_unit
  referencing old table as before_it new table as after_it for each statement execute function note_open_items();
