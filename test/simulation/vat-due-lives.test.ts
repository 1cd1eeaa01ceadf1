import { describe, expect, test } from 'vitest';
import { runs } from '../support/runs.ts';
import { type Counts, liveVatDue, vatDueMutants } from './vat-due-lives.ts';

describe('VAT on payment in random lives', () => {
  test('the VAT of each payment, of each month and what is not due equal the oracle’s', () => {
    const counts: Counts = {};
    for (let seed = 1; seed <= runs(60); seed++) liveVatDue(seed, counts);
    for (const what of [
      ...['part', 'over', 'double', 'refund', 'rounding', 'type 8', 'type 9', 'type 12 part', 'type 12 whole'],
      ...['collector part', 'void', 'R8', 'payment gone', 'latest day', 'vat_due_changed', 'E11', 'left as posted'],
      ...['before the start', 'type 10', 'type 15'],
    ])
      expect(counts[what] ?? 0, what).toBeGreaterThan(0);
  });

  test.each(Object.entries(vatDueMutants))('a mutant is noticed: %s', (_, mutant) => {
    const lives = () => {
      for (let seed = 1; seed <= 80; seed++) liveVatDue(seed, {}, mutant);
    };
    expect(lives).toThrow(/seed/);
  });
});
