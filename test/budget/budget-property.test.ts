import { describe, expect, test } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { SimulatedDatabase } from './database.ts';
import { checkRules, checkUse, mutants } from './property.ts';

/** `node test/budget/run.ts` runs many more. */
const runs = 12;

const { ownerUrl } = useDatabase();

async function withDatabase<T>(work: (simulated: SimulatedDatabase) => Promise<T>, mutant = ''): Promise<T> {
  const simulated = await SimulatedDatabase.open(ownerUrl, mutants[mutant]?.statement);
  try {
    return await work(simulated);
  } finally {
    await simulated.close();
  }
}

describe('on simulated time, whatever clocks, latencies, crashes and other users do', () => {
  test('the rules hold, and no 429 is of our own making', async () => {
    const outcome = await withDatabase((simulated) => checkRules(simulated, runs, 2026));
    expect(outcome).toEqual({ runs, failure: null });
  });

  test('a budget with enough work is used to 98 % of what window and latency leave', async () => {
    const outcome = await withDatabase((simulated) => checkUse(simulated, 4, 2026));
    expect(outcome).toEqual({ runs: 4, failure: null });
  });
});

describe('the simulation notices', () => {
  test.each(Object.keys(mutants))('%s', async (mutant) => {
    const outcome = await withDatabase((simulated) => checkRules(simulated, 120, 5, mutants[mutant]), mutant);
    expect(outcome.failure).not.toBeNull();
  });
});
