#!/bin/sh
# Restores a dump of backup.sh into a database without vetledger's tables: restore.sh FILE. DATABASE_URL has the owner of the tables. If a part
# fails, nothing is restored. Afterwards, `vetledger migrate` gives the other roles their rights.
set -eu
dump=${1:?usage: restore.sh FILE}
# connect.sh sets `database`.
. "$(dirname "$0")/connect.sh"
found=$(psql --no-psqlrc --tuples-only --no-align --command "select count(*) from pg_namespace where nspname = 'vetledger'" --dbname "$database")
if [ "$found" != 0 ]; then
  fail 'the database has tables of vetledger already; nothing was changed.' \
    'name an empty database in DATABASE_URL. A restore never replaces books.'
fi
pg_restore --single-transaction --exit-on-error --no-owner --no-privileges --dbname "$database" "$dump"
