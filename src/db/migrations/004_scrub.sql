-- The scrub: reading every record of the source again, in the background.

-- Slots of requests that nobody waits for.
alter table budget_slot add column background boolean not null default false;

drop function budget_take(bigint, text, int, int, double precision, int, double precision, double precision, uuid,
  double precision, bigint[], double precision[]);

-- Grants a weight and returns the slot, or records a claim and returns the milliseconds after which to ask again. The slot
-- counts for hold_seconds unless it is finished sooner. Claims of better priority (lower), then of greater age, count as used,
-- so that a heavy request is not starved by light ones. A weight above the limit in force is granted when nothing else is
-- under way. First, the slots `answered` are told (see budget_finish). With a grant comes `asked_at`: the request is sent after
-- it. No two grants of a budget have the same, and a later grant has a later one, even where the clock was put back.
--
-- A background request (kept_free given) is granted only where no claim stands and kept_free is left beside it, and where those
-- before it that still count stay within kept_free together with it. It leaves no claim and says no time to ask again, so that
-- nobody waits for it. Work that takes no more in a rolling window than the limit less kept_free is therefore granted what it
-- asks for as if there were no background requests. Only a background_share above 0 takes that share of the limit in turn,
-- before other work.
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
  -- Null: a request of ordinary work.
  kept_free int default null,
  background_share double precision default null,
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
  used_behind bigint;
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

  select coalesce(sum(s.weight) filter (where s.expires_at > present), 0),
    coalesce(sum(s.weight) filter (where s.expires_at > present and s.background), 0),
    coalesce(bool_or(s.expires_at <= present), false)
  into used, used_behind, expired
  from budget_slot s where s.installation = for_installation and s.action = for_action;
  if expired then
    delete from budget_slot s
    where s.installation = for_installation and s.action = for_action and s.expires_at <= present;
  end if;
  allowed := budget_limit(asked_limit, state.share, state.regains_from, per_seconds);
  if kept_free is not null then
    -- Its share is taken in turn before any other work; the rest only from what nobody waits for.
    if used_behind + asked_weight <= floor(allowed * background_share + 1e-9) then
      asked_priority := 0;
    else
      perform budget_withdraw(for_installation, for_action, for_claimant);
      if state.blocked_until > present or used + asked_weight + kept_free > allowed
        or (used_behind > 0 and used_behind + asked_weight > kept_free)
        or exists (
          select from budget_claim c
          where c.installation = for_installation and c.action = for_action and c.expires_at > present)
      then
        return;
      end if;
    end if;
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

  if state.blocked_until <= present and (used + ahead + asked_weight <= allowed or used + ahead = 0) then
    if claimed then
      perform budget_withdraw(for_installation, for_action, for_claimant);
    end if;
    update budget b
    set window_seconds = least(b.window_seconds, per_seconds), clock_at = present,
      asked_at = greatest(present, b.asked_at + interval '1 microsecond')
    where b.installation = for_installation and b.action = for_action returning b.asked_at into budget_take.asked_at;
    insert into budget_slot (installation, action, weight, background, taken_at, expires_at)
    values (for_installation, for_action, asked_weight, kept_free is not null, present,
      present + make_interval(secs => hold_seconds))
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

-- One pass of the scrub over one list. A pass begins with a row for each list.
create table scrub_pass (
  installation bigint not null,
  pass int not null,
  list text not null check (list in ('invoice', 'row', 'payment', 'prepayment')),
  -- Everything up to this id has been read in this pass; of rows, those of the invoices up to it.
  after_id bigint not null default 0,
  -- What the mirror held when the pass began.
  expected bigint not null,
  records bigint not null default 0,
  -- Records that differed from the mirror and that no window would have asked for, and those that the source no longer has.
  differing bigint not null default 0,
  missing bigint not null default 0,
  requests bigint not null default 0,
  weight bigint not null default 0,
  began_at timestamptz not null default clock_timestamp(),
  read_at timestamptz,
  finished_at timestamptz,
  primary key (installation, pass, list)
);

-- What a pass found, record by record.
create table scrub_finding (
  installation bigint not null,
  pass int not null,
  list text not null check (list in ('invoice', 'row', 'payment', 'prepayment')),
  -- Of a row, the id of its invoice.
  document_id bigint not null,
  what text not null check (what in ('changed', 'appeared', 'vanished')),
  records int not null,
  found_at timestamptz not null default clock_timestamp(),
  primary key (installation, pass, list, document_id, what)
);
