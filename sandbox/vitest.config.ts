import { configDefaults, defineConfig } from 'vitest/config';
import { clockEnvironment } from '../test/support/today.ts';

/** The sandbox's tests: they need neither PostgreSQL nor Temporal, and files share processes. `npm run test:nightly` of the whole checkout runs the excluded ones. */
export default defineConfig({
  test: {
    env: clockEnvironment(),
    isolate: false,
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, 'test/{coverage,fuzz/fuzz}.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 300_000,
    maxWorkers: 2,
  },
});
