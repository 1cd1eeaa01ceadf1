-- Units whose request ended without an answer, in an ERP whose drafts can be deleted: a draft that the server makes later than it is
-- known to be at work is looked for, some times and no more (src/erp/outbox/sweep.ts).
create table erp_sweep (
  installation bigint not null,
  unit_id text not null,
  looks integer not null default 0,
  not_before timestamptz not null,
  primary key (installation, unit_id)
);
create index erp_sweep_due on erp_sweep (installation, not_before);
-- How many such drafts were deleted.
alter table erp_company add column drafts_swept bigint not null default 0;
