# shellcheck shell=sh
# For backup.sh and restore.sh: takes the password out of DATABASE_URL, and leaves the rest in `database`. psql and pg_dump get the
# password in their environment (PGPASSWORD), because every user of the machine sees arguments. Without one, they read ~/.pgpass.

fail() {
  echo "error: $1" >&2
  echo "what to do: $2" >&2
  exit 1
}

# What the percent escapes of a URL mean.
unescaped() {
  rest=$1
  text=
  while [ "$rest" != "${rest#*%}" ]; do
    text=$text${rest%%\%*}
    rest=${rest#*%}
    case $rest in
      [0-9A-Fa-f][0-9A-Fa-f]*) ;;
      *) fail 'the password in DATABASE_URL has a % without two hexadecimal digits.' 'write % as %25.' ;;
    esac
    text=$text$(printf "\\$(printf %03o "0x${rest%"${rest#??}"}")")
    rest=${rest#??}
  done
  printf %s "$text$rest"
}

example='postgresql://vetledger_backup:PASSWORD@db.example/vetledger'
database=${DATABASE_URL:-}
case $database in
  postgresql://*) ;;
  postgres://*) database=postgresql://${database#postgres://} ;;
  *) fail 'DATABASE_URL is not the URL of a PostgreSQL database.' "set it to one, such as $example." ;;
esac
case $database in
  *[?\&]*password=*) fail 'DATABASE_URL has its password among the parameters.' "write it before the host: $example." ;;
esac
address=${database#postgresql://}
host=${address%%[/?]*}
case $host in
  *:*@*)
    user=${host%@*}
    PGPASSWORD=$(unescaped "${user#*:}")
    export PGPASSWORD
    database=postgresql://${user%%:*}@${address#"$user"@}
    ;;
esac
# The programs need no password beside that.
unset DATABASE_URL
