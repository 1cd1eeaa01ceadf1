import { defineConfig } from 'vitest/config';
import tests from './vitest.config.ts';

/** Checks that take too long for `npm test`, each with an npm script of its own. */
export default defineConfig({
  test: { ...tests.test, include: ['test/**/*.check.ts'], testTimeout: 300_000, hookTimeout: 600_000, maxWorkers: 1 },
});
