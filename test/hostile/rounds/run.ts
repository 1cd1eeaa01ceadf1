// npm run hostile -- --rounds N [--seed S] [--mutant NAME] [--verbose]
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { openDatabase } from '../../../src/db/pool.ts';
import { startEphemeralPostgres } from '../../../src/embedded/index.ts';
import { migrateAsOwner } from '../../../src/runtime/database.ts';
import { runAlone, urlOfDatabase } from '../../support/server.ts';
import { applyMutant, mutants } from './mutants.ts';
import type { RoundReport } from './round.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    mutant: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});
const whole = (name: string, text: string): number => {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  console.error(`error: --${name} is a whole number above 0, not ${text}`);
  process.exit(2);
};
const rounds = whole('rounds', values.rounds);
const first = whole('seed', values.seed);
if (values.mutant !== undefined && !Object.hasOwn(mutants, values.mutant)) {
  console.error(`error: --mutant is one of: ${Object.keys(mutants).join(', ')}`);
  process.exit(2);
}
if (values.mutant !== undefined) applyMutant(values.mutant);
// After the faults are in: they change what is loaded from here on.
const { playRound, prepareDatabase } = await import('./round.ts');

const server = await startEphemeralPostgres((line) => console.error(line));
const name = `hostile_${randomBytes(6).toString('hex')}`;
await runAlone(server.ownerUrl, `create database ${name}`);
const url = Object.assign(new URL(server.url), { pathname: `/${name}` }).href;
const ownerUrl = urlOfDatabase(server.ownerUrl, name);
await migrateAsOwner({ url, ownerUrl });
const db = openDatabase(url, { report: () => undefined });
const owner = openDatabase(ownerUrl);
const began = performance.now();
const reports: RoundReport[] = [];
try {
  await prepareDatabase({ db, owner });
  for (let at = 0; at < rounds; at++) {
    const started = performance.now();
    const report = await playRound({ db, owner }, first + at, 1 + at);
    reports.push(report);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const { seed, wrong, windows, documents, culprits, requests, story } = report;
    const result = wrong.length === 0 ? 'holds' : 'FAILED';
    console.log(
      `round ${at + 1}, seed ${seed}: ${result}; ${windows} windows, ${requests} requests, ${documents} documents, ${culprits} culprits, ${seconds} s`,
    );
    if (values.verbose || wrong.length > 0) for (const line of story) console.log(`    ${line}`);
    for (const line of wrong) console.log(`  ${line}`);
    if (wrong.length > 0) console.log(`  to repeat it: npm run hostile -- --rounds 1 --seed ${seed}`);
  }
} finally {
  await db.destroy();
  await owner.destroy();
  await server.release();
}
const sum = (of: (report: RoundReport) => Record<string, number>) => {
  const total: Record<string, number> = {};
  for (const report of reports) for (const [key, n] of Object.entries(of(report))) total[key] = (total[key] ?? 0) + n;
  return Object.entries(total).sort(([, a], [, b]) => b - a);
};
const failed = reports.filter(({ wrong }) => wrong.length > 0);
const told = (counts: [string, number][]) => counts.map(([key, n]) => `${key} ${n}`).join(', ');
console.log(
  `${reports.length} rounds in ${((performance.now() - began) / 1000).toFixed(0)} s: ${failed.length} failed`,
);
console.log(`faults: ${told(sum(({ faults }) => faults))}`);
console.log(`windows that failed, by error: ${told(sum((report) => report.failed)) || 'none'}`);
if (failed.length > 0) console.log(`failed seeds: ${failed.map(({ seed }) => seed).join(', ')}`);
process.exitCode = failed.length > 0 ? 1 : 0;
