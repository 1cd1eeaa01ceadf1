-- What the last `vetledger reconcile` of an installation found, for the metrics (src/reconcile/verdict.ts).
create table reconcile_verdict (
  installation bigint not null primary key,
  ok boolean not null,
  -- The equations that do not hold.
  failing text[] not null,
  checked_at timestamptz not null default clock_timestamp()
);
