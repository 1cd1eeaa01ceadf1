-- When a version was replaced, by this database's clock: with it, what an entry was posted from is known. Null for versions
-- replaced before this column was there; those are kept.
alter table mirror_version add column replaced_at timestamptz;
alter table mirror_version alter column replaced_at set default clock_timestamp();
