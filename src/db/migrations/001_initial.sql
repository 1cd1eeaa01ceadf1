-- The whole of vetledger's state. Times are timestamptz; amounts numeric; ids of the source bigint.

create table meta (
  key text primary key,
  value text not null
);
-- Ids of workflows and task queues carry it, so that a Temporal cluster can be shared by several databases.
insert into meta (key, value) values ('database_id', substr(replace(gen_random_uuid()::text, '-', ''), 1, 8));

---------------------------------------------------------------------------------------------------- installations
-- What vetledger noted of an installation for its next windows: one row each, made by the first note.
create table installation_state (
  installation bigint primary key,
  -- Of mapping, start date, time zone, closed period and locks, when documents were last marked for a change of them.
  conditions_hash text,
  -- The start date that the books were begun with: null is a value of its own once it has been noted.
  start_date date,
  start_date_noted_at timestamptz,
  -- Windows that webhooks have asked for and that have not opened yet: two at most.
  pending_nudges int not null default 0 check (pending_nudges >= 0),
  nudged_at timestamptz,
  -- Null while the next window is to take a census: none was taken yet, or a count has differed since.
  census_taken_at timestamptz
);

-- Each department's lock date in the source as last read; null where the source locks no period.
create table department_lock (
  installation bigint not null,
  department bigint not null,
  lock_date date,
  noted_at timestamptz not null default clock_timestamp(),
  primary key (installation, department)
);

---------------------------------------------------------------------------------------------------- source capabilities
-- Whether the source's server honours a filter of a list (src/sync/capabilities/filters.ts).
create table source_filter (
  installation bigint not null,
  list text not null check (list in ('invoice', 'row', 'payment', 'prepayment')),
  filter text not null,
  verdict text not null check (verdict in ('honoured', 'ignored', 'unknown')),
  noted_at timestamptz not null default clock_timestamp(),
  primary key (installation, list, filter)
);

-- What else the source's server was seen to do (src/sync/capabilities/server.ts); `list` is null where it is the same for all.
create table source_capability (
  installation bigint not null,
  list text check (list in ('invoice', 'row', 'payment', 'prepayment')),
  name text not null check (name in ('default_page_size', 'timestamp_style', 'repeats_records')),
  value text not null,
  noted_at timestamptz not null default clock_timestamp(),
  unique nulls not distinct (installation, list, name)
);

---------------------------------------------------------------------------------------------------- mirror
-- The newest known version of every record of the source. `raw` is json, not jsonb: the wire's digits as they came.
create table mirror_record (
  installation bigint not null,
  kind text not null check (kind in ('invoice', 'row', 'payment', 'prepayment')),
  id bigint not null,
  -- The invoice of a row or payment.
  parent_id bigint,
  version int not null,
  -- The record's own `modified`, when it has one.
  modified timestamptz,
  -- Lower bound of the snapshot this version was read from (the server's clock); only a later answer replaces it.
  source_time timestamptz not null,
  first_seen_at timestamptz not null,
  content_hash text not null,
  raw json not null,
  -- For an invoice: whether its rows are needed (it is final), the source time its rows must reach to be fresh (proof P2:
  -- its `modified` rounded up to the next second, never later than the answer that brought it), and that of the last
  -- fetch of its whole row set.
  needs_rows boolean not null default false,
  rows_fresh_from timestamptz,
  rows_source_time timestamptz,
  -- Confirmed missing from the source by a second look-up.
  gone_at timestamptz,
  primary key (installation, kind, id)
);
create index mirror_record_stale_rows on mirror_record (installation, id)
  where kind = 'invoice' and needs_rows and (rows_source_time is null or rows_source_time < rows_fresh_from);
create index mirror_record_parent on mirror_record (installation, kind, parent_id) where parent_id is not null;

-- Earlier versions, as they were when a newer one replaced them.
create table mirror_version (
  installation bigint not null,
  kind text not null,
  id bigint not null,
  version int not null,
  modified timestamptz,
  source_time timestamptz not null,
  content_hash text not null,
  raw json not null,
  primary key (installation, kind, id, version)
);

---------------------------------------------------------------------------------------------------- documents
-- One row per document ever seen: its one state, and whether it waits to be judged again.
create table document (
  installation bigint not null,
  kind text not null check (kind in ('invoice', 'payment', 'prepayment')),
  id bigint not null,
  state text not null default 'pending',
  dirty boolean not null default true,
  -- Counts marks, so that a mark set while the document was being judged is not lost.
  dirty_mark bigint not null default 1,
  -- A failed proof wants its parts fetched again first; a failure after that holds it (ACCOUNTING "Proofs").
  refetch text not null default 'no' check (refetch in ('no', 'wanted', 'done')),
  document_date date,
  entry_id text,
  entry_count int not null default 0,
  input_hash text,
  problem_code text,
  problem_message text,
  problem_since timestamptz,
  judged_at timestamptz,
  -- A correction that `vetledger repost` was asked for and that a closed period holds: each judging of the document tries it again.
  remap_held boolean not null default false,
  primary key (installation, kind, id)
);
create index document_dirty on document (installation, kind, id) where dirty;
create index document_problem on document (installation) where problem_code is not null;
create index document_refetch on document (installation) where refetch = 'wanted';

-- Said of a document without holding it (due_sum_disagrees, vat_rate_disagrees, opening_changed).
create table document_report (
  installation bigint not null,
  kind text not null,
  id bigint not null,
  code text not null,
  message text not null,
  since timestamptz not null default clock_timestamp(),
  primary key (installation, kind, id, code)
);

---------------------------------------------------------------------------------------------------- ledger
create table entry (
  id text primary key,
  installation bigint not null,
  kind text not null,
  document_id bigint not null,
  n int not null,
  seq bigint not null,
  -- The mode in force when the entry was appended, for ever: it decides whether the entry itself or a summary with it goes to
  -- the general ledger, so that a changed setting never posts anything twice.
  posting_mode text not null default 'document' check (posting_mode in ('document', 'daily_summary')),
  entry_date date not null,
  document_date date not null,
  reason text not null,
  description text not null,
  reverses text references entry (id),
  original_kind text,
  original_id bigint,
  idempotency_key text not null unique,
  input_hash text not null,
  previous_hash text not null,
  hash text not null,
  window_id bigint,
  created_at timestamptz not null default clock_timestamp(),
  unique (installation, seq),
  unique (installation, kind, document_id, n)
);
create unique index entry_reverses on entry (reverses) where reverses is not null;
create index entry_date on entry (installation, entry_date);
-- Empty unless daily summaries are used, so that asking for entries that wait for one costs nothing.
create index entry_for_summary on entry (installation, entry_date, id) where posting_mode = 'daily_summary';

create table entry_line (
  entry_id text not null references entry (id),
  line int not null,
  account text not null,
  role text not null,
  side text not null check (side in ('debit', 'credit')),
  amount numeric not null check (amount > 0),
  rule text not null,
  mapped_by text not null,
  party_code text,
  party_name text,
  party_vat_number text,
  party_country_code text,
  department_id bigint,
  dimension_1 text,
  dimension_2 text,
  dimension_3 text,
  internal_account text,
  internal_dimension_1 text,
  internal_dimension_2 text,
  invoice_id bigint,
  payment_type int,
  document_number text,
  due_date date,
  bank_reference text,
  vat_group text,
  vat_rate numeric,
  vat_base numeric,
  has_vat boolean not null default false,
  row_ids bigint[] not null default '{}',
  primary key (entry_id, line)
);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'journal entries are never changed or deleted; post a correction' using errcode = 'restrict_violation';
end $$;
create trigger entry_immutable before update or delete or truncate on entry for each statement execute function refuse_change();
create trigger entry_line_immutable before update or delete or truncate on entry_line for each statement execute function refuse_change();

---------------------------------------------------------------------------------------------------- daily summaries
-- What goes to the general ledger in posting mode `daily_summary`. The entries of single documents stay as they are; they are
-- the sub-ledger that the summaries are made of.

-- One day and department; `n` from 1 for the day itself, above for documents of that day posted later.
create table summary_entry (
  id text primary key,
  installation bigint not null,
  summary_date date not null,
  department_id bigint,
  n int not null,
  seq bigint not null,
  previous_hash text not null,
  hash text not null,
  window_id bigint,
  created_at timestamptz not null default clock_timestamp(),
  unique (installation, seq)
);
create index summary_entry_date on summary_entry (installation, summary_date, department_id, n);

create table summary_line (
  summary_id text not null references summary_entry (id),
  line int not null,
  account text not null,
  role text not null,
  side text not null check (side in ('debit', 'credit')),
  amount numeric not null check (amount > 0),
  dimension_1 text,
  dimension_2 text,
  dimension_3 text,
  internal_account text,
  internal_dimension_1 text,
  internal_dimension_2 text,
  payment_type int,
  vat_group text,
  vat_rate numeric,
  vat_base numeric,
  has_vat boolean not null,
  -- Of the buyer, on zero-rated sales only (the recapitulative statement is per buyer).
  vat_number text,
  country_code text,
  -- The entries summed up in this line.
  entry_ids text[] not null,
  primary key (summary_id, line)
);

-- Which summary an entry went to: one at most.
create table summary_member (
  entry_id text primary key references entry (id),
  summary_id text not null references summary_entry (id)
);
create index summary_member_summary on summary_member (summary_id);

create trigger summary_entry_immutable before update or delete or truncate on summary_entry
  for each statement execute function refuse_change();
create trigger summary_line_immutable before update or delete or truncate on summary_line
  for each statement execute function refuse_change();
create trigger summary_member_immutable before update or delete or truncate on summary_member
  for each statement execute function refuse_change();

---------------------------------------------------------------------------------------------------- closed periods
-- Our own books' closed periods; the newest row of an installation is in force.
create table ledger_close (
  installation bigint not null,
  through date not null,
  closed_at timestamptz not null default clock_timestamp(),
  primary key (installation, closed_at)
);

---------------------------------------------------------------------------------------------------- sync
-- Where each stream's closed walks have reached; moved by compare-and-set on `revision`.
create table sync_cursor (
  installation bigint not null,
  stream text not null,
  value json not null,
  revision bigint not null default 1,
  moved_at timestamptz not null default clock_timestamp(),
  primary key (installation, stream)
);

-- A walk under way: committed with each page, so that a killed one goes on where it was.
create table sync_walk (
  installation bigint not null,
  stream text not null,
  owner text not null,
  state json not null,
  saved_at timestamptz not null default clock_timestamp(),
  primary key (installation, stream, owner)
);

create table sync_window (
  id bigint generated always as identity primary key,
  installation bigint not null,
  kind text not null check (kind in ('window', 'backfill', 'replay')),
  trigger text not null,
  from_time timestamptz,
  to_time timestamptz,
  outcome text not null default 'open' check (outcome in ('open', 'closed', 'failed')),
  error json,
  counts json not null default '{}',
  workflow_id text not null,
  run_id text not null,
  opened_at timestamptz not null default clock_timestamp(),
  closed_at timestamptz
);
create index sync_window_recent on sync_window (installation, id desc);
create unique index sync_window_run on sync_window (workflow_id, run_id);

-- One window at a time per installation; `token` fences writers whose lease was lost.
create table lease (
  installation bigint primary key,
  token bigint not null,
  holder text not null,
  expires_at timestamptz not null
);

-- The source's own unfiltered counts, and the highest id they cover (ACCOUNTING E6).
create table source_count (
  installation bigint not null,
  kind text not null,
  count bigint not null,
  counted_at timestamptz not null,
  primary key (installation, kind)
);

---------------------------------------------------------------------------------------------------- write-back
create table write_back (
  installation bigint not null,
  prepayment_id bigint not null,
  entry_id text not null,
  previous_value text,
  state text not null default 'pending' check (state in ('pending', 'done', 'failed')),
  attempts int not null default 0,
  error text,
  written_at timestamptz,
  primary key (installation, prepayment_id)
);
create index write_back_pending on write_back (installation) where state <> 'done';

---------------------------------------------------------------------------------------------------- rate budget
-- One per installation and endpoint action of the practice API, shared by every process. Every instant is clock_timestamp():
-- now() would be the start of the transaction, before the wait for the lock.
--
-- One round trip a request: a take brings along which of its process's slots were answered since its last one. A request's age
-- is its own, not its process's claim's: the oldest goes first whichever process it waits in. What may be lost in a crash
-- without harm (claims, and that slots end sooner) does not wait for the disk; a grant does.

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
