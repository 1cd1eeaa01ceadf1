-- Since when an entry, or a day's summary, that was not sent yet has been late, because its period was closed in the ERP
-- (ACCOUNTING "Dates"). It stays when the entry is sent after all.
alter table erp_unit add column late_since timestamptz;
update erp_unit set late_since = coalesce(problem_since, clock_timestamp())
  where state = 'refused' and problem_code = 'period_closed_in_erp' and undo_of is null;
create index erp_unit_timely on erp_unit (company, unit_date) where late_since is null and state in ('pending', 'refused');
