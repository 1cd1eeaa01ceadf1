import { AssertionError } from 'node:assert';
import { describe, expect, test } from 'vitest';
import { runTrap, trapCases } from './cases.ts';
import { trapMutants } from './mutants.ts';

describe('the target handles each trap of Odoo', () => {
  for (const [name, { versions }] of Object.entries(trapCases)) {
    test.each(versions)(`${name} (%i)`, (version) => runTrap(name, version));
  }
});

describe('a mutant that falls into a trap is noticed', () => {
  test.each(Object.entries(trapMutants))('one that %s', async (_, { case: name, version, ...mutant }) => {
    const failure = await runTrap(name, version, mutant).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(AssertionError);
  });

  test('each trap has its mutant', () => {
    const withMutant = new Set(Object.values(trapMutants).map((mutant) => mutant.case));
    // One mutant covers both ways of finding an entry.
    withMutant.add('without the right to search external ids an entry is found by its reference');
    expect(Object.keys(trapCases).filter((name) => !withMutant.has(name))).toEqual([]);
  });
});
