// npm run simulate -- --posting --seeds 200 [--from N] [--steps 300] [--seed N] [--reconcile] [--verbose]; --from is the first seed: several runs share a number of lives
// npm run simulate -- --posting --mutants: which life finds each mutant of posting
import { parseArgs } from 'node:util';
import { post } from '../../src/posting/index.ts';
import { ownClientMatches } from '../../src/prepayments/own-client.ts';
import { LifeFailure, type LifeSummary, live } from './life.ts';
import { firstWrongMatch } from './matching.ts';
import { runMutants } from './run-mutants.ts';

if (process.argv.includes('--mutants')) process.exit(runMutants(120));

const { values } = parseArgs({
  options: {
    posting: { type: 'boolean', default: false },
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    steps: { type: 'string', default: '300' },
    seed: { type: 'string' },
    reconcile: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});
const whole = (name: 'seeds' | 'from' | 'steps' | 'seed', text: string): number => {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  console.error(`error: --${name} is a whole number above 0, not ${text}`);
  process.exit(2);
};
const steps = whole('steps', values.steps);
const from = whole('from', values.from);
const seeds =
  values.seed === undefined
    ? Array.from({ length: whole('seeds', values.seeds) }, (_, at) => from + at)
    : [whole('seed', values.seed)];

const began = performance.now();
const totals: LifeSummary = {
  documents: 0,
  entries: 0,
  judgements: 0,
  problems: {},
  states: {},
  proved: { E2: 0, E3: 0, E8: 0 },
};
const failures: LifeFailure[] = [];
for (const [at, seed] of seeds.entries()) {
  try {
    add(
      totals,
      live({
        seed,
        steps,
        post,
        reconcile: values.reconcile,
        ...(values.verbose ? { onStep: (step, text) => console.error(`${step}: ${text}`) } : {}),
      }),
    );
  } catch (error) {
    if (!(error instanceof LifeFailure)) throw new Error(`seed ${seed}`, { cause: error });
    failures.push(error);
    console.log(
      `\nFAILED ${error.message}\nagain: npm run simulate -- --posting --seed ${error.seed} --steps ${error.step}${values.reconcile ? ' --reconcile' : ''}\n`,
    );
  }
  if ((at + 1) % 10 === 0)
    console.error(`${at + 1} of ${seeds.length} lives, ${seconds()} s, ${failures.length} failed`);
}
const list = (counts: Record<string, number>) =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
console.log(`${seeds.length} lives of ${steps} steps in ${seconds()} s: ${failures.length} failed`);
console.log(`documents ${totals.documents}, judgements ${totals.judgements}, entries ${totals.entries}`);
console.log(`states: ${list(totals.states)}`);
console.log(`problems: ${list(totals.problems)}`);
const { E2, E3, E8 } = totals.proved;
console.log(`held against the source: due_sum ${E2} times, unused_amount ${E3} times, VAT of a prepayment ${E8} times`);
const wrongMatch = firstWrongMatch(ownClientMatches, seeds);
console.log(`matches of prepayments: ${wrongMatch ?? 'right in each life'}`);
if (wrongMatch !== null) process.exitCode = 1;
if (failures.length > 0) {
  console.log(
    `failed seeds: ${failures.map(({ seed, step, equation }) => `${seed} (step ${step}, ${equation})`).join(', ')}`,
  );
  process.exitCode = 1;
}

function seconds(): string {
  return ((performance.now() - began) / 1000).toFixed(1);
}

function add(sum: LifeSummary, life: LifeSummary): void {
  for (const name of ['documents', 'entries', 'judgements'] as const) sum[name] += life[name];
  for (const name of ['problems', 'states', 'proved'] as const) {
    for (const [key, count] of Object.entries(life[name])) {
      const counts: Record<string, number> = sum[name];
      counts[key] = (counts[key] ?? 0) + count;
    }
  }
}
