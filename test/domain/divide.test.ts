import fc from 'fast-check';
import { expect, test } from 'vitest';
import { divideFailed } from '../../src/domain/divide-failed.ts';

test('whatever items fail, each is found, and each other is done once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.nat(), { minLength: 1 }), fc.func(fc.boolean()), async (items, isBad) => {
      const done: number[] = [];
      const culprits: number[] = [];
      const work = async (part: readonly number[]) => {
        if (part.some((item) => isBad(item))) throw new Error('bad');
        done.push(...part);
      };
      try {
        await work(items);
      } catch (error) {
        const culprit = async (item: number) => void culprits.push(item);
        await divideFailed(items, error, { work, isTheirs: () => true, culprit });
      }
      expect(culprits).toEqual(items.filter((item) => isBad(item)));
      expect(done).toEqual(items.filter((item) => !isBad(item)));
    }),
  );
});

test('one culprit among 300 takes about twice the logarithm in attempts', async () => {
  let attempts = 0;
  const items = Array.from({ length: 300 }, (_, i) => i);
  await divideFailed(items, new Error('bad'), {
    work: async (part) => {
      attempts += 1;
      if (part.includes(123)) throw new Error('bad');
    },
    isTheirs: () => true,
    culprit: async (item) => expect(item).toBe(123),
  });
  expect(attempts).toBeLessThanOrEqual(18);
});

test('an error that is no item’s own ends it at once', async () => {
  let attempts = 0;
  const lost = new Error('connection lost');
  const work = async () => {
    attempts += 1;
    throw lost;
  };
  const ports = {
    work,
    isTheirs: (error: unknown) => error !== lost,
    culprit: () => Promise.reject(new Error('none')),
  };
  await expect(divideFailed([1, 2, 3, 4], new Error('bad'), ports)).rejects.toBe(lost);
  await expect(divideFailed([1, 2, 3, 4], lost, ports)).rejects.toBe(lost);
  expect(attempts).toBe(1);
});
