import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ServiceError } from '../../src/embedded/index.ts';
import { installers, temporalBinary } from '../../src/embedded/temporal-binary.ts';
import { temporaryFolder } from './support.ts';

const stub = '#!/bin/sh\necho temporal version 0\n';
const noDownload = installers.slice(1);

function program(folder: string, name: string, content: string): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), content, { mode: 0o755 });
  return join(folder, name);
}

function setting() {
  const home = temporaryFolder();
  const path = join(home, 'path');
  const lines: string[] = [];
  return {
    home,
    path,
    lines,
    cache: join(home, '.cache', 'vetledger'),
    options: {
      dataDir: join(home, 'data'),
      progress: (line: string) => lines.push(line),
      env: { HOME: home, PATH: `${path}:/usr/bin:/bin` },
    },
  };
}

test('a program on the PATH is used first', async () => {
  const { path, cache, options } = setting();
  program(join(cache, 'bin'), 'temporal', stub);
  const onPath = program(path, 'temporal', stub);
  expect(await temporalBinary(options, [])).toBe(onPath);
});

test('if the program on the PATH does not run, the cached one is used', async () => {
  const { path, cache, options } = setting();
  const cached = program(join(cache, 'bin'), 'temporal', stub);
  program(path, 'temporal', '#!/bin/sh\nexit 1\n');
  expect(await temporalBinary(options, [])).toBe(cached);
});

test('XDG_CACHE_HOME is honoured', async () => {
  const { home, options } = setting();
  const cached = program(join(home, 'xdg', 'vetledger', 'bin'), 'temporal', stub);
  expect(await temporalBinary({ ...options, env: { ...options.env, XDG_CACHE_HOME: join(home, 'xdg') } }, [])).toBe(
    cached,
  );
});

test('Go builds it once, for two starts at once, and nothing half-built is left', async () => {
  const { home, path, cache, lines, options } = setting();
  program(
    path,
    'go',
    `#!/bin/sh\necho "$@" >> ${home}/calls\nsleep 0.3\nprintf '${stub.replaceAll('\n', '\\n')}' > $GOBIN/temporal\n`,
  );
  mkdirSync(cache, { recursive: true });
  mkdtempSync(join(cache, 'install-'));
  const found = await Promise.all([temporalBinary(options, noDownload), temporalBinary(options, noDownload)]);
  expect(found).toEqual([join(cache, 'bin', 'temporal'), join(cache, 'bin', 'temporal')]);
  expect(readdirSync(cache).sort()).toEqual(['bin', 'install.lock']);
  expect(lines.filter((line) => line.includes('building'))).toHaveLength(1);
});

test('if no way works, the error names all of them', async () => {
  const { path, cache, options } = setting();
  program(path, 'go', '#!/bin/sh\necho no network >&2\nexit 1\n');
  const error = (await temporalBinary(options, [
    { name: "the SDK's download", install: () => Promise.reject(new Error('no such host')) },
    ...noDownload,
  ]).catch((e: unknown) => e)) as ServiceError;
  expect(error.code).toBe('temporal_start_failed');
  for (const part of ['TEMPORAL_ADDRESS', 'PATH', cache, 'no such host', 'go install', 'no network']) {
    expect(`${error.message} ${error.todo}`).toContain(part);
  }
  expect(existsSync(join(cache, 'bin', 'temporal'))).toBe(false);
});
