-- Written by `node scripts/schema.ts` from src/db/migrations; edit those instead.

create table vetledger_console.link (
  token_hash text not null,
  subject_id bigint not null,
  purpose text not null,
  expires_at timestamp with time zone not null,
  constraint link_pkey PRIMARY KEY (token_hash),
  constraint link_subject_id_fkey FOREIGN KEY (subject_id) REFERENCES vetledger_console.subject(id),
  constraint link_purpose_check CHECK ((purpose = ANY (ARRAY['sign_in'::text, 'password'::text])))
);

create table vetledger_console.refused (
  id bigint generated always as identity not null,
  subject_id bigint,
  route text not null,
  installation bigint,
  reason text not null,
  address text not null,
  at timestamp with time zone not null default clock_timestamp(),
  constraint refused_pkey PRIMARY KEY (id),
  constraint refused_subject_id_fkey FOREIGN KEY (subject_id) REFERENCES vetledger_console.subject(id)
);

create table vetledger_console.session (
  token_hash text not null,
  subject_id bigint not null,
  began_at timestamp with time zone not null default clock_timestamp(),
  seen_at timestamp with time zone not null default clock_timestamp(),
  constraint session_pkey PRIMARY KEY (token_hash),
  constraint session_subject_id_fkey FOREIGN KEY (subject_id) REFERENCES vetledger_console.subject(id)
);
CREATE INDEX session_subject ON vetledger_console.session USING btree (subject_id);

create table vetledger_console.sign_in (
  id bigint generated always as identity not null,
  subject_id bigint,
  name_hash text not null,
  address text not null,
  network text not null,
  outcome text not null,
  at timestamp with time zone not null default clock_timestamp(),
  constraint sign_in_pkey PRIMARY KEY (id),
  constraint sign_in_subject_id_fkey FOREIGN KEY (subject_id) REFERENCES vetledger_console.subject(id),
  constraint sign_in_outcome_check CHECK ((outcome = ANY (ARRAY['signed_in'::text, 'refused'::text, 'throttled'::text, 'signed_out'::text])))
);
CREATE INDEX sign_in_name ON vetledger_console.sign_in USING btree (name_hash, at);
CREATE INDEX sign_in_network ON vetledger_console.sign_in USING btree (network, at);

create table vetledger_console.subject (
  id bigint generated always as identity not null,
  name text not null,
  password_hash text,
  issuer text,
  issued_subject text,
  account text,
  language text not null default 'en'::text,
  created_at timestamp with time zone not null default clock_timestamp(),
  disabled_at timestamp with time zone,
  constraint subject_account_key UNIQUE (account),
  constraint subject_issuer_issued_subject_key UNIQUE (issuer, issued_subject),
  constraint subject_name_key UNIQUE (name),
  constraint subject_pkey PRIMARY KEY (id),
  constraint subject_account_check CHECK ((account <> ''::text)),
  constraint subject_check CHECK (((issuer IS NULL) = (issued_subject IS NULL))),
  constraint subject_name_check CHECK (((name <> ''::text) AND (name = lower(name))))
);

create table vetledger_console.subject_role (
  subject_id bigint not null,
  installation bigint,
  role text not null,
  until date,
  constraint subject_role_subject_id_installation_role_key UNIQUE NULLS NOT DISTINCT (subject_id, installation, role),
  constraint subject_role_subject_id_fkey FOREIGN KEY (subject_id) REFERENCES vetledger_console.subject(id),
  constraint subject_role_check CHECK (((role = 'admin'::text) = (installation IS NULL))),
  constraint subject_role_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'bookkeeper'::text, 'accountant'::text, 'operator'::text, 'admin'::text])))
);

create table account_day (
  installation bigint not null,
  entry_date date not null,
  place uuid not null,
  account text not null,
  role text not null,
  department_id bigint,
  dimension_1 text,
  dimension_2 text,
  dimension_3 text,
  debit numeric not null,
  credit numeric not null,
  constraint account_day_pkey PRIMARY KEY (installation, entry_date, place)
);

create table action (
  id bigint not null,
  installation bigint,
  seq bigint not null,
  kind text not null,
  subject text not null,
  input json not null,
  shown_hash text,
  reason_hash text not null,
  asked_at timestamp with time zone not null,
  previous_hash text not null,
  hash text not null,
  constraint action_installation_seq_key UNIQUE NULLS NOT DISTINCT (installation, seq),
  constraint action_pkey PRIMARY KEY (id),
  constraint action_second_person CHECK ((lower(btrim((input ->> 'second'::text))) <> lower(btrim(subject)))),
  constraint action_subject_check CHECK ((subject <> ''::text))
);
CREATE INDEX action_asked ON vetledger.action USING btree (asked_at);
CREATE UNIQUE INDEX action_approval ON vetledger.action USING btree ((((input ->> 'action'::text))::bigint)) WHERE (kind = 'approve_action'::text);
CREATE UNIQUE INDEX action_form ON vetledger.action USING btree (installation, ((input ->> 'form'::text))) WHERE ((input ->> 'form'::text) IS NOT NULL);

create table action_head (
  installation bigint,
  seq bigint not null,
  hash text not null,
  constraint action_head_installation_key UNIQUE NULLS NOT DISTINCT (installation)
);

create table action_outcome (
  action_id bigint not null,
  installation bigint,
  seq bigint not null,
  result json not null,
  ended_at timestamp with time zone not null,
  previous_hash text not null,
  hash text not null,
  constraint action_outcome_installation_seq_key UNIQUE NULLS NOT DISTINCT (installation, seq),
  constraint action_outcome_pkey PRIMARY KEY (action_id),
  constraint action_outcome_action_id_fkey FOREIGN KEY (action_id) REFERENCES action(id)
);

create table action_reason (
  action_id bigint not null,
  salt text not null,
  reason text not null,
  constraint action_reason_pkey PRIMARY KEY (action_id),
  constraint action_reason_action_id_fkey FOREIGN KEY (action_id) REFERENCES action(id),
  constraint action_reason_reason_check CHECK ((reason <> ''::text))
);

create table backup (
  finished_at timestamp with time zone not null,
  is_only boolean not null default true,
  constraint backup_pkey PRIMARY KEY (is_only),
  constraint backup_is_only_check CHECK (is_only)
);

create table book_identity (
  installation bigint not null,
  currency text not null,
  timezone text not null,
  source text not null,
  constraint book_identity_pkey PRIMARY KEY (installation)
);

create table budget (
  installation bigint not null,
  action text not null,
  full_limit integer not null,
  window_seconds double precision not null,
  share double precision not null default 1,
  regains_from timestamp with time zone not null default '-infinity'::timestamp with time zone,
  throttled_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  blocked_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  asked_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  clock_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  constraint budget_pkey PRIMARY KEY (installation, action)
);

create table budget_claim (
  installation bigint not null,
  action text not null,
  claimant uuid not null,
  weight integer not null,
  priority integer not null,
  claimed_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint budget_claim_pkey PRIMARY KEY (installation, action, claimant)
);

create table budget_slot (
  id bigint generated always as identity not null,
  installation bigint not null,
  action text not null,
  weight integer not null,
  taken_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  background boolean not null default false,
  constraint budget_slot_pkey PRIMARY KEY (installation, action, id)
);

create table collector_member (
  installation bigint not null,
  collector_id bigint not null,
  member_id bigint not null,
  constraint collector_member_pkey PRIMARY KEY (installation, collector_id, member_id)
);
CREATE INDEX collector_member_member ON vetledger.collector_member USING btree (installation, member_id);

create table copy_bar (
  kind text not null,
  key text not null,
  constraint copy_bar_pkey PRIMARY KEY (kind, key),
  constraint copy_bar_kind_check CHECK ((kind = ANY (ARRAY['company'::text, 'source'::text])))
);

create table daemon (
  id uuid not null,
  command text not null,
  host text not null,
  process bigint not null,
  version text not null,
  task_queue text not null,
  installations bigint[] not null,
  started_at timestamp with time zone not null default clock_timestamp(),
  heard_at timestamp with time zone not null default clock_timestamp(),
  ended_at timestamp with time zone,
  temporal_gone_since timestamp with time zone,
  constraint daemon_pkey PRIMARY KEY (id)
);

create table database_size (
  day date not null,
  bytes bigint not null,
  constraint database_size_pkey PRIMARY KEY (day)
);

create table department_lock (
  installation bigint not null,
  department bigint not null,
  lock_date date,
  constraint department_lock_pkey PRIMARY KEY (installation, department)
);

create table document (
  installation bigint not null,
  kind text not null,
  id bigint not null,
  state text not null default 'pending'::text,
  dirty boolean not null default true,
  dirty_mark bigint not null default 1,
  refetch text not null default 'no'::text,
  document_date date,
  entry_id text,
  entry_count integer not null default 0,
  input_hash text,
  problem_code text,
  problem_message text,
  problem_since timestamp with time zone,
  judged_at timestamp with time zone,
  remap_held boolean not null default false,
  written_entry_id text,
  outside_amount numeric,
  outside_vat numeric,
  problem_details jsonb,
  late_at_close boolean not null default false,
  late_version text,
  late_decision text,
  constraint document_pkey PRIMARY KEY (installation, kind, id),
  constraint document_kind_check CHECK ((kind = ANY (ARRAY['invoice'::text, 'payment'::text, 'prepayment'::text, 'vat_due'::text]))),
  constraint document_refetch_check CHECK ((refetch = ANY (ARRAY['no'::text, 'wanted'::text, 'done'::text])))
);
CREATE INDEX document_dirty ON vetledger.document USING btree (installation, kind, id) WHERE dirty;
CREATE INDEX document_draft ON vetledger.document USING btree (installation, document_date) WHERE (state = 'not_final'::text);
CREATE INDEX document_in_future ON vetledger.document USING btree (installation, document_date) WHERE (problem_code = 'date_in_future'::text);
CREATE INDEX document_problem ON vetledger.document USING btree (installation) WHERE (problem_code IS NOT NULL);
CREATE INDEX document_refetch ON vetledger.document USING btree (installation) WHERE (refetch = 'wanted'::text);
CREATE INDEX document_to_write_back ON vetledger.document USING btree (installation, id) WHERE ((kind = 'prepayment'::text) AND (state = 'posted'::text) AND (entry_id IS NOT NULL) AND (written_entry_id IS DISTINCT FROM entry_id));

create table document_report (
  installation bigint not null,
  kind text not null,
  id bigint not null,
  code text not null,
  message text not null,
  amount numeric,
  since timestamp with time zone not null default clock_timestamp(),
  constraint document_report_pkey PRIMARY KEY (installation, kind, id, code)
);

create table entry (
  id text not null,
  installation bigint not null,
  kind text not null,
  document_id bigint not null,
  n integer not null,
  seq bigint not null,
  posting_mode text not null default 'document'::text,
  entry_date date not null,
  document_date date not null,
  reason text not null,
  description text not null,
  reverses text,
  original_kind text,
  original_id bigint,
  idempotency_key text not null,
  input_hash text not null,
  previous_hash text not null,
  hash text not null,
  window_id bigint,
  created_at timestamp with time zone not null default clock_timestamp(),
  vat_period text not null,
  is_late boolean not null,
  mapping_hash text,
  constraint entry_idempotency_key_key UNIQUE (idempotency_key),
  constraint entry_installation_kind_document_id_n_key UNIQUE (installation, kind, document_id, n),
  constraint entry_installation_seq_key UNIQUE (installation, seq),
  constraint entry_pkey PRIMARY KEY (id),
  constraint entry_reverses_fkey FOREIGN KEY (reverses) REFERENCES entry(id),
  constraint entry_posting_mode_check CHECK ((posting_mode = ANY (ARRAY['document'::text, 'daily_summary'::text])))
);
CREATE INDEX entry_date ON vetledger.entry USING btree (installation, entry_date);
CREATE INDEX entry_late ON vetledger.entry USING btree (installation) WHERE is_late;
CREATE INDEX entry_redated ON vetledger.entry USING btree (installation, document_date) WHERE (entry_date <> document_date);
CREATE UNIQUE INDEX entry_reverses ON vetledger.entry USING btree (reverses) WHERE (reverses IS NOT NULL);

create table entry_line (
  entry_id text not null,
  line integer not null,
  account text not null,
  role text not null,
  side text not null,
  amount numeric not null,
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
  payment_type integer,
  document_number text,
  due_date date,
  bank_reference text,
  vat_group text,
  vat_rate numeric,
  vat_base numeric,
  has_vat boolean not null default false,
  row_ids bigint[] not null default '{}'::bigint[],
  party_named boolean not null default false,
  constraint entry_line_pkey PRIMARY KEY (entry_id, line),
  constraint entry_line_amount_check CHECK ((amount > (0)::numeric)),
  constraint entry_line_side_check CHECK ((side = ANY (ARRAY['debit'::text, 'credit'::text])))
);
CREATE INDEX entry_line_open ON vetledger.entry_line USING btree (role, split_part(entry_id, '/'::text, 1), invoice_id, party_code) INCLUDE (entry_id, side, amount) WHERE (role = ANY (ARRAY['receivable'::text, 'opening_receivable'::text, 'prepayment_liability'::text, 'prepayment_vat'::text, 'gift_card_liability'::text, 'voucher_liability'::text]));

create table entry_mapping (
  installation bigint not null,
  mapping_hash text not null,
  entries bigint not null,
  first_seq bigint not null,
  last_seq bigint not null,
  constraint entry_mapping_pkey PRIMARY KEY (installation, mapping_hash)
);

create table entry_party_name (
  installation bigint not null,
  entry_id text not null,
  party_code text not null,
  name text not null,
  constraint entry_party_name_pkey PRIMARY KEY (entry_id, party_code)
);
CREATE INDEX entry_party_name_party ON vetledger.entry_party_name USING btree (installation, party_code);

create table entry_share (
  entry_id text not null,
  installation bigint not null,
  prepayment_id bigint not null,
  used_before numeric not null,
  amount numeric not null,
  vat numeric not null,
  has_vat boolean not null,
  constraint entry_share_pkey PRIMARY KEY (entry_id, prepayment_id),
  constraint entry_share_entry_id_fkey FOREIGN KEY (entry_id) REFERENCES entry(id)
);
CREATE INDEX entry_share_prepayment ON vetledger.entry_share USING btree (installation, prepayment_id);

create table erp_account_name (
  installation bigint not null,
  account text not null,
  name text not null,
  constraint erp_account_name_pkey PRIMARY KEY (installation, account)
);

create table erp_batch (
  installation bigint not null,
  number bigint not null,
  format text not null,
  file text not null,
  sha256 text not null,
  units bigint not null,
  manifest text not null,
  created_at timestamp with time zone not null,
  written_at timestamp with time zone,
  withdrawn_at timestamp with time zone,
  acknowledged_at timestamp with time zone,
  constraint erp_batch_pkey PRIMARY KEY (installation, number),
  constraint erp_batch_format_check CHECK ((format = ANY (ARRAY['csv'::text, 'sie4'::text, 'datev'::text])))
);
CREATE INDEX erp_batch_open ON vetledger.erp_batch USING btree (installation, number) WHERE (acknowledged_at IS NULL);

create table erp_batch_piece (
  installation bigint not null,
  number bigint not null,
  piece integer not null,
  content bytea not null,
  constraint erp_batch_piece_pkey PRIMARY KEY (installation, number, piece)
);

create table erp_books_foreign (
  installation bigint not null,
  erp_id text not null,
  erp_number text,
  erp_date date not null,
  message text not null,
  difference numeric not null,
  run bigint not null,
  constraint erp_books_foreign_pkey PRIMARY KEY (installation, erp_id)
);

create table erp_books_month (
  installation bigint not null,
  month date not null,
  entries integer not null,
  balances json not null,
  read_at timestamp with time zone not null default clock_timestamp(),
  constraint erp_books_month_pkey PRIMARY KEY (installation, month)
);

create table erp_books_reading (
  installation bigint not null,
  run bigint not null,
  began_at timestamp with time zone not null,
  full_began_at timestamp with time zone not null,
  constraint erp_books_reading_pkey PRIMARY KEY (installation)
);

create table erp_books_unit (
  installation bigint not null,
  unit_id text not null,
  erp_id text not null,
  erp_number text,
  erp_date date not null,
  content_hash text not null,
  is_equal boolean not null,
  message text,
  difference numeric not null,
  amount numeric not null,
  run bigint not null,
  constraint erp_books_unit_pkey PRIMARY KEY (installation, unit_id, erp_id)
);
CREATE INDEX erp_books_unit_date ON vetledger.erp_books_unit USING btree (installation, erp_date);
CREATE INDEX erp_books_unit_id ON vetledger.erp_books_unit USING btree (installation, erp_id);

create table erp_claim (
  company text not null,
  installation bigint not null,
  looked_at timestamp with time zone,
  first_sent_at timestamp with time zone,
  is_claimed boolean not null default false,
  constraint erp_claim_pkey PRIMARY KEY (company, installation)
);

create table erp_closed_days (
  installation bigint not null,
  from_day date not null,
  through date not null,
  constraint erp_closed_days_pkey PRIMARY KEY (installation, from_day, through)
);

create table erp_company (
  company text not null,
  kind text not null,
  name text not null,
  not_before timestamp with time zone,
  last_error_code text,
  last_error_message text,
  last_error_at timestamp with time zone,
  last_answer_at timestamp with time zone,
  periods json,
  periods_read_at timestamp with time zone,
  look_up_from timestamp with time zone,
  failures integer not null default 0,
  drafts_swept bigint not null default 0,
  constraint erp_company_pkey PRIMARY KEY (company)
);

create table erp_company_identity (
  company text not null,
  kind text not null,
  url text not null,
  id text not null,
  identity text not null,
  is_in_use boolean not null default false,
  constraint erp_company_identity_pkey PRIMARY KEY (company)
);
CREATE UNIQUE INDEX erp_company_identity_in_use ON vetledger.erp_company_identity USING btree (identity) WHERE is_in_use;

create table erp_cursor (
  installation bigint not null,
  entry_seq bigint not null default 0,
  summary_seq bigint not null default 0,
  mapping_hash text not null default ''::text,
  company text not null default ''::text,
  constraint erp_cursor_pkey PRIMARY KEY (installation)
);

create table erp_delivered (
  installation bigint not null,
  n bigint not null,
  constraint erp_delivered_pkey PRIMARY KEY (installation)
);

create table erp_item_match (
  installation bigint not null,
  item text not null,
  line_ids text[] not null,
  group_id text,
  constraint erp_item_match_pkey PRIMARY KEY (installation, item, line_ids)
);

create table erp_keyed_entry (
  company text not null,
  installation bigint not null,
  erp_id text not null,
  erp_key text not null,
  unit_id text not null,
  is_ours boolean not null,
  erp_number text,
  erp_date date not null,
  seen_at timestamp with time zone not null default clock_timestamp(),
  adopted_at timestamp with time zone,
  constraint erp_keyed_entry_pkey PRIMARY KEY (company, installation, erp_id)
);
CREATE INDEX erp_keyed_entry_unit ON vetledger.erp_keyed_entry USING btree (installation, unit_id);

create table erp_login (
  company text not null,
  erp_id text not null,
  erp_name text not null,
  state text not null default 'ready'::text,
  generation bigint not null default 1,
  key_id text not null,
  refresh_sealed text not null,
  access_sealed text not null,
  access_until timestamp with time zone not null,
  logged_in_at timestamp with time zone not null default clock_timestamp(),
  renewed_at timestamp with time zone not null default clock_timestamp(),
  asked_at timestamp with time zone,
  refusals integer not null default 0,
  constraint erp_login_pkey PRIMARY KEY (company),
  constraint erp_login_state_check CHECK ((state = ANY (ARRAY['ready'::text, 'login_needed'::text])))
);

create table erp_look_up (
  installation bigint not null,
  since timestamp with time zone not null default clock_timestamp(),
  until_window bigint,
  constraint erp_look_up_pkey PRIMARY KEY (installation)
);

create table erp_number_due (
  installation bigint not null,
  unit_id text not null,
  constraint erp_number_due_pkey PRIMARY KEY (installation, unit_id)
);

create table erp_open_item (
  installation bigint not null,
  item text not null,
  touched bigint not null default 1,
  touched_at timestamp with time zone not null default clock_timestamp(),
  matched bigint not null default 0,
  not_before timestamp with time zone,
  failures integer not null default 0,
  remark text,
  remark_since timestamp with time zone,
  constraint erp_open_item_pkey PRIMARY KEY (installation, item)
);
CREATE INDEX erp_open_item_remark ON vetledger.erp_open_item USING btree (installation, item) WHERE (remark IS NOT NULL);
CREATE INDEX erp_open_item_touched ON vetledger.erp_open_item USING btree (installation, touched_at, item) WHERE ((touched <> matched) OR (remark IS NOT NULL));

create table erp_open_line (
  installation bigint not null,
  item text not null,
  unit_id text not null,
  line integer not null,
  account text not null,
  amount numeric not null,
  constraint erp_open_line_pkey PRIMARY KEY (installation, item, unit_id, line)
);
CREATE INDEX erp_open_line_unit ON vetledger.erp_open_line USING btree (installation, unit_id);

create table erp_pause (
  installation bigint not null,
  action_id bigint not null,
  constraint erp_pause_pkey PRIMARY KEY (installation),
  constraint erp_pause_action_id_fkey FOREIGN KEY (action_id) REFERENCES action(id)
);

create table erp_request (
  id bigint generated always as identity not null,
  company text not null,
  weight integer not null,
  per_seconds numeric,
  sent_at timestamp with time zone not null default clock_timestamp(),
  is_error boolean not null default false,
  constraint erp_request_pkey PRIMARY KEY (id)
);
CREATE INDEX erp_request_company ON vetledger.erp_request USING btree (company, sent_at);
CREATE INDEX erp_request_error ON vetledger.erp_request USING btree (company, sent_at) WHERE is_error;

create table erp_settled_day (
  installation bigint not null,
  unit_date date not null,
  state text not null,
  n bigint not null,
  constraint erp_settled_day_pkey PRIMARY KEY (installation, unit_date, state)
);

create table erp_sweep (
  installation bigint not null,
  unit_id text not null,
  looks integer not null default 0,
  not_before timestamp with time zone not null,
  drafts jsonb not null default '{}'::jsonb,
  is_late boolean not null default true,
  constraint erp_sweep_pkey PRIMARY KEY (installation, unit_id)
);
CREATE INDEX erp_sweep_due ON vetledger.erp_sweep USING btree (installation, not_before);

create table erp_unit (
  installation bigint not null,
  unit_id text not null,
  kind text not null,
  seq bigint not null,
  unit_date date not null,
  follows text,
  reverses text,
  erp_key text not null,
  company text not null,
  state text not null default 'pending'::text,
  needs_approval boolean not null default false,
  not_before timestamp with time zone,
  attempt_id uuid,
  attempts integer not null default 0,
  sent_at timestamp with time zone,
  first_sent_at timestamp with time zone,
  unknown_refusals integer not null default 0,
  erp_id text,
  erp_number text,
  erp_date date,
  batch bigint,
  problem_code text,
  problem_message text,
  problem_since timestamp with time zone,
  settled_at timestamp with time zone,
  is_backlog boolean not null default false,
  batch_limit integer,
  doubt text,
  answered integer not null default 0,
  undo_of text,
  undo_n integer,
  is_undone boolean not null default false,
  enqueued_at timestamp with time zone not null default clock_timestamp(),
  late_since timestamp with time zone,
  constraint erp_unit_erp_key_key UNIQUE (erp_key),
  constraint erp_unit_pkey PRIMARY KEY (installation, unit_id),
  constraint erp_unit_doubt_check CHECK ((doubt = ANY (ARRAY['no_answer'::text, 'refused'::text, 'unknown'::text, 'duplicate'::text, 'unseen'::text]))),
  constraint erp_unit_kind_check CHECK ((kind = ANY (ARRAY['entry'::text, 'daily_summary'::text]))),
  constraint erp_unit_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'sending'::text, 'uncertain'::text, 'drafted'::text, 'delivered'::text, 'refused'::text, 'handed_over'::text, 'acknowledged'::text, 'cancelled_out'::text, 'excluded'::text]))),
  constraint erp_unit_undo CHECK (((undo_of IS NULL) = (undo_n IS NULL)))
);
CREATE INDEX erp_unit_approval ON vetledger.erp_unit USING btree (installation, unit_date) WHERE ((state = 'pending'::text) AND needs_approval);
CREATE INDEX erp_unit_batch ON vetledger.erp_unit USING btree (installation, batch) WHERE (batch IS NOT NULL);
CREATE INDEX erp_unit_company_doubt ON vetledger.erp_unit USING btree (company) WHERE (state = ANY (ARRAY['sending'::text, 'uncertain'::text]));
CREATE INDEX erp_unit_doubt ON vetledger.erp_unit USING btree (installation, kind, seq) WHERE (state = ANY (ARRAY['sending'::text, 'uncertain'::text]));
CREATE INDEX erp_unit_drafted ON vetledger.erp_unit USING btree (installation, kind, seq) WHERE (state = 'drafted'::text);
CREATE INDEX erp_unit_due ON vetledger.erp_unit USING btree (installation, is_backlog, kind, seq) WHERE ((state = 'pending'::text) AND (NOT needs_approval));
CREATE INDEX erp_unit_hand_over ON vetledger.erp_unit USING btree (installation, kind, seq) WHERE ((state = 'pending'::text) AND (NOT needs_approval));
CREATE INDEX erp_unit_handed_over ON vetledger.erp_unit USING btree (installation, batch) WHERE (state = 'handed_over'::text);
CREATE INDEX erp_unit_late ON vetledger.erp_unit USING btree (installation) WHERE (late_since IS NOT NULL);
CREATE INDEX erp_unit_listed ON vetledger.erp_unit USING btree (installation, unit_date, unit_id);
CREATE INDEX erp_unit_number ON vetledger.erp_unit USING btree (installation, erp_number) WHERE (erp_number IS NOT NULL);
CREATE INDEX erp_unit_refused ON vetledger.erp_unit USING btree (installation) WHERE (state = 'refused'::text);
CREATE INDEX erp_unit_settled ON vetledger.erp_unit USING btree (installation, settled_at) WHERE (state = ANY (ARRAY['delivered'::text, 'handed_over'::text, 'acknowledged'::text]));
CREATE INDEX erp_unit_timely ON vetledger.erp_unit USING btree (company, unit_date) WHERE ((late_since IS NULL) AND (state = ANY (ARRAY['pending'::text, 'refused'::text])));
CREATE INDEX erp_unit_undo_of ON vetledger.erp_unit USING btree (installation, undo_of, undo_n) WHERE (undo_of IS NOT NULL);
CREATE INDEX erp_unit_waiting ON vetledger.erp_unit USING btree (installation, kind, seq) WHERE ((state = 'pending'::text) AND (NOT needs_approval) AND (follows IS NOT NULL));

create table field_map (
  version text not null,
  kept json not null,
  constraint field_map_pkey PRIMARY KEY (version)
);

create table installation_state (
  installation bigint not null,
  conditions_hash text,
  start_date date,
  start_date_noted_at timestamp with time zone,
  pending_nudges integer not null default 0,
  nudged_at timestamp with time zone,
  census_taken_at timestamp with time zone,
  census_asked boolean not null default false,
  latest_days_through date,
  constraint installation_state_pkey PRIMARY KEY (installation),
  constraint installation_state_pending_nudges_check CHECK ((pending_nudges >= 0))
);

create table late_decision (
  id bigint generated always as identity not null,
  installation bigint not null,
  kind text not null,
  document_id bigint not null,
  decision text not null,
  version text not null,
  action_id bigint not null,
  constraint late_decision_pkey PRIMARY KEY (id),
  constraint late_decision_action_id_fkey FOREIGN KEY (action_id) REFERENCES action(id),
  constraint late_decision_decision_check CHECK ((decision = ANY (ARRAY['wait'::text, 'redate'::text, 'as_dated'::text, 'leave_as_posted'::text, 'accept_date'::text, 'confirm_gone'::text]))),
  constraint late_decision_kind_check CHECK ((kind = ANY (ARRAY['invoice'::text, 'payment'::text, 'prepayment'::text, 'vat_due'::text])))
);
CREATE INDEX late_decision_document ON vetledger.late_decision USING btree (installation, kind, document_id, id);

create table lease (
  installation bigint not null,
  lane text not null,
  company text not null default ''::text,
  token bigint not null,
  holder text not null,
  expires_at timestamp with time zone not null,
  is_in_order boolean not null default false,
  taken_at timestamp with time zone not null default clock_timestamp(),
  constraint lease_pkey PRIMARY KEY (installation, lane, company),
  constraint lease_lane_check CHECK ((lane = ANY (ARRAY['live'::text, 'backfill'::text, 'replay'::text, 'scrub'::text, 'delivery'::text, 'books'::text, 'reconcile'::text, 'actions'::text, 'login'::text])))
);

create table ledger_close (
  installation bigint not null,
  through date not null,
  closed_at timestamp with time zone not null default clock_timestamp(),
  seq bigint not null,
  entries bigint not null,
  summaries bigint not null,
  summary_hash text not null,
  previous_hash text not null,
  hash text not null,
  kind text not null default 'close'::text,
  details text not null default '{}'::text,
  action_id bigint,
  constraint ledger_close_installation_seq_key UNIQUE (installation, seq),
  constraint ledger_close_pkey PRIMARY KEY (installation, closed_at),
  constraint ledger_close_action_id_fkey FOREIGN KEY (action_id) REFERENCES action(id),
  constraint ledger_close_kind_check CHECK ((kind = ANY (ARRAY['close'::text, 'reopen'::text])))
);

create table mail (
  id bigint generated always as identity not null,
  installation bigint not null,
  recipient text not null,
  topic text not null,
  cause text not null,
  notices json not null,
  omitted integer not null default 0,
  decided_at timestamp with time zone not null,
  not_before timestamp with time zone not null,
  attempts integer not null default 0,
  sent_at timestamp with time zone,
  error json,
  constraint mail_pkey PRIMARY KEY (id)
);
CREATE INDEX mail_of_cause ON vetledger.mail USING btree (recipient, installation, cause, sent_at);
CREATE INDEX mail_unsent ON vetledger.mail USING btree (not_before) WHERE (sent_at IS NULL);

create table mail_mark (
  installation bigint not null,
  recipient text not null,
  topic text not null,
  mark text not null,
  constraint mail_mark_pkey PRIMARY KEY (installation, recipient, topic)
);

create table mapping_version (
  installation bigint not null,
  number integer not null,
  mapping_hash text not null,
  content text not null,
  version text,
  approved_by text,
  action_id bigint,
  began_at timestamp with time zone not null default clock_timestamp(),
  constraint mapping_version_pkey PRIMARY KEY (installation, number),
  constraint mapping_version_action_id_fkey FOREIGN KEY (action_id) REFERENCES action(id),
  constraint mapping_version_check CHECK ((mapping_hash = encode(sha256(convert_to(content, 'UTF8'::name)), 'hex'::text)))
);
CREATE INDEX mapping_version_hash ON vetledger.mapping_version USING btree (installation, mapping_hash);

create table meta (
  key text not null,
  value text not null,
  constraint meta_pkey PRIMARY KEY (key)
);

create table mirror_record (
  installation bigint not null,
  kind text not null,
  id bigint not null,
  parent_id bigint,
  version integer not null,
  modified timestamp with time zone,
  source_time timestamp with time zone not null,
  first_seen_at timestamp with time zone not null,
  field_map text not null default 'all'::text,
  content_hash text not null,
  raw json not null,
  needs_rows boolean not null default false,
  rows_fresh_from timestamp with time zone,
  rows_source_time timestamp with time zone,
  gone_at timestamp with time zone,
  asked_at timestamp with time zone not null default '1970-01-01 00:00:00+00'::timestamp with time zone,
  answered_at timestamp with time zone not null default '1970-01-01 00:00:00+00'::timestamp with time zone,
  missing_at timestamp with time zone,
  missing_answer text,
  missing_many boolean not null default false,
  number_key text,
  id_needs_look boolean not null default true,
  constraint mirror_record_pkey PRIMARY KEY (installation, kind, id),
  constraint mirror_record_kind_check CHECK ((kind = ANY (ARRAY['invoice'::text, 'row'::text, 'payment'::text, 'prepayment'::text])))
);
CREATE INDEX mirror_record_id_needs_look ON vetledger.mirror_record USING btree (installation, id) WHERE ((kind = 'prepayment'::text) AND id_needs_look);
CREATE INDEX mirror_record_missing ON vetledger.mirror_record USING btree (installation, kind, id) WHERE (missing_at IS NOT NULL);
CREATE INDEX mirror_record_number ON vetledger.mirror_record USING btree (installation, number_key) WHERE (number_key IS NOT NULL);
CREATE INDEX mirror_record_parent ON vetledger.mirror_record USING btree (installation, kind, parent_id) WHERE (parent_id IS NOT NULL);
CREATE INDEX mirror_record_recent_invoices ON vetledger.mirror_record USING btree (installation, modified) WHERE ((kind = 'invoice'::text) AND needs_rows AND (gone_at IS NULL));
CREATE INDEX mirror_record_stale_rows ON vetledger.mirror_record USING btree (installation, id) WHERE ((kind = 'invoice'::text) AND needs_rows AND (gone_at IS NULL) AND ((rows_source_time IS NULL) OR (rows_source_time < rows_fresh_from)));

create table mirror_version (
  installation bigint not null,
  kind text not null,
  id bigint not null,
  version integer not null,
  modified timestamp with time zone,
  source_time timestamp with time zone not null,
  content_hash text not null,
  raw json not null,
  replaced_at timestamp with time zone default clock_timestamp(),
  constraint mirror_version_pkey PRIMARY KEY (installation, kind, id, version)
);

create table open_step (
  run_id text not null,
  activity text not null,
  installation bigint not null,
  step text not null,
  attempt integer not null,
  is_ended boolean not null,
  unexplained integer not null,
  trouble json,
  api json not null,
  waits_for text,
  waits_since timestamp with time zone,
  noted_at timestamp with time zone not null default clock_timestamp(),
  constraint open_step_pkey PRIMARY KEY (run_id, activity)
);

create table prepayment_balance (
  installation bigint not null,
  prepayment_id bigint not null,
  client_id bigint,
  paid numeric not null,
  unused numeric not null,
  created_at timestamp with time zone,
  version integer not null,
  modified_at timestamp with time zone,
  constraint prepayment_balance_pkey PRIMARY KEY (installation, prepayment_id)
);
CREATE INDEX prepayment_balance_client ON vetledger.prepayment_balance USING btree (installation, client_id);

create table prepayment_change (
  installation bigint not null,
  prepayment_id bigint not null,
  n integer not null,
  client_id bigint,
  amount numeric not null,
  since timestamp with time zone,
  until timestamp with time zone,
  constraint prepayment_change_pkey PRIMARY KEY (installation, prepayment_id, n),
  constraint prepayment_change_amount_check CHECK ((amount > (0)::numeric))
);
CREATE INDEX prepayment_change_amount ON vetledger.prepayment_change USING btree (installation, amount);
CREATE INDEX prepayment_change_client ON vetledger.prepayment_change USING btree (installation, client_id);

create table prepayment_match (
  installation bigint not null,
  payment_id bigint not null,
  prepayment_id bigint not null,
  amount numeric not null,
  constraint prepayment_match_pkey PRIMARY KEY (installation, payment_id, prepayment_id)
);
CREATE INDEX prepayment_match_prepayment ON vetledger.prepayment_match USING btree (installation, prepayment_id);

create table prepayment_refund (
  installation bigint not null,
  refund_id bigint not null,
  original_id bigint not null,
  amount numeric not null,
  constraint prepayment_refund_pkey PRIMARY KEY (installation, refund_id)
);
CREATE INDEX prepayment_refund_original ON vetledger.prepayment_refund USING btree (installation, original_id);

create table prepayment_use (
  installation bigint not null,
  payment_id bigint not null,
  invoice_id bigint,
  amount numeric not null,
  recorded_at timestamp with time zone,
  version integer not null,
  invoice_client_id bigint,
  first_client_id bigint,
  state text not null default 'open'::text,
  action_id bigint,
  constraint prepayment_use_pkey PRIMARY KEY (installation, payment_id),
  constraint prepayment_use_action_id_fkey FOREIGN KEY (action_id) REFERENCES action(id),
  constraint prepayment_use_state_check CHECK ((state = ANY (ARRAY['open'::text, 'matched'::text, 'set'::text, 'cancelled'::text])))
);
CREATE INDEX prepayment_use_amount ON vetledger.prepayment_use USING btree (installation, amount) WHERE (state = 'open'::text);
CREATE INDEX prepayment_use_client ON vetledger.prepayment_use USING btree (installation, invoice_client_id) WHERE (state = 'open'::text);
CREATE INDEX prepayment_use_invoice ON vetledger.prepayment_use USING btree (installation, invoice_id);

create table put_aside (
  installation bigint not null,
  kind text not null,
  record text not null,
  parent_id bigint,
  code text not null,
  message text not null,
  since timestamp with time zone not null default clock_timestamp(),
  seen_at timestamp with time zone not null default clock_timestamp(),
  above bigint,
  below bigint,
  filters jsonb not null default '{}'::jsonb,
  asked_again_at timestamp with time zone,
  constraint put_aside_pkey PRIMARY KEY (installation, kind, record),
  constraint put_aside_kind_check CHECK ((kind = ANY (ARRAY['invoice'::text, 'row'::text, 'payment'::text, 'prepayment'::text])))
);
CREATE INDEX put_aside_parent ON vetledger.put_aside USING btree (installation, parent_id) WHERE (parent_id IS NOT NULL);

create table reconcile_turn (
  installation bigint not null,
  day date not null,
  attempts integer not null,
  began_at timestamp with time zone not null default clock_timestamp(),
  not_before timestamp with time zone not null,
  is_done boolean not null default false,
  error json,
  constraint reconcile_turn_pkey PRIMARY KEY (installation)
);

create table reconcile_verdict (
  installation bigint not null,
  ok boolean not null,
  failing text[] not null,
  checked_at timestamp with time zone not null default clock_timestamp(),
  chains_checked_at timestamp with time zone,
  constraint reconcile_verdict_pkey PRIMARY KEY (installation)
);

create table schedule_look (
  task_queue text not null,
  seen_at timestamp with time zone not null,
  constraint schedule_look_pkey PRIMARY KEY (task_queue)
);

create table schedule_watch (
  installation bigint not null,
  task_queue text not null,
  missed bigint,
  skipped bigint,
  dropped bigint,
  missed_at timestamp with time zone,
  paused boolean not null,
  note text,
  next_at timestamp with time zone,
  is_missing boolean not null default false,
  constraint schedule_watch_pkey PRIMARY KEY (installation, task_queue)
);

create table scrub_finding (
  installation bigint not null,
  pass integer not null,
  list text not null,
  document_id bigint not null,
  what text not null,
  records integer not null,
  found_at timestamp with time zone not null default clock_timestamp(),
  constraint scrub_finding_pkey PRIMARY KEY (installation, pass, list, document_id, what),
  constraint scrub_finding_list_check CHECK ((list = ANY (ARRAY['invoice'::text, 'row'::text, 'payment'::text, 'prepayment'::text]))),
  constraint scrub_finding_what_check CHECK ((what = ANY (ARRAY['changed'::text, 'appeared'::text, 'vanished'::text])))
);

create table scrub_pass (
  installation bigint not null,
  pass integer not null,
  list text not null,
  after_id bigint not null default 0,
  expected bigint not null,
  records bigint not null default 0,
  differing bigint not null default 0,
  missing bigint not null default 0,
  requests bigint not null default 0,
  weight bigint not null default 0,
  began_at timestamp with time zone not null default clock_timestamp(),
  read_at timestamp with time zone,
  finished_at timestamp with time zone,
  constraint scrub_pass_pkey PRIMARY KEY (installation, pass, list),
  constraint scrub_pass_list_check CHECK ((list = ANY (ARRAY['invoice'::text, 'row'::text, 'payment'::text, 'prepayment'::text])))
);

create table seal (
  installation bigint not null,
  n integer not null,
  seq bigint not null,
  entries bigint not null,
  head text not null,
  summaries bigint not null,
  summary_head text not null,
  sealed_at timestamp with time zone not null,
  signature text not null,
  constraint seal_pkey PRIMARY KEY (installation, n),
  constraint seal_n_check CHECK ((n > 0))
);

create table sign_in (
  installation bigint not null,
  mark text not null,
  refusals integer not null,
  since timestamp with time zone not null,
  ask_again_at timestamp with time zone not null,
  constraint sign_in_pkey PRIMARY KEY (installation)
);

create table source_account (
  installation bigint not null,
  number text not null,
  description text,
  department bigint,
  archived boolean not null
);
CREATE INDEX source_account_installation ON vetledger.source_account USING btree (installation);

create table source_capability (
  installation bigint not null,
  list text,
  name text not null,
  value text not null,
  noted_at timestamp with time zone not null default clock_timestamp(),
  constraint source_capability_installation_list_name_key UNIQUE NULLS NOT DISTINCT (installation, list, name),
  constraint source_capability_list_check CHECK ((list = ANY (ARRAY['invoice'::text, 'row'::text, 'payment'::text, 'prepayment'::text]))),
  constraint source_capability_name_check CHECK ((name = ANY (ARRAY['default_page_size'::text, 'timestamp_style'::text, 'repeats_records'::text])))
);

create table source_count (
  installation bigint not null,
  kind text not null,
  count bigint not null,
  counted_at timestamp with time zone not null,
  census_pairs text[] not null default '{}'::text[],
  constraint source_count_pkey PRIMARY KEY (installation, kind)
);

create table source_filter (
  installation bigint not null,
  list text not null,
  filter text not null,
  verdict text not null,
  noted_at timestamp with time zone not null default clock_timestamp(),
  constraint source_filter_pkey PRIMARY KEY (installation, list, filter),
  constraint source_filter_list_check CHECK ((list = ANY (ARRAY['invoice'::text, 'row'::text, 'payment'::text, 'prepayment'::text]))),
  constraint source_filter_verdict_check CHECK ((verdict = ANY (ARRAY['honoured'::text, 'ignored'::text, 'unknown'::text])))
);

create table source_period (
  installation bigint not null,
  department bigint not null,
  through date not null,
  state text not null default 'pending'::text,
  attempts integer not null default 0,
  not_before timestamp with time zone,
  error text,
  constraint source_period_pkey PRIMARY KEY (installation, department),
  constraint source_period_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'done'::text, 'left'::text, 'failed'::text])))
);

create table source_usage (
  installation bigint not null,
  since date not null,
  usage json not null,
  read_at timestamp with time zone not null default clock_timestamp(),
  constraint source_usage_pkey PRIMARY KEY (installation)
);

create table summary_entry (
  id text not null,
  installation bigint not null,
  summary_date date not null,
  department_id bigint,
  n integer not null,
  seq bigint not null,
  previous_hash text not null,
  hash text not null,
  window_id bigint,
  created_at timestamp with time zone not null default clock_timestamp(),
  vat_period text not null,
  is_late boolean not null,
  is_correction boolean not null,
  fiscal_year integer not null,
  voucher_number bigint not null,
  constraint summary_entry_installation_fiscal_year_voucher_number_key UNIQUE (installation, fiscal_year, voucher_number),
  constraint summary_entry_installation_seq_key UNIQUE (installation, seq),
  constraint summary_entry_pkey PRIMARY KEY (id),
  constraint summary_entry_voucher_number_check CHECK ((voucher_number > 0))
);
CREATE INDEX summary_entry_date ON vetledger.summary_entry USING btree (installation, summary_date, department_id, n);

create table summary_line (
  summary_id text not null,
  line integer not null,
  account text not null,
  role text not null,
  side text not null,
  amount numeric not null,
  rule text not null,
  dimension_1 text,
  dimension_2 text,
  dimension_3 text,
  internal_account text,
  internal_dimension_1 text,
  internal_dimension_2 text,
  payment_type integer,
  vat_group text,
  vat_rate numeric,
  vat_base numeric,
  has_vat boolean not null,
  vat_number text,
  country_code text,
  entry_ids text[] not null,
  constraint summary_line_pkey PRIMARY KEY (summary_id, line),
  constraint summary_line_summary_id_fkey FOREIGN KEY (summary_id) REFERENCES summary_entry(id),
  constraint summary_line_amount_check CHECK ((amount > (0)::numeric)),
  constraint summary_line_side_check CHECK ((side = ANY (ARRAY['debit'::text, 'credit'::text])))
);

create table summary_member (
  entry_id text not null,
  summary_id text not null,
  constraint summary_member_pkey PRIMARY KEY (entry_id),
  constraint summary_member_entry_id_fkey FOREIGN KEY (entry_id) REFERENCES entry(id),
  constraint summary_member_summary_id_fkey FOREIGN KEY (summary_id) REFERENCES summary_entry(id)
);
CREATE INDEX summary_member_summary ON vetledger.summary_member USING btree (summary_id);

create table summary_waiting (
  entry_id text not null,
  installation bigint not null,
  entry_date date not null,
  constraint summary_waiting_pkey PRIMARY KEY (entry_id),
  constraint summary_waiting_entry_id_fkey FOREIGN KEY (entry_id) REFERENCES entry(id)
);
CREATE INDEX summary_waiting_day ON vetledger.summary_waiting USING btree (installation, entry_date);

create table sync_cursor (
  installation bigint not null,
  stream text not null,
  value json not null,
  revision bigint not null default 1,
  constraint sync_cursor_pkey PRIMARY KEY (installation, stream)
);

create table sync_walk (
  installation bigint not null,
  stream text not null,
  owner text not null,
  state json not null,
  saved_at timestamp with time zone not null default clock_timestamp(),
  constraint sync_walk_pkey PRIMARY KEY (installation, stream, owner)
);

create table sync_window (
  id bigint generated always as identity not null,
  installation bigint not null,
  kind text not null,
  trigger text not null,
  from_time timestamp with time zone,
  to_time timestamp with time zone,
  outcome text not null default 'open'::text,
  error json,
  counts json not null default '{}'::json,
  workflow_id text not null,
  run_id text not null,
  opened_at timestamp with time zone not null default clock_timestamp(),
  closed_at timestamp with time zone,
  remarks json not null default '[]'::json,
  reset_of bigint,
  invoice_span bigint[],
  prepayment_span bigint[],
  row_span bigint[],
  payment_span bigint[],
  unread_streams text[] not null default '{}'::text[],
  idle_windows integer,
  constraint sync_window_pkey PRIMARY KEY (id),
  constraint sync_window_idle_windows_check CHECK ((idle_windows > 0)),
  constraint sync_window_invoice_span_check CHECK ((cardinality(invoice_span) = 2)),
  constraint sync_window_kind_check CHECK ((kind = ANY (ARRAY['window'::text, 'backfill'::text, 'replay'::text]))),
  constraint sync_window_outcome_check CHECK ((outcome = ANY (ARRAY['open'::text, 'closed'::text, 'failed'::text]))),
  constraint sync_window_payment_span_check CHECK ((cardinality(payment_span) = 2)),
  constraint sync_window_prepayment_span_check CHECK ((cardinality(prepayment_span) = 2)),
  constraint sync_window_row_span_check CHECK ((cardinality(row_span) = 2))
);
CREATE INDEX sync_window_failed ON vetledger.sync_window USING btree (installation, id) WHERE (outcome = 'failed'::text);
CREATE INDEX sync_window_open ON vetledger.sync_window USING btree (installation, kind) WHERE (outcome = 'open'::text);
CREATE INDEX sync_window_recent ON vetledger.sync_window USING btree (installation, id DESC);
CREATE UNIQUE INDEX sync_window_run ON vetledger.sync_window USING btree (run_id);

create table vat_return (
  installation bigint not null,
  period text not null,
  version integer not null,
  from_day date not null,
  through date not null,
  action_id bigint not null,
  constraint vat_return_pkey PRIMARY KEY (installation, period, version),
  constraint vat_return_action_id_fkey FOREIGN KEY (action_id) REFERENCES action(id),
  constraint vat_return_check CHECK ((through >= from_day)),
  constraint vat_return_version_check CHECK ((version > 0))
);

create table vat_return_line (
  installation bigint not null,
  period text not null,
  version integer not null,
  entry_id text not null,
  vat_group text,
  vat_rate numeric,
  kind text,
  code text,
  is_late boolean not null,
  is_change boolean not null,
  base numeric not null,
  tax numeric not null,
  constraint vat_return_line_entry_id_fkey FOREIGN KEY (entry_id) REFERENCES entry(id),
  constraint vat_return_line_installation_period_version_fkey FOREIGN KEY (installation, period, version) REFERENCES vat_return(installation, period, version)
);
CREATE INDEX vat_return_line_return ON vetledger.vat_return_line USING btree (installation, period, version);
CREATE UNIQUE INDEX vat_return_line_once ON vetledger.vat_return_line USING btree (entry_id, vat_group, vat_rate, is_late) NULLS NOT DISTINCT WHERE (NOT is_change);

create table voucher (
  entry_id text not null,
  installation bigint not null,
  journal text not null,
  fiscal_year integer not null,
  number bigint not null,
  constraint voucher_installation_journal_fiscal_year_number_key UNIQUE (installation, journal, fiscal_year, number),
  constraint voucher_pkey PRIMARY KEY (entry_id),
  constraint voucher_journal_check CHECK ((journal = ANY (ARRAY['S'::text, 'P'::text, 'A'::text]))),
  constraint voucher_number_check CHECK ((number > 0))
);

create table window_pause (
  installation bigint not null,
  is_paused boolean not null,
  action_id bigint not null,
  constraint window_pause_pkey PRIMARY KEY (installation),
  constraint window_pause_action_id_fkey FOREIGN KEY (action_id) REFERENCES action(id)
);

create table window_unread (
  window_id bigint not null,
  installation bigint not null,
  invoice_left int8multirange not null,
  prepayment_left int8multirange not null,
  row_left int8multirange not null,
  payment_left int8multirange not null,
  covered_by bigint[] not null default '{}'::bigint[],
  is_covered boolean not null default false,
  constraint window_unread_pkey PRIMARY KEY (window_id),
  constraint window_unread_window_id_fkey FOREIGN KEY (window_id) REFERENCES sync_window(id) ON DELETE CASCADE
);
CREATE INDEX window_unread_uncovered ON vetledger.window_unread USING btree (installation, window_id) WHERE (NOT is_covered);

create table write_back (
  installation bigint not null,
  kind text not null,
  document_id bigint not null,
  unit_id text not null,
  value_is text not null,
  value text,
  own_values text[] not null default '{}'::text[],
  previous_value text,
  state text not null default 'pending'::text,
  attempts integer not null default 0,
  not_before timestamp with time zone,
  error_code text,
  error text,
  error_since timestamp with time zone,
  written_at timestamp with time zone,
  sent_at timestamp with time zone,
  value_before text,
  claimed_lane text,
  claimed_token bigint,
  read_back text,
  read_back_at timestamp with time zone,
  unseen integer not null default 0,
  constraint write_back_pkey PRIMARY KEY (installation, kind, document_id),
  constraint write_back_kind_check CHECK ((kind = ANY (ARRAY['invoice'::text, 'payment'::text, 'prepayment'::text]))),
  constraint write_back_read_back_check CHECK ((read_back = ANY (ARRAY['shown'::text, 'foreign'::text, 'unseen'::text, 'given_up'::text]))),
  constraint write_back_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'done'::text, 'failed'::text, 'taken'::text, 'absent'::text]))),
  constraint write_back_value_is_check CHECK ((value_is = ANY (ARRAY['entry_id'::text, 'erp_number'::text, 'former'::text])))
);
CREATE INDEX write_back_number ON vetledger.write_back USING btree (installation, document_id) WHERE ((kind = 'prepayment'::text) AND (value_is = 'erp_number'::text));
CREATE INDEX write_back_open ON vetledger.write_back USING btree (installation, kind, document_id) WHERE (state = ANY (ARRAY['pending'::text, 'failed'::text, 'taken'::text]));
CREATE INDEX write_back_unread ON vetledger.write_back USING btree (installation, kind, document_id) WHERE (((state = 'done'::text) AND (read_back IS NULL)) OR (read_back = 'given_up'::text));

create view action_done with (security_invoker=true) as
 SELECT a.id,
    a.installation,
    a.kind,
    a.subject AS acted_by,
    COALESCE(r.reason, '(erased)'::text) AS reason,
    a.input,
    o.result,
    a.asked_at AS acted_at
   FROM ((action a
     JOIN action_outcome o ON ((o.action_id = a.id)))
     LEFT JOIN action_reason r ON ((r.action_id = a.id)))
  WHERE (((o.result ->> 'refused'::text) IS NULL) AND ((o.result ->> 'expired'::text) IS NULL) AND ((o.result ->> 'withdrawn'::text) IS NULL));

create view mapping_content with (security_invoker=true) as
 SELECT DISTINCT installation,
    mapping_hash,
    version,
    approved_by
   FROM mapping_version;

CREATE OR REPLACE FUNCTION vetledger.add_to_days()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'vetledger', 'pg_temp'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION vetledger.append_close()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'vetledger', 'pg_temp'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION vetledger.budget_finish(for_installation bigint, for_action text, slots bigint[], keep_seconds double precision[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  perform set_config('synchronous_commit', 'off', true);
  perform budget_lock(for_installation, for_action);
  perform budget_shorten(for_installation, for_action, slots, keep_seconds);
end $function$;

CREATE OR REPLACE FUNCTION vetledger.budget_forget(for_installation bigint, for_action text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  perform budget_lock(for_installation, for_action);
  update budget set share = 1, regains_from = '-infinity', blocked_until = '-infinity'
  where installation = for_installation and action = for_action;
end $function$;

CREATE OR REPLACE FUNCTION vetledger.budget_lengthen(for_installation bigint, for_action text, by_seconds double precision, hold_seconds double precision)
 RETURNS void
 LANGUAGE sql
AS $function$
  update budget_slot
  set expires_at = least(expires_at + make_interval(secs => by_seconds * 1.001), clock_timestamp() + make_interval(secs => hold_seconds))
  where installation = for_installation and action = for_action;
  update budget set blocked_until = greatest(blocked_until, clock_timestamp() + make_interval(secs => by_seconds * 1.001))
  where installation = for_installation and action = for_action;
$function$;

CREATE OR REPLACE FUNCTION vetledger.budget_limit(full_limit integer, share double precision, regains_from timestamp with time zone, window_seconds double precision)
 RETURNS integer
 LANGUAGE sql
AS $function$
  select greatest(1, floor(full_limit * least(1, share + 0.1 * floor(
    greatest(0, least(1e6, extract(epoch from clock_timestamp() - greatest(regains_from, '2000-01-01')) / window_seconds))
  )) + 1e-9))::int
$function$;

CREATE OR REPLACE FUNCTION vetledger.budget_lock(for_installation bigint, for_action text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION vetledger.budget_longest_block()
 RETURNS double precision
 LANGUAGE sql
 IMMUTABLE
AS $function$ select 900.0::double precision $function$;

CREATE OR REPLACE FUNCTION vetledger.budget_shorten(for_installation bigint, for_action text, slots bigint[], keep_seconds double precision[])
 RETURNS void
 LANGUAGE sql
AS $function$
  update budget_slot s
  set expires_at = least(s.expires_at, clock_timestamp() + make_interval(secs => kept.seconds))
  from unnest(slots, keep_seconds) kept (id, seconds)
  where s.installation = for_installation and s.action = for_action and s.id = kept.id
$function$;

CREATE OR REPLACE FUNCTION vetledger.budget_take(for_installation bigint, for_action text, asked_weight integer, asked_priority integer, ages_seconds double precision[], asked_limit integer, per_seconds double precision, hold_seconds double precision, for_claimant uuid, claim_seconds double precision, answered bigint[], keep_seconds double precision[], kept_free integer DEFAULT NULL::integer, background_share double precision DEFAULT NULL::double precision, OUT slot_id bigint, OUT wait_ms bigint, OUT asked_at timestamp with time zone)
 RETURNS SETOF record
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION vetledger.budget_throttled(for_installation bigint, for_action text, for_slot bigint, retry_after_seconds double precision)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION vetledger.budget_withdraw(for_installation bigint, for_action text, for_claimant uuid)
 RETURNS void
 LANGUAGE sql
AS $function$
  delete from budget_claim where installation = for_installation and action = for_action and claimant = for_claimant
$function$;

CREATE OR REPLACE FUNCTION vetledger.chain_close(closed ledger_close)
 RETURNS ledger_close
 LANGUAGE plpgsql
 SET search_path TO 'vetledger', 'pg_temp'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION vetledger.chain_head(for_installation bigint, OUT seq bigint, OUT hash text)
 RETURNS record
 LANGUAGE sql
 STABLE
 SET search_path TO 'vetledger', 'pg_temp'
AS $function$
  select head.seq, head.hash from (
    (select e.seq, e.hash from entry e where e.installation = for_installation order by e.seq desc limit 1)
    union all
    (select c.seq, c.hash from ledger_close c where c.installation = for_installation and c.seq is not null
     order by c.seq desc limit 1)
    union all
    select 0, repeat('0', 64)
  ) head order by head.seq desc limit 1
$function$;

CREATE OR REPLACE FUNCTION vetledger.check_approval()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'vetledger', 'pg_temp'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION vetledger.check_approved()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'vetledger', 'pg_temp'
AS $function$
begin
  if exists (select from action a where a.id = new.action_id and a.input ->> 'two_persons' = 'true')
    and not exists (
      select from action p where p.kind = 'approve_action' and (p.input ->> 'action')::bigint = new.action_id)
  then
    raise exception 'action % needs the approval of a second person', new.action_id
      using errcode = 'restrict_violation', constraint = 'action_second_person';
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION vetledger.check_proposer()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'vetledger', 'pg_temp'
AS $function$
begin
  if exists (select from action a where a.id = (new.input ->> 'preview')::bigint and a.installation = new.installation
    and lower(btrim(a.subject)) = lower(btrim(new.subject)))
  then
    raise exception '% proposed the mapping of action %, so another person must approve it', new.subject, new.input ->> 'preview'
      using errcode = 'restrict_violation', constraint = 'action_second_person';
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION vetledger.closed_through(for_installation bigint)
 RETURNS date
 LANGUAGE sql
 STABLE
 SET search_path TO 'vetledger', 'pg_temp'
AS $function$
  select c.through from ledger_close c where c.installation = for_installation order by c.seq desc limit 1
$function$;

CREATE OR REPLACE FUNCTION vetledger.count_delivered()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'vetledger', 'pg_temp'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION vetledger.hold_chain(for_installation bigint)
 RETURNS void
 LANGUAGE sql
AS $function$
  select pg_advisory_xact_lock(hashtextextended('vetledger ledger ' || for_installation, 0))
$function$;

CREATE OR REPLACE FUNCTION vetledger.hold_period(for_installation bigint)
 RETURNS void
 LANGUAGE sql
AS $function$
  select pg_advisory_xact_lock_shared(hashtextextended('vetledger period ' || for_installation, 0))
$function$;

CREATE OR REPLACE FUNCTION vetledger.hold_period_alone(for_installation bigint)
 RETURNS void
 LANGUAGE sql
AS $function$
  select pg_advisory_xact_lock(hashtextextended('vetledger period ' || for_installation, 0))
$function$;

CREATE OR REPLACE FUNCTION vetledger.hold_seals(for_installation bigint)
 RETURNS void
 LANGUAGE sql
AS $function$
  select pg_advisory_xact_lock(hashtextextended('vetledger seal ' || for_installation, 0))
$function$;

CREATE OR REPLACE FUNCTION vetledger.keep_finished_window()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION vetledger.leave_summary_waiting()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'vetledger', 'pg_temp'
AS $function$
begin
  delete from summary_waiting w using added a where w.entry_id = a.entry_id;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION vetledger.note_number_due()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'vetledger', 'pg_temp'
AS $function$
begin
  insert into erp_number_due (installation, unit_id) values (new.installation, new.unit_id) on conflict do nothing;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION vetledger.note_open_items()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'vetledger', 'pg_temp'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION vetledger.note_prepayment_match()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'vetledger', 'pg_temp'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION vetledger.note_written_back()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'vetledger', 'pg_temp'
AS $function$
declare
  settled text = case when new.value_is = 'entry_id' and (new.state = 'done' or new.read_back = 'given_up') then new.value end;
begin
  update document d set written_entry_id = settled
  where d.installation = new.installation and d.kind = new.kind and d.id = new.document_id
    and d.written_entry_id is distinct from settled;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION vetledger.refresh_statistics(table_name text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'vetledger', 'pg_temp'
 SET default_statistics_target TO '10'
AS $function$
begin
  execute format('analyze (skip_locked) vetledger.%I', table_name);
end $function$;

CREATE OR REPLACE FUNCTION vetledger.refuse_added_lines()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'vetledger', 'pg_temp'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION vetledger.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'the rows of % are never changed or deleted; a correction is a new entry', tg_table_name
    using errcode = 'restrict_violation';
end $function$;

CREATE OR REPLACE FUNCTION vetledger.refuse_closed_period()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'vetledger', 'pg_temp'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION vetledger.refuse_unbalanced()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'vetledger', 'pg_temp'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION vetledger.refuse_without_entry()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'vetledger', 'pg_temp'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION vetledger.wait_for_summary()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'vetledger', 'pg_temp'
AS $function$
begin
  insert into summary_waiting (entry_id, installation, entry_date)
  select a.id, a.installation, a.entry_date from added a where a.posting_mode = 'daily_summary';
  return null;
end $function$;

CREATE TRIGGER action_approval BEFORE INSERT ON vetledger.action FOR EACH ROW WHEN ((new.kind = 'approve_action'::text)) EXECUTE FUNCTION check_approval();

CREATE TRIGGER action_immutable BEFORE DELETE OR UPDATE OR TRUNCATE ON vetledger.action FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER action_proposer BEFORE INSERT ON vetledger.action FOR EACH ROW WHEN ((new.kind = 'apply_mapping'::text)) EXECUTE FUNCTION check_proposer();

CREATE TRIGGER action_outcome_approved BEFORE INSERT ON vetledger.action_outcome FOR EACH ROW WHEN ((((new.result ->> 'refused'::text) IS NULL) AND ((new.result ->> 'expired'::text) IS NULL) AND ((new.result ->> 'withdrawn'::text) IS NULL))) EXECUTE FUNCTION check_approved();

CREATE TRIGGER action_outcome_immutable BEFORE DELETE OR UPDATE OR TRUNCATE ON vetledger.action_outcome FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER entry_immutable BEFORE DELETE OR UPDATE OR TRUNCATE ON vetledger.entry FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER entry_in_days AFTER INSERT ON vetledger.entry REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION add_to_days();

CREATE TRIGGER entry_in_open_period AFTER INSERT ON vetledger.entry REFERENCING NEW TABLE AS posted FOR EACH STATEMENT EXECUTE FUNCTION refuse_closed_period();

CREATE TRIGGER entry_lines_balance AFTER INSERT ON vetledger.entry REFERENCING NEW TABLE AS posted FOR EACH STATEMENT EXECUTE FUNCTION refuse_unbalanced();

CREATE TRIGGER entry_waits_for_summary AFTER INSERT ON vetledger.entry REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION wait_for_summary();

CREATE TRIGGER entry_line_has_entry AFTER INSERT ON vetledger.entry_line REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refuse_without_entry();

CREATE TRIGGER entry_line_immutable BEFORE DELETE OR UPDATE OR TRUNCATE ON vetledger.entry_line FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER entry_line_with_entry AFTER INSERT ON vetledger.entry_line REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refuse_added_lines();

CREATE TRIGGER entry_party_name_has_entry AFTER INSERT ON vetledger.entry_party_name REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refuse_without_entry();

CREATE TRIGGER entry_share_immutable BEFORE DELETE OR UPDATE OR TRUNCATE ON vetledger.entry_share FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER erp_unit_delivered_delete AFTER DELETE ON vetledger.erp_unit REFERENCING OLD TABLE AS before_it FOR EACH STATEMENT EXECUTE FUNCTION count_delivered();

CREATE TRIGGER erp_unit_delivered_insert AFTER INSERT ON vetledger.erp_unit REFERENCING NEW TABLE AS after_it FOR EACH STATEMENT EXECUTE FUNCTION count_delivered();

CREATE TRIGGER erp_unit_delivered_update AFTER UPDATE ON vetledger.erp_unit REFERENCING OLD TABLE AS before_it NEW TABLE AS after_it FOR EACH STATEMENT EXECUTE FUNCTION count_delivered();

CREATE TRIGGER erp_unit_has_number AFTER UPDATE OF state, erp_number ON vetledger.erp_unit FOR EACH ROW WHEN (((((new.state = 'delivered'::text) AND (new.erp_number IS NOT NULL)) OR (new.state = 'cancelled_out'::text)) AND ((old.state IS DISTINCT FROM new.state) OR (old.erp_number IS DISTINCT FROM new.erp_number)))) EXECUTE FUNCTION note_number_due();

CREATE TRIGGER erp_unit_open_items AFTER UPDATE ON vetledger.erp_unit REFERENCING OLD TABLE AS before_it NEW TABLE AS after_it FOR EACH STATEMENT EXECUTE FUNCTION note_open_items();

CREATE TRIGGER late_decision_immutable BEFORE DELETE OR UPDATE OR TRUNCATE ON vetledger.late_decision FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER ledger_close_append BEFORE INSERT ON vetledger.ledger_close FOR EACH ROW EXECUTE FUNCTION append_close();

CREATE TRIGGER ledger_close_immutable BEFORE DELETE OR UPDATE OR TRUNCATE ON vetledger.ledger_close FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER mapping_version_immutable BEFORE DELETE OR UPDATE OR TRUNCATE ON vetledger.mapping_version FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER prepayment_match_found AFTER INSERT ON vetledger.prepayment_match REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_prepayment_match();

CREATE TRIGGER prepayment_match_withdrawn AFTER DELETE ON vetledger.prepayment_match REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_prepayment_match();

CREATE TRIGGER refused_immutable BEFORE DELETE OR UPDATE OR TRUNCATE ON vetledger_console.refused FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER seal_immutable BEFORE DELETE OR UPDATE OR TRUNCATE ON vetledger.seal FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER sign_in_immutable BEFORE DELETE OR UPDATE OR TRUNCATE ON vetledger_console.sign_in FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER summary_entry_immutable BEFORE DELETE OR UPDATE OR TRUNCATE ON vetledger.summary_entry FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER summary_line_immutable BEFORE DELETE OR UPDATE OR TRUNCATE ON vetledger.summary_line FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER member_waits_no_more AFTER INSERT ON vetledger.summary_member REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION leave_summary_waiting();

CREATE TRIGGER summary_member_immutable BEFORE DELETE OR UPDATE OR TRUNCATE ON vetledger.summary_member FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER sync_window_finished BEFORE UPDATE ON vetledger.sync_window FOR EACH ROW WHEN ((old.outcome <> 'open'::text)) EXECUTE FUNCTION keep_finished_window();

CREATE TRIGGER vat_return_immutable BEFORE DELETE OR UPDATE OR TRUNCATE ON vetledger.vat_return FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER vat_return_line_immutable BEFORE DELETE OR UPDATE OR TRUNCATE ON vetledger.vat_return_line FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER voucher_has_entry AFTER INSERT ON vetledger.voucher REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refuse_without_entry();

CREATE TRIGGER voucher_immutable BEFORE DELETE OR UPDATE OR TRUNCATE ON vetledger.voucher FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER written_back AFTER INSERT OR UPDATE ON vetledger.write_back FOR EACH ROW EXECUTE FUNCTION note_written_back();
