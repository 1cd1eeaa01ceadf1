import fc from 'fast-check';
import { priorities } from '../../src/practice/budget.ts';

/** The outcome of one request. */
export type Fate = 'answered' | 'unanswered' | 'notSent' | 'crashBeforeSending' | 'crashBeforeFinishing';

export interface Job {
  weight: number;
  priority: number;
  /** The time between the previous request of its stream and this one. */
  thinkMs: number;
  fate: Fate;
}

export interface Scenario {
  /** The seed of everything else: latencies, moments of arrival, timer errors. */
  seed: number;
  limit: number;
  windowSeconds: number;
  requestTimeoutSeconds: number;
  latencyMs: { shortest: number; longest: number };
  longestQueryMs: number;
  /** The clocks of the database and of the server: their offsets and their pace. */
  clocks: { databaseOffsetMs: number; databasePace: number; serverPace: number };
  serverCountsRefused: boolean;
  /** Processes, each with streams of jobs that it runs in parallel. */
  processes: Job[][][];
  /** Other programs that use the same installation: when, as a share of the run's first ten windows, and how much. */
  foreign: { at: number; weight: number }[];
  /** The server changes its window, and our processes restart with the new one. */
  windowChange: { atMs: number; windowSeconds: number } | null;
}

const priority = fc.constantFrom(priorities.live, priorities.backfill, priorities.backfill);
const weight = fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 20 }), fc.constant(20));
// NTP adjusts a clock by at most 500 ppm; the two clocks together stay within that.
const pace = fc.integer({ min: -240, max: 240 }).map((ppm) => 1 + ppm / 1e6);

function job(fates: fc.Arbitrary<Fate>): fc.Arbitrary<Job> {
  const thinkMs = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3000 }));
  return fc.record({ weight, priority, thinkMs, fate: fates });
}

/** Many equal requests at a time, so that some wait together for a slot. */
const rush: fc.Arbitrary<Job[][]> = fc
  .record({ weight, priority, atATime: fc.integer({ min: 5, max: 24 }), each: fc.integer({ min: 1, max: 3 }) })
  .map(({ atATime, each, ...alike }) =>
    Array.from({ length: atATime }, () =>
      Array.from({ length: each }, () => ({ ...alike, thinkMs: 0, fate: 'answered' })),
    ),
  );

const calm = fc.constant<Fate>('answered');
const stormy: fc.Arbitrary<Fate> = fc.oneof(
  { weight: 16, arbitrary: calm },
  { weight: 2, arbitrary: fc.constant<Fate>('unanswered') },
  fc.constantFrom<Fate>('notSent', 'crashBeforeSending', 'crashBeforeFinishing'),
);

/** Several processes that share a budget, with all possible failures. */
export const scenarios: fc.Arbitrary<Scenario> = fc.boolean().chain((isStormy) =>
  fc.record<Scenario>({
    seed: fc.integer({ min: 1, max: 2 ** 31 - 2 }),
    limit: fc.integer({ min: 20, max: 60 }),
    windowSeconds: fc.constantFrom(1, 10, 60),
    requestTimeoutSeconds: fc.constantFrom(2, 20),
    latencyMs: fc.constantFrom(5, 60, 1500).map((longest) => ({ shortest: 0, longest })),
    longestQueryMs: fc.constantFrom(1, 10, 1500),
    clocks: fc.record({
      databaseOffsetMs: fc.integer({ min: -1e9, max: 1e9 }),
      databasePace: pace,
      serverPace: pace,
    }),
    serverCountsRefused: fc.boolean(),
    processes: fc.array(
      fc.oneof(
        {
          weight: 3,
          arbitrary: fc.array(fc.array(job(isStormy ? stormy : calm), { minLength: 1, maxLength: 14 }), {
            minLength: 1,
            maxLength: 4,
          }),
        },
        rush,
      ),
      { minLength: 1, maxLength: 4 },
    ),
    foreign: fc.oneof(
      { weight: 2, arbitrary: fc.constant<Scenario['foreign']>([]) },
      fc.array(fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), weight: fc.integer({ min: 1, max: 20 }) }), {
        minLength: 4,
        maxLength: 40,
      }),
    ),
    windowChange: fc.oneof(
      { weight: 4, arbitrary: fc.constant<Scenario['windowChange']>(null) },
      fc.record({ atMs: fc.integer({ min: 100, max: 30_000 }), windowSeconds: fc.constantFrom(1, 10, 60) }),
    ),
  }),
);

/** So much work of one weight that the budget is never idle, to measure its used share. */
export const saturated: fc.Arbitrary<Scenario> = fc
  .record({
    seed: fc.integer({ min: 1, max: 2 ** 31 - 2 }),
    weight: fc.constantFrom(1, 20),
    limit: fc.constantFrom(60, 100, 200),
    windowSeconds: fc.constantFrom(10, 60),
    latencyMs: fc.constantFrom(20, 200, 1000),
    processes: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ weight, processes, latencyMs, ...rest }) => {
    const streams = Math.ceil((2 * rest.limit) / weight / processes / 4);
    // Work for eight windows.
    const jobs = Math.ceil((8 * rest.limit) / weight / processes / streams);
    const one: Job = { weight, priority: priorities.backfill, thinkMs: 0, fate: 'answered' };
    return {
      ...rest,
      requestTimeoutSeconds: 30,
      latencyMs: { shortest: latencyMs, longest: latencyMs },
      longestQueryMs: 3,
      clocks: { databaseOffsetMs: 12_345, databasePace: 1, serverPace: 1 },
      serverCountsRefused: true,
      processes: Array.from({ length: processes }, () =>
        Array.from({ length: streams }, () => Array.from({ length: jobs }, () => one)),
      ),
      foreign: [],
      windowChange: null,
    };
  });

/** A seeded generator, so that a failure can be repeated. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
