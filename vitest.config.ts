import { configDefaults, defineConfig } from 'vitest/config';
import { longTests } from './test/long.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'sandbox/test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...longTests],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 180_000,
    hookTimeout: 300_000,
    maxWorkers: 2,
  },
});
