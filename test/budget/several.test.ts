import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { priorities } from '../../src/practice/budget.ts';
import { useDatabase } from '../support/database.ts';
import { runs } from '../support/runs.ts';
import { SimulatedDatabase } from './database.ts';
import { VirtualBudgets } from './virtual-budgets.ts';

const { ownerUrl } = useDatabase();
let simulated: SimulatedDatabase;
beforeAll(async () => {
  simulated = await SimulatedDatabase.open(ownerUrl);
});
afterAll(() => simulated?.close());

const action = 'invoice.list';

interface Situation {
  limit: number;
  /** The weights of requests under way. */
  underWay: number[];
  /** The claims of other processes. */
  claims: { weight: number; priority: number; ageSeconds: number }[];
  asked: { weight: number; priority: number; agesSeconds: number[] };
}

const priority = fc.constantFrom(priorities.live, priorities.backfill);
const weight = fc.integer({ min: 1, max: 6 });
const age = fc.integer({ min: 0, max: 20 });

const situations: fc.Arbitrary<Situation> = fc.record({
  limit: fc.integer({ min: 1, max: 40 }),
  underWay: fc.array(weight, { maxLength: 5 }),
  claims: fc.array(fc.record({ weight, priority, ageSeconds: age.map((half) => half + 0.5) }), { maxLength: 3 }),
  asked: fc.record({
    weight,
    priority,
    agesSeconds: fc.array(age, { minLength: 1, maxLength: 16 }).map((ages) => ages.sort((a, b) => b - a)),
  }),
});

/** The peer: applies the rules of one request in turn. A claim counts as used for later ones. */
function fitting({ limit, underWay, claims, asked }: Situation): number {
  let used = underWay.reduce((sum, each) => sum + each, 0);
  let granted = 0;
  for (const ageSeconds of asked.agesSeconds) {
    const ahead = claims
      .filter(
        (one) => one.priority < asked.priority || (one.priority === asked.priority && one.ageSeconds > ageSeconds),
      )
      .reduce((sum, one) => sum + one.weight, 0);
    if (used + ahead > 0 && used + ahead + asked.weight > limit) break;
    used += asked.weight;
    granted += 1;
  }
  return granted;
}

test('of several requests as many are granted as would be one after the other, in the order of their ages', async () => {
  await fc.assert(
    fc.asyncProperty(situations, async (situation) => {
      const world = new VirtualBudgets(simulated);
      const { limit, underWay, claims, asked } = situation;
      const { installation, db } = world;
      await world.run(async () => {
        const [empty] = world.budgets(action, 1000);
        for (const one of underWay) await empty.take(action, one, priorities.live);
        await empty.close();
        for (const one of claims) {
          await db.raw(
            `insert into budget_claim (installation, action, claimant, weight, priority, claimed_at, expires_at)
             values (?, ?, gen_random_uuid(), ?, ?, clock_timestamp() - make_interval(secs => ?), clock_timestamp() + interval '1 hour')`,
            [installation, action, one.weight, one.priority, one.ageSeconds],
          );
        }
        const { rows } = (await db.raw(
          `select slot_id, wait_ms, asked_at::text as asked_at from budget_take(
             ?, ?, ?, ?, ?::double precision[], ?, 1, 60, gen_random_uuid(), 5, '{}', '{}')`,
          [installation, action, asked.weight, asked.priority, asked.agesSeconds as never, limit],
        )) as unknown as { rows: { slot_id: number | null; wait_ms: number | null; asked_at: string | null }[] };
        const expected = fitting(situation);
        const granted = rows.filter(({ slot_id }) => slot_id !== null);
        expect(granted).toHaveLength(expected);
        expect(rows).toHaveLength(Math.max(1, expected));
        // Each slot has a different time in order of the slots. A claim is left only if no slot was granted.
        expect(new Set(granted.map(({ asked_at }) => asked_at)).size).toBe(expected);
        const times = granted.map(({ asked_at }) => asked_at!);
        expect(times).toEqual(times.toSorted());
        const { rows: left } = (await db.raw(
          `select (select coalesce(sum(weight), 0)::int from budget_slot where installation = ?) as used,
             (select count(*)::int from budget_claim where installation = ?) as waiting`,
          [installation, installation],
        )) as unknown as { rows: { used: number; waiting: number }[] };
        const before = underWay.reduce((sum, each) => sum + each, 0);
        expect(left[0]).toEqual({
          used: before + expected * asked.weight,
          waiting: claims.length + (expected === 0 ? 1 : 0),
        });
      });
    }),
    { numRuns: runs(150), seed: 20_261_123 },
  );
});

test('requests that wait together are granted by one statement, those of another weight by the next', async () => {
  const world = new VirtualBudgets(simulated);
  const asked: { weight: unknown; ages: number }[] = [];
  const raw = world.db.raw.bind(world.db) as (sql: string, bindings: unknown[]) => Promise<unknown>;
  const db = {
    raw: (sql: string, bindings: unknown[]) => {
      if (sql.includes('budget_take')) asked.push({ weight: bindings[2], ages: (bindings[4] as number[]).length });
      return raw(sql, bindings);
    },
  };
  await world.run(async () => {
    const [budget] = world.budgets(action, 100, { db: db as never });
    const weights = [1, 1, 1, 1, 5, 1, 1];
    const slots = await Promise.all(weights.map((one) => budget.take(action, one, priorities.live)));
    expect(new Set(slots.map(({ id }) => id)).size).toBe(weights.length);
    const together = asked.reduce((sum, { ages }) => sum + ages, 0);
    expect(together).toBe(weights.length);
    expect(asked).toEqual([
      { weight: 1, ages: 4 },
      { weight: 5, ages: 1 },
      { weight: 1, ages: 2 },
    ]);
  });
});

test('who leaves while several are asked for gives the slot back, and the others keep theirs', async () => {
  const world = new VirtualBudgets(simulated);
  await world.run(async () => {
    const [budget] = world.budgets(action, 3, { windowSeconds: 60 });
    const leaving = new AbortController();
    const gone = budget.take(action, 1, priorities.live, leaving.signal).catch(() => 'gone');
    const others = [budget.take(action, 1, priorities.live), budget.take(action, 1, priorities.live)];
    world.time.at(world.now + 0.1, () => leaving.abort());
    expect(await gone).toBe('gone');
    await Promise.all(others);
    const last = await budget.take(action, 1, priorities.live);
    expect(last.waitedMs).toBeLessThan(500);
  });
});
