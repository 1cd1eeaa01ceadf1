-- What a document with a problem keeps out of the books (src/documents/outside.ts): its amount and VAT, of a posted document the
-- differences to what is posted; null where they cannot be read, or where a program of the version before has judged it.
alter table document add column outside_amount numeric;
alter table document add column outside_vat numeric;
-- Causes that other documents share, changed fields, and the effect of a held correction on each account.
alter table document add column problem_details jsonb;
-- Documents that have a problem already are judged again, so that the amounts are there.
update document set dirty = true, dirty_mark = dirty_mark + 1 where problem_code is not null;
