-- Periods that are closed in the ERP, as the practice software's departments are told of them (src/writeback/close-periods.ts).
create table source_period (
  installation bigint not null,
  department bigint not null,
  -- The last day that is to be closed there.
  through date not null,
  -- `left`: the department locks its periods by itself.
  state text not null default 'pending' check (state in ('pending', 'done', 'left', 'failed')),
  attempts integer not null default 0,
  not_before timestamptz,
  error text,
  told_at timestamptz,
  primary key (installation, department)
);
