#!/bin/sh
# Restores a dump of backup.sh into a database without vetledger's tables: restore.sh FILE, with DATABASE_URL of the owner. Nothing is
# restored where a part fails. Afterwards `vetledger migrate` gives the runtime role its rights.
set -eu
dump=${1:?usage: restore.sh FILE}
found=$(psql --no-psqlrc --tuples-only --no-align --command "select count(*) from pg_namespace where nspname = 'vetledger'" "$DATABASE_URL")
if [ "$found" != 0 ]; then
  echo 'error: the database has tables of vetledger already; nothing was changed.' >&2
  echo 'what to do: name an empty database in DATABASE_URL. A restore never replaces books.' >&2
  exit 1
fi
pg_restore --single-transaction --exit-on-error --no-owner --no-privileges --dbname "$DATABASE_URL" "$dump"
