// npm run simulate -- --posting …: the pure posting simulation, test/simulation/run.ts
// npm run simulate [-- --seeds 200] [--from N] [--seed N] [--trait NAME] [--erp NAME] [--mutant NAME] [--mutants] [--processes N] [--verbose]

import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startEphemeralPostgres } from '../../src/embedded/index.ts';
import { migrateAsOwner } from '../../src/runtime/database.ts';
import { runAlone, urlOfDatabase } from '../support/server.ts';
import { erpsOf, worldOfErp } from './delivery/traits.ts';
import type { LifeReport } from './life.ts';
import { type Choice, choices, type Given, isChosen } from './lives.ts';
import { isNoticed, mutants } from './mutants.ts';

if (process.argv.includes('--posting')) {
  await import('../simulation/run.ts');
  process.exit();
}

type Server = Awaited<ReturnType<typeof startEphemeralPostgres>>;

interface Setting {
  server: Server;
  seeds: number[];
  mutant: string;
  /** These traits replace traits of the seed. */
  given: Given;
  processes: number;
  verbose: boolean;
}

const erps = [...new Set(Object.values(erpsOf).flat())];
/** After this number of lives, a mutant counts as not noticed. */
const mutantSeeds = 100;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    from: { type: 'string' },
    seed: { type: 'string' },
    trait: { type: 'string' },
    erp: { type: 'string' },
    mutant: { type: 'string', default: '' },
    mutants: { type: 'boolean', default: false },
    processes: { type: 'string', default: '3' },
    verbose: { type: 'boolean', default: false },
  },
});
const isWhole = (text: string) => Number.isSafeInteger(Number(text)) && Number(text) > 0;
const error =
  values.seed !== undefined && values.seeds !== undefined
    ? '--seed plays one life, and --seeds several; use --from N --seeds M'
    : ![values.seeds ?? '1', values.processes, values.seed ?? '1', values.from ?? '1'].every(isWhole)
      ? '--seeds, --from, --seed and --processes are whole numbers above 0'
      : values.mutant !== '' && !Object.hasOwn(mutants, values.mutant)
        ? `--mutant is one of: ${Object.keys(mutants).join(', ')}`
        : values.trait !== undefined && !choices.includes(values.trait as Choice)
          ? `--trait is one of: ${choices.join(', ')}`
          : values.erp !== undefined && !erps.includes(values.erp)
            ? `--erp is one of: ${erps.join(', ')}`
            : null;
if (error !== null) {
  console.error(`error: ${error}`);
  process.exit(2);
}
const server = await startEphemeralPostgres((line) => console.error(line));
/** The ERP is the named one, or the one of the seed. */
const world =
  values.trait === 'matrix' || values.trait === 'cloud' ? values.trait : values.erp && worldOfErp(values.erp);
const ofErp: Given = { ...(world && { world }), ...(values.erp && { erp: values.erp }) };
const setting = { server, processes: Number(values.processes), verbose: values.verbose };
try {
  process.exitCode = values.mutants ? await tryMutants() : await tryOne(values.mutant);
} finally {
  await server.release();
}

/** The seeds of lives with the trait, from the first seed on. */
function seedsOf(count: number, first = Number(values.from ?? 1)): number[] {
  const { trait } = values;
  const seeds: number[] = [];
  for (let seed = first; seeds.length < count; seed++)
    if (trait === undefined || isChosen(seed, trait as Choice)) seeds.push(seed);
  return seeds;
}

/** Searches the first life that notices each mutant, if the same life without the mutant is right. */
async function tryMutants(): Promise<number> {
  let unnoticed = 0;
  for (const [mutant, { given, seed }] of Object.entries(mutants)) {
    if (values.mutant !== '' && values.mutant !== mutant) continue;
    const tried = seedsOf(mutantSeeds, values.from === undefined ? seed : undefined);
    const { reports, failed, seconds } = await lives({ ...setting, seeds: tried, mutant, given }, true);
    const noticed = failed.find(isNoticed);
    const seeds = noticed ? [noticed.seed] : [];
    const control = await lives({ ...setting, seeds, mutant: '', given, processes: 1 }, true);
    const isRight = noticed !== undefined && control.failed.length === 0;
    if (!isRight) unnoticed += 1;
    console.log(
      noticed
        ? `${mutant}: noticed by seed ${noticed.seed} (${noticed.wrong[0]?.split('\n')[0]}), ${seconds} s` +
            (isRight ? '' : `; WRONG without it, too: ${control.failed[0]?.wrong[0]}`)
        : `${mutant}: NOT noticed in ${reports.length} lives, ${seconds} s`,
    );
  }
  return unnoticed === 0 ? 0 : 1;
}

async function tryOne(mutant: string): Promise<number> {
  const seeds = values.seed === undefined ? seedsOf(Number(values.seeds ?? 200)) : [Number(values.seed)];
  const { reports, failed, seconds } = await lives(
    { ...setting, seeds, mutant, given: mutants[mutant]?.given ?? ofErp },
    false,
  );
  console.log(`${reports.length} lives in ${seconds} s: ${failed.length} failed`);
  console.log(`worlds: ${textOf(summed(reports.map(({ world }) => ({ [world]: 1 }))))}`);
  console.log(`windows: ${textOf(summed(reports.map(({ ends }) => ends))) || 'none'}`);
  console.log(textOf(summed(reports.map(({ counts }) => counts))));
  console.log(`faults of the source: ${textOf(summed(reports.map(({ struck }) => struck))) || 'none'}`);
  if (failed.length > 0) console.log(`failed seeds: ${failed.map(({ seed }) => seed).join(', ')}`);
  return failed.length > 0 ? 1 : 0;
}

function summed(counts: readonly Record<string, number>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const one of counts) for (const [name, n] of Object.entries(one)) sums[name] = (sums[name] ?? 0) + n;
  return sums;
}

function textOf(counts: Record<string, number>): string {
  return Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, n]) => `${name} ${n}`)
    .join(', ');
}

async function lives({ seeds, mutant, given, processes, verbose }: Setting, stopAtFirst: boolean) {
  const began = performance.now();
  const seconds = () => ((performance.now() - began) / 1_000).toFixed(1);
  const reports: LifeReport[] = [];
  const failed: LifeReport[] = [];
  const left = [...seeds];
  const hear = (report: LifeReport) => {
    reports.push(report);
    const { seed, world, wrong, story } = report;
    if (wrong.length > 0) failed.push(report);
    const isShown = verbose || (wrong.length > 0 && !stopAtFirst);
    if (isShown) for (const line of verbose ? story : story.slice(-30)) console.log(`    ${line}`);
    if (isShown)
      console.log(`seed ${seed}, ${world}: ${wrong.length === 0 ? 'right' : 'WRONG'}, ${report.seconds.toFixed(1)} s`);
    if (!isShown || wrong.length === 0) return;
    for (const line of wrong.slice(0, 8)) console.log(`  ${line}`);
    console.log(
      `  to repeat it: npm run simulate -- --seed ${seed}${values.erp === undefined ? '' : ` --erp '${values.erp}'`} --verbose`,
    );
  };
  const work = async () => {
    const { url, ownerUrl } = await freshDatabase();
    const child = fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), [url, ownerUrl, mutant], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: [],
    });
    const ended = new Promise<void>((resolve, reject) => {
      child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`a worker ended with ${code}`))));
    });
    child.on('message', (report: LifeReport | 'ready') => {
      if (report !== 'ready') hear(report);
      const isOver = stopAtFirst && failed.some(isNoticed);
      child.send({ seed: (isOver ? undefined : left.shift()) ?? null, given });
      if (report !== 'ready' && reports.length % 50 === 0)
        console.error(`${reports.length} of ${seeds.length} lives, ${seconds()} s, ${failed.length} failed`);
    });
    await ended;
  };
  await Promise.all(Array.from({ length: Math.min(processes, seeds.length) }, work));
  failed.sort((a, b) => a.seed - b.seed);
  return { reports, failed, seconds: seconds() };
}

/** A migrated database, as the program and as its owner. */
async function freshDatabase(): Promise<{ url: string; ownerUrl: string }> {
  const name = `simulator_${randomBytes(6).toString('hex')}`;
  await runAlone(server.ownerUrl, `create database ${name}`);
  const ownerUrl = urlOfDatabase(server.ownerUrl, name);
  const url = Object.assign(new URL(server.url), { pathname: `/${name}` }).href;
  await migrateAsOwner({ url, ownerUrl });
  return { url, ownerUrl };
}
