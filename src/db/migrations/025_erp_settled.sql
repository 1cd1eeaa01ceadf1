-- Optional: without it, what was delivered since an instant is counted by reading everything that an installation ever delivered.
-- For all states in which the ERP has a unit, or a file holds it. The index of delivered ones alone served no query of any version.
drop index erp_unit_settled;
create index erp_unit_settled on erp_unit (installation, settled_at) where state in ('delivered', 'handed_over', 'acknowledged');
