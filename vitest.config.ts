import { defineConfig } from 'vitest/config';
import { testFiles } from './test/projects.ts';
import { clockEnvironment } from './test/support/today.ts';

const servers = { globalSetup: ['test/support/global-setup.ts'] };
/** Files share a process, but no state of our modules. */
const shared = { isolate: false, setupFiles: ['test/support/fresh-modules.ts'] };
const withDatabase = { ...shared, setupFiles: [...shared.setupFiles, 'test/support/prepared-statements.ts'] };
const files = testFiles(import.meta.dirname);

/** `npm test` runs the first three projects, which share no test file; CONTRIBUTING.md describes them. */
export default defineConfig({
  test: {
    env: { ...clockEnvironment(), NODE_COMPILE_CACHE: 'build/compile-cache' },
    testTimeout: 180_000,
    hookTimeout: 300_000,
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: 'unit', include: files.unit, ...shared } },
      { extends: true, test: { name: 'db', include: files.db, ...servers, ...withDatabase } },
      { extends: true, test: { name: 'system', include: files.system, ...servers, ...withDatabase } },
      { extends: true, test: { name: 'long', include: files.long, ...servers } },
      {
        extends: true,
        test: { name: 'nightly', include: files.nightly, env: { VETLEDGER_TEST_RUNS: 'all' }, ...servers },
      },
    ],
  },
});
