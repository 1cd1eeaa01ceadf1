import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { stateAtOpening, storeNudge, takeNudge } from '../../src/mirror/installation-state.ts';
import { runDaemon } from '../../src/windows/daemon.ts';
import { vetledger } from '../cli/support.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { detailsOf, type WindowRow, waitFor, windowRows } from '../workflows/support.ts';

const secret = 'secret-of-the-nudge-test';
const stop = new AbortController();
let clinic: TestClinic;
let daemon: Promise<void>;
let url: string;
const schedule = () => clinic.engine.client.schedule.getHandle(`sync-window/4711-${clinic.app.databaseId}`);

// A daemon whose Schedule opens one window an hour, so that webhooks open all windows after the first.
beforeAll(async () => {
  clinic = await startTestClinic({ seed: 43, invoices: 60 });
  const webhooks = { host: '127.0.0.1', port: 0, secret };
  const app = { ...clinic.app, config: { ...clinic.app.config, schedule: { everySeconds: 3600 }, webhooks } };
  const listening = Promise.withResolvers<string>();
  daemon = runDaemon(app, { signal: stop.signal, onListening: listening.resolve });
  url = `${await Promise.race([listening.promise, daemon.then(() => '')])}/4711/${secret}`;
  await quiet();
});

afterEach(() => clinic.sandbox.setWebhooks(null));

afterAll(async () => {
  stop.abort();
  await daemon;
  await schedule()
    .delete()
    .catch(() => undefined);
  await clinic.stop();
});

const send = async () => (await fetch(url, { method: 'POST', body: 'invoice_id=1' })).status;

/** Waits until no window has been open or added for a second. Returns the windows after `after`. */
async function quiet(after = 0): Promise<WindowRow[]> {
  let since = performance.now();
  let before = '';
  return waitFor('end of windows', async () => {
    const rows = await windowRows(clinic);
    const now = JSON.stringify(rows.map(({ id, outcome, closed_at }) => [id, outcome, closed_at]));
    if (now !== before || rows.length === 0 || rows.some(({ outcome }) => outcome === 'open'))
      since = performance.now();
    before = now;
    return performance.now() - since > 1_000 && rows.filter(({ id }) => id > after);
  });
}

/** The number of windows so far; consecutive idle windows share a row. */
async function opened(): Promise<number> {
  const [all] = await clinic.rows<{ n: number }>('select sum(coalesce(idle_windows, 1))::int as n from sync_window');
  return all!.n;
}

test('a change in the clinic opens a window, and one burst opens two at most', async () => {
  const latest = (await windowRows(clinic)).at(-1)!.id;
  clinic.sandbox.setWebhooks({ url, format: 'json' });
  const { id } = clinic.sandbox.clinic.takePrepayment({ payment_type: 1, paid: '40.00' });
  await waitFor(
    'entry',
    async () => (await clinic.rows(`select from entry where kind = 'prepayment' and document_id = ?`, [id])).length > 0,
  );
  await quiet();
  clinic.sandbox.setWebhooks(null);
  const before = await opened();
  for (const status of await Promise.all(Array.from({ length: 60 }, () => send()))) expect(status).toBe(200);
  // On a slow machine, windows open and close while the webhooks arrive. After the last one, at most two are due.
  const answered = await opened();
  await quiet();
  const after = await opened();
  expect(after - before).toBeGreaterThanOrEqual(1);
  expect(after - answered).toBeLessThanOrEqual(2);
  const all = (await windowRows(clinic)).filter((row) => row.id > latest);
  expect(new Set(all.map(({ trigger }) => trigger))).toEqual(new Set(['webhook']));
  // The row of consecutive idle windows has the workflow of the last one.
  const { workflow_id } = all.at(-1)!;
  expect(await detailsOf(clinic, { workflow_id, run_id: undefined })).toContain('· webhook · **closed**');
  for (const [i, row] of all.entries()) {
    expect(row.outcome).toBe('closed');
    if (i > 0) expect(row.opened_at.getTime()).toBeGreaterThanOrEqual(all[i - 1]!.closed_at!.getTime());
  }
});

test('our own write-back is a webhook too: one more window, idle, and then it is over', async () => {
  const latest = (await windowRows(clinic)).at(-1)!.id;
  clinic.sandbox.setWebhooks({ url });
  const { id } = clinic.sandbox.clinic.takePrepayment({ payment_type: 1, paid: '70.00' });
  await waitFor('write-back', () => clinic.sandbox.clinic.prepayment(id).external_info.external_id !== null);
  await waitFor('next window', async () => (await windowRows(clinic)).filter((row) => row.id > latest).length > 1);
  const rows = await quiet(latest);
  const counts = await clinic.rows<{ written: number; posted: number; pulled: string }>(
    `select (counts->>'written_back')::int as written, (counts->>'posted')::int as posted, counts->>'pulled' as pulled
     from sync_window where id > ? order by id`,
    [latest],
  );
  expect(rows.length).toBeGreaterThanOrEqual(2);
  expect(rows.length).toBeLessThanOrEqual(3);
  expect(counts.map(({ written }) => written).reduce((sum, n) => sum + n, 0)).toBe(1);
  expect(counts.at(-1)).toMatchObject({ written: 0, posted: 0 });
  expect(JSON.parse(counts.at(-1)!.pulled)).toEqual({ invoices: 0, rows: 0, payments: 0, prepayments: 0 });
  expect(await clinic.rows(`select from entry where kind = 'prepayment' and document_id = ?`, [id])).toHaveLength(1);
});

test('`vetledger run` says where it listens, and ends with exit code 3 where it cannot', async () => {
  const run = async (listen: string, signal?: AbortSignal) => {
    const file = join(dirname(clinic.config), `run-${new URL(`http://${listen}`).port}.yaml`);
    writeFileSync(
      file,
      `${readFileSync(clinic.config, 'utf8')}\nwebhooks: {listen: "${listen}", secret: "\${WEBHOOK_SECRET}"}\nschedule: {every: 1h}\n`,
    );
    return vetledger(['run', '--config', file], { ...clinic.env, WEBHOOK_SECRET: secret }, signal);
  };
  const { host } = new URL(url);
  const taken = await run(host);
  expect(taken.code).toBe(3);
  expect(taken.stderr).toContain(`Webhooks cannot be received: ${host} is used by another process.`);
  const stopped = new AbortController();
  const windows = (await windowRows(clinic)).length;
  const ran = run('127.0.0.1:0', stopped.signal);
  await waitFor('window of the start', async () => (await windowRows(clinic)).length > windows);
  await quiet();
  stopped.abort();
  const { stderr, stdout } = await ran;
  expect(stderr).toMatch(/^webhooks: POST http:\/\/127\.0\.0\.1:\d+\/webhooks\/<installation>\/<secret>$/m);
  for (const said of [taken.stderr, stderr, stdout]) expect(said).not.toContain(secret);
});

test('`vetledger doctor` says when the latest webhook came', async () => {
  const file = join(dirname(clinic.config), 'run-0.yaml');
  const { stdout } = await vetledger(['doctor', '--config', file], { ...clinic.env, WEBHOOK_SECRET: secret });
  expect(stdout).toMatch(/^ok {4}4711 webhooks: the latest arrived \d{4}-/m);
  expect(stdout).not.toContain(secret);
});

test('a schedule that the operator paused is not nudged', async () => {
  await schedule().pause('the practice moves its server');
  const latest = (await windowRows(clinic)).at(-1)!.id;
  const actions = (await schedule().describe()).info.numActionsTaken;
  const said = vi.spyOn(clinic.app.log, 'info');
  expect(await send()).toBe(200);
  // After this line, the nudge has finished, so all its requests to the Schedule are counted.
  await waitFor('line of the log', () => said.mock.calls.some(([, line]) => line?.includes('the schedule is paused')));
  said.mockRestore();
  expect((await schedule().describe()).info.numActionsTaken).toBe(actions);
  expect((await windowRows(clinic)).filter(({ id }) => id > latest)).toEqual([]);
  await schedule().unpause();
});

test('a window can tell whether webhooks asked for it', async () => {
  const { db } = clinic.app;
  const take = async () => {
    const { isNudged: wasNudged } = await stateAtOpening(db, 4712);
    await takeNudge(db, 4712, wasNudged);
    return wasNudged;
  };
  const note = () => storeNudge(db, 4712);
  expect(await take()).toBe(false);
  await note();
  expect([await take(), await take()]).toEqual([true, false]);
  // One window is opening and one waits. Further nudges are covered by the waiting one.
  for (let i = 0; i < 5; i++) await note();
  expect(await take()).toBe(true);
  await clinic.rows(
    `insert into sync_window (installation, kind, trigger, to_time, workflow_id, run_id)
     values (4712, 'window', 'webhook', clock_timestamp(), 'w', 'r')`,
  );
  await note();
  expect([await take(), await take()]).toEqual([true, false]);
  // A nudge that arrives while another window opens waits for the next one.
  await clinic.rows(`update sync_window set outcome = 'closed' where run_id = 'r'`);
  await note();
  await note();
  await takeNudge(db, 4712, false);
  expect([await take(), await take()]).toEqual([true, false]);
});
