// (h) One daemon with many installations: one practice server for all of them, and windows that find no changes.
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { startEphemeralPostgres, startEphemeralTemporal } from '../../src/embedded/index.ts';
import { migrateAsOwner } from '../../src/runtime/database.ts';
import { demoConfig, fromEnvironment } from '../../test/support/demo-config.ts';
import { machine, writeSection } from '../measure.ts';
import { count, fixed, table } from '../parts/figures.ts';
import type { ManySources } from '../parts/many-sources.ts';
import { loaded, overlapOf, type SinceStart, settled, startText } from '../parts/many-start.ts';
import { start, usageOf } from '../parts/processes.ts';
import { startTemporalOnPostgres } from '../parts/temporal-postgres.ts';

export interface ManyOptions {
  installations: number;
  /** The measured time, after every installation has settled (`settled`). */
  minutes: number;
  everySeconds: number;
  /** The development server in memory, or a server that stores its data in PostgreSQL. */
  temporal: 'dev' | 'postgres';
}

const firstId = 1001;
const invoicesEach = 10;
const sampleEveryMs = 5_000;
/** The number of histories whose events are counted. */
const historiesRead = 20;
const yearSeconds = 365 * 86_400;
const fiveMinutes = 300;
const root = fileURLToPath(new URL('../../', import.meta.url));

export async function manyInstallations(options: ManyOptions): Promise<void> {
  const { installations, minutes } = options;
  const postgres = await startEphemeralPostgres(undefined, { large: true });
  const temporal = await temporalOf(options.temporal);
  const folder = mkdtempSync(join(tmpdir(), 'vetledger-bench-many-'));
  const db = new pg.Client({ connectionString: postgres.ownerUrl });
  const connection = await Connection.connect({ address: temporal.address });
  const sources = await startSources({ first: firstId, installations, invoices: invoicesEach });
  await migrateAsOwner({ url: postgres.url, ownerUrl: postgres.ownerUrl });
  await db.connect();
  await db.query('set search_path = vetledger');
  writeFileSync(join(folder, 'vetledger.yaml'), configOf(options, sources.url, temporal.address, folder));
  const started = performance.now();
  const daemon = start({
    command: join(root, 'bin/vetledger.js'),
    args: ['run', '--config', join(folder, 'vetledger.yaml')],
    env: { PRACTICE_TOKEN: sources.token, DATABASE_URL: postgres.url, VETLEDGER_LOG: 'warn' },
    timeoutMs: (minutes + 120) * 60_000,
  });
  try {
    const died = daemon.ended.then(({ code, stderr }) => {
      throw new Error(`the daemon has ended with ${code}: ${stderr.slice(-2_000)}`);
    });
    died.catch(() => undefined);
    const sinceStart = () => ({ seconds: (performance.now() - started) / 1000, cpuSeconds: usageOf(daemon.pid) });
    await Promise.race([loaded(db, options), died]);
    const untilLoaded = sinceStart();
    console.error(`every first load is closed: ${startText(untilLoaded)}`);
    await Promise.race([settled(db, options), died]);
    const untilSettled = sinceStart();
    console.error(`every installation has settled: ${startText(untilSettled)}`);
    const found = await Promise.race([measureFor(db, daemon.pid, options), died]);
    const histories = await historiesOf(new Client({ connection }), db, found.since);
    const missed = await missedOf(new Client({ connection }));
    daemon.kill('SIGTERM');
    const ended = await daemon.ended;
    report({
      ...options,
      ...{ untilLoaded, untilSettled },
      ...found,
      ...histories,
      missed,
      peakMb: ended.peakMb,
      said: ended.stderr,
    });
  } finally {
    daemon.kill();
    sources.process.disconnect();
    await connection.close();
    await db.end();
    await temporal.release();
    await postgres.release();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function temporalOf(kind: ManyOptions['temporal']): Promise<{ address: string; release(): Promise<unknown> }> {
  return kind === 'dev' ? startEphemeralTemporal() : startTemporalOnPostgres((line) => console.error(line));
}

async function startSources(settings: ManySources): Promise<{ url: string; token: string; process: ChildProcess }> {
  const child = fork(new URL('../parts/many-sources.ts', import.meta.url), [JSON.stringify(settings)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  return new Promise((resolve, reject) => {
    child.once('message', (ready: { url: string; token: string }) => resolve({ ...ready, process: child }));
    child.once('exit', (code) => reject(new Error(`the practice server ended with ${code}`)));
  });
}

function configOf(options: ManyOptions, url: string, temporal: string, folder: string): string {
  const { installations, everySeconds } = options;
  return demoConfig(
    Array.from({ length: installations }, (_, n) => ({
      ...{ id: firstId + n, base_url: url, overlap_seconds: overlapOf(options) },
    })),
    {
      data_dir: folder,
      schedule: `{every: ${everySeconds}s}`,
      database_url: fromEnvironment('DATABASE_URL'),
      temporal: `{address: "${temporal}"}`,
    },
  );
}

interface Found {
  since: Date;
  seconds: number;
  /** One element for each installation. */
  windows: { opened: number; failed: number; longestWait: number }[];
  /** Seconds between two starts of any installation, sorted. */
  apart: number[];
  lag: { median: number; largest: number };
  cpuSeconds: number;
  connections: number;
  walBytes: number;
  growth: { table: string; bytes: number }[];
}

async function measureFor(db: pg.Client, pid: number, { minutes }: ManyOptions): Promise<Found> {
  const sizes = async () => {
    const { rows } = await db.query<{ name: string; bytes: string }>(
      `select relname as name, pg_total_relation_size(relid) as bytes from pg_stat_user_tables where schemaname = 'vetledger'`,
    );
    return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
  };
  const wal = async () => (await db.query<{ lsn: string }>('select pg_current_wal_insert_lsn() as lsn')).rows[0]!.lsn;
  // A row of idle windows has only the start of the last window, so rows are sampled more often than windows start.
  const starts = new Map<string, { installation: string; opened_at: Date }>();
  const sampleStarts = async () => {
    const { rows } = await db.query<{ installation: string; opened_at: Date }>(
      'select installation, max(opened_at) as opened_at from sync_window group by installation',
    );
    for (const row of rows) starts.set(`${row.installation} ${row.opened_at.toISOString()}`, row);
  };
  await db.query('vacuum');
  const sizesBefore = await sizes();
  await sampleStarts();
  const since = (await db.query<{ at: Date }>('select clock_timestamp() as at')).rows[0]!.at;
  const walBefore = await wal();
  const cpuBefore = usageOf(pid);
  const started = performance.now();
  const lags: number[] = [];
  let connections = 0;
  while (performance.now() - started < minutes * 60_000) {
    await sleep(sampleEveryMs);
    await sampleStarts();
    const { rows } = await db.query<{ lag: number }>(
      `select extract(epoch from clock_timestamp() - max(to_time))::float as lag from sync_window
       where outcome = 'closed' group by installation`,
    );
    lags.push(...rows.map(({ lag }) => lag));
    const used = await db.query<{ n: string }>(
      `select count(*) as n from pg_stat_activity where application_name = 'vetledger' and datname = current_database()`,
    );
    connections = Math.max(connections, Number(used.rows[0]!.n));
  }
  const seconds = (performance.now() - started) / 1000;
  const cpuSeconds = usageOf(pid) - cpuBefore;
  const written = await db.query<{ bytes: string }>('select pg_wal_lsn_diff($1, $2) as bytes', [
    await wal(),
    walBefore,
  ]);
  await sampleStarts();
  await db.query('vacuum');
  const sizesAfter = await sizes();
  const { rows: failed } = await db.query<{ installation: string }>(
    `select installation from sync_window where outcome = 'failed' and opened_at > $1`,
    [since],
  );
  const sorted = [...starts.values()].sort((one, other) => one.opened_at.getTime() - other.opened_at.getTime());
  const measured = sorted.filter(({ opened_at }) => opened_at > since);
  const windows = [...Map.groupBy(sorted, ({ installation }) => installation)].map(([installation, own]) => {
    const times = own.map(({ opened_at }) => opened_at.getTime());
    const inside = own.filter(({ opened_at }) => opened_at > since);
    // A wait that has not ended yet counts as well.
    const ends = [...times.slice(1), Math.max(since.getTime() + seconds * 1000, times.at(-1)!)];
    return {
      opened: inside.length,
      failed: failed.filter((row) => row.installation === installation).length,
      longestWait: Math.max(...ends.map((end, i) => (end - times[i]!) / 1000)),
    };
  });
  const times = measured.map(({ opened_at }) => opened_at.getTime() / 1000);
  const lagsSorted = lags.toSorted((a, b) => a - b);
  return {
    ...{ since, seconds, windows, cpuSeconds, connections, walBytes: Number(written.rows[0]!.bytes) },
    apart: times
      .slice(1)
      .map((at, i) => at - times[i]!)
      .toSorted((a, b) => a - b),
    lag: { median: lagsSorted[lags.length >> 1] ?? 0, largest: lagsSorted.at(-1) ?? 0 },
    growth: [...sizesAfter]
      .map(([name, bytes]) => ({ table: name, bytes: bytes - (sizesBefore.get(name) ?? 0) }))
      .filter(({ bytes }) => bytes > 0)
      .sort((a, b) => b.bytes - a.bytes),
  };
}

/**
 * Counts events and actions in the histories of some windows. Temporal bills actions: starts, activities, timers,
 * signals, upserts.
 */
async function historiesOf(client: Client, db: pg.Client, since: Date): Promise<{ events: number; actions: number }> {
  const { rows } = await db.query<{ workflow_id: string }>(
    `select workflow_id from sync_window where outcome = 'closed' and opened_at > $1 order by random() limit $2`,
    [since, historiesRead],
  );
  let events = 0;
  let actions = 0;
  for (const { workflow_id } of rows) {
    const history = await client.workflow.getHandle(workflow_id).fetchHistory();
    const all = history.events ?? [];
    events += all.length;
    actions += all.filter(
      (event) =>
        event.workflowExecutionStartedEventAttributes ||
        event.activityTaskScheduledEventAttributes ||
        event.timerStartedEventAttributes ||
        event.workflowExecutionSignaledEventAttributes ||
        event.upsertWorkflowSearchAttributesEventAttributes,
    ).length;
  }
  return { events: events / rows.length, actions: actions / rows.length };
}

async function missedOf(client: Client): Promise<{ missed: number; skipped: number }> {
  const found = { missed: 0, skipped: 0 };
  for await (const { scheduleId } of client.schedule.list()) {
    const { info } = await client.schedule.getHandle(scheduleId).describe();
    found.missed += info.numActionsMissedCatchupWindow;
    found.skipped += info.numActionsSkippedOverlap;
  }
  return found;
}

function report(
  found: ManyOptions &
    Found & {
      untilLoaded: SinceStart;
      untilSettled: SinceStart;
      events: number;
      actions: number;
      missed: { missed: number; skipped: number };
      peakMb: number;
      said: string;
    },
): void {
  const { installations, everySeconds, seconds, windows } = found;
  const opened = windows.reduce((sum, one) => sum + one.opened, 0);
  const failed = windows.reduce((sum, one) => sum + one.failed, 0);
  const longestWait = Math.max(...windows.map((one) => one.longestWait));
  const perYear = yearSeconds / fiveMinutes;
  const perInstallationYear = (bytes: number) => (bytes / opened) * perYear;
  const mb = (bytes: number) => `${fixed(bytes / 1e6, 1)} MB`;
  const at = (share: number) => found.apart[Math.floor(found.apart.length * share)] ?? 0;
  const lines: [string, string][] = [
    [
      'windows opened of each installation',
      `${Math.min(...windows.map((one) => one.opened))} to ${Math.max(...windows.map((one) => one.opened))}, ${count(opened)} in all`,
    ],
    ['failed; missed and skipped by Temporal', `${failed}; ${found.missed.missed} and ${found.missed.skipped}`],
    [
      'longest wait of an installation',
      `${fixed(longestWait, 1)} s (${fixed(longestWait / everySeconds, 2)} intervals)`,
    ],
    ['lag, median and largest', `${fixed(found.lag.median, 1)} s, ${fixed(found.lag.largest, 1)} s`],
    [
      'between two starts: median, 95 %, largest',
      [0.5, 0.95, 0.9999].map((share) => `${fixed(at(share), 2)} s`).join(', '),
    ],
    ['share of a core', `${fixed((100 * found.cpuSeconds) / seconds, 1)} %`],
    ['processor time per window', `${fixed((1000 * found.cpuSeconds) / opened, 0)} ms`],
    ['memory at its peak', `${fixed(found.peakMb, 0)} MB`],
    ['connections to PostgreSQL', String(found.connections)],
    ['history events per window', fixed(found.events, 1)],
    ['Temporal actions per window', fixed(found.actions, 1)],
    ['WAL per window', `${fixed(found.walBytes / opened / 1000, 1)} KB`],
    [
      'growth per installation and year at 5 min, after vacuum',
      mb(perInstallationYear(found.growth.reduce((sum, { bytes }) => sum + bytes, 0))),
    ],
    [
      'of these',
      found.growth
        .slice(0, 5)
        .map(({ table: name, bytes }) => `${name} ${mb(perInstallationYear(bytes))}`)
        .join(', '),
    ],
    ['start until each first load was closed; processor time of it', startText(found.untilLoaded)],
    ['start until each had settled; processor time of it', startText(found.untilSettled)],
  ];
  writeSection(
    `(h) ${installations} installations in one daemon, Temporal ${found.temporal === 'dev' ? 'as its development server' : 'with PostgreSQL'}`,
    [
      ...machine(),
      '',
      `A window every ${everySeconds} s, measured for ${fixed(seconds / 60, 1)} min; ${invoicesEach} invoices each, nothing happens.`,
      'Measured once each installation has settled: the first load, the census, the first step of the scrub and the overlap after the',
      `load (${overlapOf(found)} s) are over, so that the figures are those of idle windows and of what the daemon does beside them.`,
      `The practice server, PostgreSQL and Temporal run on the same machine.`,
      '',
      table(['', ''], lines),
    ].join('\n'),
  );
  if (found.said.trim() !== '') console.error(`the daemon said:\n${found.said.slice(-3000)}`);
}
