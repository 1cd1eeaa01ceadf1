-- Copies of a database: what was decided about one, and what it may not touch.
create table database_adoption (
  id bigint generated always as identity primary key,
  mode text not null check (mode in ('restored', 'copy')),
  -- Names in Temporal before and after.
  old_name text not null,
  new_name text not null,
  -- How the copy was noticed; empty where nothing showed it.
  evidence text not null,
  reason text not null,
  acted_by text not null,
  adopted_at timestamptz not null default clock_timestamp()
);
create trigger database_adoption_immutable before update or delete or truncate on database_adoption
  for each statement execute function refuse_change();

-- Companies of ERPs, and addresses of practice APIs, that belong to the original of this copy: nothing is written there.
create table copy_bar (
  kind text not null check (kind in ('company', 'source')),
  key text not null,
  primary key (kind, key)
);

-- Installations of a restored database whose entries the ERP may have already: they are looked up before they are sent.
create table erp_look_up (
  installation bigint primary key,
  since timestamptz not null default clock_timestamp(),
  -- The first window that opened and closed since: what it posted is the last that the ERP may have.
  until_window bigint
);
