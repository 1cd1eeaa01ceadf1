-- The ERP's document number, written back into the practice software (src/writeback/numbers.ts).

-- Units that got a number, or were settled without being sent: what the practice software is told of their documents may change.
create table erp_number_due (
  installation bigint not null,
  unit_id text not null,
  primary key (installation, unit_id)
);

create function note_number_due() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
begin
  insert into erp_number_due (installation, unit_id) values (new.installation, new.unit_id) on conflict do nothing;
  return null;
end $$;
create trigger erp_unit_has_number after update of state, erp_number on erp_unit for each row
  when (((new.state = 'delivered' and new.erp_number is not null) or new.state = 'cancelled_out')
    and (old.state is distinct from new.state or old.erp_number is distinct from new.erp_number))
  execute function note_number_due();

-- What the practice software is told of each document, and what of it has been.
create table erp_number_write_back (
  installation bigint not null,
  kind text not null check (kind in ('invoice', 'payment', 'prepayment')),
  document_id bigint not null,
  -- The unit that the document is in the ERP by; of a document without entry in force, the unit of its reversal.
  unit_id text not null,
  -- The number of that unit; of a document without entry in force, what stood there before ours, which may be nothing.
  value text,
  restores boolean not null default false,
  -- Everything that was sent or is being sent: what stands in the source and is among it is ours.
  own_values text[] not null default '{}',
  -- What somebody else wrote, and ours replaced before the books were delivered.
  previous_value text,
  state text not null default 'pending' check (state in ('pending', 'done', 'failed', 'taken', 'absent')),
  attempts integer not null default 0,
  not_before timestamptz,
  error_code text,
  error text,
  error_since timestamptz,
  written_at timestamptz,
  primary key (installation, kind, document_id)
);
create index erp_number_write_back_open on erp_number_write_back (installation, kind, document_id)
  where state in ('pending', 'failed', 'taken');
