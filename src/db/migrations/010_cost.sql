-- What a window costs follows from what changed, not from what there is: each question that a window asks has an index that
-- holds only what is still to be done.

-- Stale row sets; records that are gone stay out.
drop index mirror_record_stale_rows;
create index mirror_record_stale_rows on mirror_record (installation, id)
  where kind = 'invoice' and needs_rows and gone_at is null and (rows_source_time is null or rows_source_time < rows_fresh_from);

-- Invoices changed since an instant, whose row sets are fetched again where the source does not tell changed rows.
create index mirror_record_recent_invoices on mirror_record (installation, modified)
  where kind = 'invoice' and needs_rows and gone_at is null;

create index sync_window_open on sync_window (installation, kind) where outcome = 'open';

---------------------------------------------------------------------------------------------------- write-backs
-- The entry id that the source has been told of a prepayment, kept beside the one in force: what differs is to be written back.
alter table document add column written_entry_id text;

update document d set written_entry_id = w.entry_id from write_back w
where w.state = 'done' and d.installation = w.installation and d.kind = 'prepayment' and d.id = w.prepayment_id;

create function note_written_back() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
begin
  update document d set written_entry_id = case when new.state = 'done' then new.entry_id end
  where d.installation = new.installation and d.kind = 'prepayment' and d.id = new.prepayment_id
    and d.written_entry_id is distinct from case when new.state = 'done' then new.entry_id end;
  return null;
end $$;
create trigger written_back after insert or update on write_back for each row execute function note_written_back();

create index document_to_write_back on document (installation, id)
  where kind = 'prepayment' and state = 'posted' and entry_id is not null and written_entry_id is distinct from entry_id;

---------------------------------------------------------------------------------------------------- daily summaries
-- Entries for a daily summary that are in none yet: put here with the entry, taken out with its summary.
create table summary_waiting (
  entry_id text primary key references entry (id),
  installation bigint not null,
  entry_date date not null
);
create index summary_waiting_day on summary_waiting (installation, entry_date);

insert into summary_waiting (entry_id, installation, entry_date)
select e.id, e.installation, e.entry_date from entry e
where e.posting_mode = 'daily_summary' and not exists (select from summary_member m where m.entry_id = e.id);

create function wait_for_summary() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
begin
  insert into summary_waiting (entry_id, installation, entry_date)
  select a.id, a.installation, a.entry_date from added a where a.posting_mode = 'daily_summary';
  return null;
end $$;
create trigger entry_waits_for_summary after insert on entry referencing new table as added
  for each statement execute function wait_for_summary();

create function leave_summary_waiting() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
begin
  delete from summary_waiting w using added a where w.entry_id = a.entry_id;
  return null;
end $$;
create trigger member_waits_no_more after insert on summary_member referencing new table as added
  for each statement execute function leave_summary_waiting();

-- Nothing asks for entries by their mode any more.
drop index entry_for_summary;
