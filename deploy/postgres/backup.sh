#!/bin/sh
# Dumps vetledger's books (DATABASE_URL, as their owner) into a new file of BACKUP_DIR, reads the whole dump back, and deletes the
# oldest of more than BACKUP_KEEP dumps. A dump of a running system is consistent. Exit code 0 means that the file is whole.
set -eu
umask 077
keep=${BACKUP_KEEP:-30}
dump=$BACKUP_DIR/vetledger-$(date -u +%Y%m%dT%H%M%SZ).dump
part=$dump.part
trap 'rm -f "$part"' EXIT
pg_dump --format=custom --schema=vetledger --no-owner --no-privileges --lock-wait-timeout=60s --file "$part" "$DATABASE_URL"
pg_restore --file=/dev/null "$part"
mv "$part" "$dump"
# The names sort by time.
set -- "$BACKUP_DIR"/vetledger-*.dump
while [ $# -gt "$keep" ]; do
  rm -f "$1"
  shift
done
echo "$dump"
