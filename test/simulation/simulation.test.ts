import { describe, expect, test } from 'vitest';
import { post } from '../../src/posting/index.ts';
import { live } from './life.ts';

describe('a random clinic’s life', () => {
  const proved = { E2: 0, E3: 0, E8: 0 };

  test.each([1, 2, 3, 4, 5, 6])('holds every equation at every step, seed %i', (seed) => {
    const summary = live({ seed, steps: 80, post });
    expect(summary.documents).toBeGreaterThan(20);
    proved.E2 += summary.proved.E2;
    proved.E3 += summary.proved.E3;
    proved.E8 += summary.proved.E8;
  });

  test('is held against the due_sum and unused_amount of the source', () => {
    expect(proved.E2).toBeGreaterThan(50);
    expect(proved.E3).toBeGreaterThan(100);
    expect(proved.E8).toBeGreaterThan(100);
  });

  test('is the same whenever it is lived', () => {
    expect(live({ seed: 7, steps: 40, post })).toEqual(live({ seed: 7, steps: 40, post }));
  });
});
