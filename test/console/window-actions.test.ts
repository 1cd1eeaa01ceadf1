// Replays, backfills, cancellations and windows opened now, in the browser: the price first, and each workflow starts once.
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { brokenAction } from '../../src/actions/verify.ts';
import { type Config, loadConfig } from '../../src/config/load-config.ts';
import { roles } from '../../src/console/users/rights.ts';
import { pauseDelivery, resumeDelivery } from '../../src/erp/outbox/state.ts';
import type { ReadingRequest } from '../../src/queries/asked-windows.ts';
import { createLog } from '../../src/runtime/log.ts';
import { setPaused } from '../../src/sync/pauses.ts';
import { Acting } from '../../src/windows/acting.ts';
import type { AskedWindows } from '../../src/windows/asked-windows.ts';
import { folderOf } from '../cli/support.ts';
import { useDatabase } from '../support/database.ts';
import { demoConfig } from '../support/demo-config.ts';
import { query } from '../support/sql.ts';
import { formOf } from './form-of.ts';
import { type Browser, clinics, now, openTestConsole, type TestConsole } from './support.ts';

const database = useDatabase();
const { db, owner } = database;
const [id, other] = clinics;
const run = '0d6a1a0e-1111-4222-8333-444455556666';
let site: TestConsole;
let config: Config;
let failed = 0;
const browsers = new Map<string, Browser>();
const as = (name: string) => browsers.get(name)!;

/** Temporal and the source, as the daemon sees them. */
const started = new Map<number, ReadingRequest>();
const calls: string[] = [];
let fault: Error | null = null;
const grpcFault = Object.assign(new Error('unavailable'), { code: 14, details: 'unavailable', metadata: {} });
const cost = {
  ...{
    requests: 4,
    weight: 4,
    seconds: 20,
    remarks: [],
    lists: [{ action: 'invoice.list', requests: 4, weight: 4, seconds: 20 }],
  },
  records: { invoice: 12, row: 30, payment: 5, prepayment: 0 },
};
const call = (name: string) => {
  calls.push(name);
  if (fault !== null) throw fault;
};
const workflowOf = (action: number) => ({ workflow: `replay/${id}-x/action-${action}`, run });
const windows: AskedWindows = {
  async startedBy(_, action) {
    return started.has(action) ? workflowOf(action) : null;
  },
  async start(_, action, request) {
    call(`start ${action}`);
    started.set(action, request);
    return workflowOf(action);
  },
  async cancel(_, runs) {
    call(`cancel ${runs.map(({ workflowId }) => workflowId).join()}`);
    return runs.map(({ kind, workflowId }) => ({
      installation: id,
      kind,
      workflow_id: workflowId,
      state: 'ending' as const,
    }));
  },
  async cancelDelivery() {
    call('cancel delivery');
    return [{ installation: id, kind: 'delivery', workflow_id: 'delivery/x', state: 'ending' }];
  },
  async nudge() {
    call('nudge');
    return 'asked';
  },
  async price() {
    call('price');
    return cost;
  },
  async reconcile() {
    call('reconcile');
    return { failing: ['E1', 'chain'], complete: false };
  },
  async requestDelivery() {
    call('deliver');
  },
};
const ports = () => ({ db, promptDb: db, config, clock: () => now, log: createLog('silent') });
const look = (given: AskedWindows = windows) => new Acting(ports(), given).look(new AbortController().signal);

const open = async (name: string, fields: Record<string, string> = {}, user = 'operator') =>
  (await as(user).get(`/${id}/actions/${name}?${new URLSearchParams(fields)}`)).body;
async function ask(name: string, fields: Record<string, string> = {}): Promise<string> {
  const form = { reason: 'the practice was down', ...formOf(await open(name, fields)) };
  const { statusCode, headers } = await as('operator').post(`/${id}/actions/${name}`, form);
  expect(statusCode).toBe(303);
  return headers.location as string;
}
const page = async (address: string) => (await as('operator').get(address)).body;
const numberOf = (address: string) => Number(address.split('/').at(-1));
/** Finds the price of a reading. Returns the number of this action. */
async function priced(fields: Record<string, string>): Promise<string> {
  const address = await ask('read-again', fields);
  await look();
  return String(numberOf(address));
}

/** Adds a failed window, which no later window covers. */
async function addFailed(hour: number, installation: number = id): Promise<number> {
  const [from, to] = [new Date(Date.UTC(2026, 2, 9, hour)), new Date(Date.UTC(2026, 2, 9, hour + 1))];
  const error = JSON.stringify({ code: 'unreachable', message: 'The practice API does not answer.', todo: 'Wait.' });
  const [window] = await query<{ id: string }>(
    owner,
    `insert into sync_window (installation, kind, trigger, outcome, from_time, to_time, opened_at, closed_at, error, workflow_id, run_id,
       payment_span, unread_streams)
     values (?, 'window', 'schedule', 'failed', ?, ?, ?, ?, ?, 'w', gen_random_uuid(), array[10, null]::bigint[], '{invoice,payment,prepayment,row}')
     returning id`,
    [installation, from, to, to, to, error],
  );
  const left = `int8multirange(int8range(${from.getTime()}, ${to.getTime()}))`;
  await owner.raw(
    `insert into window_unread (window_id, installation, invoice_left, prepayment_left, row_left, payment_left)
     values (?, ?, ${left}, ${left}, ${left}, '{[10,)}')`,
    [window!.id, installation],
  );
  return Number(window!.id);
}
const addOpen = (workflow: string, kind = 'replay') =>
  owner.raw(
    `insert into sync_window (installation, kind, trigger, outcome, from_time, to_time, opened_at, workflow_id, run_id)
     values (?, ?, 'replay', 'open', ?, ?, clock_timestamp(), ?, gen_random_uuid())`,
    [id, kind, now, now, workflow],
  );

beforeAll(async () => {
  const each = clinics.map((clinic) => ({
    ...{ id: clinic, base_url: 'http://127.0.0.1:9' },
    ...(clinic === id ? { erp: '{kind: csv, folder: /tmp/vetledger-none}' } : {}),
  }));
  config = await loadConfig(`${folderOf({ 'vetledger.yaml': demoConfig(each) })}/vetledger.yaml`, {
    PRACTICE_TOKEN: 't',
  });
  site = await openTestConsole(database, { [id]: { erp: '{kind: csv, folder: /tmp/vetledger-none}' } });
  for (const role of roles) {
    await site.user(role, [[role, role === 'admin' ? null : id]]);
    browsers.set(role, await site.signedIn(role));
  }
  await site.user('chief', [['operator', other]]);
  browsers.set('chief', await site.signedIn('chief'));
});
afterAll(() => site?.close());
beforeEach(async () => {
  await owner.raw('delete from sync_window');
  failed = await addFailed(8);
  calls.length = 0;
  started.clear();
  fault = null;
});

test('while the price of one clinic is found, actions of another clinic are performed', async () => {
  const answer = Promise.withResolvers<typeof cost>();
  const acting = new Acting(
    { db, promptDb: db, config, clock: () => now, log: createLog('silent') },
    { ...windows, price: () => answer.promise },
  );
  const slow = await ask('read-again', { read: 'windows', windows: String(failed) });
  const first = acting.look(new AbortController().signal);
  await vi.waitFor(async () => expect(await query(db, `select from lease where lane = 'actions'`)).toHaveLength(1));
  const form = { reason: 'now', ...formOf((await as('chief').get(`/${other}/actions/read-now`)).body) };
  const { headers } = await as('chief').post(`/${other}/actions/read-now`, form);
  await acting.look(new AbortController().signal);
  expect((await as('chief').get(headers.location as string)).body).toContain('The action is done.');
  expect(await page(slow)).toContain('No daemon runs');
  answer.resolve(cost);
  await first;
  expect(await page(slow)).toContain('The action is done.');
});

test('a failed window is found, priced, replayed and covered', async () => {
  const screen = await page(`/${id}/windows?outcome=failed`);
  expect(screen).toContain('The practice API does not answer.');
  expect(screen).toContain(`href="/${id}/actions/read-again?read=windows&amp;windows=${failed}"`);
  const asked = await ask('read-again', { read: 'windows', windows: String(failed) });
  await look();
  const price = await page(asked);
  expect(price).toContain('4 requests, weight 4, about 20 seconds');
  expect(price).toContain('12 invoices, 30 rows, 5 payments');
  expect(calls).toEqual(['price']);
  const form = { price: String(numberOf(asked)) };
  expect(price).toContain(`href="/${id}/actions/replay?price=${form.price}"`);
  const replay = await ask('replay', form);
  await look();
  const action = numberOf(replay);
  expect([...started]).toEqual([[action, { read: 'windows', windows: [failed] }]]);
  const { workflow } = workflowOf(action);
  expect(await page(replay)).toContain(
    `href="https://temporal.example/ui/namespaces/default/workflows/${encodeURIComponent(workflow)}/${run}/history"`,
  );
  expect(await page(replay)).toContain('The window has not opened yet.');
  await addOpen(`${workflow}/1`);
  expect(await page(replay)).toMatch(/window \d+: open<\/a>/);
  await owner.raw(`update sync_window set outcome = 'closed', closed_at = opened_at where workflow_id = ?`, [
    `${workflow}/1`,
  ]);
  expect(await page(replay)).toMatch(/window \d+: closed<\/a>/);
  expect(await brokenAction(db, id)).toBeNull();
});

test('all failed windows, times and a backfill are priced and started', async () => {
  await addFailed(10);
  const ofAll = await priced({ read: 'failed' });
  await ask('replay', { price: ofAll });
  const ofTimes = await priced({ read: 'times', from: '2026-03-09', to: '2026-03-09T12:00:00Z' });
  await ask('replay', { price: ofTimes });
  const ofBackfill = await priced({ read: 'backfill', from: '2026-01-01' });
  await ask('backfill', { price: ofBackfill });
  await look();
  expect([...started.values()]).toEqual([
    { read: 'failed' },
    { read: 'times', from: '2026-03-08T22:00:00.000Z', to: '2026-03-09T12:00:00.000Z' },
    { read: 'backfill', from: '2026-01-01' },
  ]);
});

test.each([
  ['replay', 'backfill', { read: 'backfill', from: '2026-01-01' }],
  ['backfill', 'replay', { read: 'failed' }],
])('the form %s accepts no price of a %s', async (name, _, fields) => {
  expect(formOf(await open(name, { price: await priced(fields) }))).toBeNull();
});

test.each([{}, { price: '' }, { price: '0' }, { price: 'x' }, { price: '999999' }])(
  'a replay with %o is not offered',
  async (fields) => {
    expect(formOf(await open('replay', fields))).toBeNull();
  },
);

test('a window that was covered since its price was shown is not replayed', async () => {
  await addFailed(10);
  const price = await priced({ read: 'failed' });
  const asked = await ask('replay', { price });
  await owner.raw('update window_unread set is_covered = true where window_id = ?', [failed]);
  await look();
  expect(started.size).toBe(0);
  expect(await page(asked)).toContain('differ from those that were shown');
  expect(await open('replay', { price })).toContain('What would be read has changed');
});

describe('a daemon that ends between the start of a workflow and the record of its outcome', () => {
  const outcomes = (action: number) => query(db, 'select result from action_outcome where action_id = ?', [action]);
  const startWithoutOutcome = async () => {
    const action = numberOf(await ask('replay', { price: await priced({ read: 'windows', windows: String(failed) }) }));
    const killed: AskedWindows = {
      ...windows,
      async start(...given) {
        await windows.start(...given);
        throw grpcFault;
      },
    };
    await look(killed);
    expect(await outcomes(action)).toEqual([]);
    return action;
  };
  const isRecorded = async (action: number) => {
    await Promise.all([look(), look()]);
    expect(calls.filter((each) => each.startsWith('start'))).toHaveLength(1);
    expect(await outcomes(action)).toEqual([{ result: JSON.stringify(workflowOf(action)) }]);
  };

  test('starts nothing twice, also if two daemons follow', async () => isRecorded(await startWithoutOutcome()));

  test('also if the window is covered meanwhile', async () => {
    const action = await startWithoutOutcome();
    await owner.raw('update window_unread set is_covered = true');
    await isRecorded(action);
  });

  test('also after the time of the request', async () => {
    const action = await startWithoutOutcome();
    await owner.transaction(async (trx) => {
      await trx.raw('set local session_replication_role = replica');
      await trx.raw(`update action set asked_at = asked_at - interval '16 minutes' where id = ?`, [action]);
    });
    await isRecorded(action);
  });
});

test('while Temporal does not answer, an action waits, and the next ones are performed', async () => {
  const first = await ask('replay', { price: await priced({ read: 'failed' }) });
  fault = grpcFault;
  await look();
  expect(await page(first)).toContain('No daemon runs');
  fault = null;
  await look();
  expect(started.size).toBe(1);
});

test('running work is cancelled: only the runs that were shown', async () => {
  expect(await open('cancel')).toContain('No window, backfill or replay runs.');
  await addOpen('replay/one');
  expect(await open('cancel')).toContain('replay/one');
  const asked = await ask('cancel');
  await owner.raw(`update sync_window set run_id = gen_random_uuid() where workflow_id = 'replay/one'`);
  await look();
  expect(calls).toEqual(['cancel ']);
  expect(await page(asked)).toContain('The work had ended already.');
  await owner.raw('delete from sync_window where outcome = ?', ['open']);
  await addOpen('replay/two');
  const second = await ask('cancel');
  await look();
  expect(calls.at(-1)).toBe('cancel replay/two');
  expect(await page(second)).toContain('Asked to end: replay/two');
});

test('a window is opened now, once, and not while windows are paused', async () => {
  expect(await page('/clinics')).toContain(`href="/${id}/actions/read-now"`);
  const asked = await ask('read-now');
  await look();
  expect(calls).toEqual(['nudge']);
  await addOpen('sync-window/x', 'window');
  expect(await page(asked)).toMatch(/window \d+: open/);
  // A window that opened after the request has read what the person wants.
  const again = await ask('read-now');
  await addOpen('sync-window/y', 'window');
  await look();
  expect(calls).toEqual(['nudge']);
  expect(await page(again)).toContain('The action is done.');
  const by = { actedBy: 'a test', reason: 'r' };
  await db.transaction((trx) => setPaused(trx, id, true, by));
  expect(formOf(await open('read-now'))).toBeNull();
  await db.transaction((trx) => setPaused(trx, id, false, by));
});

test('a delivery is started once, unless it is paused, and the running one is cancelled', async () => {
  const asked = await ask('deliver-now');
  await look();
  expect(calls).toEqual(['deliver']);
  expect(await page(asked)).toContain('The action is done.');
  const late = await ask('deliver-now');
  const by = { actedBy: 'a test', reason: 'r' };
  await db.transaction((trx) => pauseDelivery(trx, id, by));
  expect(formOf(await open('deliver-now'))).toBeNull();
  await look();
  expect(await page(late)).toContain('The delivery of this clinic is paused');
  const cancelled = await ask('cancel-delivery');
  await look();
  expect(calls).toEqual(['deliver', 'cancel delivery']);
  expect(await page(cancelled)).toContain('Asked to end: delivery/x');
  await db.transaction((trx) => resumeDelivery(trx, id, by));
});

describe('a reconciliation before its time', () => {
  const load = async () => {
    await addOpen('sync-window/first', 'window');
    await owner.raw(
      `update sync_window set outcome = 'closed', closed_at = opened_at where workflow_id = 'sync-window/first'`,
    );
  };

  test('is offered after the first load, to bookkeepers, accountants and operators', async () => {
    expect(formOf(await open('reconcile'))).toBeNull();
    await load();
    for (const role of roles) {
      const { statusCode } = await as(role).get(`/${id}/actions/reconcile`);
      expect([role, statusCode]).toEqual([role, role === 'viewer' || role === 'admin' ? 404 : 200]);
    }
    expect(await page('/clinics')).toContain(`href="/${id}/actions/reconcile"`);
    expect((await as('accountant').get(`/${id}/month`)).body).toContain(`href="/${id}/actions/reconcile"`);
  });

  test('runs beside the other actions, and its result is on its page', async () => {
    await load();
    const asked = await ask('reconcile');
    const acting = new Acting(ports(), null);
    await acting.look(new AbortController().signal);
    await acting.ended();
    expect(await page(asked)).toContain('No daemon runs');
    const able = new Acting(ports(), windows);
    await able.look(new AbortController().signal);
    await able.ended();
    expect(calls).toEqual(['reconcile']);
    const result = await page(asked);
    expect(result).toContain(
      'Not reconciled: E1 (does NOT hold: the trial balance is zero), chain (does NOT hold: the hash chain of the books is complete and unchanged).',
    );
    expect(result).toContain('Some documents are not in the books.');
  });
});

test.each([
  { read: 'windows', windows: 'x' },
  { read: 'windows', windows: '' },
  { read: 'times', from: '2026-03-09', to: '2026-03-08' },
  { read: 'times', from: 'soon', to: 'later' },
  { read: 'backfill', from: '2026-02-30' },
  { read: 'everything' },
])('the choice %o is refused', async (fields) => {
  const body = await open('read-again', fields as Record<string, string>);
  expect(body).toContain('role="alert"');
  expect(formOf(body)).toBeNull();
});

test('a window of another clinic is unknown', async () => {
  const foreign = await addFailed(8, other);
  const body = await open('read-again', { read: 'windows', windows: String(foreign) });
  expect(body).toContain('role="alert"');
  expect(formOf(body)).toBeNull();
});

test.each(
  roles.flatMap((role) =>
    ['read-again', 'replay', 'backfill', 'cancel', 'read-now', 'cancel-delivery'].map((name) => [role, name] as const),
  ),
)('the role %s and the form %s', async (role, name) => {
  expect((await as(role).get(`/${id}/actions/${name}`)).statusCode).toBe(role === 'operator' ? 200 : 404);
});
