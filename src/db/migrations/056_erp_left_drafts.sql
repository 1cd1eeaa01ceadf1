-- Drafts that were to be deleted, by their id in the ERP, with a digest of what they were then: those that the ERP did not let go, or
-- that a broken way to it left there, are swept as late ones are.
alter table erp_sweep add column drafts jsonb not null default '{}';
-- Whether a draft may come late; otherwise the row is there for `drafts` alone.
alter table erp_sweep add column is_late boolean not null default true;
