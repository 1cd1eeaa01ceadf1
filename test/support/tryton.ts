import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isTrytonInstalled } from '../../src/embedded/tryton/program.ts';
import { startTryton, type TrytonServer } from '../../src/embedded/tryton/server.ts';

/** Where tests keep an installed Tryton and its prepared database: `.ci/run` installs it there. */
export const programDir =
  process.env.VETLEDGER_TRYTON ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'vetledger', 'tryton');

/** Whether tests against a real Tryton run. They are skipped, and say so, where it is not installed. */
export const hasTryton = isTrytonInstalled(programDir);
if (!hasTryton) {
  process.stderr.write(
    `skipped: tests against a real Tryton, which is not installed in ${programDir} (VETLEDGER_TRYTON=${programDir} npm run tryton -- --install-only)\n`,
  );
}

/** A server with a data folder of its own, which is removed with it. */
export async function openTestTryton(): Promise<TrytonServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'vetledger-tryton-'));
  const server = await startTryton({ dataDir, programDir, progress: () => {}, env: process.env });
  return {
    ...server,
    release: async () => {
      await server.release();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
