-- Records without an id that serves, and those of another tenant, are put aside, too. In place of an id such a record has a negative
-- number, a hash of its text: no id of the source is negative. Between which ids it stood tells later whether it still does.
alter table put_aside add column above bigint, add column below bigint;
