/**
 * Backs up and restores the books with the scripts and commands of the operators' docs, on a PostgreSQL with client
 * programs of the same version. Run: `npm run package`.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/src/index.ts';
import { unprivilegedAccount } from '../../src/embedded/postgres-binaries.ts';
import { demoConfig, fromEnvironment } from '../support/demo-config.ts';
import { runAlone, urlOfDatabase } from '../support/server.ts';
import { waitFor } from '../workflows/support.ts';
import { type Ended, pathWithNode, run, type Started, start } from './processes.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const bin = programs();
const tried = test.runIf(bin !== null);
if (bin === null)
  console.warn('backup and restore are not tried: no PostgreSQL server with its client programs is installed');

/** The folder with both server and client programs. */
function programs(): string | null {
  const base = '/usr/lib/postgresql';
  const versions = existsSync(base) ? readdirSync(base).sort((a, b) => Number(b) - Number(a)) : [];
  const told = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' });
  const folders = [
    ...versions.map((version) => join(base, version, 'bin')),
    ...(told.status === 0 ? [told.stdout.trim()] : []),
  ];
  const needed = ['initdb', 'postgres', 'psql', 'pg_dump', 'pg_restore'];
  return folders.find((folder) => needed.every((each) => existsSync(join(folder, each)))) ?? null;
}

let folder: string;
let server: Started;
let sandbox: Sandbox;
let port: number;
const passwords = {
  POSTGRES_PASSWORD: 'super1',
  TEMPORAL_DB_PASSWORD: 'temporal1',
  VETLEDGER_OWNER_PASSWORD: 'owner1',
  VETLEDGER_DB_PASSWORD: 'runtime1',
  VETLEDGER_CONSOLE_PASSWORD: 'console1',
  // The password contains characters that a URL must escape.
  VETLEDGER_BACKUP_PASSWORD: 'back/up@1%',
};
const url = (role: string, password: string, database: string) =>
  `postgresql://${role}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
const superuser = (database = 'postgres') => url('postgres', passwords.POSTGRES_PASSWORD, database);
const owner = (database = 'vetledger') => url('vetledger_owner', passwords.VETLEDGER_OWNER_PASSWORD, database);
const backupRole = (database = 'vetledger') => url('vetledger_backup', passwords.VETLEDGER_BACKUP_PASSWORD, database);
const path = () => `${bin}:${pathWithNode}`;

beforeAll(async () => {
  if (bin === null) return;
  folder = mkdtempSync(join(tmpdir(), 'vetledger-backup-'));
  chmodSync(folder, 0o711);
  const data = join(folder, 'data');
  mkdirSync(data);
  const account = unprivilegedAccount();
  if (account) chownSync(data, account.uid, account.gid);
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, passwords.POSTGRES_PASSWORD);
  const made = spawnSync(
    join(bin, 'initdb'),
    [
      '--pgdata',
      data,
      '--username',
      'postgres',
      '--auth',
      'scram-sha-256',
      '--pwfile',
      passwordFile,
      '--no-sync',
      '--encoding',
      'UTF8',
      '--locale',
      'C',
    ],
    { ...account, encoding: 'utf8' },
  );
  expect(`${made.status} ${made.stderr}`).toMatch(/^0 /);
  port = await freePort();
  server = startAs(account, [
    '-D',
    data,
    '-p',
    String(port),
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    'unix_socket_directories=',
    '-c',
    'fsync=off',
  ]);
  await waitFor('PostgreSQL', () =>
    runAlone(superuser(), 'select 1').then(
      () => true,
      () => false,
    ),
  );
  sandbox = await startSandbox({ seed: 92, invoices: 60, rateWindowSeconds: 1 });
});

afterAll(async () => {
  if (bin === null) return;
  await sandbox?.stop();
  server?.child.kill('SIGINT');
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

function startAs(account: { uid: number; gid: number } | null, args: string[]): Started {
  return start(join(bin ?? '', 'postgres'), args, { ...account, env: { PATH: process.env.PATH } });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

const script = (name: string, env: NodeJS.ProcessEnv, ...args: string[]): Promise<Ended> =>
  run('/bin/sh', [join(root, 'deploy/postgres', name), ...args], { env: { PATH: path(), ...env } });

/**
 * Records the arguments of all PostgreSQL programs, which every user can read. The returned function stops it and
 * returns them.
 */
function watchArguments(): () => string {
  const seen = new Set<string>();
  const timer = setInterval(() => {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        if (/(psql|pg_dump|pg_restore|backup\.sh|restore\.sh)\0/.test(line) && line.includes(String(port)))
          seen.add(line);
      } catch {
        // The process has ended.
      }
  }, 5);
  return () => {
    clearInterval(timer);
    return [...seen].join('\n');
  };
}

const roles = () =>
  script('roles.sh', {
    ...passwords,
    PGHOST: '127.0.0.1',
    PGPORT: String(port),
    PGPASSWORD: passwords.POSTGRES_PASSWORD,
  });

function config(): string {
  const file = join(folder, 'vetledger.yaml');
  writeFileSync(
    file,
    demoConfig([{ id: sandbox.installation, base_url: sandbox.url, rate_window_seconds: 1 }], {
      database_url: fromEnvironment('DATABASE_URL'),
      migrate_database_url: fromEnvironment('MIGRATE_DATABASE_URL'),
      temporal: `{address: ${fromEnvironment('TEMPORAL_ADDRESS')}}`,
    }),
  );
  return file;
}

function vetledger(database: string, ...args: string[]): Promise<Ended> {
  const env = {
    PATH: pathWithNode,
    HOME: folder,
    PRACTICE_TOKEN: sandbox.token,
    DATABASE_URL: url('vetledger', passwords.VETLEDGER_DB_PASSWORD, database),
    MIGRATE_DATABASE_URL: owner(database),
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    VETLEDGER_DATA_DIR: join(folder, 'cache'),
  };
  return run(process.execPath, [join(root, 'bin/vetledger.js'), ...args, '--config', config()], { env });
}

tried(
  'roles.sh makes roles and databases, again without harm; no role connects to the databases of another',
  async () => {
    for (let time = 1; time <= 2; time++) expect(await roles()).toMatchObject({ code: 0, stderr: '' });
    await runAlone(owner(), 'select 1');
    const temporal = (database: string) => url('temporal', passwords.TEMPORAL_DB_PASSWORD, database);
    await runAlone(temporal('temporal'), 'create table of_temporal ()');
    await runAlone(temporal('temporal_visibility'), 'create table of_temporal ()');
    await expect(runAlone(temporal('vetledger'), 'select 1')).rejects.toThrow(/permission denied/);
    const runtime = url('vetledger', passwords.VETLEDGER_DB_PASSWORD, 'vetledger');
    await expect(runAlone(urlOfDatabase(runtime, 'temporal'), 'select 1')).rejects.toThrow(/permission denied/);
    await expect(runAlone(runtime, 'create table of_the_runtime ()')).rejects.toThrow(/permission denied/);
  },
);

tried('the books come back from a dump as they were, proven by their head, and go on', async () => {
  expect(await vetledger('vetledger', 'migrate')).toMatchObject({ code: 0 });
  expect(await vetledger('vetledger', 'sync')).toMatchObject({ code: 0 });
  const verified = await vetledger('vetledger', 'ledger', 'verify', '--json');
  expect(verified).toMatchObject({ code: 0 });
  const head = /"hash":\s*"([0-9a-f]{64})"|"head":\s*"([0-9a-f]{64})"/.exec(verified.stdout);
  const hash = head?.[1] ?? head?.[2] ?? '';
  expect(hash).toHaveLength(64);

  // A user of the console, who is signed in and has a link
  await runAlone(
    superuser('vetledger'),
    `with anna as (insert into vetledger_console.subject (name) values ('anna') returning id),
       signed_in as (insert into vetledger_console.session (token_hash, subject_id) select 'token', id from anna)
     insert into vetledger_console.link (token_hash, subject_id, purpose, expires_at) select 'link', id, 'sign_in', now() + interval '1 day' from anna`,
  );
  const backups = join(folder, 'backups');
  mkdirSync(backups);
  for (const old of ['20200101T000000Z', '20200102T000000Z'])
    for (const kind of ['dump', 'heads']) writeFileSync(join(backups, `vetledger-${old}.${kind}`), 'old');
  const watched = watchArguments();
  const backup = await script('backup.sh', { DATABASE_URL: backupRole(), BACKUP_DIR: backups, BACKUP_KEEP: '2' });
  expect(`${backup.code} ${backup.stderr}`).toBe('0 ');
  // The role may only read and record its success. The query divides by zero if no success was recorded.
  await runAlone(
    backupRole(),
    `select 1 / count(*) from vetledger.backup where finished_at > now() - interval '1 hour'`,
  );
  for (const change of [
    'delete from vetledger.backup',
    'update vetledger.document set id = 0',
    'create table vetledger.x ()',
  ])
    await expect(runAlone(backupRole(), change)).rejects.toThrow(/permission denied/);
  const [kept, keptHeads, dump = '', heads = ''] = readdirSync(backups).sort();
  expect([kept, keptHeads]).toEqual(['vetledger-20200102T000000Z.dump', 'vetledger-20200102T000000Z.heads']);
  expect([join(backups, dump), heads]).toEqual([backup.stdout.trim(), dump.replace('.dump', '.heads')]);
  const line = new RegExp(`^installation ${sandbox.installation} seq \\d+ head ${hash}\n$`);
  expect(readFileSync(join(backups, heads), 'utf8')).toMatch(line);

  // The database is lost and created again.
  await runAlone(superuser(), 'drop database vetledger with (force)');
  expect(await roles()).toMatchObject({ code: 0 });
  const restore = () => script('restore.sh', { DATABASE_URL: owner() }, join(backups, dump));
  expect(await restore()).toMatchObject({ code: 0, stderr: '' });
  // The user is there, and must sign in again: the queries divide by zero otherwise.
  await runAlone(superuser('vetledger'), `select 1 / count(*) from vetledger_console.subject where name = 'anna'`);
  await runAlone(
    superuser('vetledger'),
    `select 1 / (case when count(*) = 0 then 1 else 0 end)
     from (select from vetledger_console.session union all select from vetledger_console.link) open`,
  );
  // No password was visible to other users of the machine.
  const seen = watched();
  expect(seen).toMatch(/pg_dump\0.*postgresql:\/\/vetledger_backup@127\.0\.0\.1/);
  expect(seen).toMatch(/pg_restore\0.*postgresql:\/\/vetledger_owner@127\.0\.0\.1/);
  for (const password of Object.values(passwords))
    for (const written of [password, encodeURIComponent(password)]) expect(seen).not.toContain(written);
  expect(await vetledger('vetledger', 'migrate')).toMatchObject({ code: 0 });
  expect(await vetledger('vetledger', 'ledger', 'verify', '--head', hash)).toMatchObject({ code: 0 });
  sandbox.live(5);
  // The restored database counts as another one until an operator adopts it in place of the lost one.
  expect(await vetledger('vetledger', 'sync')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('adopt --restored'),
  });
  const adopt = ['adopt', '--restored', '--reason', 'restored from a backup', '--yes'];
  expect(await vetledger('vetledger', ...adopt)).toMatchObject({ code: 0 });
  expect(await vetledger('vetledger', 'sync')).toMatchObject({ code: 0 });
  expect(await vetledger('vetledger', 'reconcile')).toMatchObject({ code: 0 });
  expect(await vetledger('vetledger', 'ledger', 'verify', '--head', hash)).toMatchObject({ code: 0 });

  // Restoring never replaces existing books.
  expect(await restore()).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing was changed') });
});

tried('a backup that fails leaves no file that looks whole, and removes no older one', async () => {
  const backups = join(folder, 'failing');
  mkdirSync(backups);
  writeFileSync(join(backups, 'vetledger-20200101T000000Z.dump'), 'old');
  const failed = await script('backup.sh', {
    DATABASE_URL: backupRole('missing'),
    BACKUP_DIR: backups,
    BACKUP_KEEP: '1',
  });
  expect(failed.code).not.toBe(0);
  expect(readdirSync(backups)).toEqual(['vetledger-20200101T000000Z.dump']);
});
