// Runs clients in another language that share no code with the sandbox. They were written from its guide and the
// specification, by people who had not read its sources. Each client does a whole job and checks what the specification
// promises.
import { execFile, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { machineTime } from '../../../test/support/today.ts';
import { startSandbox } from '../../src/index.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const programs = readdirSync(folder).filter((name) => name.endsWith('.py'));
const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) console.warn('python3 is not installed: the clients in sandbox/test/outside are not run');

test.skipIf(!hasPython).each(programs)(
  '%s finds what the specification promises',
  async (program) => {
    // The clients compare the sandbox's times with the machine's clock.
    const now = () => new Date(machineTime());
    const sandbox = await startSandbox({ wholeLife: true, now });
    try {
      const ran = await promisify(execFile)('python3', [`${folder}${program}`, sandbox.url], {
        timeout: 150_000,
      }).catch((error: { stdout: string }) => error);
      expect(ran.stdout.split('\n').filter((line) => line.startsWith('FAIL'))).toEqual([]);
      expect(ran.stdout.trim().split('\n').at(-1)).toMatch(/^\d{3} checks, 0 failed$/);
    } finally {
      await sandbox.stop();
    }
  },
  180_000,
);
