-- A lane for reading back what the ERP holds: its readings count on from each other and forget what they have not seen themselves, so
-- that two of them must not run at once (src/erp/books/turn.ts).
alter table lease
  drop constraint lease_lane_check,
  add constraint lease_lane_check check (lane in ('live', 'backfill', 'replay', 'scrub', 'delivery', 'books'));
