// Fuzzes the whole API with an independent program. If it is not installed, the test is skipped with a notice, except
// where all tests are required.
import { expect, test } from 'vitest';
import { fuzz, hasSchemathesis, whereSchemathesis } from './run.ts';

const timeoutMs = 1_200_000;

if (!hasSchemathesis) {
  if (process.env.CI === 'true') throw new Error(`Schemathesis is not installed in ${whereSchemathesis}`);
  console.warn(`Schemathesis is not installed in ${whereSchemathesis}: its test is skipped (see CONTRIBUTING)`);
}

test.skipIf(!hasSchemathesis)(
  'no 5xx, no answer outside its schema, no invalid input accepted',
  async () => {
    const { cases, passed, report } = await fuzz({ examples: 8, seed: 1, timeoutMs: timeoutMs - 20_000 });
    expect(passed, report).toBe(true);
    expect(cases).toBeGreaterThan(1000);
  },
  timeoutMs,
);
