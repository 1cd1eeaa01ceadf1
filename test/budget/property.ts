import fc from 'fast-check';
import type { SimulatedDatabase, StatementFault } from './database.ts';
import { type Scenario, saturated, scenarios } from './scenario.ts';
import { type ProcessMutant, simulate } from './simulation.ts';

export interface Mutant {
  statement?: StatementFault;
  process?: ProcessMutant;
}

/** Budgets with one fault each. The simulation must notice every one. */
export const mutants: Record<string, Mutant> = {
  'a slot is free when its request is sent, not when it is answered': { process: { finishesAtSending: true } },
  'a slot expires without the request time-out': { process: { forgetsTimeout: true } },
  'the window is 5 % too short': { process: { windowFactor: 0.95 } },
  'claims are not counted': {
    statement: {
      function: 'budget_take',
      before: (bindings) => [
        'delete from budget_claim where installation = ? and action = ? and claimant <> ?::uuid',
        [bindings[0], bindings[1], bindings[8]],
      ],
    },
  },
  'a claim outlives its process for long': {
    statement: {
      function: 'budget_take',
      bindings: (bindings) => bindings.with(9, 100 * Number(bindings[9])),
    },
  },
  'priorities are not looked at': {
    statement: { function: 'budget_take', bindings: (bindings) => bindings.with(3, 1) },
  },
  'the limit is not halved': {
    statement: { function: 'budget_throttled', after: (bindings) => atBudget('share = 1', bindings) },
  },
  'Retry-After is not waited for': {
    statement: { function: 'budget_throttled', after: (bindings) => atBudget("blocked_until = '-infinity'", bindings) },
  },
  'a longer window changes nothing': {
    statement: {
      function: 'budget_take',
      before: (bindings) => [
        'update budget set window_seconds = greatest(window_seconds, ?) where installation = ? and action = ?',
        [bindings[6], bindings[0], bindings[1]],
      ],
    },
  },
};

function atBudget(change: string, [installation, action]: unknown[]): [string, unknown[]] {
  return [`update budget set ${change} where installation = ? and action = ?`, [installation, action]];
}

export interface Outcome {
  runs: number;
  /** The first failure: the violations, and the scenario's seed and path for fast-check. */
  failure: string | null;
}

const holds = (database: SimulatedDatabase, mutant: Mutant) => async (scenario: Scenario) => {
  const { judge } = await simulate(scenario, database, mutant.process);
  if (judge.violations.length > 0) throw new Error(judge.violations.join('\n'));
};

/**
 * With work for eight windows and never idle, seven windows and the answers after the first grants must grant
 * everything.
 */
const isUsedUp = (database: SimulatedDatabase) => async (scenario: Scenario) => {
  const { judge } = await simulate(scenario, database);
  if (judge.violations.length > 0) throw new Error(judge.violations.join('\n'));
  const weight = judge.granted.reduce((sum, each) => sum + each.weight, 0);
  const rounds = Math.ceil(weight / scenario.limit) - 1;
  const leastMs = rounds * (scenario.windowSeconds * 1000 + scenario.latencyMs.longest);
  const tookMs = judge.granted.at(-1)!.atMs - judge.granted[0]!.atMs;
  if (tookMs > leastMs / 0.98) throw new Error(`used ${((leastMs / tookMs) * 100).toFixed(1)} % of what there was`);
};

/** Runs random scenarios until one fails, at most `runs`. */
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
