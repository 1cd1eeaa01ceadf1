import { expect, test } from 'vitest';
import { NameCache } from '../../src/erp/targets/api/names.ts';

const load = async (names: string[]) => new Map(names.map((name) => [name, [Number(name)]]));
const none = async () => new Map<string, number[]>();

function cacheAt(time: { ms: number }): NameCache<number> {
  const clock = { elapsed: () => time.ms, now: () => time.ms, sleep: () => Promise.reject(new Error('nobody sleeps')) };
  return new NameCache(clock, { maxAgeMs: 1_000, most: 2 });
}

test('cached names are answered, even with many others in the request', async () => {
  const cache = cacheAt({ ms: 0 });
  await cache.get(['1', '2'], load);
  expect([...(await cache.get(['1', '2', '3'], load))]).toEqual([
    ['1', [1]],
    ['2', [2]],
    ['3', [3]],
  ]);
  expect([...(await cache.get(['3'], none))]).toEqual([['3', [3]]]);
});

test('a deleted record is not answered after its cache time', async () => {
  const time = { ms: 0 };
  const cache = cacheAt(time);
  await cache.get(['1'], load);
  time.ms = 999;
  expect([...(await cache.get(['1'], none))]).toEqual([['1', [1]]]);
  time.ms = 1_000;
  expect([...(await cache.get(['1'], none))]).toEqual([['1', []]]);
});

test('names that are cleared during a request are still answered', async () => {
  const cache = cacheAt({ ms: 0 });
  await cache.get(['1'], load);
  const answer = await cache.get(['1', '2'], async (names) => {
    cache.clear();
    return load(names);
  });
  expect([...answer]).toEqual([
    ['1', [1]],
    ['2', [2]],
  ]);
});
