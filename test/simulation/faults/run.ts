// npm run simulate -- --faults [--seeds 2000] [--from N] [--seed N] [--mutant NAME] [--mutants] [--processes N] [--verbose]
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startEphemeralPostgres } from '../../../src/embedded/index.ts';
import { freshDatabase } from '../../erp/rounds/run.ts';
import type { LifeReport } from './life.ts';
import { mutants } from './mutants.ts';

/** A mutant that lives so many lives unnoticed is not noticed. */
const mutantSeeds = 100;

interface Setting {
  server: Awaited<ReturnType<typeof startEphemeralPostgres>>;
  seeds: number[];
  mutant: string;
  processes: number;
  verbose: boolean;
}

/** Lives as the arguments say; the exit code of the command. */
export async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      faults: { type: 'boolean' },
      seeds: { type: 'string', default: '200' },
      from: { type: 'string', default: '1' },
      seed: { type: 'string' },
      mutant: { type: 'string', default: '' },
      mutants: { type: 'boolean', default: false },
      processes: { type: 'string', default: '2' },
      verbose: { type: 'boolean', default: false },
    },
  });
  const whole = (text: string) => Number.isSafeInteger(Number(text)) && Number(text) > 0;
  if (![values.seeds, values.from, values.processes, values.seed ?? '1'].every(whole)) {
    console.error('error: --seeds, --from, --seed and --processes are whole numbers above 0');
    return 2;
  }
  if (values.mutant !== '' && !Object.hasOwn(mutants, values.mutant)) {
    console.error(`error: --mutant is one of: ${Object.keys(mutants).join(', ')}`);
    return 2;
  }
  const first = Number(values.from);
  const from = (count: number) => Array.from({ length: count }, (_, n) => first + n);
  const server = await startEphemeralPostgres((line) => console.error(line));
  const setting = { server, processes: Number(values.processes), verbose: values.verbose };
  try {
    if (values.mutants) return await tryMutants(setting, from(mutantSeeds));
    const seeds = values.seed === undefined ? from(Number(values.seeds)) : [Number(values.seed)];
    return await tryOne({ ...setting, seeds, mutant: values.mutant });
  } finally {
    await server.release();
  }
}

async function tryMutants(setting: Omit<Setting, 'seeds' | 'mutant'>, seeds: number[]): Promise<number> {
  let unnoticed = 0;
  for (const mutant of Object.keys(mutants)) {
    const { reports, failed } = await lives({ ...setting, seeds, mutant }, true);
    const [noticed] = failed;
    if (!noticed) unnoticed += 1;
    console.log(
      noticed
        ? `${mutant}: noticed by seed ${noticed.seed} (${noticed.wrong[0]?.split('\n')[0]})`
        : `${mutant}: NOT noticed in ${reports.length} lives`,
    );
  }
  return unnoticed === 0 ? 0 : 1;
}

async function tryOne(setting: Setting): Promise<number> {
  const { reports, failed, seconds } = await lives(setting, false);
  const count = (value: (report: LifeReport) => number) => reports.reduce((sum, report) => sum + value(report), 0);
  const ends: Record<string, number> = {};
  for (const report of reports) for (const [end, n] of Object.entries(report.ends)) ends[end] = (ends[end] ?? 0) + n;
  console.log(`${reports.length} lives in ${seconds} s: ${failed.length} failed`);
  console.log(
    `${count(({ windows }) => windows)} windows (${Object.entries(ends)
      .map(([end, n]) => `${end} ${n}`)
      .join(', ')}), ${count(({ entries }) => entries)} entries, ${count(({ delivered }) => delivered)} delivered, ` +
      `${count(({ faults }) => faults)} faults, ${count(({ deaths }) => deaths)} deaths, ` +
      `${count(({ repeated }) => repeated)} attempts given up, ${Math.round(count(({ simulatedHours }) => simulatedHours))} simulated hours`,
  );
  if (failed.length > 0) console.log(`failed seeds: ${failed.map(({ seed }) => seed).join(', ')}`);
  return failed.length > 0 ? 1 : 0;
}

async function lives({ server, seeds, mutant, processes, verbose }: Setting, stopAtFirst: boolean) {
  const began = performance.now();
  const seconds = () => ((performance.now() - began) / 1_000).toFixed(1);
  const reports: LifeReport[] = [];
  const failed: LifeReport[] = [];
  const left = [...seeds];
  const hear = (report: LifeReport) => {
    reports.push(report);
    const { seed, wrong, story } = report;
    if (wrong.length > 0) failed.push(report);
    const isTold = verbose || (wrong.length > 0 && !stopAtFirst);
    if (isTold) for (const line of verbose ? story : story.slice(-30)) console.log(`    ${line}`);
    if (isTold) console.log(`seed ${seed}: ${wrong.length === 0 ? 'right' : 'WRONG'}, ${report.seconds.toFixed(1)} s`);
    if (!isTold || wrong.length === 0) return;
    for (const line of wrong.slice(0, 8)) console.log(`  ${line}`);
    console.log(`  to repeat it: npm run simulate -- --faults --seed ${seed} --verbose`);
  };
  const work = async () => {
    const { url, ownerUrl } = await freshDatabase(server);
    const child = fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), [url, ownerUrl, mutant], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: [],
    });
    const ended = new Promise<void>((resolve, reject) => {
      child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`a worker ended with ${code}`))));
    });
    child.on('message', (report: LifeReport | 'ready') => {
      if (report !== 'ready') hear(report);
      const isOver = stopAtFirst && failed.length > 0;
      child.send({ seed: (isOver ? undefined : left.shift()) ?? null });
      if (report !== 'ready' && reports.length % 50 === 0)
        console.error(`${reports.length} of ${seeds.length} lives, ${seconds()} s, ${failed.length} failed`);
    });
    await ended;
  };
  await Promise.all(Array.from({ length: Math.min(processes, seeds.length) }, work));
  failed.sort((a, b) => a.seed - b.seed);
  return { reports, failed, seconds: seconds() };
}
