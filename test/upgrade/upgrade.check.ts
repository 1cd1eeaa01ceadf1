/**
 * An upgrade as an operator does it, from the revision before to this one: both run windows on one task queue while the database is
 * migrated, and the former version is started once more afterwards. Run: `npm run upgrade`; VETLEDGER_UPGRADE_FROM names another
 * revision, and VETLEDGER_UPGRADE_BREAK=1 gives the former one a workflow that does not fit, which has to be noticed.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/index.ts';
import { openDatabase } from '../../src/db/pool.ts';
import { pathWithNode, run, type Started, start } from '../deploy/processes.ts';
import { demoConfig, demoMapping, fromEnvironment } from '../support/demo-config.ts';
import { wrongBooks } from '../support/expected-books.ts';
import { dropDatabase, runAlone, urlOfDatabase } from '../support/server.ts';
import { query } from '../support/sql.ts';
import { waitFor } from '../workflows/support.ts';
import { checkOut, previousRevision } from './revision.ts';

const here = fileURLToPath(new URL('../../', import.meta.url));
const breaks = process.env.VETLEDGER_UPGRADE_BREAK === '1';
/** Each request takes so long that a window is in progress whenever a daemon is stopped. */
const slowMs = 250;
const name = `upgrade_${process.pid}`;
const server = inject('databaseUrl');
const databaseUrl = urlOfDatabase(server, name, inject('runtimeRole'));
const folder = mkdtempSync(join(tmpdir(), 'vetledger-upgrade-'));
const config = join(folder, 'vetledger.yaml');
const db = openDatabase(databaseUrl, { max: 2 });
let sandbox: Sandbox;
const daemons: Started[] = [];

beforeAll(async () => {
  await runAlone(server, `create database ${name}`);
  sandbox = await startSandbox({ seed: 61, invoices: 120, rateWindowSeconds: 1, quirks: { maxPageSize: 50 } });
  const { installation: id, url: base_url } = sandbox;
  writeFileSync(
    config,
    demoConfig([{ id, base_url, rate_window_seconds: 1, overlap_seconds: 60 }], {
      database_url: fromEnvironment('DATABASE_URL'),
      migrate_database_url: fromEnvironment('MIGRATE_DATABASE_URL'),
      temporal: `{address: ${fromEnvironment('TEMPORAL_ADDRESS')}}`,
      schedule: '{every: 5s}',
    }),
  );
});

afterAll(async () => {
  await Promise.all(daemons.map((daemon) => daemon.stop()));
  await db.destroy();
  await sandbox?.stop();
  await dropDatabase(server, name);
  rmSync(folder, { recursive: true, force: true });
});

const environment = () => ({
  PATH: pathWithNode,
  HOME: folder,
  PRACTICE_TOKEN: sandbox.token,
  DATABASE_URL: databaseUrl,
  MIGRATE_DATABASE_URL: urlOfDatabase(server, name),
  TEMPORAL_ADDRESS: inject('temporalAddress'),
  VETLEDGER_DATA_DIR: join(folder, 'data'),
});

const program = (root: string) => join(root, 'bin/vetledger.js');

function daemon(root: string): Started {
  const started = start(process.execPath, [program(root), 'run', '--json', '--config', config], { env: environment() });
  daemons.push(started);
  return started;
}

async function command(root: string, ...args: string[]): Promise<void> {
  const ended = await run(process.execPath, [program(root), ...args, '--config', config], { env: environment() });
  if (ended.code !== 0) throw new Error(`${args.join(' ')} ended with ${ended.code}: ${ended.stdout}${ended.stderr}`);
}

const windows = () =>
  query<{ outcome: string; error: string | null }>(db, 'select outcome, error from sync_window order by id');

/** Waits for so many more closed windows, in which the clinic has gone on. */
async function moreWindows(count: number): Promise<void> {
  const closed = async () => (await windows()).filter(({ outcome }) => outcome === 'closed').length;
  const before = await closed();
  for (let more = 1; more <= count; more++) {
    sandbox.live(2);
    await waitFor(`closed window ${before + more}`, async () => (await closed()) >= before + more, 120_000);
  }
}

/** Stops a daemon while a window is in progress. */
async function stopWithin(stopped: Started): Promise<void> {
  sandbox.live(2);
  await waitFor('window in progress', async () => (await windows()).some(({ outcome }) => outcome === 'open'), 60_000);
  expect(await stopped.stop()).toMatchObject({ code: 0 });
}

interface Course {
  workflow: string;
  /** Processes that worked on it. */
  workers: Set<string>;
  /** Failed workflow tasks, by cause. */
  failed: string[];
}

/** What the histories of this database's workflows tell. */
async function courses(): Promise<Course[]> {
  const [meta] = await query<{ value: string }>(db, `select value from meta where key = 'database_id'`);
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  try {
    const client = new Client({ connection });
    const found: Course[] = [];
    for await (const { workflowId, runId } of client.workflow.list()) {
      if (!workflowId.includes(`-${meta?.value}`)) continue;
      const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      const course: Course = { workflow: workflowId, workers: new Set(), failed: [] };
      for (const event of events ?? []) {
        const worker = event.workflowTaskStartedEventAttributes?.identity;
        if (worker) course.workers.add(worker);
        const failure = event.workflowTaskFailedEventAttributes;
        if (failure) course.failed.push(`${failure.cause}: ${failure.failure?.message}`);
      }
      found.push(course);
    }
    return found;
  } finally {
    await connection.close();
  }
}

test('an upgrade beside running windows, and back', async (context) => {
  const commit = previousRevision();
  if (commit === null)
    context.skip('this clone has no revision before: git fetch --deepen 1, or VETLEDGER_UPGRADE_FROM');
  const former = checkOut(commit ?? '', join(folder, 'former'));
  if (typeof former === 'string') return context.skip(`${commit}: ${former}`);
  console.info(`from ${former.name}`);
  if (breaks) addTimer(former.folder);

  await command(former.folder, 'migrate');
  const first = daemon(former.folder);
  await waitFor(
    'first window',
    async () => (await windows().catch(() => [])).some(({ outcome }) => outcome === 'closed'),
    180_000,
  );
  sandbox.setFaults({ timeoutMs: { ms: slowMs } });

  // Expanded beside the former version, which goes on; then both work on one queue.
  await command(here, 'migrate');
  await moreWindows(1);
  const second = daemon(here);
  await moreWindows(2);
  await stopWithin(first);
  if (breaks) {
    await waitFor(
      'failure of the broken workflow',
      async () => (await courses()).some(({ failed }) => failed.length > 0),
      120_000,
    );
    return;
  }
  await moreWindows(2);

  if (former.bearsExpansions) {
    // The way back: the former version starts on the expanded database, and its own `migrate` has nothing to do.
    await command(former.folder, 'migrate');
    const again = daemon(former.folder);
    await again.says('"closed"');
    await stopWithin(second);
    await moreWindows(2);
    const third = daemon(here);
    await third.says('"closed"');
    await stopWithin(again);
    await moreWindows(1);
    await third.stop();
  } else {
    console.info('the former revision refuses migrations that it does not know: the way back is not tried');
    await second.stop();
  }

  sandbox.setFaults({ timeoutMs: null });
  await command(here, 'sync');
  // The schedule's next window may have begun beside `sync`; none has failed.
  expect((await windows()).filter(({ outcome }) => outcome === 'failed')).toEqual([]);
  const told = await courses();
  // Temporal's own cause for a signal that came while a task was being completed.
  const unhandled = /^(1|UNHANDLED_COMMAND|WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND): /;
  expect(told.flatMap(({ failed }) => failed).filter((cause) => !unhandled.test(cause))).toEqual([]);
  // Otherwise nothing was proven: no workflow of one version was gone on with by the other.
  expect(told.filter(({ workers }) => workers.size > 1)).not.toEqual([]);
  const books = {
    installation: sandbox.installation,
    timezone: 'Europe/Helsinki',
    decimals: 2,
    startDate: null,
    mapping: demoMapping,
  };
  expect(await wrongBooks(db, sandbox.clinic, books)).toEqual([]);
  await command(here, 'reconcile');
});

/** Makes the former revision's windows begin with a timer, which this one's do not have. */
function addTimer(root: string): void {
  const file = join(root, 'workflows/sync-window.ts');
  const code = readFileSync(file, 'utf8');
  const begin = /export async function syncWindow\([^)]*\)[^{]*\{/;
  if (!begin.test(code)) throw new Error('sync-window.ts begins in another way now');
  writeFileSync(
    file,
    `import { sleep as pause } from '@temporalio/workflow';\n${code.replace(begin, (head) => `${head}\n  await pause(10);`)}`,
  );
}
