// npm run chaos -- --erp fake|odoo --rounds 1000 [--seed N] [--record NAME] [--mutant NAME] [--mutants] [--processes N] [--verbose]
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startEphemeralPostgres } from '../../../src/embedded/index.ts';
import { migrateAsOwner } from '../../../src/runtime/database.ts';
import { runAlone, urlOfDatabase } from '../../support/server.ts';
import { mutants } from './mutants.ts';
import { type RoundKind, type RoundReport, roundKinds } from './round.ts';

/** A mutant that plays so many rounds unnoticed is not noticed. */
const mutantRounds = 200;

type Server = Awaited<ReturnType<typeof startEphemeralPostgres>>;

/** Plays rounds as the arguments say; the exit code of the command. */
export async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      erp: { type: 'string' },
      rounds: { type: 'string' },
      seed: { type: 'string', default: '1' },
      record: { type: 'string' },
      mutant: { type: 'string' },
      mutants: { type: 'boolean', default: false },
      processes: { type: 'string', default: '2' },
      verbose: { type: 'boolean', default: false },
    },
  });
  const whole = (name: string, text: string): number => {
    const number = Number(text);
    if (Number.isSafeInteger(number) && number > 0) return number;
    throw new Error(`--${name} is a whole number above 0, not ${text}`);
  };
  const oneOf = (name: string, text: string | undefined, known: string[]) => {
    if (text === undefined || known.includes(text)) return text;
    throw new Error(`--${name} is one of: ${known.join(', ')}`);
  };
  let setting: Setting;
  try {
    // A seed alone is one round: that of a failure.
    const kind = values.erp === 'odoo' ? 'odoo' : 'fake';
    const rounds = whole('rounds', values.rounds ?? (args.includes('--seed') ? '1' : '1000'));
    setting = {
      kind,
      record: oneOf('record', values.record, roundKinds[kind]),
      mutant: oneOf('mutant', values.mutant, Object.keys(mutants)) ?? '',
      first: whole('seed', values.seed),
      rounds,
      processes: whole('processes', values.processes),
      verbose: values.verbose,
    };
  } catch (error) {
    console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
    return 2;
  }
  const server = await startEphemeralPostgres((line) => console.error(line));
  try {
    return values.mutants ? await tryMutants(server, setting) : await tryOne(server, setting);
  } finally {
    await server.release();
  }
}

interface Setting {
  kind: RoundKind;
  record: string | undefined;
  mutant: string;
  first: number;
  rounds: number;
  processes: number;
  verbose: boolean;
}

async function tryMutants(server: Server, setting: Setting): Promise<number> {
  let unnoticed = 0;
  for (const mutant of Object.keys(mutants)) {
    const { failed, reports, seconds } = await play(server, { ...setting, mutant, rounds: mutantRounds }, true);
    const [seen] = failed;
    if (!seen) unnoticed += 1;
    console.log(
      seen
        ? `${mutant}: noticed by seed ${seen.seed} (${seen.wrong[0]}), ${seconds} s`
        : `${mutant}: NOT noticed in ${reports.length} rounds, ${seconds} s`,
    );
  }
  return unnoticed === 0 ? 0 : 1;
}

async function tryOne(server: Server, setting: Setting): Promise<number> {
  const { reports, failed, seconds } = await play(server, setting, false);
  const count = (value: (report: RoundReport) => number) => reports.reduce((n, report) => n + value(report), 0);
  console.log(`${reports.length} rounds in ${seconds} s: ${failed.length} failed`);
  console.log(
    `${count(({ entries }) => entries)} entries, ${count(({ delivered }) => delivered)} delivered, ` +
      `${count(({ refused }) => refused)} refused for a reason, ${count(({ requests }) => requests)} requests, ` +
      `${count(({ faults }) => faults)} faults, ${count(({ deaths }) => deaths)} deaths, ` +
      `${count(({ simulatedHours }) => simulatedHours)} simulated hours`,
  );
  const byRecord = Map.groupBy(reports, ({ record }) => record);
  console.log(
    [...byRecord]
      .map(([record, some]) => `${record} ${some.length}`)
      .sort()
      .join(', '),
  );
  if (failed.length > 0) console.log(`failed seeds: ${failed.map(({ seed }) => seed).join(', ')}`);
  return failed.length > 0 ? 1 : 0;
}

async function play(server: Server, setting: Setting, stopAtFirst: boolean) {
  const { kind, rounds, first, record, mutant, verbose } = setting;
  const began = performance.now();
  const reports: RoundReport[] = [];
  const failed: RoundReport[] = [];
  const left = Array.from({ length: rounds }, (_, at) => first + at);
  const hear = (report: RoundReport) => {
    reports.push(report);
    if (report.wrong.length > 0) {
      failed.push(report);
      if (!stopAtFirst) {
        console.log(`seed ${report.seed}, ${report.record}, failed:\n  ${report.wrong.slice(0, 8).join('\n  ')}`);
        console.log(`  to repeat it: npm run chaos -- --erp ${kind} --seed ${report.seed} --verbose`);
      }
    }
    if (verbose)
      console.log(`seed ${report.seed}, ${report.record}: ${JSON.stringify({ ...report, story: undefined })}`);
    if (verbose) for (const line of report.story) console.log(`    ${line}`);
    if (reports.length % 100 === 0) console.error(`${reports.length} of ${rounds} rounds, ${secondsSince(began)} s`);
  };
  const work = async () => {
    const { url, ownerUrl } = await freshDatabase(server);
    const child = fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), [url, ownerUrl, mutant], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const ended = new Promise<void>((resolve, reject) => {
      child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`a worker ended with ${code}`))));
    });
    child.on('message', (report: RoundReport | 'ready') => {
      if (report !== 'ready') hear(report);
      const isOver = stopAtFirst && failed.length > 0;
      child.send({
        seed: (isOver ? undefined : left.shift()) ?? null,
        options: { kind, ...(record === undefined ? {} : { record }) },
      });
    });
    await ended;
  };
  await Promise.all(Array.from({ length: Math.min(setting.processes, rounds) }, work));
  failed.sort((a, b) => a.seed - b.seed);
  return { reports, failed, seconds: secondsSince(began) };
}

/** A migrated database of its own, as the program and as its owner. */
export async function freshDatabase(server: Server): Promise<{ url: string; ownerUrl: string }> {
  const name = `rounds_${randomBytes(6).toString('hex')}`;
  await runAlone(server.ownerUrl, `create database ${name}`);
  const ownerUrl = urlOfDatabase(server.ownerUrl, name);
  const url = Object.assign(new URL(server.url), { pathname: `/${name}` }).href;
  await migrateAsOwner({ url, ownerUrl });
  return { url, ownerUrl };
}

function secondsSince(began: number): string {
  return ((performance.now() - began) / 1000).toFixed(1);
}
