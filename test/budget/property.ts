import fc from 'fast-check';
import type { SimulatedDatabase, SqlMutant } from './database.ts';
import { type Scenario, saturated, scenarios } from './scenario.ts';
import { type ProcessMutant, simulate } from './simulation.ts';

export interface Mutant {
  sql?: SqlMutant;
  process?: ProcessMutant;
}

/** Budgets that are wrong in one thing each. The simulation has to notice every one of them. */
export const mutants: Record<string, Mutant> = {
  'a slot is free when its request is sent, not when it is answered': { process: { finishesAtSending: true } },
  'a slot expires without the request time-out': { process: { forgetsTimeout: true } },
  'the window is 5 % too short': { process: { windowFactor: 0.95 } },
  'claims are not counted': { sql: { function: 'budget_take', from: 'used + ahead + asked', to: 'used + asked' } },
  'a claim outlives its process for long': {
    sql: { function: 'budget_take', from: 'secs => claim_seconds', to: 'secs => 100 * claim_seconds' },
  },
  'priorities are not looked at': {
    sql: { function: 'budget_take', from: '(c.priority, c.claimed_at', to: '(1, c.claimed_at' },
  },
  'the limit is not halved': { sql: { function: 'budget_throttled', from: '/ 2.0', to: '/ 1.0' } },
  'Retry-After is not waited for': {
    sql: { function: 'budget_take', from: 'state.blocked_until <= present and', to: '' },
  },
  'a longer window changes nothing': {
    sql: { function: 'budget_take', from: 'if state.window_seconds < per_seconds', to: 'if false' },
  },
};

export interface Outcome {
  runs: number;
  /** The first failure: what was objected to, and the scenario's seed and path for fast-check. */
  failure: string | null;
}

const holds = (database: SimulatedDatabase, mutant: Mutant) => async (scenario: Scenario) => {
  const { judge } = await simulate(scenario, database, mutant.process);
  if (judge.violations.length > 0) throw new Error(judge.violations.join('\n'));
};

/** A budget with work for eight windows, never idle: seven windows and answers after its first grants all must be granted. */
const isUsedUp = (database: SimulatedDatabase) => async (scenario: Scenario) => {
  const { judge } = await simulate(scenario, database);
  if (judge.violations.length > 0) throw new Error(judge.violations.join('\n'));
  const weight = judge.granted.reduce((sum, each) => sum + each.weight, 0);
  const rounds = Math.ceil(weight / scenario.limit) - 1;
  const leastMs = rounds * (scenario.windowSeconds * 1000 + scenario.latencyMs.longest);
  const tookMs = judge.granted.at(-1)!.atMs - judge.granted[0]!.atMs;
  if (tookMs > leastMs / 0.98) throw new Error(`used ${((leastMs / tookMs) * 100).toFixed(1)} % of what there was`);
};

/** Runs so many random scenarios, until one fails. */
export function checkRules(database: SimulatedDatabase, runs: number, seed: number, mutant: Mutant = {}) {
  return check(fc.asyncProperty(scenarios, holds(database, mutant)), runs, seed);
}

export function checkUse(database: SimulatedDatabase, runs: number, seed: number) {
  return check(fc.asyncProperty(saturated, isUsedUp(database)), runs, seed);
}

async function check<T>(property: fc.IAsyncProperty<T>, runs: number, seed: number): Promise<Outcome> {
  const found = await fc.check(property, { numRuns: runs, seed, endOnFailure: true });
  if (!found.failed) return { runs: found.numRuns, failure: null };
  const reason = found.errorInstance instanceof Error ? found.errorInstance.message : String(found.errorInstance);
  const scenario = fc.stringify(found.counterexample);
  return { runs: found.numRuns, failure: `${reason}\nseed ${seed}, run ${found.counterexamplePath}: ${scenario}` };
}
