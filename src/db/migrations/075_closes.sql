-- A close says who closed and what the checklist was; a reopening is a link of the same chain, and the last of them counts.
-- Programs of the version before go on: for them a reopened period stays closed, so they hold what is dated in it.
alter table ledger_close
  add column kind text not null default 'close' check (kind in ('close', 'reopen')),
  -- 1: what the first closes were hashed over. 2: the kind and `details`, too.
  add column format integer not null default 1,
  -- JSON as it was hashed: who, the second person, the reason, the checklist (src/ledger/close.ts).
  add column details text not null default '';

-- The last day that is closed; null where none ever was.
create function closed_through(for_installation bigint) returns date language sql stable
  set search_path = vetledger, pg_temp as $$
  select c.through from ledger_close c where c.installation = for_installation order by c.seq desc limit 1
$$;

create or replace function chain_close(closed ledger_close) returns ledger_close language plpgsql volatile
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
    closed.previous_hash || E'\n' || concat_ws(' ', closed.kind, closed.installation, closed.seq,
      to_char(closed.through, 'YYYY-MM-DD'), closed.entries, closed.summaries, closed.summary_hash,
      case when closed.format > 1 then encode(sha256(convert_to(closed.details, 'UTF8')), 'hex') end),
    'UTF8')), 'hex');
  return closed;
end $$;

create or replace function append_close() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
declare
  before date;
begin
  perform hold_period_alone(new.installation);
  perform hold_chain(new.installation);
  before := closed_through(new.installation);
  if new.kind = 'close' and new.through < before then
    raise exception 'the books of installation % are closed through % already', new.installation, before
      using errcode = 'restrict_violation', constraint = 'ledger_close_forward';
  elsif new.kind = 'reopen' and (before is null or new.through >= before) then
    raise exception 'the books of installation % are not closed after %', new.installation, new.through
      using errcode = 'restrict_violation', constraint = 'ledger_close_forward';
  end if;
  return chain_close(new);
end $$;

create or replace function refuse_closed_period() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
declare
  refused record;
begin
  perform hold_period(each.installation) from (select distinct installation from posted order by installation) each;
  -- A statement of its own after the wait: it sees a close that has just been committed.
  select p.id, p.installation, p.entry_date, closed.through into refused
  from posted p
  join (select each.installation, closed_through(each.installation) as through
        from (select distinct installation from posted) each) closed
    on closed.installation = p.installation and p.entry_date <= closed.through
  order by p.seq limit 1;
  if found then
    raise exception 'entry % is dated %, and the books of installation % are closed through %',
      refused.id, refused.entry_date, refused.installation, refused.through
      using errcode = 'restrict_violation', constraint = 'entry_in_open_period';
  end if;
  return null;
end $$;
