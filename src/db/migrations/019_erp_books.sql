-- What the ERP holds, as it was last read back (src/erp/books): the equation E7 is told from these tables.

-- The last reading that came to its end.
create table erp_books_reading (
  installation bigint primary key,
  -- Counts the readings; what a row was last seen by.
  run bigint not null,
  -- When it began: the next one asks for what was written since, less an overlap.
  began_at timestamptz not null,
  -- When the last reading of everything began.
  full_began_at timestamptz not null
);

-- Counts and balances of all posted entries of a month in the ERP, whoever made them: unchanged, nothing was added or deleted.
create table erp_books_month (
  installation bigint not null,
  month date not null,
  entries integer not null,
  -- Balance by account, and the owned accounts that entries were looked for on.
  balances json not null,
  primary key (installation, month)
);

-- An entry of the ERP that carries the key of one of our units, or that one of them was delivered as.
create table erp_books_unit (
  installation bigint not null,
  unit_id text not null,
  erp_id text not null,
  erp_number text,
  erp_date date not null,
  -- Of what is compared: an entry that has not changed is not compared again.
  content_hash text not null,
  is_equal boolean not null,
  -- What it differs in; of an equal one, what differs within the tolerance.
  message text,
  difference numeric not null,
  -- Debits of the whole entry.
  amount numeric not null,
  run bigint not null,
  primary key (installation, unit_id, erp_id)
);
create index erp_books_unit_id on erp_books_unit (installation, erp_id);
create index erp_books_unit_date on erp_books_unit (installation, erp_date);

-- An entry that is not ours, on an account of `erp.owned_accounts`.
create table erp_books_foreign (
  installation bigint not null,
  erp_id text not null,
  erp_number text,
  erp_date date not null,
  message text not null,
  difference numeric not null,
  run bigint not null,
  primary key (installation, erp_id)
);
