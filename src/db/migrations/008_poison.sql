-- Records of the source that could not be stored. Each holds its document; it leaves when an answer brings the record in a
-- form that can be stored.
create table put_aside (
  installation bigint not null,
  kind text not null check (kind in ('invoice', 'row', 'payment', 'prepayment')),
  -- The record's id as the source writes it, which may be no bigint; of a record without one, a hash of its text.
  record text not null,
  -- The invoice of a row or payment, where it could be read.
  parent_id bigint,
  code text not null,
  message text not null,
  since timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  primary key (installation, kind, record)
);
create index put_aside_parent on put_aside (installation, parent_id) where parent_id is not null;

-- The longest Retry-After that is heeded as it is, in seconds. After a longer one, the source is asked once it is over whether
-- it still stands: by one request in the first rate window (a share of 0 is a limit of 1), then by more from window to window.
create function budget_longest_block() returns double precision language sql immutable as $$ select 900.0::double precision $$;

create or replace function budget_throttled(
  for_installation bigint, for_action text, for_slot bigint, retry_after_seconds double precision
) returns void language plpgsql volatile as $$
declare
  present timestamptz;
  taken timestamptz;
  is_long boolean := retry_after_seconds >= budget_longest_block();
  pause interval := make_interval(secs => least(retry_after_seconds, budget_longest_block()));
begin
  perform budget_lock(for_installation, for_action);
  present := clock_timestamp();
  select s.taken_at into taken from budget_slot s where s.id = for_slot;
  update budget b
  set share = budget_limit(b.full_limit, b.share, b.regains_from, b.window_seconds) / 2.0 / b.full_limit,
    throttled_at = present
  where b.installation = for_installation and b.action = for_action and coalesce(taken, present) > b.throttled_at;
  update budget b
  set share = case when is_long then 0 else b.share end,
    blocked_until = greatest(b.blocked_until, present + pause),
    regains_from = greatest(b.blocked_until, present + pause)
  where b.installation = for_installation and b.action = for_action;
end $$;

-- Forgets what 429s have done to a budget: its block and its lowered limit. Requests under way and answered still count.
create function budget_forget(for_installation bigint, for_action text) returns void language plpgsql volatile as $$
begin
  perform budget_lock(for_installation, for_action);
  update budget set share = 1, regains_from = '-infinity', blocked_until = '-infinity'
  where installation = for_installation and action = for_action;
end $$;

update budget set blocked_until = clock_timestamp() + make_interval(secs => budget_longest_block())
where blocked_until > clock_timestamp() + make_interval(secs => budget_longest_block());

-- A request whose outcome is in doubt (a time-out, a 5xx): since when, and the value that stood there before it. What stands
-- there later and is neither that nor ours was written by somebody else since, and stays.
alter table write_back add column sent_at timestamptz, add column value_before text;
