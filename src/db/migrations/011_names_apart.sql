-- Names of parties stand apart from what the chain hashes, so that they can be erased. Entries before keep theirs (format 1).
alter table entry add column format int not null default 1;

-- Whether the line names its party: not every line of a party does (R7 knows a client by id alone).
alter table entry_line add column party_named boolean not null default false;

create table entry_party_name (
  entry_id text not null references entry (id),
  party_code text not null,
  name text not null,
  primary key (entry_id, party_code)
);
create index entry_party_name_party on entry_party_name (party_code);

-- That a client's names were erased, by whom and why; never the names.
create table erasure (
  id bigint generated always as identity primary key,
  installation bigint not null,
  client_id bigint not null,
  reason text not null,
  erased_by text not null,
  erased_at timestamptz not null default clock_timestamp(),
  records bigint not null,
  versions bigint not null,
  entries bigint not null,
  -- Entries of format 1, whose names the chain hashes.
  kept_entries bigint not null
);
create trigger erasure_immutable before update or delete or truncate on erasure for each statement execute function refuse_change();
