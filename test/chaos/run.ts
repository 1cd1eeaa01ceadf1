// npm run chaos -- --erp fake …: rounds of delivery into an ERP made from any capability record, test/erp/rounds/run.ts
// npm run chaos -- --erp odoo …: the same with vetledger's target of Odoo and a fake of its servers
// npm run chaos -- --erp tryton …: rounds of delivery into a real Tryton, test/erp/tryton/chaos/run.ts
// npm run chaos -- --processes …: rounds of real processes that are killed, test/chaos/processes/run.ts
// npm run chaos -- --seeds 1000 [--from N] [--seed N] [--mutant NAME] [--mutants] [--processes N] [--verbose]
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startEphemeralPostgres } from '../../src/embedded/index.ts';
import { migrateAsOwner } from '../../src/runtime/database.ts';
import { isNoticed, type LifeReport } from './life.ts';
import { mutants } from './mutants.ts';

if (process.argv.includes('--processes') && !/^\d/.test(process.argv[process.argv.indexOf('--processes') + 1] ?? '')) {
  const { run } = await import('./processes/run.ts');
  process.exit(await run(process.argv.slice(2)));
}
const erps: Record<string, string> = {
  fake: '../erp/rounds/run.ts',
  odoo: '../erp/rounds/run.ts',
  tryton: '../erp/tryton/chaos/run.ts',
};
const erpAt = process.argv.indexOf('--erp');
if (erpAt !== -1) {
  const module = erps[process.argv[erpAt + 1] ?? ''];
  if (module === undefined) {
    console.error(`error: --erp is one of: ${Object.keys(erps).join(', ')}`);
    process.exit(2);
  }
  const { run }: { run(args: string[]): Promise<number> } = await import(module);
  process.exit(await run(process.argv.slice(2)));
}

/** A mutant that lives so many lives unnoticed is not noticed. */
const mutantSeeds = 300;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    mutant: { type: 'string' },
    mutants: { type: 'boolean', default: false },
    processes: { type: 'string', default: '2' },
    verbose: { type: 'boolean', default: false },
  },
});
const whole = (name: string, text: string): number => {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  console.error(`error: --${name} is a whole number above 0, not ${text}`);
  process.exit(2);
};
if (values.mutant !== undefined && !Object.hasOwn(mutants, values.mutant)) {
  console.error(`error: --mutant is one of: ${Object.keys(mutants).join(', ')}`);
  process.exit(2);
}
const first = whole('from', values.from);
const seeds =
  values.seed === undefined
    ? Array.from({ length: whole('seeds', values.seeds) }, (_, at) => first + at)
    : [whole('seed', values.seed)];
const processes = Math.min(whole('processes', values.processes), seeds.length);

const server = await startEphemeralPostgres((line) => console.error(line));
try {
  process.exitCode = values.mutants ? await tryMutants() : await tryOne(values.mutant ?? null, seeds);
} finally {
  await server.release();
}

async function tryMutants(): Promise<number> {
  let unnoticed = 0;
  for (const name of Object.keys(mutants)) {
    const bounded = Array.from({ length: mutantSeeds }, (_, at) => first + at);
    const { failed, reports, seconds } = await lives(name, bounded, true);
    const seen = failed.find(isNoticed);
    if (!seen) unnoticed += 1;
    console.log(
      seen
        ? `${name}: noticed by seed ${seen.seed} (${seen.wrong.find((one) => !one.includes(' failed: '))}), ${seconds} s`
        : `${name}: NOT noticed in ${reports.length} lives, ${seconds} s`,
    );
  }
  return unnoticed === 0 ? 0 : 1;
}

async function tryOne(mutant: string | null, some: number[]): Promise<number> {
  const { reports, failed, seconds } = await lives(mutant, some, false);
  const sum = (value: (report: LifeReport) => number) => reports.reduce((total, report) => total + value(report), 0);
  console.log(`${reports.length} lives in ${seconds} s: ${failed.length} failed`);
  console.log(
    `${sum(({ windows }) => windows)} windows, ${sum(({ crashes }) => crashes)} crashes, ${sum(({ gaveUp }) => gaveUp)} walks given up aloud, ` +
      `${sum(({ requests }) => requests)} requests of weight ${sum(({ weight }) => weight)}, ` +
      `${sum(({ records }) => records)} records at the end`,
  );
  if (failed.length > 0) console.log(`failed seeds: ${failed.map(({ seed }) => seed).join(', ')}`);
  return failed.length > 0 ? 1 : 0;
}

async function lives(mutant: string | null, some: number[], stopAtFirst: boolean) {
  const began = performance.now();
  const reports: LifeReport[] = [];
  const failed: LifeReport[] = [];
  const left = [...some];
  let noticed = false;
  const work = async () => {
    const database = await freshDatabase();
    const child = fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), [database, mutant ?? ''], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const ended = new Promise<void>((resolve, reject) => {
      child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`a worker ended with ${code}`))));
    });
    const next = () => {
      const seed = noticed ? undefined : left.shift();
      if (child.connected) child.send({ seed: seed ?? null });
    };
    child.on('message', (report: LifeReport) => {
      reports.push(report);
      if (stopAtFirst && isNoticed(report)) noticed = true;
      if (report.wrong.length > 0) {
        failed.push(report);
        if (!stopAtFirst) console.log(`seed ${report.seed} failed:\n  ${report.wrong.slice(0, 8).join('\n  ')}`);
      }
      if (values.verbose) console.error(`${secondsSince(began)} s: ${JSON.stringify(report)}`);
      if (reports.length % 50 === 0) {
        console.error(`${reports.length} of ${some.length} lives, ${secondsSince(began)} s, ${failed.length} failed`);
      }
      next();
    });
    next();
    await ended;
  };
  await Promise.all(Array.from({ length: Math.min(processes, some.length) }, work));
  failed.sort((a, b) => a.seed - b.seed);
  return { reports, failed, seconds: secondsSince(began) };
}

async function freshDatabase(): Promise<string> {
  const name = `chaos_${randomBytes(6).toString('hex')}`;
  const client = new pg.Client({ connectionString: server.ownerUrl });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const at = (address: string) => Object.assign(new URL(address), { pathname: `/${name}` }).href;
  const url = at(server.url);
  await migrateAsOwner({ url, ownerUrl: at(server.ownerUrl) });
  return url;
}

function secondsSince(began: number): string {
  return ((performance.now() - began) / 1000).toFixed(1);
}
