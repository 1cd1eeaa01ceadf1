// The cost of a window without changes, of which each installation has a hundred thousand a year.

import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import type { WindowReport } from '../../src/windows/run-window.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { listRequests, waitFor, windowRows } from './support.ts';

let clinic: TestClinic;
let superuser: pg.Client;

beforeAll(async () => {
  clinic = await startTestClinic({ seed: 47, invoices: 40, overlapSeconds: 1 });
  const url = new URL(inject('databaseUrl'));
  url.pathname = new URL(clinic.ownerUrl).pathname;
  superuser = new pg.Client({ connectionString: url.href });
  await superuser.connect();
  await superuser.query('create extension pg_walinspect');
  // The first load, the census of the next window, and the overlap that is read again.
  await clinic.sync();
  await clinic.sync();
  await sleep(2_000);
  await clinic.sync();
});

afterAll(async () => {
  await superuser.end();
  await clinic.stop();
});

/**
 * Counts bytes in the write-ahead log about the clinic's tables, because other databases share the log. Images of whole
 * pages are excluded, because checkpoints cause them.
 */
async function walOf(work: () => Promise<unknown>): Promise<number> {
  const at = async () =>
    (await superuser.query<{ lsn: string }>('select pg_current_wal_insert_lsn() as lsn')).rows[0]!.lsn;
  const from = await at();
  await work();
  const to = await at();
  // A synchronous commit makes all earlier records readable.
  await superuser.query(`set synchronous_commit = on; select pg_logical_emit_message(true, 'read the log', '')`);
  const read = superuser.query<{ bytes: string }>(
    `select coalesce(sum(bytes), 0) as bytes from (
       select max(record_length) - sum(coalesce(block_fpi_length, 0)) as bytes from pg_get_wal_block_info($1, $2) b
       where reldatabase = (select oid from pg_database where datname = current_database())
         and relfilenode in (select relfilenode from pg_class where relnamespace = 'vetledger'::regnamespace)
       group by start_lsn) records`,
    [from, to],
  );
  // A checkpoint for another database may have removed the segment; then the measurement is repeated.
  const rows = await read.then(
    (found) => found.rows,
    (error: Error) => (/has already been removed/.test(error.message) ? null : Promise.reject(error)),
  );
  return rows === null ? walOf(work) : Number(rows[0]!.bytes);
}

/** The processor time of this process: the daemon, and the sandbox and the command that wait for it. */
async function processorMsOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const idleWindow = async (): Promise<WindowReport> => {
  const report = await clinic.sync();
  expect(report).toMatchObject({ outcome: 'closed', pulled: { invoices: 0 } });
  return report;
};

const eventsOf = async ({ window }: WindowReport) => {
  const [row] = await clinic.rows<{ workflow_id: string }>('select workflow_id from sync_window where id = ?', [
    window!,
  ]);
  const { events } = await clinic.engine.client.workflow.getHandle(row!.workflow_id).fetchHistory();
  return events ?? [];
};
type Events = Awaited<ReturnType<typeof eventsOf>>;
const activitiesIn = (events: Events) =>
  events.flatMap((event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? []);
const tasksIn = (events: Events) => events.filter((event) => event.workflowTaskCompletedEventAttributes).length;

test('an idle window is one activity, at most 15 events, and one question a list', async () => {
  const sentBy: number[] = [];
  // The smallest of several counts, because a heartbeat or another task of the process may add to one.
  const counted = async () => {
    const statements = vi.spyOn(pg.Client.prototype, 'query');
    const done = await idleWindow();
    const texts = statements.mock.calls.map(([query]: unknown[]) =>
      typeof query === 'string' ? query : (query as { text: string }).text,
    );
    // One statement finishes all requests that end together, so the number of these depends on the load of the machine.
    sentBy.push(texts.filter((text) => !text.startsWith('select budget_finish(')).length);
    statements.mockRestore();
    return done;
  };
  await counted();
  await counted();
  await counted();
  const asked = listRequests(clinic);
  const report = await counted();
  const sent = Math.min(...sentBy);
  const events = await eventsOf(report);
  expect(activitiesIn(events)).toEqual(['openWindow']);
  expect(events.length).toBeLessThanOrEqual(15);
  // Each workflow task and each statement costs processor time.
  expect(tasksIn(events)).toBe(2);
  expect(sent).toBeGreaterThan(20);
  expect(sent).toBeLessThan(39);
  const now = Object.entries(listRequests(clinic)).map(([action, n]) => [action, n - (asked[action] ?? 0)]);
  expect(Object.fromEntries(now)).toEqual({
    ...{ 'invoice.list': 1, 'unallocatedpayment.list': 1, 'invoicepayment.list': 1, 'invoicerow.list': 1 },
  });
});

test('an idle window takes less processor time than a thousand of the smallest statements', async () => {
  const windows: number[] = [];
  const statements: number[] = [];
  // The smallest of several, because other work of this process may add to one.
  for (let n = 0; n < 4; n++) {
    windows.push(await processorMsOf(idleWindow));
    statements.push(
      await processorMsOf(async () => {
        for (let sent = 0; sent < 200; sent++) await clinic.rows('select 1');
      }),
    );
  }
  expect(Math.min(...windows) / Math.min(...statements)).toBeLessThan(5);
});

test('an idle window writes less than 3.5 KB into the log', async () => {
  const bytes: number[] = [];
  // The smallest of several, because a vacuum or a heartbeat may add to one, more often on a busy machine.
  for (let n = 0; n < 3 || (n < 10 && Math.min(...bytes) >= 3_500); n++) bytes.push(await walOf(idleWindow));
  expect(Math.min(...bytes)).toBeGreaterThan(1_000);
  expect(Math.min(...bytes)).toBeLessThan(3_500);
  const busy = await walOf(async () => {
    clinic.sandbox.live(20);
    await clinic.sync();
  });
  expect(busy).toBeGreaterThan(7_000);
});

describe('a window that finds something', () => {
  const busyWindow = async (): Promise<WindowReport> => {
    clinic.sandbox.live(5);
    const report = await clinic.sync();
    clinic.sandbox.setFaults({ http500: null, timeoutMs: null });
    return report;
  };

  test('does not pull again what its opening has read', async () => {
    const report = await busyWindow();
    expect(report).toMatchObject({ outcome: 'closed' });
    expect(report.posted).toBeGreaterThan(0);
    expect(activitiesIn(await eventsOf(report))).toEqual([
      ...['openWindow', 'post', 'summarise', 'writeBack', 'takeCensus', 'closeWindow'],
    ]);
  });

  test('pulls a list in a separate activity if a request of the opening failed', async () => {
    clinic.sandbox.setFaults({ http500: { action: 'invoicepayment.list', count: 1 } });
    const report = await busyWindow();
    const activities = activitiesIn(await eventsOf(report));
    expect(activities).toContain('pullPayments');
    // Rows are pulled after the payments, so that they are not older than their invoices.
    expect(activities).toContain('pullRows');
    const [{ seen, requests }] = (await clinic.rows<{ seen: number; requests: number }>(
      `select (counts->'seen'->>'payments')::int as seen, (counts->'api'->>'requests')::int as requests
       from sync_window where id = ?`,
      [report.window!],
    )) as [{ seen: number; requests: number }];
    expect(report).toMatchObject({ outcome: 'closed', seen: { payments: seen }, api: { requests } });
    expect(await clinic.wrongBooks()).toEqual([]);
  });

  test('ends as cancelled, and frees its place, when that happens while its opening pulls', async () => {
    clinic.sandbox.setFaults({ timeoutMs: { ms: 60_000, action: 'invoicepayment.list' } });
    const asked = listRequests(clinic)['invoicepayment.list'];
    const window = busyWindow();
    const workflowId = await waitFor('lease', async () => {
      const [lease] = await clinic.rows<{ holder: string }>(`select holder from lease where lane = 'live'`);
      return lease!.holder.split('/').slice(0, -1).join('/');
    });
    await waitFor('question', () => listRequests(clinic)['invoicepayment.list'] !== asked);
    await clinic.engine.client.workflow.getHandle(workflowId).cancel();
    expect(await window).toMatchObject({ outcome: 'failed', error: { code: 'window_cancelled' } });
    const row = (await windowRows(clinic)).at(-1)!;
    expect(row).toMatchObject({ outcome: 'failed', workflow_id: workflowId });
    const { events } = await clinic.engine.client.workflow.getHandle(workflowId).fetchHistory();
    expect(activitiesIn(events ?? [])).toEqual(['openWindow', 'noteNotOpened']);
    expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
    expect(await clinic.wrongBooks()).toEqual([]);
  });
});
