import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/src/index.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { openDatabase } from '../../src/db/pool.ts';
import { type App, openApp } from '../../src/runtime/app.ts';
import { runDaemon } from '../../src/windows/daemon.ts';
import { vetledger } from '../cli/support.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';
import { demoMapping } from '../support/demo-config.ts';
import { waitFor } from '../workflows/support.ts';

const demo = readFileSync(demoMapping, 'utf8');
/** Another mapping of the same clinic, with another gift card account. */
const changedMapping = demo.replace(/gift_card_liability: *"?\d+"?/, 'gift_card_liability: "2999"');
const quick = { heartbeatMs: 100 };

let clinic: TestClinic;
/** The practice API of installation 4712. */
let second: Sandbox;
let folder: string;
let mapping: string;
const apps: App[] = [];
const daemons: Daemon[] = [];

beforeAll(async () => {
  expect(changedMapping).not.toBe(demo);
  folder = mkdtempSync(join(tmpdir(), 'vetledger-daemons-'));
  mapping = join(folder, 'mapping.yaml');
  copyFileSync(demoMapping, mapping);
  clinic = await startTestClinic({ seed: 61, invoices: 30, mapping });
  expect(await clinic.sync()).toMatchObject({ outcome: 'closed' });
  second = await startSandbox({
    rateWindowSeconds: 1,
    seed: 62,
    invoices: 5,
    installation: 4712,
    token: clinic.sandbox.token,
  });
  // These tests use only daemons, so the clinic's worker stops.
  await clinic.engine.stop();
  clinic.engine.stop = async () => {};
});

afterEach(async () => {
  await Promise.all(daemons.splice(0).map((daemon) => daemon.stop()));
  await Promise.all(apps.splice(0).map((app) => app.close()));
  writeFileSync(mapping, demo);
});

afterAll(async () => {
  for await (const { scheduleId } of schedules()) {
    if (scheduleId.includes(clinic.app.databaseId)) await schedule(scheduleId).delete();
  }
  await client.close();
  await clinic?.stop();
  await second?.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Daemon {
  ended: Promise<unknown>;
  /** The number of entries in each closed window, from its event. */
  windows: { installation: number; outcome: string; posted: number }[];
  app: App;
  stop(): Promise<void>;
}

const configFile = (change: (config: string) => string) => {
  const file = join(folder, `${Math.random()}.yaml`);
  writeFileSync(file, change(readFileSync(clinic.config, 'utf8').replace(/^schedule:.*$/m, '')));
  return file;
};
const same = (config: string) => config;
const withQueue = (queue: string) => (config: string) =>
  config.replace(/^(temporal: .*)\}$/m, `$1, task_queue: ${queue}}`);
/** Adds a second installation to the configuration. */
const withSecond = (config: string) => {
  const own = /^ {2}- id: 4711\n(?: {4}.*\n)*/m.exec(config)?.[0] ?? '';
  return config.replace(own, `${own}${own.replace('4711', '4712').replace(clinic.sandbox.url, second.url)}`);
};
const onlySecond = (config: string) => config.replace('id: 4711', 'id: 4712').replace(clinic.sandbox.url, second.url);
const withMapping = (file: string) => (config: string) => config.replace(mapping, file);

async function open(change: (config: string) => string): Promise<App> {
  const config = await loadConfig(
    configFile((text) => change(`${text}schedule: {every: 1s}\n`)),
    clinic.env,
  );
  const app = await openApp(config, { temporal: true, progress: () => undefined, env: clinic.env });
  apps.push(app);
  return app;
}

/** Starts a daemon. Resolves when its Schedules exist, or with the error that refused it. */
async function start(change: (config: string) => string, times = {}, changeApp = (app: App) => app) {
  const app = changeApp(await open(change));
  const stop = new AbortController();
  const windows: Daemon['windows'] = [];
  const ended = runDaemon(app, {
    signal: stop.signal,
    onWindow: (window) => windows.push(window),
    times: { ...quick, ...times },
  }).then(
    () => null,
    (error: unknown) => error,
  );
  const daemon = {
    ended,
    windows,
    app,
    stop: async () => {
      stop.abort();
      await ended;
    },
  };
  daemons.push(daemon);
  return daemon;
}

/**
 * Temporal can give a task to a worker that is stopping. The step then restarts after its heartbeat time-out (30 s),
 * and a workflow task after its time-out (10 s).
 */
const lostTaskMs = 120_000;
vi.setConfig({ testTimeout: 2 * lostTaskMs });

const closedWindow = ({ windows }: Daemon, after = 0) =>
  waitFor('closed window', () => windows.slice(after).find(({ outcome }) => outcome === 'closed'), lostTaskMs);

const { client } = await import('@temporalio/client').then(async ({ Client, Connection }) => {
  const { inject } = await import('vitest');
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  return { client: Object.assign(new Client({ connection }), { close: () => connection.close() }) };
});
const schedules = () => client.schedule.list();
const schedule = (id: string) => client.schedule.getHandle(id);
const isPaused = async (id: string) => (await schedule(id).describe()).state.paused;
const scheduleOf = (id: number) => `sync-window/${id}-${clinic.app.databaseId}`;
const paused = async (): Promise<Record<number, boolean>> => ({
  4711: await isPaused(scheduleOf(4711)),
  4712: await isPaused(scheduleOf(4712)),
});

test('daemons of the same installations share a queue and its work', async () => {
  const first = await start(same);
  await closedWindow(first);
  const second = await start(same);
  await waitFor('window on one of them', () => first.windows.length + second.windows.length > 2, lostTaskMs);
  expect(await clinic.rows('select distinct task_queue from daemon')).toEqual([{ task_queue: 'vetledger' }]);
  expect(await clinic.rows('select from daemon')).toHaveLength(2);
});

/** The installations whose windows a daemon has closed, from its window number `after` on. */
const closedBy = (daemon: Daemon, after = 0) => [
  ...new Set(daemon.windows.slice(after).flatMap((one) => (one.outcome === 'closed' ? [one.installation] : []))),
];
const troubles = () =>
  clinic.rows(
    `select installation, error from sync_window where outcome = 'failed'
     union all select installation, trouble from open_step where trouble is not null`,
  );

test('daemons with different clinic lists share a queue: each clinic is worked on where it is served, and without trouble', async () => {
  const first = await start(same);
  const other = await start(onlySecond);
  await closedWindow(first, 3);
  await closedWindow(other, 3);
  expect({ first: closedBy(first), other: closedBy(other) }).toEqual({ first: [4711], other: [4712] });
  expect(await troubles()).toEqual([]);
  expect(await paused()).toEqual({ 4711: false, 4712: false });
});

test('a command with another clinic list works beside a daemon', async () => {
  const first = await start(same);
  await closedWindow(first);
  const ran = await vetledger(['sync', '--config', configFile(onlySecond), '--json'], clinic.env);
  expect(ran.code).toBe(0);
  expect(ran.json().windows).toMatchObject([{ installation: 4712, outcome: 'closed' }]);
});

test('a clinic that was removed from every configuration: its windows are paused, and go on when a process serves it again', async () => {
  const both = await start(withSecond);
  await waitFor('windows of both', () => closedBy(both).length === 2, lostTaskMs);
  const newer = await start(same);
  await closedWindow(newer);
  expect(await paused()).toEqual({ 4711: false, 4712: false });
  await both.stop();
  await waitFor('pause of the removed one', async () => (await paused())[4712] === true, lostTaskMs);
  expect((await schedule(scheduleOf(4712)).describe()).state.note).toBe('no process serves the installation');
  expect((await paused())[4711]).toBe(false);
  const again = await start(onlySecond);
  await closedWindow(again);
  expect(await paused()).toEqual({ 4711: false, 4712: false });
});

test('a daemon that was killed with an older clinic list keeps no other from starting', async () => {
  await clinic.rows(
    `insert into daemon (id, command, host, process, version, task_queue, installations)
     values (gen_random_uuid(), 'run', 'gone', 1, '0', 'vetledger', '{4711, 4799}')`,
  );
  await closedWindow(await start(same));
  await clinic.rows(`delete from daemon where host = 'gone'`);
});

test('a daemon on another task queue has its own schedules', async () => {
  const first = await start(same);
  await closedWindow(first);
  await start((config) => withQueue('other')(onlySecond(config)));
  const others = `${scheduleOf(4712)}-other`;
  await waitFor('schedule of the other', () =>
    schedule(others)
      .describe()
      .catch(() => null),
  );
  expect(await isPaused(scheduleOf(4711))).toBe(false);
  await first.stop();
  await closedWindow(await start(same));
  expect(await isPaused(others)).toBe(false);
});

test('another address, currency or zone of an installation is reported, and nothing of it gets into the books', async () => {
  const first = await start(same);
  await closedWindow(first);
  const posted = () => clinic.rows('select count(*)::int as n from entry');
  const before = await posted();
  const changes: [setting: string, change: (config: string) => string][] = [
    ['base_url', (config) => config.replace(/base_url: .*/, `base_url: ${second.url}`)],
    ['currency', (config) => config.replace('currency: EUR', 'currency: SEK')],
    ['timezone', (config) => config.replace('Europe/Helsinki', 'Europe/Oslo')],
  ];
  for (const [setting, change] of changes) {
    const ran = await vetledger(['sync', '--config', configFile(change), '--json'], clinic.env);
    expect({ setting, code: ran.code, error: ran.json().error }).toMatchObject({
      ...{ setting, code: 2 },
      error: { code: 'identity_changed', message: expect.stringContaining(`${setting} is`) },
    });
    const wrong = await start(change);
    const told = () =>
      clinic.rows<{ id: number }>(
        `select id from sync_window where error::text like '%identity_changed%${setting} is%'`,
      );
    await waitFor('the refusal', async () => (await told()).length, lostTaskMs);
    await wrong.stop();
  }
  await closedWindow(first, first.windows.length);
  expect(await posted()).toEqual(before);
});

/** Creates an invoice with a unique amount, paid by gift card. */
function payByGiftCard(n: number): void {
  const sum = `${1000 + n}.00`;
  const row = { sum, vat_percentage: '0', account_number: '3000' };
  const invoice = clinic.sandbox.clinic.createInvoice({ rows: [row] });
  clinic.sandbox.clinic.pay(invoice.id, { payment_type: 9, paid: sum });
}

test('daemons with different mapping files post by the newer one, whichever of them does it', {
  timeout: 240_000,
}, async () => {
  const older = await start(same);
  await closedWindow(older);
  const newer = join(folder, 'newer.yaml');
  writeFileSync(newer, changedMapping);
  const second = await start(withMapping(newer));
  await waitFor(
    'version 2',
    async () => (await clinic.rows('select from mapping_version where installation = 4711 and number = 2')).length,
  );
  let invoices = 0;
  const posted = () =>
    clinic.rows<{ account: string; n: number }>(
      `select l.account, count(*)::int as n from entry e join entry_line l on l.entry_id = e.id
       where e.kind = 'payment' and l.amount >= 1000 and l.side = 'debit' group by l.account`,
    );
  const payAndPost = async () => {
    payByGiftCard(++invoices);
    await waitFor('payment', async () => (await posted()).some(({ n }) => n === invoices), lostTaskMs);
  };
  for (let n = 0; n < 4; n++) await payAndPost();
  // This daemon now runs alone. After a restart with its old file, it still uses the newer mapping.
  await second.stop();
  await payAndPost();
  await older.stop();
  const again = await start(same);
  await closedWindow(again);
  await payAndPost();
  expect(await posted()).toEqual([{ account: '2999', n: invoices }]);
  expect(await clinic.rows('select from mapping_version where installation = 4711')).toHaveLength(2);
});

test('a daemon goes on by the mapping that a command has put in force', async () => {
  const first = await start(same);
  await closedWindow(first);
  writeFileSync(mapping, changedMapping.replace('2999', '2998'));
  const ran = await vetledger(['repost', '--all', '--yes', '--config', configFile(same), '--json'], clinic.env);
  expect(ran.code).toBe(0);
  const invoice = clinic.sandbox.clinic.createInvoice({
    rows: [{ sum: '10.00', vat_percentage: '14', account_number: '3000' }],
  });
  clinic.sandbox.clinic.pay(invoice.id, { payment_type: 9, paid: '11.40' });
  await waitFor(
    'posting by the new mapping',
    async () =>
      (
        await clinic.rows(`select from entry e join entry_line l on l.entry_id = e.id
         where e.kind = 'payment' and l.account = '2998' and l.amount = 11.40`)
      ).length,
    lostTaskMs,
  );
  expect(await Promise.race([first.ended, 'at work'])).toBe('at work');
});

test('a daemon that cannot reach the database ends with exit code 3 within a bound', async () => {
  let url = clinic.env.DATABASE_URL ?? '';
  const presenceDb = openDatabase(() => url, { max: 1, acquireTimeoutMs: 1_000, report: () => undefined });
  try {
    const daemon = await start(same, { databaseLostMs: 1_000 }, (app) => ({ ...app, presenceDb }));
    await closedWindow(daemon);
    url = 'postgresql://nobody@127.0.0.1:1/none';
    expect(await daemon.ended).toMatchObject({
      code: 'postgres_unreachable',
      exitCode: 3,
      message: expect.stringMatching(/has not answered for \d+ s/),
    });
  } finally {
    await presenceDb.destroy();
    await clinic.rows('delete from daemon');
  }
});
