import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';

import type { Db } from '../../src/db/pool.ts';
import { Budget, type BudgetOptions, priorities } from '../../src/practice/budget.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { useDatabase } from '../support/database.ts';

const { db, openPool } = useDatabase();
const otherDb = openPool();
let nextInstallation = 1;

const action = 'invoice.list';

/** Budgets of one fresh installation, as processes with pools of their own would have them. */
function budgets(limit: number, options: Partial<BudgetOptions> = {}): [Budget, Budget] {
  const installation = nextInstallation++;
  const dialect = loadDialect({ limits: { actions: { [action]: limit } } });
  const make = (pool: Db) =>
    new Budget({
      db: pool,
      installation,
      dialect,
      windowSeconds: 1,
      requestTimeoutSeconds: 30,
      clock: systemClock,
      ...options,
    });
  return [make(db), make(otherDb)];
}

const usageOf = async (budget: Budget) => (await budget.usage()).find((usage) => usage.action === action)!;

/** Most weight that a rolling window of a server could have counted, each request at its latest possible moment. */
function mostInAnyWindow(requests: { at: number; weight: number }[], windowMs: number): number {
  return Math.max(
    ...requests.map(({ at }) =>
      requests
        .filter((other) => other.at > at - windowMs && other.at <= at)
        .reduce((sum, each) => sum + each.weight, 0),
    ),
  );
}

describe('the rolling window', () => {
  test('two processes together never exceed it, whenever the requests arrive', { timeout: 60_000 }, async () => {
    const pair = budgets(10);
    const arrivals: { at: number; weight: number }[] = [];
    const random = seeded(7);
    const requests = Array.from({ length: 36 }, (_, i) => async () => {
      const weight = random() < 0.2 ? 5 : 1;
      const slot = await pair[i % 2]!.take(action, weight, random() < 0.5 ? priorities.live : priorities.backfill);
      const duration = random() * 120;
      const arrival = random() * duration;
      await sleep(arrival);
      arrivals.push({ at: performance.now(), weight });
      await sleep(duration - arrival);
      await slot.finish();
    });
    await Promise.all(requests.map((request) => request()));
    expect(arrivals).toHaveLength(36);
    // Timers have a grain of a millisecond.
    expect(mostInAnyWindow(arrivals, 999)).toBeLessThanOrEqual(10);
  });

  test('a request without an answer counts until its time-out and a window more', async () => {
    const [one, other] = budgets(1, { windowSeconds: 0.3, requestTimeoutSeconds: 0.5 });
    const started = performance.now();
    await one.take(action, 1, priorities.live);
    await other.take(action, 1, priorities.live);
    expect(performance.now() - started).toBeGreaterThanOrEqual(795);
  });

  test('an answer shortens that to the window', async () => {
    const [one, other] = budgets(1, { windowSeconds: 0.3 });
    const slot = await one.take(action, 1, priorities.live);
    await sleep(100);
    await slot.finish();
    const answered = performance.now();
    await other.take(action, 1, priorities.live);
    const waited = performance.now() - answered;
    expect(waited).toBeGreaterThanOrEqual(290);
    expect(waited).toBeLessThan(2_000);
  });

  test('a request that never left counts nothing', async () => {
    const [one] = budgets(1, { windowSeconds: 60 });
    const slot = await one.take(action, 1, priorities.live);
    await slot.finish('notSent');
    expect((await one.take(action, 1, priorities.live)).waitedMs).toBeLessThan(500);
  });

  test('each action and each installation has its own', async () => {
    const [one] = budgets(1, { windowSeconds: 60 });
    const [another] = budgets(1, { windowSeconds: 60 });
    await one.take(action, 1, priorities.live);
    await one.take('invoicerow.list', 1, priorities.live);
    await another.take(action, 1, priorities.live);
    expect((await one.usage()).map((usage) => [usage.action, usage.used])).toEqual([
      ['invoice.list', 1],
      ['invoicerow.list', 1],
    ]);
  });
});

describe('what the database hears of answers', () => {
  const leftSeconds = async () => {
    const { rows } = await db.raw(
      `select extract(epoch from max(expires_at) - clock_timestamp())::float as left from budget_slot where installation = ?`,
      [nextInstallation - 1],
    );
    return rows[0].left as number;
  };

  test('it hears in a moment, with the age that the answer has by then', async () => {
    const [budget] = budgets(20, { windowSeconds: 60 });
    const slot = await budget.take(action, 1, priorities.live);
    expect(await leftSeconds()).toBeGreaterThan(88);
    slot.finish();
    await expect.poll(leftSeconds, { interval: 20 }).toBeLessThan(60.04);
    expect(await leftSeconds()).toBeGreaterThan(58);
  });

  test('at once when the budget is closed, and nothing after that', async () => {
    const [budget] = budgets(20, { windowSeconds: 60 });
    const slots = [await budget.take(action, 1, priorities.live), await budget.take(action, 1, priorities.live)];
    for (const slot of slots) slot.finish();
    await budget.close();
    expect(await leftSeconds()).toBeLessThan(60.04);
  });

  test('a window that became longer counts what was answered before, too', async () => {
    const [short] = budgets(2, { windowSeconds: 0.2 });
    const slot = await short.take(action, 2, priorities.live);
    slot.finish();
    await short.close();
    const dialect = loadDialect({ limits: { actions: { [action]: 2 } } });
    const options = { clock: systemClock, db, installation: nextInstallation - 1, dialect, requestTimeoutSeconds: 30 };
    await sleep(250);
    const started = performance.now();
    await new Budget({ ...options, windowSeconds: 1 }).take(action, 1, priorities.live);
    expect(performance.now() - started).toBeGreaterThan(790);
  });
});

describe('who goes first', () => {
  test('weight 20 is not starved by a stream of weight 1 from another process', { timeout: 30_000 }, async () => {
    const [heavy, light] = budgets(20);
    let stop = false;
    let granted = 0;
    const stream = Array.from({ length: 6 }, async () => {
      while (!stop) {
        await (await light.take(action, 1, priorities.backfill)).finish();
        granted += 1;
      }
    });
    await expect.poll(() => granted, { timeout: 5_000 }).toBeGreaterThanOrEqual(20);
    const slot = await heavy.take(action, 20, priorities.backfill);
    stop = true;
    expect(slot.waitedMs).toBeLessThan(6_000);
    await slot.finish();
    await Promise.all(stream);
  });

  test('nor by one of its own process', { timeout: 30_000 }, async () => {
    const [budget] = budgets(20);
    let stop = false;
    let granted = 0;
    const stream = Array.from({ length: 6 }, async () => {
      while (!stop) {
        await (await budget.take(action, 1, priorities.backfill)).finish();
        granted += 1;
      }
    });
    await expect.poll(() => granted, { timeout: 5_000 }).toBeGreaterThanOrEqual(20);
    const slot = await budget.take(action, 20, priorities.backfill);
    stop = true;
    expect(slot.waitedMs).toBeLessThan(6_000);
    await slot.finish();
    await Promise.all(stream);
  });

  test.each([
    ['in one process', 0],
    ['in another process', 1],
  ])('live work %s goes before a backfill that waits already', async (_, place) => {
    const pair = budgets(1, { windowSeconds: 0.5 });
    await (await pair[0].take(action, 1, priorities.live)).finish();
    const order: string[] = [];
    const backfills = [1, 2].map(async () => {
      const slot = await pair[0].take(action, 1, priorities.backfill);
      order.push('backfill');
      await slot.finish();
    });
    await sleep(150);
    const live = pair[place]!.take(action, 1, priorities.live).then(async (slot) => {
      order.push('live');
      await slot.finish();
    });
    await Promise.all([...backfills, live]);
    expect(order).toEqual(['live', 'backfill', 'backfill']);
  });

  test('the older of two processes goes first, though the younger has been asking for longer', async () => {
    const [one, other] = budgets(20, { windowSeconds: 1 });
    await (await one.take(action, 15, priorities.live)).finish();
    const order: string[] = [];
    const take = async (budget: Budget, name: string, weight: number, priority: number) => {
      const slot = await budget.take(action, weight, priority);
      order.push(name);
      slot.finish();
    };
    // What is more urgent in its own process keeps the eldest from asking.
    const urgent = take(one, 'urgent', 20, priorities.live);
    const eldest = take(one, 'eldest', 20, priorities.backfill);
    await sleep(50);
    const younger = take(other, 'younger', 20, priorities.backfill);
    await Promise.all([urgent, eldest, younger]);
    expect(order).toEqual(['urgent', 'eldest', 'younger']);
  });

  test('a light live request does not wait for the pause of a heavy backfill', async () => {
    const [budget] = budgets(20, { windowSeconds: 60 });
    await budget.take(action, 5, priorities.live);
    const stop = new AbortController();
    const heavy = budget.take(action, 20, priorities.backfill, stop.signal).catch(() => 'given up');
    await sleep(100);
    const started = performance.now();
    await budget.take(action, 1, priorities.live);
    expect(performance.now() - started).toBeLessThan(500);
    stop.abort();
    expect(await heavy).toBe('given up');
  });

  test('the claim of a killed process holds nobody up for long', async () => {
    const [, alive] = budgets(20);
    const dead = '00000000-0000-4000-8000-000000000000';
    for (const weight of [1, 20]) {
      await db.raw(`select budget_take(?, ?, ?, 1, 0, 20, 1, 1, ?::uuid, 1, '{}', '{}')`, [
        nextInstallation - 1,
        action,
        weight,
        dead,
      ]);
    }
    expect(await usageOf(alive)).toMatchObject({ used: 1, waiting: 1 });
    const slot = await alive.take(action, 1, priorities.live);
    expect(slot.waitedMs).toBeLessThan(3_000);
  });
});

describe('after a 429', () => {
  test('nobody asks before the latest Retry-After, whatever came later with less', async () => {
    const [one, other] = budgets(100);
    const slots = [await one.take(action, 1, priorities.live), await one.take(action, 1, priorities.live)];
    const started = performance.now();
    await slots[0]!.throttled(900);
    await slots[1]!.throttled(100);
    await other.take(action, 1, priorities.live);
    expect(performance.now() - started).toBeGreaterThanOrEqual(890);
  });

  test('the limit is halved once for requests under way together, and again for a later one', async () => {
    const [one, other] = budgets(40, { windowSeconds: 60 });
    const slots = [await one.take(action, 1, priorities.live), await other.take(action, 1, priorities.live)];
    for (const slot of slots) await slot.throttled(1);
    expect(await usageOf(other)).toMatchObject({ limit: 40, limitNow: 20 });
    await sleep(10);
    await (await other.take(action, 1, priorities.live)).throttled(1);
    expect(await usageOf(one)).toMatchObject({ limit: 40, limitNow: 10 });
  });

  test('it regains a tenth of the whole per clean window', async () => {
    const [budget] = budgets(40, { windowSeconds: 60 });
    await (await budget.take(action, 1, priorities.live)).throttled(1000);
    const expected = [20, 20, 24, 28, 32, 36, 40, 40];
    const after = [0, 61, 62, 121.5, 181.5, 241.5, 301.5, 10_000].map((seconds) => Math.max(0, seconds - 0.5));
    const seen: number[] = [];
    for (const seconds of after) {
      const { rows } = await db.raw(
        `select budget_limit(full_limit, share, regains_from - make_interval(secs => ?), window_seconds) as "limit"
         from budget where installation = ?`,
        [seconds, nextInstallation - 1],
      );
      seen.push(rows[0].limit);
    }
    expect(seen).toEqual(expected);
  });

  test('a weight above the halved limit is granted when nothing else is under way', async () => {
    const [one, other] = budgets(20);
    const slot = await one.take(action, 20, priorities.live);
    await slot.throttled(100);
    await slot.finish();
    expect(await usageOf(one)).toMatchObject({ limitNow: 10 });
    const light = (async () => {
      for (let i = 0; i < 4; i++) await (await other.take(action, 1, priorities.live)).finish();
    })();
    const heavy = await one.take(action, 20, priorities.live);
    expect(heavy.waitedMs).toBeLessThan(6_000);
    await heavy.finish();
    await light;
  });

  test('the limit never falls below 1', async () => {
    const [budget] = budgets(1);
    await (await budget.take(action, 1, priorities.live)).throttled(1);
    expect(await usageOf(budget)).toMatchObject({ limitNow: 1 });
  });
});

describe('waiting', () => {
  test('is told as it passes, and adds up', async () => {
    const [budget] = budgets(1, { windowSeconds: 0.5 });
    await (await budget.take(action, 1, priorities.live)).finish();
    const told: number[] = [];
    const slot = await budget.take(action, 1, priorities.live, undefined, (ms, of) => {
      expect(of).toBe(action);
      told.push(ms);
    });
    expect(told.length).toBeGreaterThan(2);
    expect(told.reduce((sum, ms) => sum + ms, 0)).toBeCloseTo(slot.waitedMs, -2);
    expect(slot.waitedMs).toBeGreaterThan(400);
  });

  test('a slow database is no waiting', async () => {
    const [budget] = budgets(1);
    const holder = otherDb.transaction(async (trx) => {
      await trx.raw('select budget_lock(?, ?)', [nextInstallation - 1, action]);
      await sleep(400);
    });
    await sleep(100);
    const started = performance.now();
    const slot = await budget.take(action, 1, priorities.live);
    expect(performance.now() - started).toBeGreaterThan(200);
    expect(slot.waitedMs).toBeLessThan(100);
    await holder;
  });

  test('ends with the signal, and gives up its claim', async () => {
    const [budget, other] = budgets(1, { windowSeconds: 60 });
    await budget.take(action, 1, priorities.live);
    const stop = new AbortController();
    const waiting = budget.take(action, 1, priorities.live, stop.signal);
    const queued = budget.take(action, 1, priorities.live, stop.signal);
    await expect.poll(async () => (await usageOf(other)).waiting).toBe(1);
    stop.abort(new Error('the window is over'));
    await expect(waiting).rejects.toThrow('the window is over');
    await expect(queued).rejects.toThrow('the window is over');
    await expect.poll(async () => (await usageOf(other)).waiting, { timeout: 1_000 }).toBe(0);
    await expect(budget.take(action, 1, priorities.live, stop.signal)).rejects.toThrow('the window is over');
  });

  test('is bounded', async () => {
    const [budget] = budgets(1, { windowSeconds: 60, maxWaitSeconds: 0.3 });
    await budget.take(action, 1, priorities.live);
    await expect(budget.take(action, 1, priorities.live)).rejects.toMatchObject({
      code: 'throttled',
      message: 'the rate budget of invoice.list had no room for a request in 0.3 s',
    });
  });

  test('holds no connection', async () => {
    const installation = nextInstallation++;
    const narrow = openPool({ max: 1 });
    try {
      const dialect = loadDialect({ limits: { actions: { [action]: 1 } } });
      const budget = new Budget({
        db: narrow,
        installation,
        dialect,
        windowSeconds: 60,
        requestTimeoutSeconds: 1,
        clock: systemClock,
      });
      await budget.take(action, 1, priorities.live);
      const stop = new AbortController();
      const waiting = budget.take(action, 1, priorities.live, stop.signal).catch(() => 'ended');
      await sleep(50);
      const started = performance.now();
      for (let i = 0; i < 5; i++) await narrow.raw('select 1');
      expect(performance.now() - started).toBeLessThan(500);
      stop.abort();
      await waiting;
      await expect.poll(async () => (await usageOf(budget)).waiting).toBe(0);
    } finally {
      await narrow.destroy();
    }
  });
});

test('old slots are pruned', async () => {
  const [budget] = budgets(50, { windowSeconds: 0.1 });
  for (let i = 0; i < 5; i++) await (await budget.take(action, 1, priorities.live)).finish();
  await sleep(150);
  await budget.take(action, 1, priorities.live);
  const { rows } = await db.raw('select count(*)::int as n from budget_slot where installation = ?', [
    nextInstallation - 1,
  ]);
  expect(rows[0].n).toBe(1);
});

/** A small generator of its own, so that a failure can be run again. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}
