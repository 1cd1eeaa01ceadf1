// (l) Reports of accounts and a closing binder over a long history and a tenth of it: time and memory of the command.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { openDatabase } from '../../src/db/pool.ts';
import { startEphemeralPostgres } from '../../src/embedded/index.ts';
import { migrateAsOwner } from '../../src/runtime/database.ts';
import { closePeriods } from '../../test/support/closing.ts';
import { demoConfig, fromEnvironment } from '../../test/support/demo-config.ts';
import { machine, writeSection } from '../measure.ts';
import { count, fixed, median, table } from '../parts/figures.ts';
import { entriesSql } from '../parts/history.ts';
import { processWith, run, usageOf } from '../parts/processes.ts';

const installation = 4711;
const aimSeconds = 2;
const binderAim = { seconds: 30, peakMb: 250 };
const program = fileURLToPath(new URL('../../bin/vetledger.js', import.meta.url));

const closed = '2025-11-30';
const binder = ['export', '--binder', '2025-11'];

const commands = [
  ['trial-balance', '--as-of', '2025-12-31'],
  ['trial-balance', '--as-of', '2024-06-30', '--by', 'dimension_1'],
  ['trial-balance', '--as-of', '2025-12-31', '--recorded-by', '2025-12-01'],
  ['income', '--month', '2025-11'],
  ['balance-sheet', '--as-of', '2025-12-31'],
  ['account', '3060', '--month', '2025-11'],
  ['trial-balance', '--as-of', '2025-12-31', '--documents'],
  ['journal', '--from', '2023-01-01', '--to', '2025-12-31'],
].map((report) => ['report', ...report]);

/** Reports that print every line of all years; their time grows with them, and only their memory has a bound. */
const isOfLines = (name: string) => name.includes('--documents') || name.startsWith('report journal');

interface Run {
  seconds: number;
  /** Processor seconds of the command and of PostgreSQL. They do not depend on other load of the machine. */
  cpuSeconds: number;
  peakMb: number;
}

export async function accountReports(quick: boolean): Promise<void> {
  const measured = new Map<string, Run[]>();
  for (const invoices of quick ? [200, 2_000] : [20_000, 200_000]) {
    const postgres = await startEphemeralPostgres();
    const folder = mkdtempSync(join(tmpdir(), 'vetledger-bench-'));
    try {
      await makeClinic(postgres, invoices);
      const config = join(folder, 'vetledger.yaml');
      const source = { id: installation, base_url: 'http://127.0.0.1:9/' };
      writeFileSync(config, demoConfig([source], { data_dir: folder, database_url: fromEnvironment('DATABASE_URL') }));
      const server = processWith(`port=${new URL(postgres.url).port}`);
      const turn = async (args: string[]): Promise<Run> => {
        const before = usageOf(server);
        const ended = await run({
          ...{ command: program, args: [...args, '--config', config], timeoutMs: 600_000 },
          env: { PRACTICE_TOKEN: 'none', DATABASE_URL: postgres.url },
        });
        return { ...ended, cpuSeconds: ended.cpuSeconds + usageOf(server) - before };
      };
      for (const command of [...commands, binder]) {
        const name = command.join(' ');
        const more = command === binder ? ['--out', join(folder, 'binder'), '--yes'] : ['--csv'];
        const runs: Run[] = [];
        for (let turns = isOfLines(name) ? 1 : 3; turns > 0; turns -= 1) runs.push(await turn([...command, ...more]));
        const of = (field: keyof Run) => median(runs.map((each) => each[field]));
        const own = { seconds: of('seconds'), cpuSeconds: of('cpuSeconds'), peakMb: of('peakMb') };
        measured.set(name, [...(measured.get(name) ?? []), own]);
        console.error(invoices, name, fixed(own.seconds), fixed(own.cpuSeconds), count(own.peakMb));
      }
    } finally {
      await postgres.release();
      rmSync(folder, { recursive: true, force: true });
    }
  }
  const rows = [...measured].map(([name, [short, long]]) => [
    name,
    ...[short, long].flatMap((each) => [
      ...[fixed(each?.seconds ?? null), fixed(each?.cpuSeconds ?? null), count(each?.peakMb ?? 0)],
    ]),
    fixed((long?.cpuSeconds ?? 0) / (short?.cpuSeconds ?? 1)),
  ]);
  writeSection(
    '(l) Reports of accounts',
    [
      ...machine(),
      '',
      'Seconds of `vetledger report … --csv` and `vetledger export --binder` from start to end, processor seconds of the command and of PostgreSQL,',
      'and peak of the command’s resident memory, over three years of 20,000 and of 200,000 invoices; each has six lines, 0.8 payments and 0.2',
      `prepayments. One in five is unpaid, and no prepayment is used. Aim for 200,000: ${aimSeconds} processor seconds (not for reports that print every line),`,
      `and the same memory; the binder: ${binderAim.seconds} processor seconds and ${binderAim.peakMb} MB. The machine’s load over the last 15 minutes was ${fixed(loadavg()[2] ?? 0)}.`,
      '',
      table(['command', '20,000: s', 'processor s', 'peak MB', '200,000: s', 'processor s', 'peak MB', 'ratio'], rows),
    ].join('\n'),
  );
  const missed = [...measured].filter(([name, [, long]]) => long && !isReached(name, long)).map(([name]) => name);
  if (missed.length > 0) throw new Error(`aim missed: ${missed.join(', ')}`);
}

function isReached(name: string, { cpuSeconds, peakMb }: Run): boolean {
  if (name === binder.join(' ')) return cpuSeconds <= binderAim.seconds && peakMb <= binderAim.peakMb;
  return isOfLines(name) || cpuSeconds <= aimSeconds;
}

/** Makes the entries of a clinic, and closes its books through the month of the binder. */
async function makeClinic(postgres: { url: string; ownerUrl: string }, invoices: number): Promise<void> {
  await migrateAsOwner({ url: postgres.url, ownerUrl: postgres.ownerUrl });
  const client = new pg.Client({ connectionString: postgres.ownerUrl });
  await client.connect();
  await client.query(entriesSql({ clinic: installation, invoices }));
  await client.query('analyze');
  await client.end();
  const db = openDatabase(postgres.url, { max: 1 });
  await closePeriods(db, [{ id: installation, today: '2026-01-01' }], closed);
  await db.destroy();
}
