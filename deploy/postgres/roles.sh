#!/bin/sh
# Creates the missing roles and databases of docker-compose.yml. Each program has a separate role, which owns its databases and cannot connect
# to the others. Passwords of new roles come from the environment. Existing roles keep their passwords.
set -eu
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres <<'SQL'
\getenv temporal_password TEMPORAL_DB_PASSWORD
\getenv owner_password VETLEDGER_OWNER_PASSWORD
\getenv runtime_password VETLEDGER_DB_PASSWORD
\getenv backup_password VETLEDGER_BACKUP_PASSWORD
\getenv console_password VETLEDGER_CONSOLE_PASSWORD

-- Row-level security must hide nothing from a backup.
select format('create role %I login %s password %L', name, attributes, password)
from (values ('temporal', '', :'temporal_password'), ('vetledger_owner', '', :'owner_password'), ('vetledger', '', :'runtime_password'),
    ('vetledger_backup', 'bypassrls', :'backup_password'), ('vetledger_console', '', :'console_password'))
  wanted (name, attributes, password)
where not exists (select from pg_roles where rolname = name) \gexec

select format('create database %I owner %I', name, owner)
from (values ('temporal', 'temporal'), ('temporal_visibility', 'temporal'), ('vetledger', 'vetledger_owner')) wanted (name, owner)
where not exists (select from pg_database where datname = name) \gexec

revoke connect, temporary on database temporal, temporal_visibility, vetledger from public;
grant connect, temporary on database vetledger to vetledger;
grant connect on database vetledger to vetledger_backup, vetledger_console;
SQL
