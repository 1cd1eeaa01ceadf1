import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Budget, priorities } from '../../src/practice/budget.ts';
import { useDatabase } from '../support/database.ts';
import { SimulatedDatabase } from './database.ts';
import { seeded } from './scenario.ts';
import { VirtualBudgets } from './virtual-budgets.ts';

const { ownerUrl } = useDatabase();
let simulated: SimulatedDatabase;
beforeAll(async () => {
  simulated = await SimulatedDatabase.open(ownerUrl);
});
afterAll(() => simulated?.close());

const action = 'invoicerow.list';
const limit = 100;
const windowSeconds = 10;
const windowMs = windowSeconds * 1000;
const pageWeight = 20;
const answersMs = 40;
const periods = 30;

/** A request with the time at which it arrives. */
interface Job {
  atMs: number;
  weight: number;
  process: 0 | 1;
  priority: number;
  isThrottled: boolean;
}

/**
 * Bursts of live and backfill requests, of which each rolling window has at most `mostWeight`. The source refuses one
 * with a 429.
 */
function work(seed: number, mostWeight: number): Job[] {
  const random = seeded(seed);
  const jobs: Job[] = [];
  for (let period = 0; period < periods; period++) {
    const from = period * 1.2 * windowMs;
    let left = Math.floor(mostWeight / 2);
    for (let burst = from + random() * windowMs; left > 0 && random() < 0.9; burst += random() * 50) {
      const weight = Math.min(left, random() < 0.5 ? 1 : Math.ceil(random() * 20));
      left -= weight;
      const priority = random() < 0.7 ? priorities.live : priorities.backfill;
      jobs.push({ atMs: burst, weight, process: random() < 0.5 ? 0 : 1, priority, isThrottled: jobs.length === 40 });
    }
  }
  return jobs;
}

interface Run {
  /** The wait of each request, and the time of its grant. */
  waits: { waitedMs: number; grantedMs: number }[];
  /** The weight that the scrub was granted. */
  scrubbed: number;
}

/**
 * Runs the work. `behind` is the weight of a background client that requests one page after the other without a pause;
 * null means none.
 */
async function run(jobs: Job[], behind: number | null, backgroundShare = 0): Promise<Run> {
  const world = new VirtualBudgets(simulated);
  const done: Run = { waits: [], scrubbed: 0 };
  await world.run(async () => {
    const options = { windowSeconds, maxWaitSeconds: 1e6, backgroundShare };
    const budgets = world.budgets(action, limit, options);
    const stop = new AbortController();
    const scrub = behind === null ? null : scrubbing(world, budgets[0], behind, stop.signal, done);
    await Promise.all(
      jobs.map(async (job, at) => {
        await world.pass(job.atMs);
        const cameMs = world.now;
        const slot = await budgets[job.process].take(action, job.weight, job.priority);
        done.waits[at] = { waitedMs: world.now - cameMs, grantedMs: world.now };
        await world.pass(answersMs);
        slot.finish();
        if (job.isThrottled) await slot.throttled(25_000);
      }),
    );
    stop.abort();
    await scrub;
  });
  return done;
}

async function scrubbing(world: VirtualBudgets, budget: Budget, priority: number, signal: AbortSignal, done: Run) {
  while (!signal.aborted) {
    const slot = await budget.take(action, pageWeight, priority, signal).catch(() => null);
    if (slot === null) return;
    done.scrubbed += pageWeight;
    await world.pass(answersMs);
    slot.finish();
  }
}

/** After a 429, half of the limit applies. The scrub leaves all of it except one page. */
const leftToOthers = limit / 2 - pageWeight;

test.each([11, 12, 13])('no request waits a moment longer with a scrub that always asks, seed %i', async (seed) => {
  const jobs = work(seed, leftToOthers);
  const without = await run(jobs, null);
  const beside = await run(jobs, priorities.scrub);
  expect(beside.waits).toEqual(without.waits);
  // The scrub gets a share, and other requests wait because of the 429.
  expect(beside.scrubbed).toBeGreaterThan(periods * pageWeight * 0.5);
  expect(Math.max(...without.waits.map(({ waitedMs }) => waitedMs))).toBeGreaterThan(1_000);
});

test('the same pages at the priority of a backfill make them wait', async () => {
  const jobs = work(11, leftToOthers);
  const without = await run(jobs, null);
  const beside = await run(jobs, priorities.backfill);
  expect(beside.waits).not.toEqual(without.waits);
});

/** More work than the budget has room for, at all times. */
const tooMuch: Job[] = Array.from({ length: 120 }, (_, at) => ({
  ...{ atMs: at, weight: pageWeight, process: at % 2 === 0 ? 0 : 1, priority: priorities.live, isThrottled: false },
}));

test('while requests wait the scrub gets nothing, and with scrub_min_share that share', async () => {
  const starved = await run(tooMuch, priorities.scrub);
  // The weight that the scrub got before other requests waited.
  expect(starved.scrubbed).toBeLessThanOrEqual(pageWeight);
  const shared = await run(tooMuch, priorities.scrub, 0.2);
  const total = tooMuch.length * pageWeight + shared.scrubbed;
  expect(shared.scrubbed / total).toBeGreaterThan(0.17);
  expect(shared.scrubbed / total).toBeLessThan(0.21);
});
