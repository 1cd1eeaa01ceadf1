// (j) The cost of `vetledger reconcile` after a short and a longer history: processor time by program, and memory.
import { writeSection } from '../measure.ts';
import { vetledger } from '../parts/engines.ts';
import { count, fixed, median, table } from '../parts/figures.ts';
import { processWith, usageOf } from '../parts/processes.ts';
import { startSource } from '../parts/sandbox.ts';
import type { Services } from '../parts/services.ts';

const aimSeconds = 4;

interface Run {
  command: number;
  postgres: number;
  peakMb: number;
}

export async function reconcile(services: Services, quick: boolean): Promise<void> {
  const rows: string[][] = [];
  for (const invoices of quick ? [100, 500] : [20_000, 60_000]) {
    const runs = await runsOf(services, invoices, quick ? 1 : 3);
    const of = (field: keyof Run) => median(runs.map((each) => each[field]));
    rows.push([count(invoices), fixed(of('command')), fixed(of('postgres')), count(of('peakMb'))]);
    console.error(rows.at(-1)?.join(', '));
  }
  writeSection(
    '(j) Reconcile',
    [
      ...services.heading,
      '',
      '`vetledger reconcile --json` after a full load; each invoice has 3 rows, 0.8 payments and 0.2 prepayments. Processor seconds, user and system,',
      `of the command from its start to its end, and of PostgreSQL meanwhile; peak of resident memory. Aim for 20,000: ${aimSeconds} s of the command, and the`,
      'same memory whatever the history.',
      '',
      table(['invoices', 'command, s', 'PostgreSQL, s', 'peak MB'], rows),
    ].join('\n'),
  );
}

async function runsOf(services: Services, invoices: number, times: number): Promise<Run[]> {
  const source = await startSource({ invoices, rateWindowSeconds: 0, latencyMs: 0 });
  const engine = await vetledger({ source, services });
  try {
    await engine.run();
    const server = processWith(`port=${new URL(engine.databaseUrl).port}`);
    const runs: Run[] = [];
    for (let turn = 0; turn < times; turn += 1) {
      const before = usageOf(server);
      const { cpuSeconds, peakMb } = await engine.reconcile();
      runs.push({ command: cpuSeconds, postgres: usageOf(server) - before, peakMb });
    }
    return runs;
  } finally {
    await engine.dispose();
    source.stop();
  }
}
