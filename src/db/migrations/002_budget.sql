-- The rate budget of the practice API: one per installation and endpoint action, shared by every process. Every instant is
-- clock_timestamp(): now() would be the start of the transaction, before the wait for the lock.

create table budget (
  installation bigint not null,
  action text not null,
  -- As last asked with; for showing.
  full_limit int not null,
  window_seconds double precision not null,
  -- The share of the limit in force at regains_from, from when it regains a tenth of the whole per window.
  share double precision not null default 1,
  regains_from timestamptz not null default '-infinity',
  throttled_at timestamptz not null default '-infinity',
  -- The latest Retry-After.
  blocked_until timestamptz not null default '-infinity',
  primary key (installation, action)
);

-- A slot counts against its budget until it expires.
create table budget_slot (
  id bigint generated always as identity primary key,
  installation bigint not null,
  action text not null,
  weight int not null,
  taken_at timestamptz not null,
  expires_at timestamptz not null
);
create index budget_slot_live on budget_slot (installation, action, expires_at);

-- Who waits, one row per process and budget. A claim not renewed expires, so that a killed process holds nobody up.
create table budget_claim (
  installation bigint not null,
  action text not null,
  claimant uuid not null,
  weight int not null,
  priority int not null,
  claimed_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (installation, action, claimant)
);

-- The limit in force: the share left by the last 429 plus a tenth per window since, never under 1.
create function budget_limit(full_limit int, share double precision, regains_from timestamptz, window_seconds double precision)
returns int language sql volatile as $$
  select greatest(1, floor(full_limit * least(1, share + 0.1 * floor(
    greatest(0, least(1e6, extract(epoch from clock_timestamp() - greatest(regains_from, '2000-01-01')) / window_seconds))
  )) + 1e-9))::int
$$;

-- Serialises all that decides about one budget, until the end of the transaction.
create function budget_lock(for_installation bigint, for_action text) returns void language sql volatile as $$
  select pg_advisory_xact_lock(hashtextextended('vetledger budget ' || for_installation || ' ' || for_action, 0))
$$;

-- Gives up a claim: granted, or no longer wanted.
create function budget_withdraw(for_installation bigint, for_action text, for_claimant uuid) returns void language sql volatile as $$
  delete from budget_claim where installation = for_installation and action = for_action and claimant = for_claimant
$$;

-- Grants a weight and returns the slot, or records a claim and returns the milliseconds after which to ask again.
-- Claims of better priority (lower), then of greater age, count as used, so that a heavy request is not starved by light
-- ones. A weight above the limit in force is granted when nothing else is under way.
create function budget_take(
  for_installation bigint,
  for_action text,
  asked_weight int,
  asked_limit int,
  per_seconds double precision,
  timeout_seconds double precision,
  asked_priority int,
  for_claimant uuid,
  claim_seconds double precision,
  out slot_id bigint,
  out wait_ms bigint
) language plpgsql volatile as $$
declare
  present timestamptz;
  state budget;
  claimed timestamptz;
  allowed int;
  used bigint;
  ahead bigint;
  ready_at timestamptz;
begin
  perform budget_lock(for_installation, for_action);
  present := clock_timestamp();

  insert into budget as b (installation, action, full_limit, window_seconds)
  values (for_installation, for_action, asked_limit, per_seconds)
  on conflict (installation, action) do update
    set full_limit = excluded.full_limit, window_seconds = excluded.window_seconds
    where (b.full_limit, b.window_seconds) is distinct from (excluded.full_limit, excluded.window_seconds);
  select * into state from budget b where b.installation = for_installation and b.action = for_action;

  delete from budget_slot s
  where s.installation = for_installation and s.action = for_action and s.expires_at <= present;
  delete from budget_claim c
  where c.installation = for_installation and c.action = for_action and c.expires_at <= present;

  -- A claim keeps its age while its priority stays; whichever of the process's requests stands behind it.
  select c.claimed_at into claimed
  from budget_claim c
  where c.installation = for_installation and c.action = for_action
    and c.claimant = for_claimant and c.priority = asked_priority;
  claimed := coalesce(claimed, present);

  allowed := budget_limit(asked_limit, state.share, state.regains_from, per_seconds);
  select coalesce(sum(s.weight), 0) into used
  from budget_slot s where s.installation = for_installation and s.action = for_action;
  select coalesce(sum(c.weight), 0) into ahead
  from budget_claim c
  where c.installation = for_installation and c.action = for_action and c.claimant <> for_claimant
    and (c.priority, c.claimed_at, c.claimant) < (asked_priority, claimed, for_claimant);

  if state.blocked_until <= present and (used + ahead + asked_weight <= allowed or used + ahead = 0) then
    perform budget_withdraw(for_installation, for_action, for_claimant);
    insert into budget_slot (installation, action, weight, taken_at, expires_at)
    values (for_installation, for_action, asked_weight, present, present + make_interval(secs => timeout_seconds + per_seconds))
    returning id into slot_id;
    return;
  end if;

  insert into budget_claim (installation, action, claimant, weight, priority, claimed_at, expires_at)
  values (for_installation, for_action, for_claimant, asked_weight, asked_priority, claimed,
    present + make_interval(secs => claim_seconds))
  on conflict (installation, action, claimant) do update
    set weight = excluded.weight, priority = excluded.priority, claimed_at = excluded.claimed_at,
      expires_at = excluded.expires_at;

  -- When enough has expired, or all of it. Responses shorten slots, so it can be sooner: the caller asks often.
  select min(freed.expires_at)
    filter (where freed.left_over + ahead + asked_weight <= allowed or freed.left_over = 0)
  into ready_at
  from (
    select s.expires_at, used - sum(s.weight) over (order by s.expires_at, s.id) as left_over
    from budget_slot s where s.installation = for_installation and s.action = for_action
  ) freed;
  ready_at := greatest(coalesce(ready_at, present), state.blocked_until);
  wait_ms := greatest(10, ceil(extract(epoch from ready_at - present) * 1000))::bigint;
end $$;

-- The response has come: the server cannot have counted the request later than this.
create function budget_finish(for_slot bigint, keep_seconds double precision) returns void language sql volatile as $$
  update budget_slot set expires_at = least(expires_at, clock_timestamp() + make_interval(secs => keep_seconds))
  where id = for_slot
$$;

-- A 429: nothing before the latest Retry-After, and half the limit. Requests already under way when the limit was halved say
-- nothing new when they are refused too: they do not halve it again.
create function budget_throttled(
  for_installation bigint, for_action text, for_slot bigint, retry_after_seconds double precision
) returns void language plpgsql volatile as $$
declare
  present timestamptz;
  taken timestamptz;
begin
  perform budget_lock(for_installation, for_action);
  present := clock_timestamp();
  select s.taken_at into taken from budget_slot s where s.id = for_slot;
  update budget b
  set share = budget_limit(b.full_limit, b.share, b.regains_from, b.window_seconds) / 2.0 / b.full_limit,
    throttled_at = present
  where b.installation = for_installation and b.action = for_action and coalesce(taken, present) > b.throttled_at;
  update budget b
  set blocked_until = greatest(b.blocked_until, present + make_interval(secs => retry_after_seconds)),
    regains_from = greatest(b.blocked_until, present + make_interval(secs => retry_after_seconds))
  where b.installation = for_installation and b.action = for_action;
end $$;
