import { expect, test } from 'vitest';
import { rareMutants } from './mutants.ts';
import { firstFailure } from './run-mutants.ts';

/** The lives here are longer and more than those in simulation.test.ts. */
const [seeds, steps] = [60, 120];

test.each(Object.entries(rareMutants))(
  'the oracle finds posting that is broken where several things come together: %s',
  (_name, broken) => {
    expect(firstFailure(broken, seeds, steps)?.message).toMatch(/^seed \d+, step \d+\n.+: .+\nwhat happened last:\n/s);
  },
);
