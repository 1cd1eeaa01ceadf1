import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadDialect } from '../../src/config/dialect.ts';
import { float, integer } from '../../src/db/columns.ts';
import { row } from '../../src/db/rows.ts';
import { Budget, priorities } from '../../src/practice/budget.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { SimulatedDatabase } from '../budget/database.ts';
import { VirtualBudgets } from '../budget/virtual-budgets.ts';
import { useDatabase } from '../support/database.ts';

const { db, ownerUrl, openPool } = useDatabase();
let simulated: SimulatedDatabase;
beforeAll(async () => {
  simulated = await SimulatedDatabase.open(ownerUrl);
});
afterAll(() => simulated?.close());

const action = 'invoice.list';

/** A test in which all clocks, including the database's, use virtual time. */
const virtually = (work: (world: VirtualBudgets) => Promise<void>) => () => {
  const world = new VirtualBudgets(simulated);
  return world.run(() => work(world));
};

const usageOf = async (budget: Budget) => {
  const found = (await budget.usage()).find((usage) => usage.action === action);
  if (!found) throw new Error(`no budget of ${action}`);
  return found;
};

/**
 * The most weight that a rolling window of a server could have counted, if each request arrived at its latest possible
 * moment.
 */
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
  test(
    'two processes together never exceed it, whenever the requests arrive',
    virtually(async (world) => {
      const pair = world.budgets(action, 10);
      const arrivals: { at: number; weight: number }[] = [];
      const random = seeded(7);
      const requests = Array.from({ length: 36 }, (_, i) => async () => {
        const weight = random() < 0.2 ? 5 : 1;
        const slot = await pair[i % 2]!.take(action, weight, random() < 0.5 ? priorities.live : priorities.backfill);
        const duration = random() * 120;
        const arrival = random() * duration;
        await world.pass(arrival);
        arrivals.push({ at: world.now, weight });
        await world.pass(duration - arrival);
        await slot.finish();
      });
      await Promise.all(requests.map((request) => request()));
      expect(arrivals).toHaveLength(36);
      // Timers are exact to a millisecond.
      expect(mostInAnyWindow(arrivals, 999)).toBeLessThanOrEqual(10);
    }),
  );

  test(
    'a request without an answer counts until its time-out and a window more',
    virtually(async (world) => {
      const [one, other] = world.budgets(action, 1, { windowSeconds: 0.3, requestTimeoutSeconds: 0.5 });
      const started = world.now;
      await one.take(action, 1, priorities.live);
      await other.take(action, 1, priorities.live);
      expect(world.now - started).toBeGreaterThanOrEqual(795);
    }),
  );

  test(
    'an answer shortens that to the window',
    virtually(async (world) => {
      const [one, other] = world.budgets(action, 1, { windowSeconds: 0.3 });
      const slot = await one.take(action, 1, priorities.live);
      await world.pass(100);
      await slot.finish();
      const answered = world.now;
      await other.take(action, 1, priorities.live);
      const waited = world.now - answered;
      expect(waited).toBeGreaterThanOrEqual(290);
      expect(waited).toBeLessThan(2_000);
    }),
  );

  test(
    'a request that never left counts nothing',
    virtually(async (world) => {
      const [one] = world.budgets(action, 1, { windowSeconds: 60 });
      const slot = await one.take(action, 1, priorities.live);
      await slot.finish('notSent');
      expect((await one.take(action, 1, priorities.live)).waitedMs).toBeLessThan(500);
    }),
  );

  test(
    'a slot has the time when it was granted, by the database’s clock; a later one has a later time, even if that clock was set back',
    virtually(async (world) => {
      const [one, other] = world.budgets(action, 20);
      const base = Date.parse('2026-01-01T00:00:00Z');
      world.databaseAheadMs = 7_200_000;
      const first = await one.take(action, 1, priorities.live);
      expect(first.askedAt.getTime() - base - 7_200_000).toBeGreaterThanOrEqual(Math.floor(first.askedMs));
      expect(first.askedAt.getTime() - base - 7_200_000).toBeLessThanOrEqual(world.now);
      world.databaseAheadMs = 0;
      for (let n = 1; n <= 3; n++) {
        await world.pass(500);
        const { askedAt } = await other.take(action, 1, priorities.live);
        expect(askedAt.getTime()).toBeGreaterThanOrEqual(first.askedAt.getTime());
      }
    }),
  );

  test(
    'a clock of the database that was put back by hours holds no slot, claim or pause for hours',
    virtually(async (world) => {
      const [one, other] = world.budgets(action, 2, { windowSeconds: 1 });
      world.databaseAheadMs = 7_200_000;
      for (let n = 0; n < 2; n++) {
        const slot = await one.take(action, 1, priorities.live);
        slot.finish();
        if (n === 1) await slot.throttled(1000);
      }
      world.databaseAheadMs = 0;
      const began = world.now;
      await other.take(action, 1, priorities.live);
      expect(world.now - began).toBeGreaterThan(900);
      expect(world.now - began).toBeLessThan(5_000);
    }),
  );

  test(
    'each action and each installation has its own',
    virtually(async (world) => {
      const [one] = world.budgets(action, 1, { windowSeconds: 60 });
      const elsewhere = { installation: 1_000_000 + world.installation };
      const [another] = world.budgets(action, 1, { windowSeconds: 60, ...elsewhere });
      await one.take(action, 1, priorities.live);
      await one.take('invoicerow.list', 1, priorities.live);
      await another.take(action, 1, priorities.live);
      expect((await one.usage()).map((usage) => [usage.action, usage.used])).toEqual([
        ['invoice.list', 1],
        ['invoicerow.list', 1],
      ]);
    }),
  );
});

describe('reporting finished requests to the database', () => {
  const leftSeconds = async ({ db, installation }: VirtualBudgets) => {
    const { left } = await row(
      db,
      { left: float },
      `select extract(epoch from max(expires_at) - clock_timestamp())::float as left from budget_slot where installation = ?`,
      [installation],
    );
    return left;
  };

  test(
    'it hears in a moment, with the age that the answer has by then',
    virtually(async (world) => {
      const [budget] = world.budgets(action, 20, { windowSeconds: 60 });
      const slot = await budget.take(action, 1, priorities.live);
      expect(await leftSeconds(world)).toBeGreaterThan(88);
      slot.finish();
      await world.until(async () => (await leftSeconds(world)) < 60.04);
      expect(await leftSeconds(world)).toBeGreaterThan(58);
    }),
  );

  test(
    'at once when the budget is closed, and nothing after that',
    virtually(async (world) => {
      const [budget] = world.budgets(action, 20, { windowSeconds: 60 });
      const slots = [await budget.take(action, 1, priorities.live), await budget.take(action, 1, priorities.live)];
      for (const slot of slots) slot.finish();
      await budget.close();
      expect(await leftSeconds(world)).toBeLessThan(60.04);
    }),
  );

  test(
    'a window that became longer counts what was answered before, too',
    virtually(async (world) => {
      const [short] = world.budgets(action, 2, { windowSeconds: 0.2 });
      const slot = await short.take(action, 2, priorities.live);
      slot.finish();
      await short.close();
      const [long] = world.budgets(action, 2, { windowSeconds: 1 });
      await world.pass(250);
      const started = world.now;
      await long.take(action, 1, priorities.live);
      expect(world.now - started).toBeGreaterThan(790);
    }),
  );
});

describe('the order of waiting requests', () => {
  test(
    'weight 20 is not starved by a stream of weight 1 from another process',
    virtually(async (world) => {
      const [heavy, light] = world.budgets(action, 20);
      let stop = false;
      let granted = 0;
      const stream = Array.from({ length: 6 }, async () => {
        while (!stop) {
          await (await light.take(action, 1, priorities.backfill)).finish();
          granted += 1;
        }
      });
      await world.until(() => granted >= 20);
      const slot = await heavy.take(action, 20, priorities.backfill);
      stop = true;
      expect(slot.waitedMs).toBeLessThan(6_000);
      await slot.finish();
      await Promise.all(stream);
    }),
  );

  test(
    'nor by one of the same process',
    virtually(async (world) => {
      const [budget] = world.budgets(action, 20);
      let stop = false;
      let granted = 0;
      const stream = Array.from({ length: 6 }, async () => {
        while (!stop) {
          await (await budget.take(action, 1, priorities.backfill)).finish();
          granted += 1;
        }
      });
      await world.until(() => granted >= 20);
      const slot = await budget.take(action, 20, priorities.backfill);
      stop = true;
      expect(slot.waitedMs).toBeLessThan(6_000);
      await slot.finish();
      await Promise.all(stream);
    }),
  );

  test.each([
    ['in one process', 0],
    ['in another process', 1],
  ])('live work %s goes before a backfill that waits already', (_, place) =>
    virtually(async (world) => {
      const pair = world.budgets(action, 1, { windowSeconds: 0.5 });
      await (await pair[0].take(action, 1, priorities.live)).finish();
      const order: string[] = [];
      const backfills = [1, 2].map(async () => {
        const slot = await pair[0].take(action, 1, priorities.backfill);
        order.push('backfill');
        await slot.finish();
      });
      await world.pass(150);
      const live = pair[place]!.take(action, 1, priorities.live).then(async (slot) => {
        order.push('live');
        await slot.finish();
      });
      await Promise.all([...backfills, live]);
      expect(order).toEqual(['live', 'backfill', 'backfill']);
    })(),
  );

  test(
    'the older of two processes goes first, though the younger has been asking for longer',
    virtually(async (world) => {
      const [one, other] = world.budgets(action, 20, { windowSeconds: 1 });
      await (await one.take(action, 15, priorities.live)).finish();
      const order: string[] = [];
      const take = async (budget: Budget, name: string, weight: number, priority: number) => {
        const slot = await budget.take(action, weight, priority);
        order.push(name);
        slot.finish();
      };
      // A more urgent request of the same process keeps the oldest one from requesting a slot.
      const urgent = take(one, 'urgent', 20, priorities.live);
      const eldest = take(one, 'eldest', 20, priorities.backfill);
      await world.pass(50);
      const younger = take(other, 'younger', 20, priorities.backfill);
      await Promise.all([urgent, eldest, younger]);
      expect(order).toEqual(['urgent', 'eldest', 'younger']);
    }),
  );

  test(
    'a light live request does not wait for the pause of a heavy backfill',
    virtually(async (world) => {
      const [budget] = world.budgets(action, 20, { windowSeconds: 60 });
      await budget.take(action, 5, priorities.live);
      const stop = new AbortController();
      const heavy = budget.take(action, 20, priorities.backfill, stop.signal).catch(() => 'given up');
      await world.pass(100);
      const started = world.now;
      await budget.take(action, 1, priorities.live);
      expect(world.now - started).toBeLessThan(500);
      stop.abort();
      expect(await heavy).toBe('given up');
    }),
  );

  test(
    'the claim of a killed process delays others only for a short time',
    virtually(async (world) => {
      const [, alive] = world.budgets(action, 20);
      const dead = '00000000-0000-4000-8000-000000000000';
      for (const weight of [1, 20]) {
        await world.db.raw(`select budget_take(?, ?, ?, 1, array[0], 20, 1, 1, ?::uuid, 1, '{}', '{}')`, [
          world.installation,
          action,
          weight,
          dead,
        ]);
      }
      expect(await usageOf(alive)).toMatchObject({ used: 1, waiting: 1 });
      const slot = await alive.take(action, 1, priorities.live);
      expect(slot.waitedMs).toBeLessThan(3_000);
    }),
  );
});

describe('after a 429', () => {
  test(
    'no request is sent before the latest Retry-After, whatever came later with less',
    virtually(async (world) => {
      const [one, other] = world.budgets(action, 100);
      const slots = [await one.take(action, 1, priorities.live), await one.take(action, 1, priorities.live)];
      const started = world.now;
      await slots[0]!.throttled(900);
      await slots[1]!.throttled(100);
      await other.take(action, 1, priorities.live);
      expect(world.now - started).toBeGreaterThanOrEqual(890);
    }),
  );

  test(
    'the limit is halved once for requests under way together, and again for a later one',
    virtually(async (world) => {
      const [one, other] = world.budgets(action, 40, { windowSeconds: 60 });
      const slots = [await one.take(action, 1, priorities.live), await other.take(action, 1, priorities.live)];
      for (const slot of slots) await slot.throttled(1);
      expect(await usageOf(other)).toMatchObject({ limit: 40, limitNow: 20 });
      await world.pass(10);
      await (await other.take(action, 1, priorities.live)).throttled(1);
      expect(await usageOf(one)).toMatchObject({ limit: 40, limitNow: 10 });
    }),
  );

  test(
    'it regains a tenth of the whole per clean window',
    virtually(async (world) => {
      const [budget] = world.budgets(action, 40, { windowSeconds: 60 });
      await (await budget.take(action, 1, priorities.live)).throttled(1000);
      const expected = [20, 20, 24, 28, 32, 36, 40, 40];
      const after = [0, 61, 62, 121.5, 181.5, 241.5, 301.5, 10_000].map((seconds) => Math.max(0, seconds - 0.5));
      const seen: number[] = [];
      for (const seconds of after) {
        const found = await row(
          world.db,
          { limit: integer },
          `select budget_limit(full_limit, share, regains_from - make_interval(secs => ?), window_seconds) as "limit"
         from budget where installation = ?`,
          [seconds, world.installation],
        );
        seen.push(found.limit);
      }
      expect(seen).toEqual(expected);
    }),
  );

  test(
    'a weight above the halved limit is granted when nothing else is under way',
    virtually(async (world) => {
      const [one, other] = world.budgets(action, 20);
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
    }),
  );

  test(
    'the limit never falls below 1',
    virtually(async (world) => {
      const [budget] = world.budgets(action, 1);
      await (await budget.take(action, 1, priorities.live)).throttled(1);
      expect(await usageOf(budget)).toMatchObject({ limitNow: 1 });
    }),
  );
});

describe('waiting', () => {
  test(
    'is reported while it passes, and adds up',
    virtually(async (world) => {
      const [budget] = world.budgets(action, 1, { windowSeconds: 0.5 });
      await (await budget.take(action, 1, priorities.live)).finish();
      const told: number[] = [];
      const slot = await budget.take(action, 1, priorities.live, undefined, (ms, of) => {
        expect(of).toBe(action);
        told.push(ms);
      });
      expect(told.length).toBeGreaterThan(2);
      expect(told.reduce((sum, ms) => sum + ms, 0)).toBeCloseTo(slot.waitedMs, -2);
      expect(slot.waitedMs).toBeGreaterThan(400);
    }),
  );

  test(
    'a slow database is no waiting',
    virtually(async (world) => {
      const [budget] = world.budgets(action, 1);
      world.latencyMs = 300;
      const started = world.now;
      const slot = await budget.take(action, 1, priorities.live);
      expect(world.now - started).toBeGreaterThan(200);
      expect(slot.waitedMs).toBeLessThan(100);
    }),
  );

  test(
    'ends with the signal, and gives up its claim',
    virtually(async (world) => {
      const [budget, other] = world.budgets(action, 1, { windowSeconds: 60 });
      await budget.take(action, 1, priorities.live);
      const stop = new AbortController();
      const waiting = budget.take(action, 1, priorities.live, stop.signal);
      const queued = budget.take(action, 1, priorities.live, stop.signal);
      await world.until(async () => (await usageOf(other)).waiting === 1);
      stop.abort(new Error('the window is over'));
      await expect(waiting).rejects.toThrow('the window is over');
      await expect(queued).rejects.toThrow('the window is over');
      await world.until(async () => (await usageOf(other)).waiting === 0, 1_000);
      await expect(budget.take(action, 1, priorities.live, stop.signal)).rejects.toThrow('the window is over');
    }),
  );

  test(
    'is bounded',
    virtually(async (world) => {
      const [budget] = world.budgets(action, 1, { windowSeconds: 60, maxWaitSeconds: 0.3 });
      await budget.take(action, 1, priorities.live);
      await expect(budget.take(action, 1, priorities.live)).rejects.toMatchObject({
        code: 'throttled',
        message: 'the rate budget of invoice.list had no room for a request within 0.3 s',
      });
    }),
  );

  test('the wait is estimated for several requests', async () => {
    const dialect = loadDialect({ limits: { actions: { [action]: 3 } } });
    const installation = 880_001;
    const budget = new Budget({
      ...{ db, installation, dialect, windowSeconds: 60, requestTimeoutSeconds: 1, clock: systemClock },
    });
    expect(await budget.roomInMs(action, 3)).toBe(0);
    for (const slot of [await budget.take(action, 1, 1), await budget.take(action, 1, 1)]) slot.finish();
    await budget.close();
    expect(await budget.roomInMs(action, 1)).toBe(0);
    for (const requests of [2, 30]) {
      const waitMs = await budget.roomInMs(action, requests);
      expect(waitMs).toBeGreaterThan(30_000);
      expect(waitMs).toBeLessThan(62_000);
    }
  });

  test('holds no connection', async () => {
    const dialect = loadDialect({ limits: { actions: { [action]: 1 } } });
    const options = {
      installation: 1_000_000,
      dialect,
      windowSeconds: 60,
      requestTimeoutSeconds: 1,
      clock: systemClock,
    };
    const narrow = openPool({ max: 1 });
    const observer = new Budget({ ...options, db });
    const budget = new Budget({ ...options, db: narrow });
    await budget.take(action, 1, priorities.live);
    const stop = new AbortController();
    const waiting = budget.take(action, 1, priorities.live, stop.signal).catch(() => 'ended');
    await expect.poll(async () => (await usageOf(observer)).waiting).toBe(1);
    const started = performance.now();
    for (let i = 0; i < 5; i++) await narrow.raw('select 1');
    expect(performance.now() - started).toBeLessThan(500);
    stop.abort();
    await waiting;
    await expect.poll(async () => (await usageOf(observer)).waiting).toBe(0);
  });
});

test(
  'old slots are pruned',
  virtually(async (world) => {
    const [budget] = world.budgets(action, 50, { windowSeconds: 0.1 });
    for (let i = 0; i < 5; i++) await (await budget.take(action, 1, priorities.live)).finish();
    await world.pass(150);
    await budget.take(action, 1, priorities.live);
    const slots = await row(world.db, { n: integer }, 'select count(*) as n from budget_slot where installation = ?', [
      world.installation,
    ]);
    expect(slots.n).toBe(1);
  }),
);

/** A seeded generator, so that a failure can be repeated. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}
