import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { inject, vi } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox/src/index.ts';
import { type InstallationConfig, loadConfig } from '../../src/config/load-config.ts';
import { schemaName } from '../../src/db/pool.ts';
import type { Binding } from '../../src/db/rows.ts';
import type { Delivery } from '../../src/erp/delivery.ts';
import { reconcileWithSource } from '../../src/queries/reconcile.ts';
import { type App, openApp } from '../../src/runtime/app.ts';
import { type Engine, startEngine } from '../../src/runtime/worker.ts';
import { runWindowNow, type WindowReport } from '../../src/windows/run-window.ts';
import { createTestDatabase } from './database.ts';
import { demoConfig, demoMapping, fromEnvironment, type Settings } from './demo-config.ts';
import { wrongBooks } from './expected-books.ts';
import { runAlone } from './server.ts';
import { query } from './sql.ts';

export interface TestClinic {
  sandbox: Sandbox;
  app: App;
  engine: Engine;
  config: string;
  env: NodeJS.ProcessEnv;
  sync(trigger?: string): Promise<WindowReport>;
  reconcile(): ReturnType<typeof reconcileWithSource>;
  /** The differences between the books and the oracle, which uses the sandbox's records; empty if there are none. */
  wrongBooks(): Promise<string[]>;
  /** The workers of the clinic's engine. */
  workers(): Worker[];
  rows<Row>(sql: string, bindings?: readonly Binding[]): Promise<Row[]>;
  /**
   * Runs a statement as the owner of the tables, for changes that the program may not make: failing triggers,
   * tampering.
   */
  asOwner(sql: string): Promise<void>;
  ownerUrl: string;
  /** URL for the role of the console. */
  consoleUrl: string;
  stop(): Promise<void>;
}

/**
 * A clinic's clock that starts at an instant and runs at real pace. The clinic's sales by month depend on its clock, so
 * a test that names figures or months sets it (`now: clockFrom('2026-09-13T09:00:00Z')`). The instant is in the past,
 * so that no document is dated in the future.
 */
export function clockFrom(instant: string): () => Date {
  const began = performance.now();
  return () => new Date(Date.parse(instant) + (performance.now() - began));
}

/**
 * All workers of this process in order, because an engine does not expose its workers. Their workflows run on the main
 * thread (`debugMode`), because a thread for each worker costs half a second of processor time. Daemons have threads.
 */
const workersCreated: Worker[] = [];
const create = Worker.create.bind(Worker);
vi.spyOn(Worker, 'create').mockImplementation(async (options) => {
  const worker = await create({ ...options, debugMode: true });
  workersCreated.push(worker);
  return worker;
});

/** Starts a sandbox clinic with a new database, and a worker on the test run's Temporal server. */
export async function startTestClinic(
  options: SandboxOptions & {
    overlapSeconds?: number;
    settings?: Settings;
    mapping?: string;
    scrubs?: boolean;
    delivery?: Delivery;
  } = {},
): Promise<TestClinic> {
  const {
    overlapSeconds = 60,
    settings = {},
    mapping: mappingFile = demoMapping,
    scrubs = false,
    delivery,
    ...sandboxOptions
  } = options;
  const sandbox = await startSandbox({ rateWindowSeconds: 1, invoices: 150, ...sandboxOptions });
  const database = await createTestDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'vetledger-test-'));
  const config = join(folder, 'vetledger.yaml');
  writeFileSync(
    config,
    demoConfig(
      [
        {
          id: sandbox.installation,
          base_url: sandbox.url,
          mapping: mappingFile,
          rate_window_seconds: sandboxOptions.rateWindowSeconds ?? 1,
          overlap_seconds: overlapSeconds,
          ...settings,
        },
      ],
      {
        database_url: fromEnvironment('DATABASE_URL'),
        temporal: `{address: ${fromEnvironment('TEMPORAL_ADDRESS')}}`,
        window_timeout_minutes: 2,
      },
    ),
  );
  const env = {
    ...process.env,
    PRACTICE_TOKEN: sandbox.token,
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    VETLEDGER_DATA_DIR: folder,
    VETLEDGER_LOG: process.env.VETLEDGER_LOG ?? 'silent',
  };
  const opened = await openApp(await loadConfig(config, env), { temporal: true, progress: () => undefined, env });
  const app = { ...opened, ...(delivery ? { delivery } : {}) };
  const engine = await startEngine(app, {}, () => undefined, { scrubs });
  const never = new AbortController().signal;
  return {
    sandbox,
    app,
    engine,
    config,
    env,
    sync: (trigger = 'sync') => runWindowNow(app, engine, sandbox.installation, { trigger, signal: never }),
    reconcile: () => reconcileWithSource(app, app.config.installations, () => undefined),
    wrongBooks: () => {
      const [{ id: installation, timezone, decimals, startDate }] = app.config.installations as [InstallationConfig];
      return wrongBooks(app.db, sandbox.clinic, { installation, timezone, decimals, startDate, mapping: mappingFile });
    },
    workers: () => workersCreated.filter(({ options }) => options.taskQueue.startsWith(engine.taskQueue)),
    rows: (sql, bindings) => query(app.db, sql, bindings),
    ownerUrl: database.ownerUrl,
    consoleUrl: database.consoleUrl,
    asOwner: (sql) => runAlone(database.ownerUrl, `set search_path = ${schemaName}; ${sql}`),
    async stop() {
      await engine.stop();
      await app.close();
      await database.drop();
      await sandbox.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
