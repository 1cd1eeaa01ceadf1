-- A correction that `vetledger repost` was asked for and that a closed period holds: each judging of the document tries it again.
alter table document add column remap_held boolean not null default false;
