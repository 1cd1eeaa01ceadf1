-- How many units of an installation the ERP has, or stand in written files: counted as they come, since counting them anew after each
-- slice of a delivery would cost more with each year of the clinic. Windows put units into the outbox and never move this figure, so
-- that they and deliveries do not wait for each other here.
create table erp_delivered (
  installation bigint primary key,
  n bigint not null
);

create function count_delivered() returns trigger language plpgsql set search_path = vetledger, pg_temp as $$
begin
  -- What a transition table is called depends on the statement, so that each has a branch of its own.
  if tg_op = 'INSERT' then
    insert into erp_delivered as known (installation, n)
    select installation, count(*) from after_it where state in ('delivered', 'handed_over', 'acknowledged')
    group by installation order by installation
    on conflict (installation) do update set n = known.n + excluded.n;
  elsif tg_op = 'DELETE' then
    update erp_delivered known set n = known.n - gone.n
    from (select installation, count(*) as n from before_it
          where state in ('delivered', 'handed_over', 'acknowledged') group by installation) gone
    where known.installation = gone.installation;
  else
    insert into erp_delivered as known (installation, n)
    select installation, sum(n) from (
      select installation, count(*) as n from after_it
      where state in ('delivered', 'handed_over', 'acknowledged') group by installation
      union all
      select installation, -count(*) from before_it
      where state in ('delivered', 'handed_over', 'acknowledged') group by installation
    ) moved
    group by installation having sum(n) <> 0 order by installation
    on conflict (installation) do update set n = known.n + excluded.n;
  end if;
  return null;
end $$;
-- Making them keeps writers away until the end of this transaction: nothing is delivered between them and the count below.
create trigger erp_unit_delivered_insert after insert on erp_unit
  referencing new table as after_it for each statement execute function count_delivered();
create trigger erp_unit_delivered_update after update on erp_unit
  referencing old table as before_it new table as after_it for each statement execute function count_delivered();
create trigger erp_unit_delivered_delete after delete on erp_unit
  referencing old table as before_it for each statement execute function count_delivered();

insert into erp_delivered (installation, n)
select installation, count(*) from erp_unit where state in ('delivered', 'handed_over', 'acknowledged') group by installation;
