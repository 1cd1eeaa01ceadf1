-- Which prepayments each payment of type 8 used (src/prepayments), and what is needed to find out.

-- Prepayments that were paid in, as last followed.
create table prepayment_balance (
  installation bigint not null,
  prepayment_id bigint not null,
  client_id bigint,
  -- Zero while it is no money: pending, failed, aborted or gone.
  paid numeric not null,
  unused numeric not null,
  created_at timestamptz,
  -- The version of the record last followed, and its `modified`: what changes later happened after it.
  version int not null,
  modified_at timestamptz,
  primary key (installation, prepayment_id)
);

-- Drops of `unused_amount` that no linked refund and no match explains.
create table prepayment_change (
  installation bigint not null,
  prepayment_id bigint not null,
  n int not null,
  client_id bigint,
  amount numeric not null check (amount > 0),
  since timestamptz,
  until timestamptz,
  primary key (installation, prepayment_id, n)
);
create index prepayment_change_amount on prepayment_change (installation, amount);
create index prepayment_change_client on prepayment_change (installation, client_id);

-- Refunds that name their original; `amount` is positive.
create table prepayment_refund (
  installation bigint not null,
  refund_id bigint not null,
  original_id bigint not null,
  amount numeric not null,
  primary key (installation, refund_id)
);
create index prepayment_refund_original on prepayment_refund (installation, original_id);

-- Payments of type 8, as last followed.
create table prepayment_use (
  installation bigint not null,
  payment_id bigint not null,
  invoice_id bigint,
  -- As the source signs it: a cancellation is negative.
  amount numeric not null,
  recorded_at timestamptz,
  -- The version of the record last followed.
  version int not null,
  -- The client of its invoice: now, and when the payment was first posted.
  invoice_client_id bigint,
  first_client_id bigint,
  -- `cancelled`: it and its cancellation, of which nothing was matched.
  state text not null default 'open' check (state in ('open', 'matched', 'set', 'cancelled')),
  -- Of a match that a person set.
  set_by text,
  set_reason text,
  set_at timestamptz,
  primary key (installation, payment_id)
);
create index prepayment_use_amount on prepayment_use (installation, amount) where state = 'open';
create index prepayment_use_client on prepayment_use (installation, invoice_client_id) where state = 'open';
create index prepayment_use_invoice on prepayment_use (installation, invoice_id);

-- What a payment took from a prepayment; negative where it gave it back.
create table prepayment_match (
  installation bigint not null,
  payment_id bigint not null,
  prepayment_id bigint not null,
  amount numeric not null,
  primary key (installation, payment_id, prepayment_id)
);
create index prepayment_match_prepayment on prepayment_match (installation, prepayment_id);

-- Prepayments, and payments that used one, are judged again, which follows them.
update document d set dirty = true, dirty_mark = dirty_mark + 1
where not dirty and (kind = 'prepayment' or (kind = 'payment' and exists (
  select from entry_line l where l.entry_id = d.entry_id and l.role = 'prepayment_liability')));
