-- What the Schedules in Temporal say about windows that did not open (src/sync/schedule-state.ts): `status` asks no Temporal.
create table schedule_watch (
  installation bigint not null,
  -- Daemons with another task queue have schedules of their own.
  task_queue text not null,
  -- Ticks so far that opened no window: too late for the catch-up window, another window still under way, no room to wait.
  missed bigint not null,
  skipped bigint not null,
  dropped bigint not null,
  -- When the daemon last saw `missed` or `dropped` grow.
  missed_at timestamptz,
  paused boolean not null,
  note text,
  primary key (installation, task_queue)
);
