import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const run = fileURLToPath(new URL('run.ts', import.meta.url));

it('an account and a text that differ between two revisions are noticed, by world, command and line', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [run, 'HEAD', '--self-test'], { encoding: 'utf8' });
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/^world 1: DIFFERS/m);
  expect(stdout).toMatch(/^ +@@ .* @@ vetledger export --format csv$/m);
  expect(stdout).toMatch(/^ +-.*mobile_clearing/m);
  expect(stdout).toMatch(/^ +\+.*card_clearing/m);
});
