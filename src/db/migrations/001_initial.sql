-- The whole of vetledger's state. Times are timestamptz; amounts numeric; ids of the source bigint.

create table meta (
  key text primary key,
  value text not null
);
-- Ids of workflows and task queues carry it, so that a Temporal cluster can be shared by several databases.
insert into meta (key, value) values ('database_id', substr(replace(gen_random_uuid()::text, '-', ''), 1, 8));

-- What is known of an installation: which filters it honours, its default page size, mapping hash, lock dates.
create table installation_fact (
  installation bigint not null,
  name text not null,
  value json not null,
  noted_at timestamptz not null default clock_timestamp(),
  primary key (installation, name)
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
