// The environment that the embedded servers inherit from vetledger, and who can read their files.

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { acquirePostgres, acquireTemporal } from '../../src/embedded/index.ts';
import { installers } from '../../src/embedded/temporal-binary.ts';
import { temporaryFolder } from '../embedded/support.ts';

const secrets = {
  PRACTICE_TOKEN: 'tok-SECRET',
  DATABASE_URL: 'postgresql://u:SECRET@db/books',
  PGPASSWORD: 'SECRET',
  AWS_SECRET_ACCESS_KEY: 'SECRET',
  NODE_OPTIONS: '--max-old-space-size=4096',
  TEMPORAL_API_KEY: 'SECRET',
};
const env = { ...process.env, ...secrets };
const quiet = { progress: () => {}, env, ui: false };
const allowed = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'];

function environmentOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
}

const names = (environment: string[]) => environment.map((one) => one.slice(0, one.indexOf('=')));

/** The files and folders below a folder to which other users have any access. */
function openPlaces(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077);
}

test('embedded PostgreSQL and Temporal inherit no secret, and only their owner can read what they keep', async () => {
  const dataDir = temporaryFolder();
  for (const acquire of [acquirePostgres, acquireTemporal]) {
    const service = await acquire({ dataDir, ...quiet });
    onTestFinished(() => service.release());
  }
  for (const name of ['postgres', 'temporal']) {
    const { pid } = JSON.parse(readFileSync(join(dataDir, 'services', name, 'server.json'), 'utf8'));
    const environment = environmentOf(pid);
    expect(environment.join('\n')).not.toContain('SECRET');
    expect(names(environment).filter((each) => !allowed.includes(each))).toEqual([]);
  }
  expect(readdirSync(dataDir)).toEqual(expect.arrayContaining(['temporal.db', 'postgres', 'services', 'logs']));
  expect(openPlaces(dataDir)).toEqual([]);
});

test('a build with Go gets what Go needs and no secret', async () => {
  const folder = temporaryFolder();
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'go'), `#!/bin/sh\n/usr/bin/env > ${join(folder, 'environment')}\n`, { mode: 0o755 });
  const go = installers.find(({ name }) => name.startsWith('go '));
  await go?.install(folder, {
    ...quiet,
    dataDir: folder,
    env: { ...env, PATH: bin, GOPROXY: 'https://proxy.example', GOCACHE: '/cache', HTTPS_PROXY: 'http://proxy' },
  });
  const environment = readFileSync(join(folder, 'environment'), 'utf8').trim().split('\n');
  expect(environment.join('\n')).not.toContain('SECRET');
  expect(names(environment)).toEqual(expect.arrayContaining(['PATH', 'GOBIN', 'GOPROXY', 'GOCACHE', 'HTTPS_PROXY']));
});
