# shellcheck shell=sh
# For backup.sh and restore.sh: moves the password of DATABASE_URL into PGPASSWORD, and sets `database` to the URL without it. Every user of
# the machine can see the arguments of psql and pg_dump, but not their environment. Without a password, they read ~/.pgpass.

fail() {
  echo "error: $1" >&2
  echo "what to do: $2" >&2
  exit 1
}

# Prints the text with its percent escapes decoded.
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
# psql and pg_dump must not get other passwords of this environment.
unset DATABASE_URL
