import { defineConfig } from 'vitest/config';

/** Checks that take too long for every test run, each with its own npm script. */
export default defineConfig({
  test: {
    include: ['test/**/*.check.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 300_000,
    hookTimeout: 600_000,
    maxWorkers: 1,
  },
});
