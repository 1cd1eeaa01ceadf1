-- When a request was asked, by the database's clock: what the answers of all processes are put in order by, whatever the
-- clocks of the source and of our machines do.

-- The latest asked_at given out, and the clock's reading with it, which is earlier only where the clock was put back.
alter table budget
  add column asked_at timestamptz not null default '-infinity',
  add column clock_at timestamptz not null default '-infinity';

-- Serialises all that decides about one budget, until the end of the transaction. Where the database's clock was put back since
-- the last grant, everything noted by it is put back as far, so that slots, claims and pauses end when they would have.
create or replace function budget_lock(for_installation bigint, for_action text) returns void language plpgsql volatile as $$
declare
  put_back interval;
begin
  perform pg_advisory_xact_lock(hashtextextended('vetledger budget ' || for_installation || ' ' || for_action, 0));
  select b.clock_at - clock_timestamp() into put_back
  from budget b where b.installation = for_installation and b.action = for_action and b.clock_at > clock_timestamp();
  if put_back > interval '0' then
    update budget_slot set taken_at = taken_at - put_back, expires_at = expires_at - put_back
    where installation = for_installation and action = for_action;
    update budget_claim set claimed_at = claimed_at - put_back, expires_at = expires_at - put_back
    where installation = for_installation and action = for_action;
    update budget
    set clock_at = clock_at - put_back, regains_from = regains_from - put_back,
      throttled_at = throttled_at - put_back, blocked_until = blocked_until - put_back
    where installation = for_installation and action = for_action;
  end if;
end $$;

drop function budget_take(bigint, text, int, int, double precision, int, double precision, double precision, uuid,
  double precision, bigint[], double precision[]);

-- Grants a weight and returns the slot, or records a claim and returns the milliseconds after which to ask again. The slot
-- counts for hold_seconds unless it is finished sooner. Claims of better priority (lower), then of greater age, count as used,
-- so that a heavy request is not starved by light ones. A weight above the limit in force is granted when nothing else is
-- under way. First, the slots `answered` are told (see budget_finish). With a grant comes `asked_at`: the request is sent after
-- it. No two grants of a budget have the same, and a later grant has a later one, even where the clock was put back.
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
  out wait_ms bigint,
  out asked_at timestamptz
) language plpgsql volatile as $$
declare
  present timestamptz;
  state budget;
  waiting_since timestamptz;
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
  select least(present - make_interval(secs => age_seconds), min(c.claimed_at)) into waiting_since
  from budget_claim c
  where c.installation = for_installation and c.action = for_action
    and c.claimant = for_claimant and c.priority = asked_priority;
  select
    coalesce(sum(c.weight) filter (
      where c.claimant <> for_claimant and c.expires_at > present
        and (c.priority, c.claimed_at, c.claimant) < (asked_priority, waiting_since, for_claimant)
    ), 0),
    coalesce(bool_or(c.claimant = for_claimant), false)
  into ahead, claimed
  from budget_claim c where c.installation = for_installation and c.action = for_action;
  allowed := budget_limit(asked_limit, state.share, state.regains_from, per_seconds);

  if state.blocked_until <= present and (used + ahead + asked_weight <= allowed or used + ahead = 0) then
    if claimed then
      perform budget_withdraw(for_installation, for_action, for_claimant);
    end if;
    update budget b
    set window_seconds = least(b.window_seconds, per_seconds), clock_at = present,
      asked_at = greatest(present, b.asked_at + interval '1 microsecond')
    where b.installation = for_installation and b.action = for_action returning b.asked_at into budget_take.asked_at;
    insert into budget_slot (installation, action, weight, taken_at, expires_at)
    values (for_installation, for_action, asked_weight, present, present + make_interval(secs => hold_seconds))
    returning id into slot_id;
    return;
  end if;

  perform set_config('synchronous_commit', 'off', true);
  delete from budget_claim c
  where c.installation = for_installation and c.action = for_action and c.expires_at <= present;
  insert into budget_claim (installation, action, claimant, weight, priority, claimed_at, expires_at)
  values (for_installation, for_action, for_claimant, asked_weight, asked_priority, waiting_since,
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

-- The request whose answer a version came from: asked after asked_at, answered before answered_at. What a database from before
-- holds was asked before anything that is asked from now on.
alter table mirror_record
  add column asked_at timestamptz not null default '1970-01-01T00:00:00Z',
  add column answered_at timestamptz not null default '1970-01-01T00:00:00Z';

-- Walks under way noted one clock only; they begin again.
delete from sync_walk;

-- What a window has to say beside its counts: a list of {code, message} (src/sync/clock-remarks.ts).
alter table sync_window add column remarks json not null default '[]';
