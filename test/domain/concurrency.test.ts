import { expect, test } from 'vitest';
import { forEachAtATime, settleAll, sleep, unlessAborted, withGrace, within } from '../../src/domain/concurrency.ts';

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

const never = () => new Promise<never>(() => undefined);
const soon = <T>(value: T) => sleep(5).then(() => value);

test('a wait for work ends with it, or with the reason of a signal that aborts before or meanwhile', async () => {
  const stop = new AbortController();
  expect(await unlessAborted(soon(1), stop.signal)).toBe(1);
  expect(await unlessAborted(soon(2), undefined)).toBe(2);
  await expect(unlessAborted(Promise.reject(new Error('failed')), stop.signal)).rejects.toThrow('failed');
  const waiting = unlessAborted(never(), stop.signal);
  stop.abort(new Error('stopped'));
  await expect(waiting).rejects.toThrow('stopped');
  await expect(unlessAborted(never(), stop.signal)).rejects.toThrow('stopped');
  // A late rejection of the abandoned work is ignored.
  await expect(unlessAborted(Promise.reject(new Error('late')), stop.signal)).rejects.toThrow();
});

test('a sleep ends after its time, or with the reason of its signal', async () => {
  const before = performance.now();
  await sleep(20);
  expect(performance.now() - before).toBeGreaterThan(15);
  const stop = new AbortController();
  const sleeping = sleep(60_000, stop.signal);
  stop.abort(new Error('stopped'));
  await expect(sleeping).rejects.toThrow('stopped');
  await expect(sleep(60_000, stop.signal)).rejects.toThrow('stopped');
});

test('work without an answer in time fails', async () => {
  expect(await within(60_000, soon(1))).toBe(1);
  await expect(within(10, never())).rejects.toThrow('no answer within 0.01 s');
});

test('work is given some time after a signal', async () => {
  const stop = new AbortController();
  stop.abort(new Error('stopped'));
  const late = () => new Error('left');
  expect(await withGrace(60_000, soon(1), stop.signal, late)).toBe(1);
  await expect(withGrace(10, never(), stop.signal, late)).rejects.toThrow('left');
  await expect(withGrace(60_000, Promise.reject(new Error('its own')), stop.signal, late)).rejects.toThrow('its own');
});
