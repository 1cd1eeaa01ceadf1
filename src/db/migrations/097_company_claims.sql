-- Expand: tables that an earlier program neither reads nor writes; it goes on without looking for other databases.

-- How far this database is sure that a company's entries of an installation are its own. `looked_at`: when the last complete look
-- began. `first_sent_at`: when the first entry of ours was known to be there. `is_claimed`: a look was made after that.
create table erp_claim (
  company text not null,
  installation bigint not null,
  looked_at timestamptz,
  first_sent_at timestamptz,
  is_claimed boolean not null default false,
  primary key (company, installation)
);

-- Entries of a company with a key of our form that this database has not sent: made by another database, or by this one at a time
-- that it does not remember (`is_ours`). `adopted_at`: somebody has said that the other database's entry stands.
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

alter table erp_action
  drop constraint erp_action_action_check,
  add constraint erp_action_action_check check (action in ('approve', 'retry', 'undo', 'pause', 'resume', 'ack', 'redate',
    'cancel', 'nudge', 'adopt'));
