-- Companies of ERPs as configurations name them, and which company the ERP says that is: two names of one company must never be
-- delivered to side by side.
create table erp_company_identity (
  -- As `companyKey` makes it of the configured name, whose parts follow.
  company text not null primary key,
  kind text not null,
  url text not null,
  id text not null,
  -- The same key, made of what the ERP answered.
  identity text not null,
  -- Whether it is the one name under which the company's lease, limits and units are.
  is_in_use boolean not null default false
);
create unique index erp_company_identity_in_use on erp_company_identity (identity) where is_in_use;
