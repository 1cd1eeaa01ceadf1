import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = fileURLToPath(new URL('run.ts', import.meta.url));

it('an account and a text that differ between two revisions are noticed, by world, command and line', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [run, 'HEAD', '--self-test']);
  expect(stdout).toMatch(/^world 1: DIFFERS/m);
  expect(stdout).toMatch(/^ +@@ .* @@ vetledger export --format csv$/m);
  expect(stdout).toMatch(/^ +-.*mobile_clearing/m);
  expect(stdout).toMatch(/^ +\+.*card_clearing/m);
}, 600_000);
