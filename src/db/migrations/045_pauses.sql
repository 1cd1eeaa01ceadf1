-- Whether an installation's windows are held back. The row is the truth; the Schedule in Temporal follows it, and a pause that is
-- made there is noted here.
create table window_pause (
  installation bigint primary key,
  is_paused boolean not null,
  -- Whether the Schedule has been told. Once it has, a Schedule that says otherwise was changed in Temporal.
  is_followed boolean not null default false,
  -- Grows with each change, so that nobody overwrites a newer one.
  n integer not null default 1,
  via text not null check (via in ('command', 'temporal')),
  acted_by text not null,
  reason text not null,
  changed_at timestamptz not null default clock_timestamp()
);

-- Who has paused, resumed, cancelled or nudged windows, and why.
create table window_action (
  id bigint generated always as identity primary key,
  installation bigint not null,
  action text not null check (action in ('pause', 'resume', 'cancel', 'nudge')),
  via text not null check (via in ('command', 'temporal')),
  details text not null,
  reason text not null,
  acted_by text not null,
  acted_at timestamptz not null default clock_timestamp()
);
create index window_action_installation on window_action (installation, id);
create trigger window_action_immutable before update or delete or truncate on window_action
  for each statement execute function refuse_change();

alter table erp_action
  drop constraint erp_action_action_check,
  add constraint erp_action_action_check check (action in ('approve', 'retry', 'undo', 'pause', 'resume', 'ack', 'redate',
    'cancel', 'nudge'));
