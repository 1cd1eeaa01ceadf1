-- Who works on this database, by which mapping, and whose books these are.

---------------------------------------------------------------------------------------------------- identity of the books
-- What the entries of an installation mean: noted with its first entry. A configuration that says otherwise opens no window and
-- posts nothing until it is adopted.
create table book_identity (
  installation bigint primary key,
  currency text not null,
  timezone text not null,
  -- Scheme, host and port of the practice API.
  source text not null,
  noted_at timestamptz not null default clock_timestamp()
);

-- Changes of an identity that somebody answered for.
create table book_adoption (
  id bigint generated always as identity primary key,
  installation bigint not null,
  what text not null check (what in ('timezone', 'source')),
  old_value text not null,
  new_value text not null,
  reason text not null check (reason <> ''),
  adopted_by text not null check (adopted_by <> ''),
  adopted_at timestamptz not null default clock_timestamp()
);
create trigger book_adoption_immutable before update or delete or truncate on book_adoption
  for each statement execute function refuse_change();

---------------------------------------------------------------------------------------------------- processes
-- Daemons and commands at work. One whose heartbeat stopped is forgotten.
create table daemon (
  id uuid primary key,
  command text not null,
  host text not null,
  process bigint not null,
  version text not null,
  -- Null for a command that runs no worker.
  task_queue text,
  started_at timestamptz not null default clock_timestamp(),
  heard_at timestamptz not null default clock_timestamp()
);

-- What each of them serves, and how it understands it.
create table daemon_installation (
  daemon uuid not null references daemon (id) on delete cascade,
  installation bigint not null,
  base_url text not null,
  currency text not null,
  timezone text not null,
  mapping_hash text not null,
  primary key (daemon, installation)
);

-- Each change of an installation's mapping is a new generation. Only the one in force posts: who posts locks its row in share
-- mode, who begins the next one ends it.
create table mapping_generation (
  installation bigint not null,
  generation bigint not null,
  mapping_hash text not null,
  begun_at timestamptz not null default clock_timestamp(),
  superseded_at timestamptz,
  primary key (installation, generation)
);
create unique index mapping_generation_in_force on mapping_generation (installation) where superseded_at is null;
