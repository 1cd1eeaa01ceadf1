import { expect, test } from 'vitest';
import { forEachAtATime, settleAll } from '../../src/domain/concurrency.ts';

test('settleAll throws the first failure when all have ended', async () => {
  const late = Promise.withResolvers<void>();
  let isThrown = false;
  const all = settleAll([Promise.reject(new Error('first')), late.promise]).catch((error: unknown) => {
    isThrown = true;
    return error;
  });
  await Promise.resolve();
  expect(isThrown).toBe(false);
  late.resolve();
  expect(await all).toEqual(new Error('first'));
});

test('so many at a time, and every item once', async () => {
  const done: number[] = [];
  let atWork = 0;
  let most = 0;
  await forEachAtATime(3, [1, 2, 3, 4, 5, 6, 7], async (item) => {
    atWork += 1;
    most = Math.max(most, atWork);
    await Promise.resolve();
    atWork -= 1;
    done.push(item);
  });
  expect(most).toBe(3);
  expect(done.toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

test('after a failure none begins, and those under way end', async () => {
  const slow = Promise.withResolvers<void>();
  const begun: number[] = [];
  const ended: number[] = [];
  const all = forEachAtATime(2, [1, 2, 3, 4], async (item) => {
    begun.push(item);
    if (item === 1) throw new Error('refused');
    await slow.promise;
    ended.push(item);
  });
  slow.resolve();
  await expect(all).rejects.toThrow('refused');
  expect([begun, ended]).toEqual([[1, 2], [2]]);
});
