// The scripts of deploy/postgres pass the database to psql and similar programs without its password in the arguments.
// Stub programs record their arguments here; `npm run package` runs the real ones.

import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { folderOf } from '../cli/support.ts';

const scripts = fileURLToPath(new URL('../../deploy/postgres/', import.meta.url));
const noting = `#!/bin/sh
printf '%s %s\\n' "\${0##*/}" "$*" >> "$LOG/arguments"
printf '%s\\n' "\${PGPASSWORD-none}" >> "$LOG/passwords"
[ -z "\${DATABASE_URL-}" ] || echo DATABASE_URL >> "$LOG/passwords"
case "$*" in *'count(*)'*) echo 0;; esac
while [ $# -gt 0 ]; do case $1 in --output|--file) : > "$2";; esac; shift; done
`;

function runScript(name: string, url: string, ...more: string[]) {
  const folder = folderOf({ 'bin/psql': noting, 'bin/pg_dump': noting, 'bin/pg_restore': noting });
  for (const each of ['psql', 'pg_dump', 'pg_restore']) chmodSync(join(folder, 'bin', each), 0o755);
  const env = { PATH: `${folder}/bin:${process.env.PATH}`, LOG: folder, DATABASE_URL: url, BACKUP_DIR: folder };
  const { status, stderr } = spawnSync('/bin/sh', [join(scripts, name), ...more], { env, encoding: 'utf8' });
  const read = (file: string) => (existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8') : '');
  return { status, stderr, args: read('arguments'), passwords: [...new Set(read('passwords').trim().split('\n'))] };
}

test.each([
  [
    'postgresql://u:secret1@db.example:5433/books?sslmode=verify-full',
    'u@db.example:5433/books?sslmode=verify-full',
    'secret1',
  ],
  ['postgres://u:s%40cret%2F1%25%C3%A4@db.example/books', 'u@db.example/books', 's@cret/1%ä'],
  ['postgresql://u:a:secret@1@db.example/books', 'u@db.example/books', 'a:secret@1'],
  ['postgresql://u:secret`$x\\n*@[::1]:5432/books', 'u@[::1]:5432/books', 'secret`$x\\n*'],
  ['postgresql://u:secret@%2Fvar%2Frun/books', 'u@%2Fvar%2Frun/books', 'secret'],
  ['postgresql:///books?host=/var/run/postgresql&user=u', '/books?host=/var/run/postgresql&user=u', 'none'],
  ['postgresql://u@[::1]/books?application_name=a:b@c', 'u@[::1]/books?application_name=a:b@c', 'none'],
])('%s is given without its password', (url, database, password) => {
  for (const [script, ...more] of [['backup.sh'], ['restore.sh', 'file.dump']] as const) {
    const { status, stderr, args, passwords } = runScript(script, url, ...more);
    expect({ status, stderr, passwords }).toEqual({ status: 0, stderr: '', passwords: [password] });
    expect(args).toContain(`--dbname postgresql://${database}`);
    expect(args).not.toMatch(/secret|cret%2F1/);
  }
});

test.each([
  ['', 'DATABASE_URL is not the URL'],
  ['host=db.example password=secret', 'DATABASE_URL is not the URL'],
  ['postgresql://db.example/books?user=u&password=secret', 'has its password among the parameters'],
  ['postgresql://u:50%secret@db.example/books', 'has a % without two hexadecimal digits'],
])('%s is refused, with what to do', (url, reason) => {
  const { status, stderr, args } = runScript('backup.sh', url);
  expect({ status, args }).toEqual({ status: 1, args: '' });
  expect(stderr).toContain(reason);
  expect(stderr).toContain('what to do: ');
  expect(stderr).not.toContain('secret');
});
