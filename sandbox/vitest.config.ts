import { defineConfig } from 'vitest/config';

/** The sandbox's tests alone: they need neither PostgreSQL nor Temporal. `npm test` of the whole checkout runs them, too. */
export default defineConfig({
  test: { include: ['test/**/*.test.ts'], testTimeout: 180_000, hookTimeout: 300_000, maxWorkers: 2 },
});
