import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/src/index.ts';
import { startEngine } from '../../src/runtime/worker.ts';
import { runWindowNow } from '../../src/windows/run-window.ts';
import { vetledger } from '../cli/support.ts';
import { startTestClinic, type TestClinic } from '../support/clinic.ts';

let clinic: TestClinic;
let stranger: Sandbox;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vetledger-identity-'));
  clinic = await startTestClinic({ seed: 11, invoices: 40 });
  stranger = await startSandbox({
    seed: 99,
    invoices: 20,
    rateWindowSeconds: 1,
    installation: clinic.sandbox.installation,
  });
  await clinic.engine.stop();
  clinic.engine.stop = async () => {};
  expect(await syncAsBefore()).toMatchObject({ outcome: 'closed' });
});

afterAll(async () => {
  await clinic?.stop();
  await stranger?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a window with the configuration with which the books were begun, on a temporary worker. */
async function syncAsBefore() {
  const engine = await startEngine(clinic.app, {}, () => undefined);
  try {
    const signal = new AbortController().signal;
    return await runWindowNow(clinic.app, engine, 4711, { trigger: 'sync', signal });
  } finally {
    await engine.stop();
  }
}

/** Runs a command with a changed copy of the clinic's configuration. */
function changed(line: string | string[], change: (config: string) => string) {
  const file = join(folder, 'vetledger.yaml');
  writeFileSync(file, change(readFileSync(clinic.config, 'utf8')));
  return vetledger([...(typeof line === 'string' ? line.split(' ') : line), '--config', file, '--json'], clinic.env);
}

const inYen = (config: string) => config.replace('currency: EUR', 'currency: JPY');
const elsewhere = (config: string) =>
  config.replace(clinic.sandbox.url, stranger.url.replace('127.0.0.1', 'localhost'));
const inKuwait = (config: string) => config.replace('Europe/Helsinki', 'Asia/Kuwait');
const requests = (sandbox: Sandbox) => sandbox.stats().requests;
const entries = async () => (await clinic.rows<{ n: number }>('select count(*) as n from entry'))[0]!.n;
const adopt = (change: (config: string) => string, ...more: string[]) =>
  changed(['adopt', '--installation', '4711', '--reason', 'the clinic moved', '--by', 'M. Virtanen', ...more], change);

test('the identity is noted with the first entry', async () => {
  expect(await clinic.rows('select installation, currency, timezone, source from book_identity')).toEqual([
    { installation: 4711, currency: 'EUR', timezone: 'Europe/Helsinki', source: new URL(clinic.sandbox.url).origin },
  ]);
});

test.each([
  ['another currency', inYen, /currency is JPY, and its books are of EUR/],
  [
    'an address that points elsewhere',
    elsewhere,
    /base_url is http:\/\/localhost:\d+, and its books are of http:\/\/127/,
  ],
  ['another time zone', inKuwait, /timezone is Asia\/Kuwait, and its books are of Europe\/Helsinki/],
])('%s: no window opens, nothing is asked, posted or told', async (_what, change, says) => {
  const before = { own: requests(clinic.sandbox), foreign: requests(stranger), entries: await entries() };
  for (const command of [
    'sync',
    'backfill',
    'reconcile',
    'repost --all',
    'preview',
    'ledger close --through 2026-01-31',
  ]) {
    const { code, json } = await changed(command, change);
    const { error } = json();
    expect({ command, code, error: error?.code }).toEqual({ command, code: 2, error: 'identity_changed' });
    expect(error.message).toMatch(says);
    expect(error.todo).toMatch(/\w/);
  }
  const exported = await changed(['export', '--format', 'csv', '--out', join(folder, 'x.csv')], change);
  expect(exported).toMatchObject({ code: 2 });
  expect((await changed('status', change)).json().installations[0].next_step).toMatch(says);
  const checks = (await changed('doctor', change)).json().checks;
  expect(checks).toContainEqual(expect.objectContaining({ check: 'identity', status: 'fail' }));
  expect({ own: requests(clinic.sandbox), foreign: requests(stranger), entries: await entries() }).toEqual(before);
});

test('a changed currency cannot be adopted, and it is said what to do instead', async () => {
  const { code, json } = await adopt(inYen, '--yes');
  expect(code).toBe(2);
  expect(json().error).toMatchObject({
    code: 'currency_not_adoptable',
    todo: expect.stringMatching(/Set currency back to EUR.*database of their own/),
  });
  expect(await clinic.rows(`select from action where kind = 'adopt_identity'`)).toEqual([]);
});

test('a time zone is adopted with --yes only, and it is recorded who wanted it and why', async () => {
  const unconfirmed = await adopt(inKuwait);
  expect(unconfirmed.code).toBe(2);
  expect(unconfirmed.json().error).toMatchObject({
    code: 'not_confirmed',
    message: expect.stringContaining('timezone Europe/Helsinki -> Asia/Kuwait'),
  });
  expect(await adopt(inKuwait, '--yes')).toMatchObject({ code: 0 });
  expect((await adopt(inKuwait, '--yes')).json()).toEqual({ installation: 4711, adopted: [] });
  expect(
    await clinic.rows(`select installation, input, reason, acted_by from action_done where kind = 'adopt_identity'`),
  ).toEqual([
    {
      installation: 4711,
      input: '{"changes":[{"what":"timezone","old":"Europe/Helsinki","new":"Asia/Kuwait"}]}',
      reason: 'the clinic moved',
      acted_by: 'M. Virtanen',
    },
  ]);
  await expect(clinic.rows(`update action set subject = 'another'`)).rejects.toThrow(/permission denied/);
  await expect(clinic.rows('delete from action')).rejects.toThrow(/permission denied/);
  expect((await changed('sync', inKuwait)).json().windows[0]).toMatchObject({ outcome: 'closed' });
});

test('a worker that still has the old configuration posts nothing after the adoption', async () => {
  const before = await entries();
  expect(await syncAsBefore()).toMatchObject({
    outcome: 'failed',
    error: { code: 'identity_changed', message: expect.stringContaining('the books have Asia/Kuwait') },
  });
  expect(await entries()).toBe(before);
  expect(await adopt((config) => config, '--yes')).toMatchObject({ code: 0 });
  expect(await syncAsBefore()).toMatchObject({ outcome: 'closed' });
});

test('the other installations go on', async () => {
  const other = await startSandbox({
    seed: 7,
    invoices: 10,
    rateWindowSeconds: 1,
    installation: 4712,
    token: clinic.sandbox.token,
  });
  try {
    const withAnother = (config: string) => {
      const own = /^ {2}- id: 4711\n(?: {4}.*\n)*/m.exec(config)?.[0] ?? '';
      return config.replace(own, `${inYen(own)}${own.replace('4711', '4712').replace(clinic.sandbox.url, other.url)}`);
    };
    const { code, json } = await changed('sync', withAnother);
    expect(code).toBe(4);
    expect(json().windows).toMatchObject([
      { installation: 4711, outcome: 'failed', error: { code: 'identity_changed' } },
      { installation: 4712, outcome: 'closed' },
    ]);
  } finally {
    await other.stop();
  }
});
