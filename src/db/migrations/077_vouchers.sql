-- The mappings that entries were posted by: what the file says of itself, by the hash of its content.
create table mapping_version (
  installation bigint not null,
  mapping_hash text not null,
  version text,
  approved_by text,
  first_used_at timestamptz not null default clock_timestamp(),
  primary key (installation, mapping_hash)
);

-- Voucher numbers: for each journal and fiscal year from 1 without a gap, in the order of the chain. Given once, never changed.
create table voucher (
  entry_id text primary key references entry (id),
  installation bigint not null,
  journal text not null check (journal in ('S', 'P', 'A')),
  fiscal_year integer not null,
  number bigint not null check (number > 0),
  unique (installation, journal, fiscal_year, number)
);
create trigger voucher_immutable before update or delete or truncate on voucher
  for each statement execute function refuse_change();

-- The link of the chain up to which entries have their numbers: those of before get theirs little by little.
create table voucher_cursor (
  installation bigint primary key,
  seq bigint not null
);
