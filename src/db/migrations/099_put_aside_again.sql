-- What is put aside is asked for again by windows (src/sync/aside.ts), not by the census alone. Programs of the version before write
-- neither column: such a record is looked for in the whole list between its ids.
alter table put_aside
  -- The other filters of the question that showed it: it still stands among what they select.
  add column filters jsonb not null default '{}',
  -- When it was asked for again last; null: never.
  add column asked_again_at timestamptz;
