-- Delivery to ERPs. `erp_unit` is the outbox: a row per unit of the general ledger (a document's entry or a day's summary).
create table erp_unit (
  installation bigint not null,
  unit_id text not null,
  kind text not null check (kind in ('entry', 'daily_summary')),
  -- Position in the chain of its kind.
  seq bigint not null,
  unit_date date not null,
  -- The unit before it of the same document: nothing is sent before what it corrects.
  follows text,
  reverses text,
  -- In the ERP's record, for ever.
  erp_key text not null unique,
  company text not null,
  state text not null default 'pending' check (state in
    ('pending', 'sending', 'uncertain', 'delivered', 'refused', 'handed_over', 'acknowledged', 'cancelled_out', 'excluded')),
  -- What a first load or a backfill brought is sent after consent only.
  needs_consent boolean not null default false,
  not_before timestamptz,
  attempt_id uuid,
  attempts integer not null default 0,
  sent_at timestamptz,
  -- How often in a row the ERP refused it alone, with a message that is not known, and a look-up found nothing.
  unknown_refusals integer not null default 0,
  erp_id text,
  erp_number text,
  erp_date date,
  batch bigint,
  problem_code text,
  problem_message text,
  problem_since timestamptz,
  settled_at timestamptz,
  primary key (installation, unit_id)
);
create index erp_unit_open on erp_unit (installation, kind, seq) where state in ('pending', 'sending', 'uncertain');
create index erp_unit_company_doubt on erp_unit (company) where state in ('sending', 'uncertain');
create index erp_unit_refused on erp_unit (installation) where state = 'refused';
create index erp_unit_follows on erp_unit (installation, follows) where follows is not null;

-- Up to where the chains were put into the outbox.
create table erp_cursor (
  installation bigint primary key,
  entry_seq bigint not null default 0,
  summary_seq bigint not null default 0
);

-- One holder at a time delivers to a company. `is_released`: the last holder ended in order; otherwise its requests may still be at work.
create table erp_company (
  company text primary key,
  kind text not null,
  name text not null,
  token bigint not null default 0,
  holder text not null default '',
  expires_at timestamptz not null default '-infinity',
  is_released boolean not null default true,
  -- Nothing is sent before: the ERP throttles, or is locked or down.
  not_before timestamptz,
  last_error_code text,
  last_error_message text,
  last_error_at timestamptz,
  last_answer_at timestamptz,
  periods json,
  periods_read_at timestamptz
);

-- Requests as sent, so that a restart does not refill a limit per minute or day.
create table erp_request (
  id bigint generated always as identity primary key,
  company text not null,
  weight integer not null,
  sent_at timestamptz not null default clock_timestamp()
);
create index erp_request_company on erp_request (company, sent_at);

-- Pauses, consents and retries, with who and why.
create table erp_pause (
  installation bigint primary key,
  paused_by text not null,
  reason text not null,
  paused_at timestamptz not null default clock_timestamp()
);
create table erp_action (
  id bigint generated always as identity primary key,
  installation bigint not null,
  action text not null check (action in ('approve', 'retry', 'undo', 'pause', 'resume', 'ack', 'redate')),
  details text not null,
  reason text not null,
  acted_by text not null,
  acted_at timestamptz not null default clock_timestamp()
);
create trigger erp_action_immutable before update or delete or truncate on erp_action for each statement execute function refuse_change();
