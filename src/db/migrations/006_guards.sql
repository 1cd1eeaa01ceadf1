-- The database itself refuses what would break the books, whoever writes: an entry dated in a closed period, a period that is
-- closed back, an entry that does not balance, a line added later. Each guard looks for our tables in our schema first: a
-- temporary table of the same name is not taken for ours.

create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'the rows of % are never changed or deleted; a correction is a new entry', tg_table_name
    using errcode = 'restrict_violation';
end $$;

---------------------------------------------------------------------------------------------------- closed periods
-- Who posts holds the period of the installation in share mode until its transaction ends, who closes it holds it alone. So a
-- close waits for the postings under way, and the ones after it see it. An advisory lock is granted in the order of asking; a
-- row locked in share mode is granted to each new poster at once, and a close would wait as long as anybody posts.
create function hold_period(for_installation bigint) returns void language sql volatile as $$
  select pg_advisory_xact_lock_shared(hashtextextended('vetledger period ' || for_installation, 0))
$$;

create function hold_period_alone(for_installation bigint) returns void language sql volatile as $$
  select pg_advisory_xact_lock(hashtextextended('vetledger period ' || for_installation, 0))
$$;

-- One writer at a time: two would both continue from the same head, and the chain would fork.
create function hold_chain(for_installation bigint) returns void language sql volatile as $$
  select pg_advisory_xact_lock(hashtextextended('vetledger ledger ' || for_installation, 0))
$$;

create function refuse_closed_period() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
declare
  refused record;
begin
  perform hold_period(each.installation) from (select distinct installation from posted order by installation) each;
  -- A statement of its own after the wait: it sees a close that has just been committed.
  select p.id, p.installation, p.entry_date, closed.through into refused
  from posted p
  join (select c.installation, max(c.through) as through from ledger_close c
        where c.installation in (select installation from posted) group by c.installation) closed
    on closed.installation = p.installation and p.entry_date <= closed.through
  order by p.seq limit 1;
  if found then
    raise exception 'entry % is dated %, and the books of installation % are closed through %',
      refused.id, refused.entry_date, refused.installation, refused.through
      using errcode = 'restrict_violation', constraint = 'entry_in_open_period';
  end if;
  return null;
end $$;
create trigger entry_in_open_period after insert on entry referencing new table as posted
  for each statement execute function refuse_closed_period();

-- A close is an event of the journal's hash chain: it takes the next place after the entries that were posted before it, and
-- ties the chain of daily summaries to it. Closes made before are put at the chain's end, in their order.
alter table ledger_close
  add column seq bigint,
  -- Entries posted before the close.
  add column entries bigint,
  -- The last daily summary before the close, and its hash.
  add column summaries bigint,
  add column summary_hash text,
  add column previous_hash text,
  add column hash text;

-- The head of the chain of an installation: the latest of its entries and closes.
create function chain_head(for_installation bigint, out seq bigint, out hash text) language sql stable
  set search_path = vetledger, pg_temp as $$
  select head.seq, head.hash from (
    (select e.seq, e.hash from entry e where e.installation = for_installation order by e.seq desc limit 1)
    union all
    (select c.seq, c.hash from ledger_close c where c.installation = for_installation and c.seq is not null
     order by c.seq desc limit 1)
    union all
    select 0, repeat('0', 64)
  ) head order by head.seq desc limit 1
$$;

create function chain_close(closed ledger_close) returns ledger_close language plpgsql volatile
  set search_path = vetledger, pg_temp as $$
declare
  head record;
begin
  select * into head from chain_head(closed.installation);
  closed.seq := head.seq + 1;
  closed.previous_hash := head.hash;
  -- The chain has no gaps, so what is no close is an entry.
  select head.seq - count(*) into closed.entries
  from ledger_close c where c.installation = closed.installation and c.seq is not null;
  select coalesce(max(s.seq), 0) into closed.summaries from summary_entry s where s.installation = closed.installation;
  select coalesce(
    (select s.hash from summary_entry s where s.installation = closed.installation and s.seq = closed.summaries),
    repeat('0', 64)
  ) into closed.summary_hash;
  closed.hash := encode(sha256(convert_to(
    closed.previous_hash || E'\n' || concat_ws(' ', 'close', closed.installation, closed.seq,
      to_char(closed.through, 'YYYY-MM-DD'), closed.entries, closed.summaries, closed.summary_hash),
    'UTF8')), 'hex');
  return closed;
end $$;

do $$
declare
  earlier ledger_close;
begin
  for earlier in select * from ledger_close order by installation, closed_at loop
    earlier := chain_close(earlier);
    update ledger_close c
    set seq = earlier.seq, entries = earlier.entries, summaries = earlier.summaries, summary_hash = earlier.summary_hash,
      previous_hash = earlier.previous_hash, hash = earlier.hash
    where c.installation = earlier.installation and c.closed_at = earlier.closed_at;
  end loop;
end $$;

alter table ledger_close
  alter column seq set not null,
  alter column entries set not null,
  alter column summaries set not null,
  alter column summary_hash set not null,
  alter column previous_hash set not null,
  alter column hash set not null,
  add constraint ledger_close_installation_seq_key unique (installation, seq);

create function append_close() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
declare
  before date;
begin
  perform hold_period_alone(new.installation);
  perform hold_chain(new.installation);
  select max(c.through) into before from ledger_close c where c.installation = new.installation;
  if new.through < before then
    raise exception 'the books of installation % are closed through % already', new.installation, before
      using errcode = 'restrict_violation', constraint = 'ledger_close_forward';
  end if;
  return chain_close(new);
end $$;
create trigger ledger_close_append before insert on ledger_close for each row execute function append_close();
create trigger ledger_close_immutable before update or delete or truncate on ledger_close
  for each statement execute function refuse_change();

---------------------------------------------------------------------------------------------------- entries balance
-- At the end of the transaction each new entry has lines, and they balance.
create function refuse_unbalanced() returns trigger language plpgsql as $$
declare
  difference numeric;
begin
  select sum(case l.side when 'debit' then l.amount else -l.amount end) into difference
  from vetledger.entry_line l where l.entry_id = new.id;
  if difference is null then
    raise exception 'entry % has no lines', new.id using errcode = 'check_violation', constraint = 'entry_balances';
  elsif difference <> 0 then
    raise exception 'entry % does not balance: debit less credit is %', new.id, difference
      using errcode = 'check_violation', constraint = 'entry_balances';
  end if;
  return null;
end $$;
create constraint trigger entry_balances after insert on entry deferrable initially deferred
  for each row execute function refuse_unbalanced();

-- An entry of another transaction takes no more lines.
create function refuse_added_lines() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
declare
  refused text;
begin
  select e.id into refused
  from (select a.entry_id, count(*) as n from added a group by a.entry_id) added_to
  join entry e on e.id = added_to.entry_id
  where e.xmin <> pg_current_xact_id()::xid
    and added_to.n <> (select count(*) from entry_line l where l.entry_id = added_to.entry_id)
  limit 1;
  if found then
    raise exception 'entry % is in the books; it takes no more lines', refused
      using errcode = 'restrict_violation', constraint = 'entry_line_with_entry';
  end if;
  return null;
end $$;
create trigger entry_line_with_entry after insert on entry_line referencing new table as added
  for each statement execute function refuse_added_lines();
