-- One lease per installation and lane: lanes run beside each other, and in each lane one holder at a time.
alter table lease add column lane text not null default 'live'
  check (lane in ('live', 'backfill', 'replay', 'scrub', 'delivery'));
alter table lease alter column lane drop default;
alter table lease drop constraint lease_pkey;
alter table lease add primary key (installation, lane);
