// node test/budget/use.ts [--window SECONDS] [--rounds N] [--latency MS] [--processes N] [--live]: measures in real
// time the used share of the budgets by walks of weight 20, through the real client with a sandbox. The maximum is w /
// (w + latency).
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { startSandbox } from '../../sandbox/src/index.ts';
import { loadDialect } from '../../src/config/dialect.ts';
import { openDatabase } from '../../src/db/pool.ts';
import { startEphemeralPostgres } from '../../src/embedded/index.ts';
import { staticToken } from '../../src/practice/auth.ts';
import { Budget, priorities } from '../../src/practice/budget.ts';
import { createPracticeClient } from '../../src/practice/client.ts';
import { createTransport, defaultTimeouts } from '../../src/practice/transport.ts';
import { limitOf } from '../../src/records/dialect.ts';
import { migrateAsOwner } from '../../src/runtime/database.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';

interface Part {
  databaseUrl: string;
  baseUrl: string;
  installation: number;
  token: string;
  windowSeconds: number;
  untilMs: number;
  isLive: boolean;
}

interface Sent {
  process: number;
  path: string;
  weight: number;
  atMs: number;
  durationMs: number;
  status: number;
}

const lists = {
  invoice: 'invoice',
  row: 'invoicerow',
  payment: 'invoicepayment',
  prepayment: 'unallocatedpayment',
} as const;
const dialect = loadDialect();

/**
 * Reads pages of all four lists in parallel, repeatedly. Optionally it adds one live request for rows in each window.
 */
async function walk(part: Part): Promise<Sent[]> {
  const { installation, baseUrl, windowSeconds, untilMs } = part;
  const db = openDatabase(part.databaseUrl);
  const budget = new Budget({
    db,
    installation,
    dialect,
    windowSeconds,
    requestTimeoutSeconds: 90,
    clock: systemClock,
  });
  const http = createTransport({ timeouts: defaultTimeouts, clock: systemClock });
  const sent: Sent[] = [];
  const client = createPracticeClient({
    ...{ installation, baseUrl, auth: staticToken(part.token), dialect, budget, clock: systemClock },
    log: { debug: () => undefined, warn: () => undefined },
    signal: AbortSignal.timeout(untilMs - Date.now()),
    transport: {
      close: http.close,
      serverNow: http.serverNow,
      send: async (request) => {
        const atMs = Date.now();
        const answer = await http.send(request);
        const { pathname, searchParams } = new URL(request.url);
        const weight = Math.ceil(Number(searchParams.get('page_size')) / 50);
        const answered = 'status' in answer ? answer : { durationMs: 0, status: 0 };
        sent.push({
          process: process.pid,
          path: pathname,
          weight,
          atMs,
          durationMs: answered.durationMs,
          status: answered.status,
        });
        return answer;
      },
    },
  });
  const backfills = (Object.keys(lists) as (keyof typeof lists)[]).map(async (list) => {
    for (;;) await client.list(list, {}, 1000, { priority: priorities.backfill });
  });
  const live = async () => {
    for (;;) {
      await client.list('row', {}, 50);
      await systemClock.sleep(windowSeconds * 1000);
    }
  };
  await Promise.allSettled(part.isLive ? [...backfills, live()] : backfills);
  client.close();
  await budget.close();
  await db.destroy();
  return sent;
}

/**
 * The median of milliseconds until a page was sent, from when there was room for it and its process had the page
 * before.
 */
function lateMs(sent: Sent[], limit: number, windowMs: number): number {
  const late: number[] = [];
  for (const [i, next] of sent.entries()) {
    const before = sent.slice(0, i);
    const ends = before.map(({ atMs, durationMs }) => atMs + durationMs).sort((a, b) => b - a);
    const leaver = ends[Math.floor(limit / next.weight) - 1];
    const last = before.findLast(({ process }) => process === next.process);
    if (leaver === undefined || last === undefined || last.atMs + last.durationMs > leaver + windowMs) continue;
    late.push(next.atMs - leaver - windowMs);
  }
  return late.sort((a, b) => a - b)[late.length >> 1] ?? 0;
}

/**
 * The used share of a list's limit, over whole limits: from the first request to the request that follows the last
 * limit.
 */
function report(list: keyof typeof lists, all: Sent[], windowSeconds: number): void {
  const sent = all.filter(({ path }) => path.endsWith(`/${lists[list]}/`)).sort((a, b) => a.atMs - b.atMs);
  const limit = limitOf(dialect, `${lists[list]}.list`);
  const total = sent.reduce((sum, { weight }) => sum + weight, 0);
  const rounds = Math.floor((total - 1) / limit);
  let weight = 0;
  const next = sent.find((request) => {
    weight += request.weight;
    return weight > rounds * limit;
  })!;
  const seconds = (next.atMs - sent[0]!.atMs) / 1000;
  const durations = sent.map(({ durationMs }) => durationMs).sort((a, b) => a - b);
  const latency = durations[durations.length >> 1]! / 1000;
  const share = (rounds * windowSeconds) / seconds;
  const most = windowSeconds / (windowSeconds + latency);
  const refused = sent.filter(({ status }) => status === 429).length;
  console.log(
    `${list.padEnd(10)} ${rounds} x ${limit} in ${seconds.toFixed(2)} s: ${(share * 100).toFixed(2)} % used, ` +
      `${((share / most) * 100).toFixed(2)} % of the most (median latency ${(latency * 1000).toFixed(0)} ms); ` +
      `${refused} 429s; ${lateMs(sent, limit, windowSeconds * 1000).toFixed(0)} ms late`,
  );
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      window: { type: 'string', default: '10' },
      rounds: { type: 'string', default: '5' },
      latency: { type: 'string', default: '50' },
      processes: { type: 'string', default: '1' },
      live: { type: 'boolean', default: false },
    },
  });
  const windowSeconds = Number(values.window);
  const sandbox = await startSandbox({ rateWindowSeconds: windowSeconds, latencyMs: Number(values.latency) });
  const postgres = await startEphemeralPostgres();
  await migrateAsOwner(postgres);
  const part: Part = {
    ...{ databaseUrl: postgres.url, baseUrl: sandbox.url, installation: sandbox.installation, token: sandbox.token },
    ...{ windowSeconds, isLive: values.live },
    untilMs: Date.now() + (Number(values.rounds) + 0.5) * windowSeconds * 1000 + 1000,
  };
  const results = Array.from({ length: Number(values.processes) }, async () => {
    const child = fork(import.meta.filename, ['--part'], { env: { ...process.env, PART: JSON.stringify(part) } });
    const [sent] = (await once(child, 'message')) as [Sent[]];
    return sent;
  });
  const all = (await Promise.all(results)).flat();
  for (const list of Object.keys(lists) as (keyof typeof lists)[]) report(list, all, windowSeconds);
  await postgres.release();
  await sandbox.stop();
}

if (process.argv[2] === '--part') {
  const sent = await walk(JSON.parse(process.env.PART!) as Part);
  process.send!(sent);
  process.disconnect();
} else {
  await main();
}
