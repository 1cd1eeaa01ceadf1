-- What each entry took from prepayments, for installations that post VAT on prepayments at receipt (src/ledger/journal/shares.ts). Programs
-- of the version before neither write nor read it; they post no VAT on prepayments.
create table entry_share (
  entry_id text not null references entry (id),
  installation bigint not null,
  prepayment_id bigint not null,
  -- Used and refunded before, in order of posting.
  used_before numeric not null,
  -- Negative where it was given back.
  amount numeric not null,
  -- The VAT that was given back for it, and whether the prepayment was received with any.
  vat numeric not null,
  has_vat boolean not null,
  primary key (entry_id, prepayment_id)
);
create index entry_share_prepayment on entry_share (installation, prepayment_id);
create trigger entry_share_immutable before update or delete or truncate on entry_share for each statement execute function refuse_change();
