#!/bin/sh
# Dumps vetledger's books into a new file in BACKUP_DIR, and reads the whole dump back. Then it records its success in the database, and
# deletes the oldest dumps if there are more than BACKUP_KEEP. DATABASE_URL has the role vetledger_backup, which may read the books.
# Windows may run meanwhile: the dump is consistent. Exit code 0 means that the file is complete.
# The file FILE.heads has the head of each installation's books from just before the dump. It proves a restore:
# `vetledger ledger verify --installation ID --head HASH`.
set -eu
umask 077
# connect.sh sets `database`.
. "$(dirname "$0")/connect.sh"
keep=${BACKUP_KEEP:-30}
dump=$BACKUP_DIR/vetledger-$(date -u +%Y%m%dT%H%M%SZ).dump
part=$dump.part
heads=${dump%.dump}.heads
trap 'rm -f "$part" "$heads.part"' EXIT
query() { psql --no-psqlrc --quiet --no-align --tuples-only --set ON_ERROR_STOP=1 --dbname "$database" "$@"; }
query --output "$heads.part" --command \
  "select format('installation %s seq %s head %s', b.installation, h.seq, h.hash)
   from vetledger.book_identity b cross join vetledger.chain_head(b.installation) h order by b.installation"
pg_dump --format=custom --schema=vetledger --schema=vetledger_console \
  --exclude-table-data=vetledger_console.session --exclude-table-data=vetledger_console.link --no-owner --no-privileges --lock-wait-timeout=60s --file "$part" --dbname "$database"
pg_restore --file=/dev/null "$part"
mv "$heads.part" "$heads"
mv "$part" "$dump"
# The metrics show this time. If it is too old, the alert VetledgerBackupOld fires.
query --command "insert into vetledger.backup (finished_at) values (clock_timestamp())
    on conflict (is_only) do update set finished_at = excluded.finished_at" ||
  echo 'warning: the dump is whole, but its success could not be noted in the table vetledger.backup' >&2
# The order of the names is the order of time.
set -- "$BACKUP_DIR"/vetledger-*.dump
while [ $# -gt "$keep" ]; do
  rm -f "$1" "${1%.dump}.heads"
  shift
done
echo "$dump"
