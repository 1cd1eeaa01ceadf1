-- Delivery: drafts that wait for the accountant, halved batches, and what a take-over has to wait for.
alter table erp_unit
  -- Live work goes first: what a first load or a backfill brought is sent after it.
  add column is_backlog boolean not null default false,
  -- Entries at most in the batch that it is sent with next; null: as many as the ERP takes.
  add column batch_limit integer,
  -- Why it is uncertain, which decides what absence means.
  add column doubt text check (doubt in ('no_answer', 'refused', 'unknown', 'duplicate', 'unseen')),
  -- Answers that refused it: a request after one is a new attempt, so that no ERP replays the old answer.
  add column answered integer not null default 0,
  drop constraint erp_unit_state_check,
  add constraint erp_unit_state_check check (state in ('pending', 'sending', 'uncertain', 'drafted', 'delivered', 'refused',
    'handed_over', 'acknowledged', 'cancelled_out', 'excluded'));
drop index erp_unit_open;
create index erp_unit_due on erp_unit (installation, is_backlog, kind, seq) where state = 'pending' and not needs_consent;
create index erp_unit_consent on erp_unit (installation, unit_date) where state = 'pending' and needs_consent;
create index erp_unit_doubt on erp_unit (installation, kind, seq) where state in ('sending', 'uncertain');
create index erp_unit_drafted on erp_unit (installation, kind, seq) where state = 'drafted';
create index erp_unit_handed_over on erp_unit (installation, batch) where state = 'handed_over';
create index erp_unit_settled on erp_unit (installation, settled_at) where state = 'delivered';
-- One that waits for another: few, since most documents have one entry.
create index erp_unit_waiting on erp_unit (installation, kind, seq)
  where state = 'pending' and not needs_consent and follows is not null;

alter table erp_cursor
  -- The mapping by which units were refused last: another one sends them again.
  add column mapping_hash text not null default '',
  add column company text not null default '';

alter table erp_company
  -- The text that was read: only json keeps it as it is.
  alter column periods type json,
  -- Set by a take-over: every unit that was being sent is looked up first, from this time on.
  add column settle_from timestamptz,
  -- Failures of the way to it in a row.
  add column failures integer not null default 0;

alter table erp_request add column is_error boolean not null default false;
create index erp_request_error on erp_request (company, sent_at) where is_error;
