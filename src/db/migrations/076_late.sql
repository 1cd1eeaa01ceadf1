-- The VAT period of a document's date, whether it was closed when the entry was posted, and the mapping that it was posted by.
-- Null in entries of before; their period follows from the document's date.
alter table entry
  add column vat_period text,
  add column is_late boolean,
  add column mapping_hash text;

-- A summary is of one original VAT period, and of late entries or of others. Null in summaries of before.
alter table summary_entry
  add column vat_period text,
  add column is_late boolean;

-- Whether a document was late when the books were closed, the version that it is late with, and what was decided about that version.
alter table document
  add column late_at_close boolean not null default false,
  add column late_version text,
  add column late_decision text;

-- What persons decided about late documents and doubtful dates (ACCOUNTING "Dates"). The last one of a version counts.
create table late_decision (
  id bigint generated always as identity primary key,
  installation bigint not null,
  kind text not null check (kind in ('invoice', 'payment', 'prepayment')),
  document_id bigint not null,
  decision text not null check (decision in ('wait', 'redate', 'as_dated', 'accept_date')),
  -- The document's version that it is for: the entry in force, and the facts or the state that ask for another one.
  version text not null,
  reason text not null check (reason <> ''),
  decided_by text not null check (decided_by <> ''),
  decided_at timestamptz not null default clock_timestamp()
);
create index late_decision_document on late_decision (installation, kind, document_id, id);
create trigger late_decision_immutable before update or delete or truncate on late_decision
  for each statement execute function refuse_change();

-- Days that were seen closed in an ERP, so that a period that is opened there again is known to have been closed.
create table erp_closed_days (
  installation bigint not null,
  -- -infinity: since ever.
  from_day date not null,
  through date not null,
  seen_at timestamptz not null default clock_timestamp(),
  primary key (installation, from_day, through)
);

-- Documents dated in the future, by the day on which they are judged again: looked at by each window.
create index document_in_future on document (installation, document_date) where problem_code = 'date_in_future';
