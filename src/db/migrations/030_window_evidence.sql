-- What a window leaves behind is evidence: why its steps failed while it was open, what that cost, and how it ended, for good.
alter table sync_window
  -- By activity of its workflow: the step, its trouble (null once it went on), and what its failed attempts cost.
  add column troubles jsonb not null default '{}',
  -- The window whose workflow was reset after its end: this row is the reset's.
  add column reset_of bigint;

-- A finished row is never changed. A daemon of an earlier version may note the same end a second time, when the answer to its
-- first note was lost: that changes nothing, and is no error. Deleting stays possible: the retention does.
create function keep_finished_window() returns trigger language plpgsql as $$
begin
  if to_jsonb(new) - 'closed_at' = to_jsonb(old) - 'closed_at' then
    return old;
  end if;
  raise exception 'window % has ended (%), and a window that has ended is never changed', old.id, old.outcome
    using errcode = 'restrict_violation', constraint = 'sync_window_finished';
end $$;
create trigger sync_window_finished before update on sync_window for each row
  when (old.outcome <> 'open') execute function keep_finished_window();
