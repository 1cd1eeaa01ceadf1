import { describe, expect, test } from 'vitest';
import { ownClientMatches } from '../../src/prepayments/own-client.ts';
import { runs } from '../support/runs.ts';
import { firstWrongMatch, liveMatches, matchingMutants } from './matching.ts';

describe('a life of prepayments', () => {
  test('each window matches what the oracle asks for', () => {
    const total = { matched: 0, left: 0 };
    for (let seed = 1; seed <= runs(40); seed++) {
      const { matched, left } = liveMatches({ seed, windows: 40, rule: ownClientMatches });
      total.matched += matched;
      total.left += left;
    }
    expect(total.matched).toBeGreaterThan(runs(1_000));
    expect(total.left).toBeGreaterThan(runs(100));
  });

  test.each(Object.entries(matchingMutants))('finds a rule that is broken: %s', (_, rule) => {
    const seeds = Array.from({ length: 20 }, (__, at) => at + 1);
    expect(firstWrongMatch(rule, seeds)).toMatch(/^seed \d+, window \d+: client \d: /);
  });
});
