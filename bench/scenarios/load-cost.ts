// (a) The processor time of a full load by program (daemon, PostgreSQL, Temporal) and by parts of the daemon.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeSection } from '../measure.ts';
import { vetledger } from '../parts/engines.ts';
import { count, fixed, median, table } from '../parts/figures.ts';
import { processWith, usageOf } from '../parts/processes.ts';
import { garbageCollection, secondsByPart } from '../parts/profile.ts';
import { startSource } from '../parts/sandbox.ts';
import type { Services } from '../parts/services.ts';

interface Cost {
  daemon: number;
  postgres: number;
  temporal: number;
  walMb: number;
}

/** Parts of the daemon with a smaller share are added up. */
const leastShare = 0.02;

export async function loadCost(services: Services, quick: boolean): Promise<void> {
  const invoices = quick ? 1_000 : 20_000;
  const costs: Cost[] = [];
  for (let turn = 0; turn < (quick ? 1 : 3); turn += 1) costs.push(await costOf(services, invoices));
  // The profile is taken in a separate load, because profiling takes time too.
  const parts = await profiled(services, invoices);
  const of = (field: keyof Cost) => median(costs.map((cost) => cost[field]));
  const [daemon, postgres, temporal] = [of('daemon'), of('postgres'), of('temporal')];
  const all = daemon + postgres + temporal;
  const row = (name: string, seconds: number) => [
    name,
    fixed(seconds),
    fixed((seconds / invoices) * 1_000),
    `${Math.round((100 * seconds) / all)} %`,
  ];
  const busy = [...parts.values()].reduce((sum, seconds) => sum + seconds, 0);
  const large = [...parts].filter(([, seconds]) => seconds >= leastShare * busy).sort((a, b) => b[1] - a[1]);
  const rest = busy - large.reduce((sum, [, seconds]) => sum + seconds, 0);
  const share = (seconds: number) => `${fixed((100 * seconds) / busy)} %`;
  writeSection(
    `(a) Where the processor time of a full load goes`,
    [
      ...services.heading,
      '',
      `${count(invoices)} invoices, 3 rows each, 0.8 payments, 0.2 prepayments; limits off, no latency; write-backs included. Processor seconds,`,
      `user and system, of the daemon from start to end, and of PostgreSQL and Temporal meanwhile; median of ${costs.length}. ${count(of('walMb'))} MB of WAL.`,
      '',
      table(
        ['program', 'processor s', 'per 1,000 invoices', 'share'],
        [row('vetledger', daemon), row('PostgreSQL', postgres), row('Temporal', temporal), row('all', all)],
      ),
      '',
      'The daemon by parts, of one more load under the profiler: the time of our own code by its folder, with the libraries that it calls;',
      'otherwise the library, or Node.js itself (sockets, loading of modules).',
      '',
      table(
        ['part of the daemon', 'share'],
        [...large.map(([part, seconds]) => [part, share(seconds)]), ['others', share(rest)]],
      ),
      '',
      `Garbage collection has ${share(parts.get(garbageCollection) ?? 0)} (aim: 10 at most).`,
    ].join('\n'),
  );
}

async function costOf(services: Services, invoices: number): Promise<Cost> {
  const source = await startSource({ invoices, rateWindowSeconds: 0, latencyMs: 0 });
  const engine = await vetledger({ source, services });
  try {
    const postgres = processWith(`port=${new URL(engine.databaseUrl).port}`);
    const temporal = processWith(`--port ${services.temporalAddress.split(':')[1]}`);
    const wal = async () => {
      const [row] = await engine.query<{ bytes: number }>(
        `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float as bytes`,
      );
      return row!.bytes;
    };
    const before = { postgres: usageOf(postgres), temporal: usageOf(temporal), wal: await wal() };
    const { cpuSeconds } = await engine.run();
    return {
      daemon: cpuSeconds,
      postgres: usageOf(postgres) - before.postgres,
      temporal: usageOf(temporal) - before.temporal,
      walMb: ((await wal()) - before.wal) / 1e6,
    };
  } finally {
    await engine.dispose();
    source.stop();
  }
}

async function profiled(services: Services, invoices: number): Promise<Map<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'vetledger-bench-profile-'));
  const source = await startSource({ invoices, rateWindowSeconds: 0, latencyMs: 0 });
  const engine = await vetledger({
    source,
    services,
    env: { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder} --cpu-prof-interval=1000` },
  });
  try {
    await engine.run();
    return secondsByPart(folder);
  } finally {
    await engine.dispose();
    source.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
