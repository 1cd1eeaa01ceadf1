-- Expand: an index, and a mark on payments whose prepayment is not known: the next window looks for it among their client's own.

create index prepayment_balance_client on prepayment_balance (installation, client_id);

update document d set dirty = true, dirty_mark = dirty_mark + 1 from prepayment_use u
where u.state = 'open' and d.installation = u.installation and d.kind = 'payment' and d.id = u.payment_id and not d.dirty;
