/**
 * The histories of a large clinic's first load and of a complete backfill are far below Temporal's limits, and have no
 * personal data or secrets. Run: `npx vitest run --config vitest.checks.config.ts test/workflows`; HISTORIES_INVOICES
 * sets the number of invoices.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/src/index.ts';
import { openDatabase } from '../../src/db/pool.ts';
import { run } from '../deploy/processes.ts';
import { bin } from '../support/daemon-process.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { demoConfig, fromEnvironment } from '../support/demo-config.ts';
import { personalIn, textOf, thoseWithin } from '../support/personal.ts';
import { query } from '../support/sql.ts';

const invoices = Number(process.env.HISTORIES_INVOICES ?? 200_000);
const loadMs = 3_600_000;
/** Temporal warns from this number of events on, and refuses payloads of more than two megabytes. */
const eventsAtMost = 10_240;
const payloadBytesAtMost = 256 * 1024;
/** vetledger's limits; the sandbox has none. */
const unlimited = 1_000_000_000;

let sandbox: Sandbox;
let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vetledger-histories-'));
  sandbox = await startSandbox({ seed: 5, invoices, rateWindowSeconds: 0 });
  database = await createTestDatabase();
});

afterAll(async () => {
  await database.drop();
  await sandbox.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Payload {
  data?: Uint8Array | null;
}

/** The size in bytes of every payload in an event. */
function payloadsOf(value: unknown, found: number[] = []): number[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return found;
  const { data } = value as Payload;
  if (data instanceof Uint8Array) found.push(data.length);
  for (const inner of Object.values(value)) payloadsOf(inner, found);
  return found;
}

test(`a first load and a backfill of ${invoices} invoices`, { timeout: 2 * loadMs }, async () => {
  const lists = ['invoice', 'invoicerow', 'invoicepayment', 'unallocatedpayment'];
  const actions = Object.fromEntries(lists.map((list) => [`${list}.list`, unlimited]));
  const limits = { unknown: { list: unlimited, retrieve: unlimited, write: unlimited }, actions };
  const config = join(folder, 'vetledger.yaml');
  writeFileSync(
    config,
    demoConfig(
      [
        {
          ...{ id: sandbox.installation, base_url: sandbox.url, rate_window_seconds: 1 },
          // The code writes JSON, which is valid YAML.
          practice_api: JSON.stringify({ limits }),
        },
      ],
      {
        ...{ data_dir: folder, schedule: '{every: 1h}', window_timeout_minutes: 240 },
        ...{ database_url: fromEnvironment('DATABASE_URL'), temporal: `{address: "${inject('temporalAddress')}"}` },
      },
    ),
  );
  const env = { ...process.env, PRACTICE_TOKEN: sandbox.token, DATABASE_URL: database.url };
  for (const command of [
    ['sync', '--json'],
    ['backfill', '--json'],
  ]) {
    const ended = await run(process.execPath, [bin, ...command, '--config', config], { env, timeout: loadMs });
    expect([command[0], ended.code, ended.stderr.slice(-2_000)]).toEqual([command[0], 0, expect.anything()]);
  }

  const db = openDatabase(database.ownerUrl);
  const windows = await query<{ kind: string; workflow_id: string; run_id: string }>(
    db,
    'select kind, workflow_id, run_id from sync_window order by id',
  );
  await db.destroy();
  expect(new Set(windows.map(({ kind }) => kind))).toEqual(new Set(['window', 'backfill']));
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  const client = new Client({ connection });
  const texts: string[] = [];
  for (const { kind, workflow_id, run_id } of windows) {
    const handle = client.workflow.getHandle(workflow_id, run_id);
    const { events } = await handle.fetchHistory();
    const payloads = payloadsOf(events);
    console.log(`${kind}: ${events?.length} events, largest payload ${Math.max(...payloads)} bytes`);
    expect(events?.length).toBeGreaterThan(10);
    expect(events?.length).toBeLessThan(eventsAtMost);
    expect(payloads.length).toBeGreaterThan(5);
    expect(Math.max(...payloads)).toBeLessThan(payloadBytesAtMost);
    texts.push(textOf(events), textOf((await handle.describe()).raw));
  }
  await connection.close();

  const { invoices: own, invoicePayments, prepayments } = sandbox.clinic;
  const personal = personalIn([...own.all(), ...invoicePayments.all(), ...prepayments.all()]);
  expect(personal.size).toBeGreaterThan(100);
  const within = texts.join('\n');
  expect(within).toContain('pullInvoices');
  // The search finds a name that is present.
  const [someone] = personal;
  expect(thoseWithin(personal, `${within} ${someone} `)).toEqual([someone]);
  expect(thoseWithin(personal, within)).toEqual([]);
  expect(within).not.toContain(sandbox.token);
});
