-- All state of vetledger. Times are timestamptz; amounts numeric; ids of the source bigint.

create table meta (
  key text primary key,
  value text not null
);
-- Part of workflow ids and task queues, so that several databases can share a Temporal cluster.
insert into meta (key, value) values ('database_id', substr(replace(gen_random_uuid()::text, '-', ''), 1, 8));

-- For append-only tables. `grantRuntime` (src/db/roles.ts) finds them by triggers of this function.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'the rows of % are never changed or deleted; a correction is a new entry', tg_table_name
    using errcode = 'restrict_violation';
end $$;

-- Before PostgreSQL 17, only a table's owner may analyze it. This function lets the runtime role do so after work that
-- outruns autovacuum. It skips a table that another process is analyzing.
create function refresh_statistics(table_name text) returns void language plpgsql
  security definer set search_path = vetledger, pg_temp
  -- A sample of 3,000 rows instead of 30,000 is enough to distinguish a full table from an empty one. Autovacuum takes
  -- the large sample later.
  set default_statistics_target = 10 as $$
begin
  execute format('analyze (skip_locked) vetledger.%I', table_name);
end $$;

---------------------------------------------------------------------------------------------------- installations
-- What vetledger stores about an installation for its next windows: one row each, created by the first window.
create table installation_state (
  installation bigint primary key,
  -- Hash of mapping, start date, time zone, closed period and locks when documents were last marked because one of them
  -- changed.
  conditions_hash text,
  -- The start date of the first window. Null is also a stored value.
  start_date date,
  start_date_noted_at timestamptz,
  -- Windows that webhooks requested and that have not opened yet: at most two.
  pending_nudges int not null default 0 check (pending_nudges >= 0),
  nudged_at timestamptz,
  -- Null if the next window must take a census: none was taken yet, or a count has differed since.
  census_taken_at timestamptz,
  -- Whether a count differed in a way that no census has covered yet (`source_count.census_pairs`).
  census_asked boolean not null default false,
  -- The invoices dated up to this day are marked, because VAT on payment becomes due without a payment after some time
  -- (src/bookkeeping/latest-days.ts). Null if all must be marked anew.
  latest_days_through date
);

-- Each department's lock date in the source as last read; null if the source locks no period.
create table department_lock (
  installation bigint not null,
  department bigint not null,
  lock_date date,
  primary key (installation, department)
);

-- Periods closed in the ERP that must also be closed in the practice software, by department
-- (src/writeback/close-periods.ts).
create table source_period (
  installation bigint not null,
  department bigint not null,
  -- The last day that must be closed there.
  through date not null,
  -- `left`: the department locks its periods automatically.
  state text not null default 'pending' check (state in ('pending', 'done', 'left', 'failed')),
  attempts integer not null default 0,
  not_before timestamptz,
  error text,
  primary key (installation, department)
);

-- The practice software's list of account numbers as last read, for warnings with names while the source does not
-- answer.
create table source_account (
  installation bigint not null,
  number text not null,
  description text,
  department bigint,
  archived boolean not null
);
create index source_account_installation on source_account (installation);

-- What the records of a year used, as the daily turn read it last, for the console (src/bookkeeping/stored-usage.ts).
create table source_usage (
  installation bigint primary key,
  since date not null,
  usage json not null,
  read_at timestamptz not null default clock_timestamp()
);

-- The ERP's names of accounts, as `erp check` read them last (src/erp/account-names.ts).
create table erp_account_name (
  installation bigint not null,
  account text not null,
  name text not null,
  primary key (installation, account)
);

-- The result of the last reconciliation of an installation, for `status` and the metrics (src/reconcile/verdict.ts).
create table reconcile_verdict (
  installation bigint not null primary key,
  ok boolean not null,
  -- The equations that do not hold; `chain` and `seals` if the journal was changed.
  failing text[] not null,
  checked_at timestamptz not null default clock_timestamp(),
  -- When the chains and seals were checked last; null before the first check.
  chains_checked_at timestamptz
);

-- The newest day on which a daemon reconciled an installation automatically (src/reconcile/turns.ts).
create table reconcile_turn (
  installation bigint not null primary key,
  -- In the installation's time zone.
  day date not null,
  attempts integer not null,
  began_at timestamptz not null default clock_timestamp(),
  -- A further attempt on the same day begins no earlier.
  not_before timestamptz not null,
  is_done boolean not null default false,
  -- The error of the last attempt that ended; null if it succeeded.
  error json
);

-- Mail to people (src/mail). What was last noticed for a recipient, by topic: the next look compares with it.
create table mail_mark (
  installation bigint not null,
  recipient text not null,
  topic text not null,
  mark text not null,
  primary key (installation, recipient, topic)
);

-- Mails that were decided to be sent. They hold no names of clients.
create table mail (
  id bigint generated always as identity primary key,
  installation bigint not null,
  recipient text not null,
  topic text not null,
  -- A recipient gets at most one mail an hour about one cause.
  cause text not null,
  -- What it says, as data. Before the first attempt, further events of the cause are added.
  notices json not null,
  -- Number of events that are not in `notices`.
  omitted integer not null default 0,
  decided_at timestamptz not null,
  -- No attempt begins earlier.
  not_before timestamptz not null,
  attempts integer not null default 0,
  sent_at timestamptz,
  -- The error of the last attempt; null if it succeeded.
  error json
);
create index mail_unsent on mail (not_before) where sent_at is null;
create index mail_of_cause on mail (recipient, installation, cause, sent_at);

-- The last successful run of deploy/postgres/backup.sh, which writes the only row; no row before the first. For the
-- metrics.
create table backup (
  finished_at timestamptz not null,
  is_only boolean primary key default true check (is_only)
);

-- The size of the database once a day (src/runtime/retention.ts), for its growth.
create table database_size (
  day date primary key,
  bytes bigint not null
);

---------------------------------------------------------------------------------------------------- actions
-- Decisions of users (src/actions): who requested what, and its one outcome. Both tables are links of one hash chain
-- per installation, and of one for decisions about the whole database (installation null).
create sequence action_id;
create table action (
  id bigint primary key,
  installation bigint,
  seq bigint not null,
  kind text not null,
  -- The user who answers for the action.
  subject text not null check (subject <> ''),
  -- JSON as hashed; no part of it can be erased.
  input json not null,
  -- Hash of the figures that were shown before the action; null if none were shown.
  shown_hash text,
  -- Hash of the reason with its salt (`action_reason`).
  reason_hash text not null,
  asked_at timestamptz not null,
  previous_hash text not null,
  hash text not null,
  unique nulls not distinct (installation, seq),
  -- The second person that the command line names.
  constraint action_second_person check (lower(btrim(input ->> 'second')) <> lower(btrim(subject)))
);
-- A form of the console asks once, however often it is sent.
create unique index action_form on action (installation, (input ->> 'form')) where input ->> 'form' is not null;
-- The daemon looks every second for new requests of the console.
create index action_asked on action (asked_at);
create trigger action_immutable before update or delete or truncate on action
  for each statement execute function refuse_change();

create table action_outcome (
  action_id bigint primary key references action (id),
  installation bigint,
  seq bigint not null,
  result json not null,
  ended_at timestamptz not null,
  previous_hash text not null,
  hash text not null,
  unique nulls not distinct (installation, seq)
);
create trigger action_outcome_immutable before update or delete or truncate on action_outcome
  for each statement execute function refuse_change();

-- Two persons: a request with `two_persons` is performed only after another subject approved what it showed.
create unique index action_approval on action (((input ->> 'action')::bigint)) where kind = 'approve_action';

create function check_approval() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
declare
  asked record;
begin
  select a.subject into asked from action a
  where a.id = (new.input ->> 'action')::bigint and a.installation = new.installation
    and a.input ->> 'two_persons' = 'true' and a.shown_hash = new.shown_hash;
  if asked is null then
    raise exception 'no request of installation % with these effects waits for approval', new.installation
      using errcode = 'restrict_violation', constraint = 'action_approval_fits';
  elsif lower(btrim(asked.subject)) = lower(btrim(new.subject)) then
    raise exception '% asked for action %, so another person must approve it', new.subject, new.input ->> 'action'
      using errcode = 'restrict_violation', constraint = 'action_second_person';
  end if;
  return new;
end $$;
create trigger action_approval before insert on action for each row
  when (new.kind = 'approve_action') execute function check_approval();

create function check_approved() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
begin
  if exists (select from action a where a.id = new.action_id and a.input ->> 'two_persons' = 'true')
    and not exists (
      select from action p where p.kind = 'approve_action' and (p.input ->> 'action')::bigint = new.action_id)
  then
    raise exception 'action % needs the approval of a second person', new.action_id
      using errcode = 'restrict_violation', constraint = 'action_second_person';
  end if;
  return new;
end $$;
create trigger action_outcome_approved before insert on action_outcome for each row
  when (new.result ->> 'refused' is null and new.result ->> 'expired' is null and new.result ->> 'withdrawn' is null)
  execute function check_approved();

-- A mapping that a person proposed in the console is approved by another one.
create function check_proposer() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
begin
  if exists (select from action a where a.id = (new.input ->> 'preview')::bigint and a.installation = new.installation
    and lower(btrim(a.subject)) = lower(btrim(new.subject)))
  then
    raise exception '% proposed the mapping of action %, so another person must approve it', new.subject, new.input ->> 'preview'
      using errcode = 'restrict_violation', constraint = 'action_second_person';
  end if;
  return new;
end $$;
create trigger action_proposer before insert on action for each row
  when (new.kind = 'apply_mapping') execute function check_proposer();

-- Reasons are free text and may name people. They are stored outside the hash chain, and deleted with their salt.
create table action_reason (
  action_id bigint primary key references action (id),
  salt text not null,
  reason text not null check (reason <> '')
);

-- The last link of each chain. Recording the next action locks it, and a link removed from the end is noticed.
create table action_head (
  installation bigint,
  seq bigint not null,
  hash text not null,
  unique nulls not distinct (installation)
);

-- Actions that were performed, for other queries. Refused, expired and withdrawn requests of the console are none.
create view action_done with (security_invoker = true) as
select a.id, a.installation, a.kind, a.subject as acted_by, coalesce(r.reason, '(erased)') as reason, a.input, o.result,
  a.asked_at as acted_at
from action a
join action_outcome o on o.action_id = a.id
left join action_reason r on r.action_id = a.id
where o.result ->> 'refused' is null and o.result ->> 'expired' is null and o.result ->> 'withdrawn' is null;

---------------------------------------------------------------------------------------------------- processes
-- Running daemons and commands. A process without heartbeats is removed.
create table daemon (
  id uuid primary key,
  command text not null,
  host text not null,
  process bigint not null,
  version text not null,
  task_queue text not null,
  -- The installations that the process serves. It leaves steps of other installations to other processes.
  installations bigint[] not null,
  started_at timestamptz not null default clock_timestamp(),
  heard_at timestamptz not null default clock_timestamp(),
  -- When a daemon ended in order. The rows of other processes are deleted then.
  ended_at timestamptz,
  -- Since when the process cannot reach Temporal (src/runtime/presence.ts), for `status` in another process; null if it
  -- can.
  temporal_gone_since timestamptz
);

-- One lease per installation and lane, and one per company of an ERP (lane `delivery`, installation 0). The lanes run
-- in parallel, and each has one holder at a time. `token` fences writers whose lease was lost.
create table lease (
  installation bigint not null,
  -- `books`: two readings of an ERP's books must not run in parallel, since each continues from the last one and
  -- removes what it has not seen (src/queries/reconcile-erp.ts).
  lane text not null check (lane in ('live', 'backfill', 'replay', 'scrub', 'delivery', 'books', 'reconcile', 'actions', 'login')),
  company text not null default '',
  token bigint not null,
  holder text not null,
  expires_at timestamptz not null,
  -- Whether the last holder ended cleanly. If not, its requests may still be running.
  is_in_order boolean not null default false,
  taken_at timestamptz not null default clock_timestamp(),
  primary key (installation, lane, company)
);

---------------------------------------------------------------------------------------------------- whose database and books these are
-- The books that an installation's entries belong to, stored with the first entry. With another configuration, no
-- window opens and no entry is posted until it is adopted.
create table book_identity (
  installation bigint primary key,
  currency text not null,
  timezone text not null,
  -- Scheme, host and port of the practice API.
  source text not null
);

-- Companies of ERPs and addresses of practice APIs that belong to the original of this copy. The copy writes nothing
-- there.
create table copy_bar (
  kind text not null check (kind in ('company', 'source')),
  key text not null,
  primary key (kind, key)
);

---------------------------------------------------------------------------------------------------- mappings
-- An installation's mapping in force is the version with the highest number. Posting holds an advisory lock on it in
-- share mode; a new version takes it exclusively (src/bookkeeping/mapping-versions.ts).
create table mapping_version (
  installation bigint not null,
  number integer not null,
  -- SHA-256 of the content; entries store it.
  mapping_hash text not null check (mapping_hash = encode(sha256(convert_to(content, 'UTF8')), 'hex')),
  -- The mapping file as canonical JSON.
  content text not null,
  -- The version that the file states.
  version text,
  approved_by text,
  -- The action `vetledger mapping apply`; null if a start took the version from the file.
  action_id bigint references action (id),
  began_at timestamptz not null default clock_timestamp(),
  primary key (installation, number)
);
create index mapping_version_hash on mapping_version (installation, mapping_hash);
create trigger mapping_version_immutable before update or delete or truncate on mapping_version
  for each statement execute function refuse_change();

-- The content of a mapping by its hash, which several versions may share.
create view mapping_content with (security_invoker = true) as
  select distinct installation, mapping_hash, version, approved_by from mapping_version;

---------------------------------------------------------------------------------------------------- the source
-- Whether the source's server supports a filter of a list (src/sync/capabilities/filters.ts).
create table source_filter (
  installation bigint not null,
  list text not null check (list in ('invoice', 'row', 'payment', 'prepayment')),
  filter text not null,
  verdict text not null check (verdict in ('honoured', 'ignored', 'unknown')),
  noted_at timestamptz not null default clock_timestamp(),
  primary key (installation, list, filter)
);

-- Other observed behaviour of the source's server (src/sync/capabilities/server.ts); `list` is null if it applies to
-- all lists.
create table source_capability (
  installation bigint not null,
  list text check (list in ('invoice', 'row', 'payment', 'prepayment')),
  name text not null check (name in ('default_page_size', 'timestamp_style', 'repeats_records')),
  value text not null,
  noted_at timestamptz not null default clock_timestamp(),
  unique nulls not distinct (installation, list, name)
);

-- The source's own unfiltered counts, and the highest id that they cover (ACCOUNTING E6).
create table source_count (
  installation bigint not null,
  kind text not null,
  count bigint not null,
  counted_at timestamptz not null,
  -- Pairs of counts (the source's, ours) for which a census was requested since the last daily one. Each pair requests
  -- one.
  census_pairs text[] not null default '{}',
  primary key (installation, kind)
);

-- Sources that refused the credentials. Requests are repeated with growing pauses.
create table sign_in (
  installation bigint primary key,
  -- Identifies the refused secret. The secret itself is not stored.
  mark text not null,
  refusals integer not null,
  since timestamptz not null,
  ask_again_at timestamptz not null
);

---------------------------------------------------------------------------------------------------- mirror
-- The newest known version of every record of the source. `raw` is json, not jsonb, to keep the digits as received.
create table mirror_record (
  installation bigint not null,
  kind text not null check (kind in ('invoice', 'row', 'payment', 'prepayment')),
  id bigint not null,
  -- The invoice of a row or payment, or the invoice that a credit note credits.
  parent_id bigint,
  version int not null,
  -- The record's own `modified`; null if it has none.
  modified timestamptz,
  -- Lower bound of the snapshot that this version was read from (the server's clock). Only a later answer replaces it.
  source_time timestamptz not null,
  first_seen_at timestamptz not null,
  -- Which fields the text keeps (table `field_map`); `all` for the whole record.
  field_map text not null default 'all',
  -- SHA-256 of the text as received. The stored text may lose erased fields.
  content_hash text not null,
  -- Canonical text of the kept fields: equal content gives the same text.
  raw json not null,
  -- Only for invoices. needs_rows: the invoice is final, so its rows are needed. rows_fresh_from: the rows are fresh if they were
  -- read at this source time or later. This is the invoice's `modified`, rounded up to the next second, but not later than the
  -- answer (proof P2). rows_source_time: when all its rows were read last.
  needs_rows boolean not null default false,
  rows_fresh_from timestamptz,
  rows_source_time timestamptz,
  -- When a second look-up confirmed that the source has deleted the record; null otherwise.
  gone_at timestamptz,
  -- The request that returned this version, by the database's clock: sent after asked_at, answered before answered_at.
  -- These times order the answers of all processes, independently of other clocks.
  asked_at timestamptz not null default '1970-01-01T00:00:00Z',
  answered_at timestamptz not null default '1970-01-01T00:00:00Z',
  -- Since when the source does not show a posted record: the database's clock at the request for the whole list. Null if it is
  -- shown, or gone. Such a record counts as existing, in its last version, until a user confirms that it is gone.
  missing_at timestamptz,
  -- The answer to the request for the record's id. It is only a hint for the user. Null if it was not requested.
  missing_answer text,
  -- Whether so many records of its list are missing that they are one problem (source_shrank).
  missing_many boolean not null default false,
  -- Only for invoices: letters and digits of the number, without its prefix, in capitals, for searches. Null without a number.
  number_key text,
  -- Only for prepayments: whether problems look at the external id, because its field is there and names none of its entries.
  id_needs_look boolean not null default true,
  primary key (installation, kind, id)
);
create index mirror_record_number on mirror_record (installation, number_key) where number_key is not null;
create index mirror_record_id_needs_look on mirror_record (installation, id) where kind = 'prepayment' and id_needs_look;
create index mirror_record_parent on mirror_record (installation, kind, parent_id) where parent_id is not null;
-- The cost of a window depends on the changes, not on the size of the mirror: each query of a window has an index of
-- only the rows that need work. This one finds stale row sets.
create index mirror_record_stale_rows on mirror_record (installation, id)
  where kind = 'invoice' and needs_rows and gone_at is null and (rows_source_time is null or rows_source_time < rows_fresh_from);
-- Invoices that changed since an instant. If the source does not list changed rows, all rows of these invoices are fetched again.
create index mirror_record_recent_invoices on mirror_record (installation, modified)
  where kind = 'invoice' and needs_rows and gone_at is null;
create index mirror_record_missing on mirror_record (installation, kind, id) where missing_at is not null;

-- The fields of records that each version keeps, so that older records are compared alike.
create table field_map (
  version text primary key,
  kept json not null
);

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
  -- When it was replaced, by this database's clock. It shows which version an entry was posted from.
  replaced_at timestamptz default clock_timestamp(),
  primary key (installation, kind, id, version)
);

-- Records of the source that could not be stored, those without a usable id, and those of another installation. Each
-- holds its document. The row is deleted when an answer contains the record in a usable form.
create table put_aside (
  installation bigint not null,
  kind text not null check (kind in ('invoice', 'row', 'payment', 'prepayment')),
  -- The record's id as the source writes it, which may not be a bigint; for a record without an id, a hash of its text.
  record text not null,
  -- The invoice of a row or payment, if it is readable.
  parent_id bigint,
  code text not null,
  message text not null,
  since timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  -- A record without a usable id has a negative number instead, from a hash of its text: ids of the source are never
  -- negative. It is searched between the ids where it was found, with the same other filters.
  above bigint,
  below bigint,
  filters jsonb not null default '{}',
  -- When a window last requested it again (src/sync/aside.ts); null if never.
  asked_again_at timestamptz,
  primary key (installation, kind, record)
);
create index put_aside_parent on put_aside (installation, parent_id) where parent_id is not null;

---------------------------------------------------------------------------------------------------- sync
-- The positions of closed walks by stream; updated by compare-and-set on `revision`.
create table sync_cursor (
  installation bigint not null,
  stream text not null,
  value json not null,
  revision bigint not null default 1,
  primary key (installation, stream)
);

-- An unfinished walk. Each page commits it, so a killed walk continues from there.
create table sync_walk (
  installation bigint not null,
  stream text not null,
  owner text not null,
  state json not null,
  saved_at timestamptz not null default clock_timestamp(),
  primary key (installation, stream, owner)
);

-- The permanent record of a window: how it ended and why, and its cost.
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
  closed_at timestamptz,
  -- Remarks about the window besides its counts: a list of {code, message} (src/sync/clock-remarks.ts).
  remarks json not null default '[]',
  -- The ended window whose workflow was reset; this row belongs to the reset.
  reset_of bigint,
  -- The interval that the window reads of each stream; after reading, the interval that was read. Two elements, `from`
  -- and `to`: source times in ms for changes; for payments, the ids above `from` through `to`; null means no bound. A
  -- null column of changes means the window's own interval, from_time to to_time. Without payment_span, no interval is
  -- stored.
  invoice_span bigint[] check (cardinality(invoice_span) = 2),
  prepayment_span bigint[] check (cardinality(prepayment_span) = 2),
  row_span bigint[] check (cardinality(row_span) = 2),
  payment_span bigint[] check (cardinality(payment_span) = 2),
  -- The streams that were not read.
  unread_streams text[] not null default '{}',
  -- The number of windows in a row that found nothing and share this row (src/sync/idle-windows.ts). Interval and cost
  -- cover all of them; times and workflow are the last one's, the run is the first one's. Null for one window alone.
  idle_windows int check (idle_windows > 0)
);
create index sync_window_recent on sync_window (installation, id desc);
create unique index sync_window_run on sync_window (run_id);
create index sync_window_open on sync_window (installation, kind) where outcome = 'open';
create index sync_window_failed on sync_window (installation, id) where outcome = 'failed';

-- The intervals that each failed window left unread, less what later windows have read (src/sync/replay/coverage.ts).
-- Ranges as in sync_window; those of payments also have an inclusive `from` and an exclusive `to`.
create table window_unread (
  window_id bigint primary key references sync_window (id) on delete cascade,
  installation bigint not null,
  invoice_left int8multirange not null,
  prepayment_left int8multirange not null,
  row_left int8multirange not null,
  payment_left int8multirange not null,
  -- The windows that have read a part of it; when it is fully covered, the last of them has closed.
  covered_by bigint[] not null default '{}',
  is_covered boolean not null default false
);
create index window_unread_uncovered on window_unread (installation, window_id) where not is_covered;

-- A finished row never changes, except that a further idle window may join it. A daemon may record the same end twice
-- if the first answer was lost: that changes nothing and is not an error. The retention may delete rows.
create function keep_finished_window() returns trigger language plpgsql as $$
declare
  joined text[] := '{to_time,opened_at,closed_at,workflow_id,counts,invoice_span,prepayment_span,row_span,payment_span,idle_windows}';
begin
  if new.idle_windows = old.idle_windows + 1 and to_jsonb(new) - joined = to_jsonb(old) - joined then
    return new;
  end if;
  if to_jsonb(new) - 'closed_at' = to_jsonb(old) - 'closed_at' then
    return old;
  end if;
  raise exception 'window % has ended (%), and a window that has ended is never changed', old.id, old.outcome
    using errcode = 'restrict_violation', constraint = 'sync_window_finished';
end $$;
create trigger sync_window_finished before update on sync_window for each row
  when (old.outcome <> 'open') execute function keep_finished_window();

-- Activities with a failed attempt, a wait or a long run time. A row is deleted when its activity succeeds, or with its
-- window, whose end records the reason and the cost.
create table open_step (
  -- Temporal's ids: the run of a workflow, and the activity in it.
  run_id text not null,
  activity text not null,
  installation bigint not null,
  -- The activity's name.
  step text not null,
  -- The attempt that wrote last, and whether it recorded its end. Attempts in processes that do not serve the
  -- installation do not count.
  attempt integer not null,
  is_ended boolean not null,
  -- Attempts that ended without an explanation.
  unexplained integer not null,
  -- The last error, how often it occurred without a success in between, and since when; null if nothing fails.
  trouble json,
  -- The cost of all attempts so far.
  api json not null,
  -- Null if the activity continues, or has waited less than five seconds.
  waits_for text,
  waits_since timestamptz,
  noted_at timestamptz not null default clock_timestamp(),
  primary key (run_id, activity)
);

-- The Schedules that daemons have created in Temporal, with their counters of windows that did not open
-- (src/sync/schedule-state.ts). `status` reads them without Temporal, and the watch finds Schedules whose installation
-- no process serves.
create table schedule_watch (
  installation bigint not null,
  -- Daemons with another task queue have separate schedules.
  task_queue text not null,
  -- Ticks so far that opened no window: later than the catch-up window, during another window, or without room to wait.
  -- Null until a daemon has read them.
  missed bigint,
  skipped bigint,
  dropped bigint,
  -- When the daemon last saw `missed` or `dropped` increase.
  missed_at timestamptz,
  paused boolean not null,
  note text,
  -- When the next window is due, by Temporal's list. Null if the Schedule is paused, or was not listed yet.
  next_at timestamptz,
  -- Whether Temporal's list lacked the Schedule. The watch then makes it again.
  is_missing boolean not null default false,
  primary key (installation, task_queue)
);

-- When a daemon last read Temporal's list of Schedules.
create table schedule_look (
  task_queue text primary key,
  seen_at timestamptz not null
);

-- Whether an installation's windows are paused. The row decides, and the Schedule in Temporal follows it.
create table window_pause (
  installation bigint primary key,
  is_paused boolean not null,
  -- The action of the last change.
  action_id bigint not null references action (id)
);

---------------------------------------------------------------------------------------------------- scrub
-- One pass of the scrub over one list. A pass begins with a row for each list.
create table scrub_pass (
  installation bigint not null,
  pass int not null,
  list text not null check (list in ('invoice', 'row', 'payment', 'prepayment')),
  -- Everything up to this id was read in this pass; for rows, those of the invoices up to it.
  after_id bigint not null default 0,
  -- The number of records in the mirror when the pass began.
  expected bigint not null,
  records bigint not null default 0,
  -- Records that differed from the mirror although no window would have requested them, and records that the source no
  -- longer has.
  differing bigint not null default 0,
  missing bigint not null default 0,
  requests bigint not null default 0,
  weight bigint not null default 0,
  began_at timestamptz not null default clock_timestamp(),
  read_at timestamptz,
  finished_at timestamptz,
  primary key (installation, pass, list)
);

-- The findings of a pass, by record.
create table scrub_finding (
  installation bigint not null,
  pass int not null,
  list text not null check (list in ('invoice', 'row', 'payment', 'prepayment')),
  -- For a row, the id of its invoice.
  document_id bigint not null,
  what text not null check (what in ('changed', 'appeared', 'vanished')),
  records int not null,
  found_at timestamptz not null default clock_timestamp(),
  primary key (installation, pass, list, document_id, what)
);

---------------------------------------------------------------------------------------------------- documents
-- One row per document ever seen: its one state, and whether it waits to be judged again.
create table document (
  installation bigint not null,
  kind text not null check (kind in ('invoice', 'payment', 'prepayment', 'vat_due')),
  id bigint not null,
  state text not null default 'pending',
  dirty boolean not null default true,
  -- Counts marks, so that a mark set during a judgement is not lost.
  dirty_mark bigint not null default 1,
  -- After a failed proof, the parts are fetched again first. A further failure holds the document (ACCOUNTING
  -- "Proofs").
  refetch text not null default 'no' check (refetch in ('no', 'wanted', 'done')),
  document_date date,
  entry_id text,
  entry_count int not null default 0,
  input_hash text,
  problem_code text,
  problem_message text,
  problem_since timestamptz,
  judged_at timestamptz,
  -- Whether `vetledger repost` requested a correction that a closed period holds. Each judgement tries it again.
  remap_held boolean not null default false,
  -- For a prepayment, the entry id that was written to the source. If it differs from the entry in force, it must be
  -- written back.
  written_entry_id text,
  -- The amount and VAT that a problem keeps out of the books (src/documents/outside-books.ts); for a posted document,
  -- the differences to the posted amounts; null if unreadable.
  outside_amount numeric,
  outside_vat numeric,
  -- Causes that other documents share, changed fields, and the effect of a held correction on each account.
  problem_details jsonb,
  -- Whether the document was late at a close, the version that was late, and the decision about that version.
  late_at_close boolean not null default false,
  late_version text,
  late_decision text,
  primary key (installation, kind, id)
);
create index document_dirty on document (installation, kind, id) where dirty;
create index document_problem on document (installation) where problem_code is not null;
create index document_refetch on document (installation) where refetch = 'wanted';
create index document_to_write_back on document (installation, id)
  where kind = 'prepayment' and state = 'posted' and entry_id is not null and written_entry_id is distinct from entry_id;
-- Drafts, which each close lists.
create index document_draft on document (installation, document_date) where state = 'not_final';
-- Documents dated in the future, by the day on which each window judges them again.
create index document_in_future on document (installation, document_date) where problem_code = 'date_in_future';

-- Remarks: reports about a document that do not hold it (due_sum_disagrees, vat_rate_disagrees, opening_changed).
create table document_report (
  installation bigint not null,
  kind text not null,
  id bigint not null,
  code text not null,
  message text not null,
  -- The amount that the remark is about, such as what was paid too much; null if it is about no amount.
  amount numeric,
  since timestamptz not null default clock_timestamp(),
  primary key (installation, kind, id, code)
);

-- The members of consolidated invoices that were posted, for VAT on payment: the payments of the consolidated invoice
-- make the VAT of its members due (src/bookkeeping/collector-members.ts).
create table collector_member (
  installation bigint not null,
  collector_id bigint not null,
  member_id bigint not null,
  primary key (installation, collector_id, member_id)
);
create index collector_member_member on collector_member (installation, member_id);

-- Decisions of users about late documents, doubtful dates and missing documents (ACCOUNTING "Dates"). The last decision
-- about a version counts.
create table late_decision (
  id bigint generated always as identity primary key,
  installation bigint not null,
  kind text not null check (kind in ('invoice', 'payment', 'prepayment', 'vat_due')),
  document_id bigint not null,
  -- `confirm_gone`: a user has confirmed that the document is gone.
  decision text not null check (decision in ('wait', 'redate', 'as_dated', 'leave_as_posted', 'accept_date', 'confirm_gone')),
  -- What the decision is about: the entry in force, and the hash of the entry that the document would become, or its
  -- state.
  version text not null,
  action_id bigint not null references action (id)
);
create index late_decision_document on late_decision (installation, kind, document_id, id);
create trigger late_decision_immutable before update or delete or truncate on late_decision
  for each statement execute function refuse_change();

---------------------------------------------------------------------------------------------------- ledger
create table entry (
  id text primary key,
  installation bigint not null,
  kind text not null,
  document_id bigint not null,
  n int not null,
  seq bigint not null,
  -- The mode when the entry was appended, which never changes. It decides whether the entry or a summary with it goes
  -- to the general ledger, so that a changed setting never posts anything twice.
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
  -- The VAT period of the document's date, whether it was closed at posting, and the mapping of the posting.
  vat_period text not null,
  is_late boolean not null,
  mapping_hash text,
  unique (installation, seq),
  unique (installation, kind, document_id, n)
);
create unique index entry_reverses on entry (reverses) where reverses is not null;
create index entry_date on entry (installation, entry_date);
create index entry_late on entry (installation) where is_late;
create index entry_redated on entry (installation, document_date) where entry_date <> document_date;

create table entry_line (
  entry_id text not null,
  line int not null,
  account text not null,
  role text not null,
  side text not null check (side in ('debit', 'credit')),
  amount numeric not null check (amount > 0),
  rule text not null,
  mapped_by text not null,
  party_code text,
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
  -- Whether the line names its party; some lines have a client without a name (R7 knows only the id).
  party_named boolean not null default false,
  primary key (entry_id, line)
);

-- Lines on receivables, prepayments, gift cards and vouchers, by installation: their reports add up the lines of all years. With the
-- included columns, open items are read from the index alone.
create index entry_line_open on entry_line (role, split_part(entry_id, '/', 1), invoice_id, party_code) include (entry_id, side, amount)
  where role in ('receivable', 'opening_receivable', 'prepayment_liability', 'prepayment_vat', 'gift_card_liability', 'voucher_liability');

-- Names of parties, outside the hash chain.
create table entry_party_name (
  installation bigint not null,
  entry_id text not null,
  party_code text not null,
  name text not null,
  primary key (entry_id, party_code)
);
-- Clients of several installations have the same codes.
create index entry_party_name_party on entry_party_name (installation, party_code);

-- The amounts that each entry took from prepayments, for installations that post VAT on prepayments at receipt
-- (src/ledger/journal/shares.ts).
create table entry_share (
  entry_id text not null references entry (id),
  installation bigint not null,
  prepayment_id bigint not null,
  -- Used and refunded before, in posting order.
  used_before numeric not null,
  -- Negative if it was given back.
  amount numeric not null,
  -- The VAT that was given back for it, and whether the prepayment was received with VAT.
  vat numeric not null,
  has_vat boolean not null,
  primary key (entry_id, prepayment_id)
);
create index entry_share_prepayment on entry_share (installation, prepayment_id);

-- Voucher numbers, per journal and fiscal year from 1 without gaps, in chain order. A number never changes.
create table voucher (
  entry_id text primary key,
  installation bigint not null,
  journal text not null check (journal in ('S', 'P', 'A')),
  fiscal_year integer not null,
  number bigint not null check (number > 0),
  unique (installation, journal, fiscal_year, number)
);

-- Debits and credits of the entries of a day, added up in the statement that appends the entries. Reports of a day read
-- these rows instead of all lines. `ledger verify` compares both.
create table account_day (
  installation bigint not null,
  entry_date date not null,
  -- Hash of the columns below: their texts are too long for a key.
  place uuid not null,
  account text not null,
  role text not null,
  department_id bigint,
  dimension_1 text,
  dimension_2 text,
  dimension_3 text,
  debit numeric not null,
  credit numeric not null,
  primary key (installation, entry_date, place)
);

-- The entries that were posted under each mapping; the empty hash is none. They are added up like the days, and `ledger verify`
-- compares them with the entries.
create table entry_mapping (
  installation bigint not null,
  mapping_hash text not null,
  entries bigint not null,
  first_seq bigint not null,
  last_seq bigint not null,
  primary key (installation, mapping_hash)
);

-- Debits and credits of entries per day and place; the subquery per entry uses the key of the lines, as in the guards.
create function add_to_days() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
begin
  insert into account_day as d (installation, entry_date, place, account, role, department_id, dimension_1, dimension_2, dimension_3, debit, credit)
  select a.installation, a.entry_date,
    md5(jsonb_build_array(l.account, l.role, l.department_id, l.dimension_1, l.dimension_2, l.dimension_3)::text)::uuid,
    l.account, l.role, l.department_id, l.dimension_1, l.dimension_2, l.dimension_3,
    coalesce(sum(l.amount) filter (where l.side = 'debit'), 0), coalesce(sum(l.amount) filter (where l.side = 'credit'), 0)
  from added a cross join lateral (select * from entry_line own where own.entry_id = a.id offset 0) l
  group by a.installation, a.entry_date, l.account, l.role, l.department_id, l.dimension_1, l.dimension_2, l.dimension_3
  on conflict (installation, entry_date, place) do update set debit = d.debit + excluded.debit, credit = d.credit + excluded.credit;
  insert into entry_mapping as m (installation, mapping_hash, entries, first_seq, last_seq)
  select installation, coalesce(mapping_hash, ''), count(*), min(seq), max(seq) from added group by 1, 2 order by 1, 2
  on conflict (installation, mapping_hash) do update set entries = m.entries + excluded.entries,
    first_seq = least(m.first_seq, excluded.first_seq), last_seq = greatest(m.last_seq, excluded.last_seq);
  return null;
end $$;
create trigger entry_in_days after insert on entry referencing new table as added
  for each statement execute function add_to_days();

---------------------------------------------------------------------------------------------------- daily summaries
-- Delivered to the general ledger in posting mode `daily_summary`. The entries of single documents stay unchanged as
-- the sub-ledger of the summaries.

-- One day and department, numbered from 1 (`n`). A day has one ordinary summary for each VAT period, and a correction
-- summary whenever late documents or corrections were posted to it later.
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
  -- A summary belongs to one original VAT period, and contains either late entries or others.
  vat_period text not null,
  is_late boolean not null,
  is_correction boolean not null,
  -- The voucher number: journal D, without gaps in a fiscal year.
  fiscal_year integer not null,
  voucher_number bigint not null check (voucher_number > 0),
  unique (installation, seq),
  unique (installation, fiscal_year, voucher_number)
);
create index summary_entry_date on summary_entry (installation, summary_date, department_id, n);

create table summary_line (
  summary_id text not null references summary_entry (id),
  line int not null,
  account text not null,
  role text not null,
  side text not null check (side in ('debit', 'credit')),
  amount numeric not null check (amount > 0),
  -- The posting rule of its entries' lines, so that sales, payments and VAT that becomes due are never added up.
  rule text not null,
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
  -- The buyer's VAT number, only for zero-rated sales (the recapitulative statement lists buyers).
  vat_number text,
  country_code text,
  -- The entries summed up in this line.
  entry_ids text[] not null,
  primary key (summary_id, line)
);

-- The summary of an entry: at most one.
create table summary_member (
  entry_id text primary key references entry (id),
  summary_id text not null references summary_entry (id)
);
create index summary_member_summary on summary_member (summary_id);

-- Entries for a daily summary that are in none yet: inserted with the entry, deleted with its summary.
create table summary_waiting (
  entry_id text primary key references entry (id),
  installation bigint not null,
  entry_date date not null
);
create index summary_waiting_day on summary_waiting (installation, entry_date);

create function wait_for_summary() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
begin
  insert into summary_waiting (entry_id, installation, entry_date)
  select a.id, a.installation, a.entry_date from added a where a.posting_mode = 'daily_summary';
  return null;
end $$;
create trigger entry_waits_for_summary after insert on entry referencing new table as added
  for each statement execute function wait_for_summary();

create function leave_summary_waiting() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
begin
  delete from summary_waiting w using added a where w.entry_id = a.entry_id;
  return null;
end $$;
create trigger member_waits_no_more after insert on summary_member referencing new table as added
  for each statement execute function leave_summary_waiting();

create trigger summary_entry_immutable before update or delete or truncate on summary_entry
  for each statement execute function refuse_change();
create trigger summary_line_immutable before update or delete or truncate on summary_line
  for each statement execute function refuse_change();
create trigger summary_member_immutable before update or delete or truncate on summary_member
  for each statement execute function refuse_change();

---------------------------------------------------------------------------------------------------- closed periods
-- The closed periods of our own books. A close is an event of the journal's hash chain: it takes the next place after
-- the entries posted before it, and links the chain of daily summaries to it. A reopening is a link of the same chain,
-- and the last of them counts.
create table ledger_close (
  installation bigint not null,
  through date not null,
  closed_at timestamptz not null default clock_timestamp(),
  seq bigint not null,
  -- Entries posted before the close.
  entries bigint not null,
  -- The last daily summary before the close, and its hash.
  summaries bigint not null,
  summary_hash text not null,
  previous_hash text not null,
  hash text not null,
  kind text not null default 'close' check (kind in ('close', 'reopen')),
  -- JSON as hashed: the hash of the action with user and reason, and the checklist (src/ledger/close.ts).
  details text not null default '{}',
  action_id bigint references action (id),
  primary key (installation, closed_at),
  unique (installation, seq)
);

-- Posting holds the installation's period in share mode until its transaction ends; closing holds it exclusively. So a
-- close waits for running postings, and later ones see it. An advisory lock is granted in the order of requests. A row
-- lock in share mode would be granted to each new posting at once, and a close could wait for ever.
create function hold_period(for_installation bigint) returns void language sql volatile as $$
  select pg_advisory_xact_lock_shared(hashtextextended('vetledger period ' || for_installation, 0))
$$;

create function hold_period_alone(for_installation bigint) returns void language sql volatile as $$
  select pg_advisory_xact_lock(hashtextextended('vetledger period ' || for_installation, 0))
$$;

-- One writer at a time: two would continue from the same head, and the chain would fork.
create function hold_chain(for_installation bigint) returns void language sql volatile as $$
  select pg_advisory_xact_lock(hashtextextended('vetledger ledger ' || for_installation, 0))
$$;

-- The last closed day; null if none was ever closed.
create function closed_through(for_installation bigint) returns date language sql stable
  set search_path = vetledger, pg_temp as $$
  select c.through from ledger_close c where c.installation = for_installation order by c.seq desc limit 1
$$;

-- The head of an installation's chain: the latest of its entries and closes.
create function chain_head(for_installation bigint, out seq bigint, out hash text) language sql stable
  set search_path = vetledger, pg_temp as $$
  select head.seq, head.hash from (
    (select e.seq, e.hash from entry e where e.installation = for_installation order by e.seq desc limit 1)
    union all
    (select c.seq, c.hash from ledger_close c where c.installation = for_installation and c.seq is not null
     order by c.seq desc limit 1)
    union all
    select 0, repeat('0', 64)
  ) head order by head.seq desc limit 1
$$;

-- The place of a close in its installation's chain, and its hash.
create function chain_close(closed ledger_close) returns ledger_close language plpgsql volatile
  set search_path = vetledger, pg_temp as $$
declare
  head record;
begin
  select * into head from chain_head(closed.installation);
  closed.seq := head.seq + 1;
  closed.previous_hash := head.hash;
  -- The chain has no gaps, so each place without a close has an entry.
  select head.seq - count(*) into closed.entries
  from ledger_close c where c.installation = closed.installation and c.seq is not null;
  select coalesce(max(s.seq), 0) into closed.summaries from summary_entry s where s.installation = closed.installation;
  select coalesce(
    (select s.hash from summary_entry s where s.installation = closed.installation and s.seq = closed.summaries),
    repeat('0', 64)
  ) into closed.summary_hash;
  closed.hash := encode(sha256(convert_to(
    closed.previous_hash || E'\n' || concat_ws(' ', closed.kind, closed.installation, closed.seq,
      to_char(closed.through, 'YYYY-MM-DD'), closed.entries, closed.summaries, closed.summary_hash,
      encode(sha256(convert_to(closed.details, 'UTF8')), 'hex')),
    'UTF8')), 'hex');
  return closed;
end $$;

create function append_close() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
declare
  before date;
begin
  perform hold_period_alone(new.installation);
  perform hold_chain(new.installation);
  before := closed_through(new.installation);
  if new.kind = 'close' and new.through < before then
    raise exception 'the books of installation % are closed through % already', new.installation, before
      using errcode = 'restrict_violation', constraint = 'ledger_close_forward';
  elsif new.kind = 'reopen' and (before is null or new.through >= before) then
    raise exception 'the books of installation % are not closed after %', new.installation, new.through
      using errcode = 'restrict_violation', constraint = 'ledger_close_forward';
  end if;
  return chain_close(new);
end $$;
create trigger ledger_close_append before insert on ledger_close for each row execute function append_close();
create trigger ledger_close_immutable before update or delete or truncate on ledger_close
  for each statement execute function refuse_change();

---------------------------------------------------------------------------------------------------- filed VAT returns
-- VAT returns as accountants filed them (src/ledger/vat-returns.ts). A correction return is the next version of its period.
create table vat_return (
  installation bigint not null,
  period text not null,
  version int not null check (version > 0),
  from_day date not null,
  through date not null check (through >= from_day),
  -- The user, the reason, and the hash of the lines.
  action_id bigint not null references action (id),
  primary key (installation, period, version)
);
create trigger vat_return_immutable before update or delete or truncate on vat_return
  for each statement execute function refuse_change();

-- The lines that a return declares: base and tax of an entry for one VAT group, as the mapping named it then.
create table vat_return_line (
  installation bigint not null,
  period text not null,
  version int not null,
  entry_id text not null references entry (id),
  vat_group text,
  vat_rate numeric,
  kind text,
  code text,
  -- A late line that this return takes.
  is_late boolean not null,
  -- A difference from earlier versions, which may be a withdrawal.
  is_change boolean not null,
  base numeric not null,
  tax numeric not null,
  foreign key (installation, period, version) references vat_return
);
create index vat_return_line_return on vat_return_line (installation, period, version);
-- No two returns declare the same line, and none takes a late line twice.
create unique index vat_return_line_once on vat_return_line (entry_id, vat_group, vat_rate, is_late) nulls not distinct
  where not is_change;
create trigger vat_return_line_immutable before update or delete or truncate on vat_return_line
  for each statement execute function refuse_change();

---------------------------------------------------------------------------------------------------- guards of the journal
-- The database itself refuses statements that would break the books, from any client: an entry dated in a closed
-- period, a period that is closed backwards, an entry that does not balance, a line that is added later. Each guard
-- searches our schema first, so that a temporary table of the same name is not used.

create function refuse_closed_period() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
declare
  refused record;
begin
  perform hold_period(each.installation) from (select distinct installation from posted order by installation) each;
  -- A separate statement after the wait, so that it sees a close that was just committed.
  select p.id, p.installation, p.entry_date, closed.through into refused
  from posted p
  join (select each.installation, closed_through(each.installation) as through
        from (select distinct installation from posted) each) closed
    on closed.installation = p.installation and p.entry_date <= closed.through
  order by p.seq limit 1;
  if found then
    raise exception 'entry % is dated %, and the books of installation % are closed through %',
      refused.id, refused.entry_date, refused.installation, refused.through
      using errcode = 'restrict_violation', constraint = 'entry_in_open_period';
  end if;
  return null;
end $$;
create trigger entry_in_open_period after insert on entry referencing new table as posted
  for each statement execute function refuse_closed_period();

-- An entry is inserted with its lines in one statement, and they balance. Here and below, a subquery for each row uses
-- the key of a large table; a join might read all of it.
create function refuse_unbalanced() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
declare
  refused record;
begin
  select of_lines.id, of_lines.difference into refused
  from (
    select p.id, (
      select sum(case l.side when 'debit' then l.amount else -l.amount end) from entry_line l where l.entry_id = p.id
    ) as difference
    from posted p) of_lines
  where of_lines.difference is distinct from 0 limit 1;
  if not found then
    return null;
  elsif refused.difference is null then
    raise exception 'entry % has no lines', refused.id using errcode = 'check_violation', constraint = 'entry_lines_balance';
  end if;
  raise exception 'entry % does not balance: debit less credit is %', refused.id, refused.difference
    using errcode = 'check_violation', constraint = 'entry_lines_balance';
end $$;
create trigger entry_lines_balance after insert on entry referencing new table as posted
  for each statement execute function refuse_unbalanced();

-- A stored entry accepts no more lines.
create function refuse_added_lines() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
declare
  refused text;
begin
  select added_to.entry_id into refused
  from (select a.entry_id, count(*) as n from added a group by a.entry_id) added_to
  where added_to.n <> (select count(*) from entry_line l where l.entry_id = added_to.entry_id)
  limit 1;
  if found then
    raise exception 'entry % is in the books; it takes no more lines', refused
      using errcode = 'restrict_violation', constraint = 'entry_line_with_entry';
  end if;
  return null;
end $$;
create trigger entry_line_with_entry after insert on entry_line referencing new table as added
  for each statement execute function refuse_added_lines();

-- Each of these rows requires its entry. A foreign key would check each row, which took a third of the posting time.
-- Entries are never deleted, so one check per statement is as strict.
create function refuse_without_entry() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
declare
  refused text;
begin
  select named.entry_id into refused from (select distinct a.entry_id from added a) named
  where (select e.id from entry e where e.id = named.entry_id) is null limit 1;
  if found then
    raise exception 'there is no entry %, which % names', refused, tg_table_name
      using errcode = 'foreign_key_violation', constraint = tg_name;
  end if;
  return null;
end $$;
create trigger entry_line_has_entry after insert on entry_line referencing new table as added
  for each statement execute function refuse_without_entry();
create trigger entry_party_name_has_entry after insert on entry_party_name referencing new table as added
  for each statement execute function refuse_without_entry();
create trigger voucher_has_entry after insert on voucher referencing new table as added
  for each statement execute function refuse_without_entry();

create trigger entry_immutable before update or delete or truncate on entry
  for each statement execute function refuse_change();
create trigger entry_line_immutable before update or delete or truncate on entry_line
  for each statement execute function refuse_change();
create trigger entry_share_immutable before update or delete or truncate on entry_share
  for each statement execute function refuse_change();
create trigger voucher_immutable before update or delete or truncate on voucher
  for each statement execute function refuse_change();

---------------------------------------------------------------------------------------------------- seals
-- Signatures over the head of an installation's books, made with a key outside the database. A changed chain cannot get
-- matching seals. They are numbered without gaps, so that a removed seal is noticed.
create table seal (
  installation bigint not null,
  -- Number of the seal within the installation, from 1.
  n integer not null check (n > 0),
  -- Place of the journal's head in its chain, and the entries up to it.
  seq bigint not null,
  entries bigint not null,
  head text not null,
  -- The same for the chain of daily summaries.
  summaries bigint not null,
  summary_head text not null,
  sealed_at timestamptz not null,
  -- Ed25519, in base64, over the text that src/ledger/seals.ts makes of the columns above.
  signature text not null,
  primary key (installation, n)
);
create trigger seal_immutable before update or delete or truncate on seal
  for each statement execute function refuse_change();

-- One sealer at a time takes the next number.
create function hold_seals(for_installation bigint) returns void language sql volatile as $$
  select pg_advisory_xact_lock(hashtextextended('vetledger seal ' || for_installation, 0))
$$;

---------------------------------------------------------------------------------------------------- uses of prepayments
-- The prepayments that each payment of type 8 used (src/prepayments), and the data to determine them.

-- Received prepayments, as last followed.
create table prepayment_balance (
  installation bigint not null,
  prepayment_id bigint not null,
  client_id bigint,
  -- Zero while it is not money: pending, failed, aborted or gone.
  paid numeric not null,
  unused numeric not null,
  created_at timestamptz,
  -- The version of the record last followed, and its `modified`: later changes happened after it.
  version int not null,
  modified_at timestamptz,
  primary key (installation, prepayment_id)
);
create index prepayment_balance_client on prepayment_balance (installation, client_id);

-- Decreases of `unused_amount` that no linked refund and no match explains.
create table prepayment_change (
  installation bigint not null,
  prepayment_id bigint not null,
  n int not null,
  client_id bigint,
  amount numeric not null check (amount > 0),
  since timestamptz,
  until timestamptz,
  primary key (installation, prepayment_id, n)
);
create index prepayment_change_amount on prepayment_change (installation, amount);
create index prepayment_change_client on prepayment_change (installation, client_id);

-- Refunds that name their original; `amount` is positive.
create table prepayment_refund (
  installation bigint not null,
  refund_id bigint not null,
  original_id bigint not null,
  amount numeric not null,
  primary key (installation, refund_id)
);
create index prepayment_refund_original on prepayment_refund (installation, original_id);

-- Payments of type 8, as last followed.
create table prepayment_use (
  installation bigint not null,
  payment_id bigint not null,
  invoice_id bigint,
  -- With the sign of the source: a cancellation is negative.
  amount numeric not null,
  recorded_at timestamptz,
  -- The version of the record last followed.
  version int not null,
  -- The client of its invoice: now, and when the payment was first posted.
  invoice_client_id bigint,
  first_client_id bigint,
  -- `cancelled`: the payment and its cancellation, neither of which was matched.
  state text not null default 'open' check (state in ('open', 'matched', 'set', 'cancelled')),
  -- The user's action that set its match, or stated that none is known.
  action_id bigint references action (id),
  primary key (installation, payment_id)
);
create index prepayment_use_amount on prepayment_use (installation, amount) where state = 'open';
create index prepayment_use_client on prepayment_use (installation, invoice_client_id) where state = 'open';
create index prepayment_use_invoice on prepayment_use (installation, invoice_id);

-- The amount that a payment took from a prepayment; negative if it gave it back.
create table prepayment_match (
  installation bigint not null,
  payment_id bigint not null,
  prepayment_id bigint not null,
  amount numeric not null,
  primary key (installation, payment_id, prepayment_id)
);
create index prepayment_match_prepayment on prepayment_match (installation, prepayment_id);

---------------------------------------------------------------------------------------------------- write-back
-- The value that the source must store for each document: the entry id of a prepayment, or the ERP's number. An answer
-- does not prove that it was stored; a later read of the list does (src/writeback/write-back.ts).
create table write_back (
  installation bigint not null,
  kind text not null check (kind in ('invoice', 'payment', 'prepayment')),
  document_id bigint not null,
  -- The entry, or the unit of the document in the ERP; without an entry in force, the unit of its reversal.
  unit_id text not null,
  -- `former`: our value is replaced by the value that was there before, which may be empty.
  value_is text not null check (value_is in ('entry_id', 'erp_number', 'former')),
  value text,
  -- All values that were sent or are being sent. A value in the source that is among them is ours.
  own_values text[] not null default '{}',
  -- A value of another program that our entry id has replaced.
  previous_value text,
  -- `done`: the source has accepted the value or already shows it, or the field holds another program's value instead
  -- of an entry id.
  state text not null default 'pending' check (state in ('pending', 'done', 'failed', 'taken', 'absent')),
  attempts int not null default 0,
  not_before timestamptz,
  error_code text,
  error text,
  error_since timestamptz,
  -- When the source last accepted it.
  written_at timestamptz,
  -- A request without a known outcome: since when, and the value before it. A later value that is neither that one nor
  -- ours was written by another program, and stays.
  sent_at timestamptz,
  value_before text,
  -- The lane that is about to write to the source, with its lease. No other lane sends it then.
  claimed_lane text,
  claimed_token bigint,
  -- The value in the read after it was accepted.
  read_back text check (read_back in ('shown', 'foreign', 'unseen', 'given_up')),
  -- When it was last looked up after it was accepted.
  read_back_at timestamptz,
  -- How often in a row it was accepted, but not shown by a later read.
  unseen integer not null default 0,
  primary key (installation, kind, document_id)
);
create index write_back_open on write_back (installation, kind, document_id) where state in ('pending', 'failed', 'taken');
-- Prepayments with a number of the ERP: problems look at each.
create index write_back_number on write_back (installation, document_id) where kind = 'prepayment' and value_is = 'erp_number';
-- Values that must still be looked up.
create index write_back_unread on write_back (installation, kind, document_id)
  where (state = 'done' and read_back is null) or read_back = 'given_up';

-- A value that was given up is not sent again automatically.
create function note_written_back() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
declare
  settled text = case when new.value_is = 'entry_id' and (new.state = 'done' or new.read_back = 'given_up') then new.value end;
begin
  update document d set written_entry_id = settled
  where d.installation = new.installation and d.kind = new.kind and d.id = new.document_id
    and d.written_entry_id is distinct from settled;
  return null;
end $$;
create trigger written_back after insert or update on write_back for each row execute function note_written_back();

---------------------------------------------------------------------------------------------------- rate budget
-- One budget per installation and endpoint action of the practice API, shared by all processes. Every instant is
-- clock_timestamp(): now() would be the start of the transaction, before the wait for the lock.
--
-- A request needs at most one round trip to the database: budget_take requests a slot for each waiting request of the process. It
-- also reports which slots of the process were answered since the last call. The oldest request goes first, whichever process it
-- belongs to. Claims and earlier ends of slots may be lost in a crash, so they do not wait for the disk. A grant does.

create table budget (
  installation bigint not null,
  action text not null,
  -- The limit of the last request, for display.
  full_limit int not null,
  window_seconds double precision not null,
  -- The share of the limit that was left at regains_from. From then on, it grows by a tenth of the whole limit per window.
  share double precision not null default 1,
  regains_from timestamptz not null default '-infinity',
  throttled_at timestamptz not null default '-infinity',
  -- The latest Retry-After.
  blocked_until timestamptz not null default '-infinity',
  -- The latest granted asked_at, and the clock's value with it, which is earlier only if the clock was put back.
  asked_at timestamptz not null default '-infinity',
  clock_at timestamptz not null default '-infinity',
  primary key (installation, action)
);

-- A slot counts against its budget until it expires.
create table budget_slot (
  id bigint generated always as identity,
  installation bigint not null,
  action text not null,
  weight int not null,
  taken_at timestamptz not null,
  expires_at timestamptz not null,
  -- Slots of background requests.
  background boolean not null default false,
  -- The only index, so that an earlier end of a slot changes no index.
  primary key (installation, action, id)
);

-- Waiting requests, one row per process and budget. A claim expires without renewal, so that a killed process blocks no
-- other one.
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

-- The limit in force: the share left by the last 429 plus a tenth per window since, at least 1.
create function budget_limit(full_limit int, share double precision, regains_from timestamptz, window_seconds double precision)
returns int language sql volatile as $$
  select greatest(1, floor(full_limit * least(1, share + 0.1 * floor(
    greatest(0, least(1e6, extract(epoch from clock_timestamp() - greatest(regains_from, '2000-01-01')) / window_seconds))
  )) + 1e-9))::int
$$;

-- Serialises all decisions about one budget until the end of the transaction. If the database's clock was put back
-- since the last grant, the stored times are shifted by the same amount, so that slots, claims and pauses keep their
-- durations.
create function budget_lock(for_installation bigint, for_action text) returns void language plpgsql volatile as $$
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

-- Removes a claim that was granted or is not needed any more.
create function budget_withdraw(for_installation bigint, for_action text, for_claimant uuid) returns void language sql volatile as $$
  delete from budget_claim where installation = for_installation and action = for_action and claimant = for_claimant
$$;

-- Answered slots count for this many more seconds: the server counted their requests no later than it answered.
create function budget_shorten(
  for_installation bigint, for_action text, slots bigint[], keep_seconds double precision[]
) returns void language sql volatile as $$
  update budget_slot s
  set expires_at = least(s.expires_at, clock_timestamp() + make_interval(secs => kept.seconds))
  from unnest(slots, keep_seconds) kept (id, seconds)
  where s.installation = for_installation and s.action = for_action and s.id = kept.id
$$;

-- The same between takes.
create function budget_finish(
  for_installation bigint, for_action text, slots bigint[], keep_seconds double precision[]
) returns void language plpgsql volatile as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  perform budget_lock(for_installation, for_action);
  perform budget_shorten(for_installation, for_action, slots, keep_seconds);
end $$;

-- Handles a longer window than before: slots that still count do so for longer. Until slots that expired under the
-- shorter window have also expired under the longer one, no request is granted (plus a margin, since clocks differ in
-- speed). A shorter window is stored when it is first granted a slot.
create function budget_lengthen(
  for_installation bigint, for_action text, by_seconds double precision, hold_seconds double precision
) returns void language sql volatile as $$
  update budget_slot
  set expires_at = least(expires_at + make_interval(secs => by_seconds * 1.001), clock_timestamp() + make_interval(secs => hold_seconds))
  where installation = for_installation and action = for_action;
  update budget set blocked_until = greatest(blocked_until, clock_timestamp() + make_interval(secs => by_seconds * 1.001))
  where installation = for_installation and action = for_action;
$$;

-- Grants slots to requests of one weight, and returns a row for each; or stores a claim and returns the milliseconds
-- until the next try. ages_seconds holds the waiting time of each request, in order. Requests that fit now are granted
-- one after the other; the first that does not fit ends this, and the rest tries again. A slot counts for hold_seconds
-- unless it is finished sooner. Claims of better priority (lower), then of greater age, count as used, so that light
-- requests do not starve a heavy one. A weight above the limit in force is granted when no other request is running.
-- First, the slots `answered` are shortened (see budget_finish). Each grant has an `asked_at`, and the request is sent
-- after it. Grants of a budget never share it, and a later grant has a later one, even if the clock was put back.
--
-- A background request (kept_free given) is granted only if there is no claim and kept_free remains free beside it, and
-- if background requests that still count stay within kept_free together with it. It leaves no claim and returns no
-- time (no row), so that no request waits for it. Work that uses at most the limit less kept_free in a rolling window
-- is therefore granted as if there were no background requests. Only a background_share above 0 takes that share of the
-- limit before other work.
create function budget_take(
  for_installation bigint,
  for_action text,
  asked_weight int,
  asked_priority int,
  ages_seconds double precision[],
  asked_limit int,
  per_seconds double precision,
  hold_seconds double precision,
  for_claimant uuid,
  claim_seconds double precision,
  answered bigint[],
  keep_seconds double precision[],
  -- Null for a request of ordinary work.
  kept_free int default null,
  background_share double precision default null,
  out slot_id bigint,
  out wait_ms bigint,
  out asked_at timestamptz
) returns setof record language plpgsql volatile as $$
declare
  present timestamptz;
  state budget;
  own_priority int;
  age_seconds double precision;
  waiting_since timestamptz;
  allowed int;
  used bigint;
  used_behind bigint;
  expired boolean;
  ahead bigint;
  claimed boolean;
  granted int := 0;
  ready_at timestamptz;
begin
  perform budget_lock(for_installation, for_action);
  if cardinality(answered) > 0 then
    perform budget_shorten(for_installation, for_action, answered, keep_seconds);
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
  foreach age_seconds in array ages_seconds loop
    own_priority := asked_priority;
    if kept_free is not null then
      -- The background share is granted before other work. Beyond it, a background request is granted only if no other request waits.
      if used_behind + asked_weight <= floor(allowed * background_share + 1e-9) then
        own_priority := 0;
      else
        perform budget_withdraw(for_installation, for_action, for_claimant);
        exit when state.blocked_until > present or used + asked_weight + kept_free > allowed
          or (used_behind > 0 and used_behind + asked_weight > kept_free)
          or exists (
            select from budget_claim c
            where c.installation = for_installation and c.action = for_action and c.expires_at > present);
      end if;
    end if;
    -- The age is computed only once, because each later try would give another value.
    select least(present - make_interval(secs => age_seconds), min(c.claimed_at)) into waiting_since
    from budget_claim c
    where c.installation = for_installation and c.action = for_action
      and c.claimant = for_claimant and c.priority = own_priority;
    select
      coalesce(sum(c.weight) filter (
        where c.claimant <> for_claimant and c.expires_at > present
          and (c.priority, c.claimed_at, c.claimant) < (own_priority, waiting_since, for_claimant)
      ), 0),
      coalesce(bool_or(c.claimant = for_claimant), false)
    into ahead, claimed
    from budget_claim c where c.installation = for_installation and c.action = for_action;
    exit when state.blocked_until > present or (used + ahead + asked_weight > allowed and used + ahead > 0);
    if claimed then
      perform budget_withdraw(for_installation, for_action, for_claimant);
    end if;
    granted := granted + 1;
    used := used + asked_weight;
    used_behind := used_behind + asked_weight;
  end loop;

  if granted > 0 then
    update budget b
    set window_seconds = least(b.window_seconds, per_seconds), clock_at = present,
      asked_at = greatest(present, b.asked_at + interval '1 microsecond') + (granted - 1) * interval '1 microsecond'
    where b.installation = for_installation and b.action = for_action returning b.asked_at into state.asked_at;
    return query
      with made as (
        insert into budget_slot (installation, action, weight, background, taken_at, expires_at)
        select for_installation, for_action, asked_weight, kept_free is not null, present,
          present + make_interval(secs => hold_seconds)
        from generate_series(1, granted)
        returning id
      )
      select id, null::bigint, state.asked_at - (row_number() over (order by id desc) - 1) * interval '1 microsecond'
      from made order by id;
    return;
  end if;
  -- A background request must not wait in the queue.
  if kept_free is not null and own_priority > 0 then
    return;
  end if;

  perform set_config('synchronous_commit', 'off', true);
  delete from budget_claim c
  where c.installation = for_installation and c.action = for_action and c.expires_at <= present;
  insert into budget_claim (installation, action, claimant, weight, priority, claimed_at, expires_at)
  values (for_installation, for_action, for_claimant, asked_weight, own_priority, waiting_since,
    present + make_interval(secs => claim_seconds))
  on conflict (installation, action, claimant) do update
    set weight = excluded.weight, priority = excluded.priority, claimed_at = excluded.claimed_at,
      expires_at = excluded.expires_at;

  -- The request fits when enough slots have expired, or all of them. Answers can shorten slots, so the caller tries again often.
  select min(freed.expires_at)
    filter (where freed.left_over + ahead + asked_weight <= allowed or freed.left_over = 0)
  into ready_at
  from (
    select s.expires_at, used - sum(s.weight) over (order by s.expires_at, s.id) as left_over
    from budget_slot s where s.installation = for_installation and s.action = for_action
  ) freed;
  ready_at := greatest(coalesce(ready_at, present), state.blocked_until);
  -- There is enough room, but earlier claims are served first: try again soon.
  wait_ms := greatest(case when ready_at <= present then 25 else 1 end, ceil(extract(epoch from ready_at - present) * 1000))::bigint;
  return next;
end $$;

-- The longest Retry-After, in seconds, that is followed fully. After a longer one, the source is tried when this time
-- is over: with one request in the first rate window (a share of 0 is a limit of 1), then with more from window to
-- window.
create function budget_longest_block() returns double precision language sql immutable as $$ select 900.0::double precision $$;

-- After a 429: no request before the latest Retry-After, and half the limit. Requests that were sent before and are
-- also refused do not halve it again.
create function budget_throttled(
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

-- Removes the effects of 429s on a budget: its block and its reduced limit. Running and answered requests still count.
create function budget_forget(for_installation bigint, for_action text) returns void language plpgsql volatile as $$
begin
  perform budget_lock(for_installation, for_action);
  update budget set share = 1, regains_from = '-infinity', blocked_until = '-infinity'
  where installation = for_installation and action = for_action;
end $$;

---------------------------------------------------------------------------------------------------- delivery: companies of ERPs
-- The state of each company. One holder of its lease at a time delivers to it.
create table erp_company (
  company text primary key,
  kind text not null,
  name text not null,
  -- No request is sent before this time: the ERP throttles, is locked, or is down.
  not_before timestamptz,
  last_error_code text,
  last_error_message text,
  last_error_at timestamptz,
  last_answer_at timestamptz,
  -- The text as read; only json keeps it unchanged.
  periods json,
  periods_read_at timestamptz,
  -- Set by a takeover: every unit that was being sent is looked up first, from this time on.
  look_up_from timestamptz,
  -- Connection failures in a row.
  failures integer not null default 0,
  -- The number of late drafts that were deleted (`erp_sweep`).
  drafts_swept bigint not null default 0
);

-- Companies of ERPs as named in configurations, and the company that the ERP reports for each name. Two names of one
-- company must never be delivered to in parallel.
create table erp_company_identity (
  -- The key of the configured name (`companyKey`); its parts follow.
  company text not null primary key,
  kind text not null,
  url text not null,
  id text not null,
  -- The same key for the company that the ERP reports.
  identity text not null,
  -- Whether this name owns the company's lease, limits and units.
  is_in_use boolean not null default false
);
create unique index erp_company_identity_in_use on erp_company_identity (identity) where is_in_use;

-- Logins to companies whose tokens rotate. The tokens are sealed with a key that is not in the database.
create table erp_login (
  company text primary key,
  -- The company as the ERP identified it at the login.
  erp_id text not null,
  erp_name text not null,
  -- `login_needed`: the refresh token was refused twice in a row.
  state text not null default 'ready' check (state in ('ready', 'login_needed')),
  generation bigint not null default 1,
  key_id text not null,
  refresh_sealed text not null,
  access_sealed text not null,
  access_until timestamptz not null,
  logged_in_at timestamptz not null default clock_timestamp(),
  renewed_at timestamptz not null default clock_timestamp(),
  -- A renewal was sent, and its answer is not stored: the refresh token may have been replaced.
  asked_at timestamptz,
  refusals integer not null default 0
);

-- Sent requests, so that a restart does not reset a limit per minute or day.
create table erp_request (
  id bigint generated always as identity primary key,
  company text not null,
  weight integer not null,
  -- Requests of others that the ERP counts for the limit of this length; null for one of ours, which every limit counts.
  per_seconds numeric,
  sent_at timestamptz not null default clock_timestamp(),
  is_error boolean not null default false
);
create index erp_request_company on erp_request (company, sent_at);
create index erp_request_error on erp_request (company, sent_at) where is_error;

-- Days that were seen closed in an ERP, so that a reopened period is known to have been closed.
create table erp_closed_days (
  installation bigint not null,
  -- -infinity: from the beginning.
  from_day date not null,
  through date not null,
  primary key (installation, from_day, through)
);

-- Whether all entries of an installation in a company are from this database. `looked_at`: when the last complete look-up began.
-- `first_sent_at`: when our first entry was seen there. `is_claimed`: a look-up was made after that.
create table erp_claim (
  company text not null,
  installation bigint not null,
  looked_at timestamptz,
  first_sent_at timestamptz,
  is_claimed boolean not null default false,
  primary key (company, installation)
);

-- Entries of a company that have a key of our form, but were not sent by this database. Another database sent them, or this one
-- before it was restored from a backup (`is_ours`). `adopted_at`: a user stated that the other database's entry stays.
create table erp_keyed_entry (
  company text not null,
  installation bigint not null,
  erp_id text not null,
  erp_key text not null,
  unit_id text not null,
  is_ours boolean not null,
  erp_number text,
  erp_date date not null,
  seen_at timestamptz not null default clock_timestamp(),
  adopted_at timestamptz,
  primary key (company, installation, erp_id)
);
create index erp_keyed_entry_unit on erp_keyed_entry (installation, unit_id);

---------------------------------------------------------------------------------------------------- delivery: outbox
-- A row per unit of the general ledger (a document's entry or a day's summary).
create table erp_unit (
  installation bigint not null,
  unit_id text not null,
  kind text not null check (kind in ('entry', 'daily_summary')),
  -- Position in the chain of its kind.
  seq bigint not null,
  unit_date date not null,
  -- The previous unit of the same document. It must be sent first, since this unit corrects it.
  follows text,
  reverses text,
  -- Permanent, since it is in the ERP's record.
  erp_key text not null unique,
  company text not null,
  state text not null default 'pending' check (state in ('pending', 'sending', 'uncertain', 'drafted', 'delivered',
    'refused', 'handed_over', 'acknowledged', 'cancelled_out', 'excluded')),
  -- Units of a first load or a backfill are sent only after approval.
  needs_approval boolean not null default false,
  not_before timestamptz,
  attempt_id uuid,
  attempts integer not null default 0,
  sent_at timestamptz,
  -- The first attempt. A look-up that lists entries by time begins a day before.
  first_sent_at timestamptz,
  -- How often in a row the ERP refused the unit alone with an unknown message, and a look-up did not find it.
  unknown_refusals integer not null default 0,
  erp_id text,
  erp_number text,
  erp_date date,
  batch bigint,
  problem_code text,
  problem_message text,
  problem_since timestamptz,
  settled_at timestamptz,
  -- Live work is sent before units of a first load or a backfill.
  is_backlog boolean not null default false,
  -- Limit of entries in the unit's next batch; null for as many as the ERP accepts.
  batch_limit integer,
  -- Why the unit is in doubt. The reason decides what happens if a look-up does not find the unit.
  doubt text check (doubt in ('no_answer', 'refused', 'unknown', 'duplicate', 'unseen')),
  -- Answers that refused the unit. A request after one is a new attempt, so that no ERP repeats the old answer.
  answered integer not null default 0,
  -- An undone delivery (src/erp/outbox/undo.ts) is a separate unit `<unit>/undo/<n>`, which reverses the previous one.
  -- Odd numbers reverse the unit, even numbers send it again. `undo_of` is the unit of the general ledger; null for
  -- such a unit itself.
  undo_of text,
  undo_n integer,
  -- The unit was not sent when it was undone, and is not sent before `deliver retry`.
  is_undone boolean not null default false,
  enqueued_at timestamptz not null default clock_timestamp(),
  -- Since when an unsent entry or summary has been late, because its period was closed in the ERP (ACCOUNTING "Dates").
  -- The value stays when the unit is sent later.
  late_since timestamptz,
  primary key (installation, unit_id),
  constraint erp_unit_undo check ((undo_of is null) = (undo_n is null))
);
create index erp_unit_company_doubt on erp_unit (company) where state in ('sending', 'uncertain');
create index erp_unit_number on erp_unit (installation, erp_number) where erp_number is not null;
create index erp_unit_refused on erp_unit (installation) where state = 'refused';
create index erp_unit_due on erp_unit (installation, is_backlog, kind, seq) where state = 'pending' and not needs_approval;
create index erp_unit_approval on erp_unit (installation, unit_date) where state = 'pending' and needs_approval;
create index erp_unit_doubt on erp_unit (installation, kind, seq) where state in ('sending', 'uncertain');
create index erp_unit_drafted on erp_unit (installation, kind, seq) where state = 'drafted';
create index erp_unit_handed_over on erp_unit (installation, batch) where state = 'handed_over';
-- Units that wait for another one: few, since most documents have one entry.
create index erp_unit_waiting on erp_unit (installation, kind, seq)
  where state = 'pending' and not needs_approval and follows is not null;
create index erp_unit_undo_of on erp_unit (installation, undo_of, undo_n) where undo_of is not null;
create index erp_unit_batch on erp_unit (installation, batch) where batch is not null;
create index erp_unit_hand_over on erp_unit (installation, kind, seq) where state = 'pending' and not needs_approval;
-- All states in which the ERP has a unit, or a file holds it. Delivered units since an instant are counted with it.
create index erp_unit_settled on erp_unit (installation, settled_at) where state in ('delivered', 'handed_over', 'acknowledged');
create index erp_unit_late on erp_unit (installation) where late_since is not null;
create index erp_unit_timely on erp_unit (company, unit_date) where late_since is null and state in ('pending', 'refused');
-- Lists of units, the newest date first.
create index erp_unit_listed on erp_unit (installation, unit_date, unit_id);

-- How far the chains were put into the outbox.
create table erp_cursor (
  installation bigint primary key,
  entry_seq bigint not null default 0,
  summary_seq bigint not null default 0,
  -- The mapping of the last refusals. Under another mapping, the units are sent again.
  mapping_hash text not null default '',
  company text not null default ''
);

-- Units without an answer in an ERP whose drafts can be deleted. A draft that the server creates late is searched for a
-- limited number of times (src/erp/outbox/unwanted-drafts.ts).
create table erp_sweep (
  installation bigint not null,
  unit_id text not null,
  looks integer not null default 0,
  not_before timestamptz not null,
  -- Drafts to be deleted, by their id in the ERP, with a digest of their content. Drafts that could not be deleted,
  -- because the ERP refused or the connection broke, are treated like late ones.
  drafts jsonb not null default '{}',
  -- Whether a draft may come late; otherwise the row exists only for `drafts`.
  is_late boolean not null default true,
  primary key (installation, unit_id)
);
create index erp_sweep_due on erp_sweep (installation, not_before);

-- Installations of a restored database whose entries the ERP may already have. They are looked up before they are sent.
create table erp_look_up (
  installation bigint primary key,
  since timestamptz not null default clock_timestamp(),
  -- The first window that opened and closed since. The ERP may have entries up to those of this window.
  until_window bigint
);

-- Installations whose deliveries are paused, with the action that holds user and reason.
create table erp_pause (
  installation bigint primary key,
  action_id bigint not null references action (id)
);

-- The number of an installation's units in the ERP or in written files. It is updated with each change, since counting
-- after each slice would cost more with each year. Windows never change this number, so they and deliveries do not wait
-- for each other here.
create table erp_delivered (
  installation bigint primary key,
  n bigint not null
);

-- The number of units that are settled, by day and state, for the totals of lists. The other units are few, and each of their states
-- has an index. `ledger verify` compares the numbers with the units.
create table erp_settled_day (
  installation bigint not null,
  unit_date date not null,
  state text not null,
  n bigint not null,
  primary key (installation, unit_date, state)
);

create function count_delivered() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
begin
  -- The name of a transition table depends on the statement, so each statement has a separate branch.
  if tg_op = 'INSERT' then
    insert into erp_delivered as known (installation, n)
    select installation, count(*) from after_it where state in ('delivered', 'handed_over', 'acknowledged')
    group by installation order by installation
    on conflict (installation) do update set n = known.n + excluded.n;
    insert into erp_settled_day as known (installation, unit_date, state, n)
    select installation, unit_date, state, count(*) from after_it
    where state in ('delivered', 'handed_over', 'acknowledged', 'cancelled_out', 'excluded')
    group by 1, 2, 3 order by 1, 2, 3
    on conflict (installation, unit_date, state) do update set n = known.n + excluded.n;
  elsif tg_op = 'DELETE' then
    update erp_delivered known set n = known.n - gone.n
    from (select installation, count(*) as n from before_it
          where state in ('delivered', 'handed_over', 'acknowledged') group by installation) gone
    where known.installation = gone.installation;
    update erp_settled_day known set n = known.n - gone.n
    from (select installation, unit_date, state, count(*) as n from before_it group by 1, 2, 3) gone
    where known.installation = gone.installation and known.unit_date = gone.unit_date and known.state = gone.state;
  else
    insert into erp_delivered as known (installation, n)
    select installation, sum(n) from (
      select installation, count(*) as n from after_it
      where state in ('delivered', 'handed_over', 'acknowledged') group by installation
      union all
      select installation, -count(*) from before_it
      where state in ('delivered', 'handed_over', 'acknowledged') group by installation
    ) moved
    group by installation having sum(n) <> 0 order by installation
    on conflict (installation) do update set n = known.n + excluded.n;
    insert into erp_settled_day as known (installation, unit_date, state, n)
    select installation, unit_date, state, sum(n) from (
      select installation, unit_date, state, count(*) as n from after_it
      where state in ('delivered', 'handed_over', 'acknowledged', 'cancelled_out', 'excluded') group by 1, 2, 3
      union all
      select installation, unit_date, state, -count(*) from before_it
      where state in ('delivered', 'handed_over', 'acknowledged', 'cancelled_out', 'excluded') group by 1, 2, 3
    ) moved
    group by 1, 2, 3 having sum(n) <> 0 order by 1, 2, 3
    on conflict (installation, unit_date, state) do update set n = known.n + excluded.n;
  end if;
  return null;
end $$;
create trigger erp_unit_delivered_insert after insert on erp_unit
  referencing new table as after_it for each statement execute function count_delivered();
create trigger erp_unit_delivered_update after update on erp_unit
  referencing old table as before_it new table as after_it for each statement execute function count_delivered();
create trigger erp_unit_delivered_delete after delete on erp_unit
  referencing old table as before_it for each statement execute function count_delivered();

---------------------------------------------------------------------------------------------------- delivery: files
-- Batches of units that are handed over as files. A batch is stored completely before its file is written, so that a
-- crash leads to the same bytes.
create table erp_batch (
  installation bigint not null,
  number bigint not null,
  format text not null check (format in ('csv', 'sie4', 'datev')),
  -- Name of the file in the folder.
  file text not null,
  sha256 text not null,
  units bigint not null,
  -- The text of the manifest file.
  manifest text not null,
  created_at timestamptz not null,
  -- Null until the file and its manifest are on the disk.
  written_at timestamptz,
  -- Its units were removed before it was written, so it has no file.
  withdrawn_at timestamptz,
  acknowledged_at timestamptz,
  primary key (installation, number)
);
create index erp_batch_open on erp_batch (installation, number) where acknowledged_at is null;

-- The bytes of an unwritten file, in order. They are deleted after writing, since they hold personal data.
create table erp_batch_piece (
  installation bigint not null,
  number bigint not null,
  piece integer not null,
  content bytea not null,
  primary key (installation, number, piece)
);

---------------------------------------------------------------------------------------------------- delivery: open items
-- Matching of lines in the ERP: receivables, and the liability of prepayments. An item is an invoice
-- (`4711/invoice/123`), or a client with his prepayments and their uses (`4711/client/5`).

-- A line of a delivered unit on such an item, as the ERP got it.
create table erp_open_line (
  installation bigint not null,
  item text not null,
  unit_id text not null,
  -- Position in the unit.
  line integer not null,
  account text not null,
  -- A debit is positive.
  amount numeric not null,
  primary key (installation, item, unit_id, line)
);
create index erp_open_line_unit on erp_open_line (installation, unit_id);

-- An item with such lines. Only items that a delivery has touched since their last matching are checked.
create table erp_open_item (
  installation bigint not null,
  item text not null,
  touched bigint not null default 1,
  touched_at timestamptz not null default clock_timestamp(),
  -- The value of `touched` at the last matching.
  matched bigint not null default 0,
  not_before timestamptz,
  failures integer not null default 0,
  -- Why lines that would settle the item stay unmatched.
  remark text,
  remark_since timestamptz,
  primary key (installation, item)
);
create index erp_open_item_touched on erp_open_item (installation, touched_at, item)
  where touched <> matched or remark is not null;
create index erp_open_item_remark on erp_open_item (installation, item) where remark is not null;

-- Groups that vetledger matched, or was about to match. Groups of other users are left alone.
create table erp_item_match (
  installation bigint not null,
  item text not null,
  -- The ERP's ids of the lines, sorted.
  line_ids text[] not null,
  -- The ERP's name of the group, after it was read back.
  group_id text,
  primary key (installation, item, line_ids)
);

-- Delivering a unit, or finding that it is not in the ERP, touches the items of its lines. It handles thousands of
-- units at once: joining the rows before and after a statement would take quadratic time.
create function note_open_items() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
begin
  with has as (
    select installation, unit_id, undo_of, undo_n from after_it where kind = 'entry' and state = 'delivered'
  ), had as (
    select installation, unit_id, undo_of, undo_n from before_it where kind = 'entry' and state = 'delivered'
  ), moved as (
    select installation, unit_id, coalesce(undo_of, unit_id) as entry_id, case when undo_n % 2 = 1 then -1 else 1 end as sign
    from ((select * from has except select * from had) union all (select * from had except select * from has)) changed
  ), lines as (
    select m.installation, m.unit_id, l.line, l.account,
      m.installation || case when l.role = 'receivable' then '/invoice/' || l.invoice_id
        else '/client/' || substr(l.party_code, 8) end as item,
      m.sign * case when l.side = 'debit' then l.amount else -l.amount end as amount
    from moved m join entry_line l on l.entry_id = m.entry_id
    where (l.role = 'receivable' and l.invoice_id is not null)
      or (l.role = 'prepayment_liability' and l.party_code like 'client:%')
  ), kept as (
    insert into erp_open_line (installation, item, unit_id, line, account, amount)
    select installation, item, unit_id, line, account, amount from lines on conflict do nothing
  )
  insert into erp_open_item (installation, item)
  select distinct installation, item from lines order by installation, item
  on conflict (installation, item)
  do update set touched = erp_open_item.touched + 1, touched_at = clock_timestamp(), not_before = null, failures = 0;
  return null;
end $$;
create trigger erp_unit_open_items after update on erp_unit
  referencing old table as before_it new table as after_it for each statement execute function note_open_items();

-- A match that is found later matches lines that the ERP has already.
create function note_prepayment_match() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
begin
  update erp_open_item i set touched = i.touched + 1, touched_at = clock_timestamp(), not_before = null, failures = 0
  from (
    -- In the order of names, in which deliveries lock the items too.
    select o.installation, o.item from erp_open_item o where (o.installation, o.item) in (
      select l.installation, l.item from changed c
      join entry e on e.installation = c.installation and e.kind = 'payment' and e.document_id = c.payment_id
      join erp_open_line l on l.installation = e.installation and l.unit_id = e.id
      where l.item like '%/client/%')
    order by o.installation, o.item for update
  ) held
  where i.installation = held.installation and i.item = held.item;
  return null;
end $$;
create trigger prepayment_match_found after insert on prepayment_match
  referencing new table as changed for each statement execute function note_prepayment_match();
create trigger prepayment_match_withdrawn after delete on prepayment_match
  referencing old table as changed for each statement execute function note_prepayment_match();

---------------------------------------------------------------------------------------------------- delivery: document numbers
-- The ERP's document number, written back to the practice software (src/writeback/outbox.ts).

-- Units that got a number, or were settled without being sent: the value in the practice software may change.
create table erp_number_due (
  installation bigint not null,
  unit_id text not null,
  primary key (installation, unit_id)
);

create function note_number_due() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
begin
  insert into erp_number_due (installation, unit_id) values (new.installation, new.unit_id) on conflict do nothing;
  return null;
end $$;
create trigger erp_unit_has_number after update of state, erp_number on erp_unit for each row
  when (((new.state = 'delivered' and new.erp_number is not null) or new.state = 'cancelled_out')
    and (old.state is distinct from new.state or old.erp_number is distinct from new.erp_number))
  execute function note_number_due();

---------------------------------------------------------------------------------------------------- delivery: what the ERP holds
-- The ERP's books as last read back (src/erp/books). Equation E7 is computed from these tables.

-- The last completed reading.
create table erp_books_reading (
  installation bigint primary key,
  -- Number of the reading, which rows refer to.
  run bigint not null,
  -- When it began. The next one reads later changes, with an overlap.
  began_at timestamptz not null,
  -- When the last reading of everything began.
  full_began_at timestamptz not null
);

-- Counts and balances of all posted entries of a month in the ERP, by any author. If they are unchanged, no entry was
-- added or deleted.
create table erp_books_month (
  installation bigint not null,
  month date not null,
  entries integer not null,
  -- Balance by account, and the owned accounts whose entries were read.
  balances json not null,
  -- When all its entries were last read.
  read_at timestamptz not null default clock_timestamp(),
  primary key (installation, month)
);

-- An entry of the ERP with the key of one of our units, or as which one was delivered.
create table erp_books_unit (
  installation bigint not null,
  unit_id text not null,
  erp_id text not null,
  erp_number text,
  erp_date date not null,
  -- Digest of the compared data: an unchanged entry is not compared again.
  content_hash text not null,
  is_equal boolean not null,
  -- The differences; for an equal entry, differences within the tolerance.
  message text,
  difference numeric not null,
  -- Debits of the whole entry.
  amount numeric not null,
  run bigint not null,
  primary key (installation, unit_id, erp_id)
);
create index erp_books_unit_id on erp_books_unit (installation, erp_id);
create index erp_books_unit_date on erp_books_unit (installation, erp_date);

-- An entry that is not ours, on an account of `erp.owned_accounts`.
create table erp_books_foreign (
  installation bigint not null,
  erp_id text not null,
  erp_number text,
  erp_date date not null,
  message text not null,
  difference numeric not null,
  run bigint not null,
  primary key (installation, erp_id)
);

---------------------------------------------------------------------------------------------------- the console
-- Users, sessions and sign-ins of the console (src/console). The console signs in with a separate database role, which
-- reads the books under row-level security (src/db/console-role.ts).
create schema vetledger_console;

create table vetledger_console.subject (
  id bigint primary key generated always as identity,
  -- The name for the sign-in. It also stands in the chain of actions, so it never changes.
  name text not null check (name <> '' and name = lower(name)),
  -- An argon2id hash; null if the subject signs in only through OpenID Connect, or has not chosen a password yet.
  password_hash text,
  -- Identity at the OpenID provider: issuer and subject. An e-mail address is no identity.
  issuer text,
  issued_subject text,
  -- The account of the operating system with which the person uses the command line.
  account text check (account <> ''),
  language text not null default 'en',
  created_at timestamptz not null default clock_timestamp(),
  disabled_at timestamptz,
  -- A name is never given to a second person.
  unique (name),
  unique (issuer, issued_subject),
  unique (account),
  check ((issuer is null) = (issued_subject is null))
);

create table vetledger_console.subject_role (
  subject_id bigint not null references vetledger_console.subject (id),
  -- Null for an administrator of users, whose role belongs to no installation.
  installation bigint,
  role text not null check (role in ('viewer', 'bookkeeper', 'accountant', 'operator', 'admin')),
  -- The last day of the role, for example of an auditor; null if it has no end.
  until date,
  unique nulls not distinct (subject_id, installation, role),
  check ((role = 'admin') = (installation is null))
);

-- A session is known only by the hash of its token, so that a copy of this table cannot be used to sign in.
create table vetledger_console.session (
  token_hash text primary key,
  subject_id bigint not null references vetledger_console.subject (id),
  began_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp()
);
create index session_subject on vetledger_console.session (subject_id);

-- A link that signs a subject in once, or lets the subject choose a password.
create table vetledger_console.link (
  token_hash text primary key,
  subject_id bigint not null references vetledger_console.subject (id),
  purpose text not null check (purpose in ('sign_in', 'password')),
  expires_at timestamptz not null
);

create table vetledger_console.sign_in (
  id bigint primary key generated always as identity,
  -- Null if no subject has the name.
  subject_id bigint references vetledger_console.subject (id),
  -- Hash of the entered name: a password that was typed into the field of the name is not stored.
  name_hash text not null,
  address text not null,
  -- What limits count: the address, or the first 64 bits of an IPv6 address.
  network text not null,
  outcome text not null check (outcome in ('signed_in', 'refused', 'throttled', 'signed_out')),
  at timestamptz not null default clock_timestamp()
);
create index sign_in_name on vetledger_console.sign_in (name_hash, at);
create index sign_in_network on vetledger_console.sign_in (network, at);
create trigger sign_in_immutable before update or delete or truncate on vetledger_console.sign_in
  for each statement execute function refuse_change();

-- Requests that the rights of a subject, or their form, did not allow.
create table vetledger_console.refused (
  id bigint primary key generated always as identity,
  subject_id bigint references vetledger_console.subject (id),
  route text not null,
  installation bigint,
  reason text not null,
  address text not null,
  at timestamptz not null default clock_timestamp()
);
create trigger refused_immutable before update or delete or truncate on vetledger_console.refused
  for each statement execute function refuse_change();
