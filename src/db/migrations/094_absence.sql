-- Absence is a claim: a record whose document is in the books, and which a whole list of the source does not show any more. It counts as
-- there, in its last version, until a person confirms that it is gone. Programs of the version before neither write nor read it: they
-- take what is not shown for gone.
alter table mirror_record
  -- Since when it is not shown, by the database's clock as the list was asked for; null: it is shown, or it is gone.
  add column missing_at timestamptz,
  -- What its id answered when it was looked up: evidence, and no proof. Null: it was not asked for.
  add column missing_answer text,
  -- It is one of so many of its list that they are one problem (source_shrank).
  add column missing_many boolean not null default false;

create index mirror_record_missing on mirror_record (installation, kind, id) where missing_at is not null;

-- A person's word that a document is gone.
alter table late_decision
  drop constraint late_decision_decision_check,
  add constraint late_decision_decision_check
    check (decision in ('wait', 'redate', 'as_dated', 'accept_date', 'confirm_gone'));

-- Pairs of (the source's count, ours) that a census was asked for since the last daily one: each asks for one.
alter table source_count add column census_pairs text[] not null default '{}';
alter table installation_state add column census_asked boolean not null default false;
