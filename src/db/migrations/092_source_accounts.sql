-- The practice software's account number list as it was last read, for warnings by name while the source does not answer.
create table source_account (
  installation bigint not null,
  number text not null,
  description text,
  department bigint,
  archived boolean not null
);
create index source_account_installation on source_account (installation);
