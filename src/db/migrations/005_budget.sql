-- One round trip a request: a take brings along which of its process's slots were answered since its last one. A request's age
-- is its own, not its process's claim's: the oldest goes first whichever process it waits in. What may be lost in a crash
-- without harm (claims, and that slots end sooner) does not wait for the disk; a grant does.

drop function budget_take(bigint, text, int, int, double precision, double precision, int, uuid, double precision);
drop function budget_finish(bigint, double precision);

-- Answered slots count for so many seconds yet: the server cannot have counted their requests later than it answered.
create function budget_shorten(slots bigint[], keep_seconds double precision[]) returns void language sql volatile as $$
  update budget_slot s
  set expires_at = least(s.expires_at, clock_timestamp() + make_interval(secs => kept.seconds))
  from unnest(slots, keep_seconds) kept (id, seconds)
  where s.id = kept.id
$$;

-- The same between takes.
create function budget_finish(
  for_installation bigint, for_action text, slots bigint[], keep_seconds double precision[]
) returns void language plpgsql volatile as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  perform budget_lock(for_installation, for_action);
  perform budget_shorten(slots, keep_seconds);
end $$;

-- A longer window than the one asked with so far: slots that still count do so for longer, and until those that expired under
-- the shorter one are out of the longer one, too, nobody asks (and a little more: clocks differ in pace). A shorter one is
-- recorded once it is granted something.
create function budget_lengthen(
  for_installation bigint, for_action text, by_seconds double precision, hold_seconds double precision
) returns void language sql volatile as $$
  update budget_slot
  set expires_at = least(expires_at + make_interval(secs => by_seconds * 1.001), clock_timestamp() + make_interval(secs => hold_seconds))
  where installation = for_installation and action = for_action;
  update budget set blocked_until = greatest(blocked_until, clock_timestamp() + make_interval(secs => by_seconds * 1.001))
  where installation = for_installation and action = for_action;
$$;

-- Grants a weight and returns the slot, or records a claim and returns the milliseconds after which to ask again. The slot
-- counts for hold_seconds unless it is finished sooner. Claims of better priority (lower), then of greater age, count as used,
-- so that a heavy request is not starved by light ones. A weight above the limit in force is granted when nothing else is
-- under way. First, the slots `answered` are told (see budget_finish).
create function budget_take(
  for_installation bigint,
  for_action text,
  asked_weight int,
  asked_priority int,
  age_seconds double precision,
  asked_limit int,
  per_seconds double precision,
  hold_seconds double precision,
  for_claimant uuid,
  claim_seconds double precision,
  answered bigint[],
  keep_seconds double precision[],
  out slot_id bigint,
  out wait_ms bigint
) language plpgsql volatile as $$
declare
  present timestamptz;
  state budget;
  asked_at timestamptz;
  allowed int;
  used bigint;
  expired boolean;
  ahead bigint;
  claimed boolean;
  ready_at timestamptz;
begin
  perform budget_lock(for_installation, for_action);
  if cardinality(answered) > 0 then
    perform budget_shorten(answered, keep_seconds);
  end if;
  present := clock_timestamp();

  select * into state from budget b where b.installation = for_installation and b.action = for_action;
  if not found then
    insert into budget (installation, action, full_limit, window_seconds)
    values (for_installation, for_action, asked_limit, per_seconds) returning * into state;
  elsif state.full_limit <> asked_limit or state.window_seconds < per_seconds then
    if state.window_seconds < per_seconds then
      perform budget_lengthen(for_installation, for_action, per_seconds - state.window_seconds, hold_seconds);
    end if;
    update budget b set full_limit = asked_limit, window_seconds = greatest(b.window_seconds, per_seconds)
    where b.installation = for_installation and b.action = for_action returning * into state;
  end if;

  select coalesce(sum(s.weight) filter (where s.expires_at > present), 0), coalesce(bool_or(s.expires_at <= present), false)
  into used, expired
  from budget_slot s where s.installation = for_installation and s.action = for_action;
  if expired then
    delete from budget_slot s
    where s.installation = for_installation and s.action = for_action and s.expires_at <= present;
  end if;
  -- Reckoned anew at each asking an age would waver with the time that the asking takes.
  select least(present - make_interval(secs => age_seconds), min(c.claimed_at)) into asked_at
  from budget_claim c
  where c.installation = for_installation and c.action = for_action
    and c.claimant = for_claimant and c.priority = asked_priority;
  select
    coalesce(sum(c.weight) filter (
      where c.claimant <> for_claimant and c.expires_at > present
        and (c.priority, c.claimed_at, c.claimant) < (asked_priority, asked_at, for_claimant)
    ), 0),
    coalesce(bool_or(c.claimant = for_claimant), false)
  into ahead, claimed
  from budget_claim c where c.installation = for_installation and c.action = for_action;
  allowed := budget_limit(asked_limit, state.share, state.regains_from, per_seconds);

  if state.blocked_until <= present and (used + ahead + asked_weight <= allowed or used + ahead = 0) then
    if claimed then
      perform budget_withdraw(for_installation, for_action, for_claimant);
    end if;
    if state.window_seconds > per_seconds then
      update budget b set window_seconds = per_seconds
      where b.installation = for_installation and b.action = for_action;
    end if;
    insert into budget_slot (installation, action, weight, taken_at, expires_at)
    values (for_installation, for_action, asked_weight, present, present + make_interval(secs => hold_seconds))
    returning id into slot_id;
    return;
  end if;

  perform set_config('synchronous_commit', 'off', true);
  delete from budget_claim c
  where c.installation = for_installation and c.action = for_action and c.expires_at <= present;
  insert into budget_claim (installation, action, claimant, weight, priority, claimed_at, expires_at)
  values (for_installation, for_action, for_claimant, asked_weight, asked_priority, asked_at,
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
  -- Room enough, were it not for the claims ahead: their turn is now.
  wait_ms := greatest(case when ready_at <= present then 25 else 1 end, ceil(extract(epoch from ready_at - present) * 1000))::bigint;
end $$;
