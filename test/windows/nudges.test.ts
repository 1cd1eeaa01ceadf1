import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Clock } from '../../src/domain/clock.ts';
import { KeyedBuckets, TokenBucket } from '../../src/http/token-buckets.ts';
import { createNudger, type Nudger } from '../../src/windows/nudges.ts';

const clock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      setTimeout(resolve, ms);
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    }),
};

let triggered: [at: number, installation: number, webhooks: number][];
let failures: [number, unknown][];
let takes = 50;
let trouble: Error | null;
let nudger: Nudger;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
  triggered = [];
  failures = [];
  trouble = null;
  takes = 50;
  const started = performance.now();
  nudger = createNudger({
    installations: [
      { id: 1, rateWindowSeconds: 60 },
      { id: 2, rateWindowSeconds: 60 },
    ],
    trigger: async (installation, webhooks) => {
      triggered.push([Math.round(performance.now() - started), installation, webhooks]);
      await clock.sleep(takes);
      if (trouble) throw trouble;
    },
    failed: (installation, error) => void failures.push([installation, error]),
    clock,
  });
});

afterEach(() => vi.useRealTimers());

test('a burst is one trigger within 200 ms', async () => {
  for (let i = 0; i < 500; i++) nudger.nudge(1);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(triggered).toEqual([[100, 1, 500]]);
});

test('what comes while a trigger is passed on makes one more, however much it is', async () => {
  takes = 1_000;
  nudger.nudge(1);
  await vi.advanceTimersByTimeAsync(500);
  for (let i = 0; i < 20; i++) nudger.nudge(1);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(triggered).toEqual([
    [100, 1, 1],
    [1_200, 1, 20],
  ]);
});

test('installations do not wait for each other', async () => {
  takes = 5_000;
  nudger.nudge(1);
  nudger.nudge(2);
  await vi.advanceTimersByTimeAsync(200);
  expect(triggered.map(([at, installation]) => [at, installation])).toEqual([
    [100, 1],
    [100, 2],
  ]);
});

test('a flood makes six triggers and then one each twelfth of the rate window; none of it is lost', async () => {
  for (let ms = 0; ms < 60_000; ms += 100) {
    nudger.nudge(1);
    await vi.advanceTimersByTimeAsync(100);
  }
  await vi.advanceTimersByTimeAsync(10_000);
  expect(triggered.length).toBeGreaterThanOrEqual(6 + 11);
  expect(triggered.length).toBeLessThanOrEqual(6 + 13);
  expect(triggered.reduce((sum, [, , webhooks]) => sum + webhooks, 0)).toBe(600);
});

test('a trigger that fails is logged, and the next nudge tries again', async () => {
  trouble = new Error('Temporal is away');
  nudger.nudge(1);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(failures).toEqual([[1, trouble]]);
  trouble = null;
  nudger.nudge(1);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(triggered).toHaveLength(2);
  expect(failures).toHaveLength(1);
});

test('stopped, it drops what waits and is done when no trigger is under way', async () => {
  takes = 300;
  nudger.nudge(1);
  await vi.advanceTimersByTimeAsync(150);
  nudger.nudge(2);
  let isDone = false;
  const done = nudger.stop().then(() => {
    isDone = true;
  });
  nudger.nudge(2);
  await vi.advanceTimersByTimeAsync(200);
  expect(isDone).toBe(false);
  await vi.advanceTimersByTimeAsync(100);
  await done;
  expect(triggered.map(([, installation]) => installation)).toEqual([1]);
});

test('an installation that was not given is a mistake of the caller', () => {
  expect(() => nudger.nudge(3)).toThrow(RangeError);
});

test('a bucket fills up again to its size, no further', () => {
  const bucket = new TokenBucket(2, 100, 0);
  expect([bucket.take(0), bucket.take(0), bucket.take(0)]).toEqual([true, true, false]);
  expect(bucket.waitMs(40)).toBe(60);
  expect([bucket.take(100), bucket.take(199), bucket.take(200)]).toEqual([true, false, true]);
  expect([bucket.take(10_000), bucket.take(10_000), bucket.take(10_000)]).toEqual([true, true, false]);
});

test('of strangers only so many are remembered, the latest', () => {
  const buckets = new KeyedBuckets((nowMs) => new TokenBucket(1, 1_000, nowMs), 3);
  for (const key of ['a', 'b', 'c', 'a', 'd']) buckets.take(key, 0);
  expect(buckets.size).toBe(3);
  // `b` was dropped and starts again; `a` was used since.
  expect(buckets.take('a', 0)).toBe(false);
  expect(buckets.take('b', 0)).toBe(true);
});
