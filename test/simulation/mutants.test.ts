import { describe, expect, test } from 'vitest';
import type { post } from '../../src/posting/index.ts';
import { LifeFailure, live } from './life.ts';
import { mutants } from './mutants.ts';
import { firstFailure } from './run-mutants.ts';

describe('the oracle', () => {
  test.each(Object.entries(mutants))('finds posting that is broken: %s', (_name, broken) => {
    const failure = firstFailure(broken, 24, 80);
    expect(failure).not.toBeNull();
    expect(failure!.message).toMatch(/^seed \d+, step \d+\n.+: .+\nwhat happened last:\n {2}\d+: /s);
    // The same seed must fail in the same way at the same step.
    const { seed, step, message } = failure!;
    expect(() => live({ seed, steps: step, post: broken })).toThrow(message);
  });
});

describe('the equations alone', () => {
  // The checks after each judgement are off here. The sums over the books must still find these mutants.
  test.each([
    ['sides swapped', 'E2'],
    ['a line dropped', 'E1'],
    ['one cent off', 'E1'],
    ['one cent off on both sides', 'E2'],
    ['posted twice', 'one entry in force'],
    ['the department of another', 'E4'],
    ['the prepayment follows the payer', 'E3'],
    ['VAT of a prepayment never given back', 'E8'],
    ['VAT on top of a prepayment', 'E8'],
    ['gift cards sold as revenue', 'E9'],
    ['corrected without a reversal', 'one entry in force'],
  ])('find posting that is broken: %s (%s)', (name, equation) => {
    expect(equationFailing(mutants[name]!)).toContain(equation);
  });
});

/** The equations that fail first over some seeds, without the oracle's verdicts. */
function equationFailing(broken: typeof post): string[] {
  const found = new Set<string>();
  for (let seed = 1; seed <= 8; seed++) {
    try {
      live({ seed, steps: 80, post: broken, equationsOnly: true });
    } catch (error) {
      if (!(error instanceof LifeFailure)) throw error;
      found.add(error.equation);
    }
  }
  return [...found];
}
