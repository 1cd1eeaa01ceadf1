// node test/budget/run.ts [--runs N] [--seed N]: runs many scenarios of the budget's simulation on a temporary
// PostgreSQL.
import { parseArgs } from 'node:util';
import { startEphemeralPostgres } from '../../src/embedded/index.ts';
import { SimulatedDatabase } from './database.ts';
import { checkRules, checkUse, mutants } from './property.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '500' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  },
});
const runs = Number.parseInt(values.runs, 10);
const seed = Number.parseInt(values.seed, 10);

const postgres = await startEphemeralPostgres();
let failed = false;
const say = (what: string, isGood: boolean, detail: string) => {
  console.log(`${isGood ? 'good' : 'BAD '}  ${what}: ${detail}`);
  failed ||= !isGood;
};
try {
  const database = await SimulatedDatabase.open(postgres.ownerUrl);
  const rules = await checkRules(database, runs, seed);
  say('the rules hold', rules.failure === null, rules.failure ?? `${rules.runs} scenarios, seed ${seed}`);
  const use = await checkUse(database, Math.ceil(runs / 10), seed);
  say('the budget is used', use.failure === null, use.failure ?? `${use.runs} scenarios of 8 windows`);
  await database.close();
  for (const [name, mutant] of Object.entries(mutants)) {
    const mutated = await SimulatedDatabase.open(postgres.ownerUrl, mutant.statement);
    const { failure, runs: needed } = await checkRules(mutated, Math.max(runs, 60), seed, mutant);
    const noticed = failure?.split('\n')[0];
    say(`noticed: ${name}`, failure !== null, noticed ? `by run ${needed}, ${noticed}` : 'never');
    await mutated.close();
  }
} finally {
  await postgres.release();
}
process.exitCode = failed ? 1 : 0;
