-- Signatures over the head of an installation's books, made with a key that is not in the database: whoever rewrites a chain here
-- cannot make the seals fit it. Numbered without a gap, so that a seal taken out of the middle shows.
create table seal (
  installation bigint not null,
  -- Number of the seal within the installation, from 1.
  n integer not null check (n > 0),
  -- Place of the journal's head in its chain, and the entries up to it.
  seq bigint not null,
  entries bigint not null,
  head text not null,
  -- The same of the daily summaries' chain.
  summaries bigint not null,
  summary_head text not null,
  sealed_at timestamptz not null,
  -- Ed25519, in base64, over the text that src/ledger/seals.ts makes of the columns above.
  signature text not null,
  primary key (installation, n)
);

create trigger seal_immutable before update or delete or truncate on seal
  for each statement execute function refuse_change();

-- One sealer at a time takes the next number.
create function hold_seals(for_installation bigint) returns void language sql volatile as $$
  select pg_advisory_xact_lock(hashtextextended('vetledger seal ' || for_installation, 0))
$$;
