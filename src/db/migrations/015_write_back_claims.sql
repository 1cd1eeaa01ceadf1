-- Which lane's work is about to tell the source of a prepayment, under which lease: no other lane's sends it then.
alter table write_back add column claimed_lane text, add column claimed_token bigint;
