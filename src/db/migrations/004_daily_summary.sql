-- Daily summaries: what goes to the general ledger in posting mode `daily_summary`. The entries of single documents stay as
-- they are; they are the sub-ledger that the summaries are made of.

-- The mode in force when the entry was appended, for ever: it decides whether the entry itself or a summary with it goes to
-- the general ledger, so that a changed setting never posts anything twice.
alter table entry add column posting_mode text not null default 'document'
  check (posting_mode in ('document', 'daily_summary'));
-- Empty unless the mode is used, so that asking for what waits costs nothing.
create index entry_for_summary on entry (installation, entry_date, id) where posting_mode = 'daily_summary';

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
