-- An answer does not prove that an entry id was stored: a later read of the list does (src/writeback/read-back.ts). Programs of the version
-- before read none of these columns, and what they have written counts as unconfirmed until it is read back.
alter table write_back
  -- What the read showed, and for which entry id: programs of the version before write another one and leave this as it is.
  add column read_back text constraint write_back_read_back_check check (read_back in ('shown', 'foreign', 'unseen', 'given_up')),
  add column read_back_of text,
  -- When it was looked for last since it was written.
  add column read_back_at timestamptz,
  -- Times in a row that it was accepted and not shown by a later read.
  add column unseen integer not null default 0;

-- What is still to be looked for.
create index write_back_unread on write_back (installation, prepayment_id)
  where (state = 'done' and (read_back is null or read_back_of is distinct from entry_id)) or read_back = 'given_up';

-- One that was given up is not sent again by itself.
create or replace function note_written_back() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
declare
  settled text = case
    when new.state = 'done' or (new.read_back = 'given_up' and new.read_back_of = new.entry_id) then new.entry_id end;
begin
  update document d set written_entry_id = settled
  where d.installation = new.installation and d.kind = 'prepayment' and d.id = new.prepayment_id
    and d.written_entry_id is distinct from settled;
  return null;
end $$;

alter table erp_number_write_back
  -- When the source last accepted the value; a later read then says whether it stands there.
  add column accepted_at timestamptz;
update erp_number_write_back set accepted_at = written_at where written_at is not null;
