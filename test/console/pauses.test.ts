// Pauses in the browser: an operator asks, and the daemon pauses or resumes once.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { brokenAction } from '../../src/actions/verify.ts';
import type { ErpConfig } from '../../src/config/erp.ts';
import { type Config, loadConfig } from '../../src/config/load-config.ts';
import { roles } from '../../src/console/users/rights.ts';
import { pauseDelivery } from '../../src/erp/outbox/state.ts';
import { createLog } from '../../src/runtime/log.ts';
import { setPaused } from '../../src/sync/pauses.ts';
import { Acting } from '../../src/windows/acting.ts';
import { folderOf } from '../cli/support.ts';
import { useDatabase } from '../support/database.ts';
import { demoConfig } from '../support/demo-config.ts';
import { query } from '../support/sql.ts';
import { formOf } from './form-of.ts';
import { type Browser, clinics, now, openTestConsole, type TestConsole } from './support.ts';

const database = useDatabase();
const { db } = database;
const [id] = clinics;
const form = (kind: string) => `/${id}/actions/${kind}`;
const [pauseWindows, resumeWindows] = [form('pause-windows'), form('resume-windows')];
let site: TestConsole;
let config: Config;
const browsers = new Map<string, Browser>();
const as = (name: string) => browsers.get(name)!;

const daemon = (using = config) =>
  new Acting({ db, promptDb: db, config: using, clock: () => now, log: createLog('silent') });
const look = (using = config) => daemon(using).look(new AbortController().signal);
const open = async (path: string) => (await as('operator').get(path)).body;
const ask = async (path: string, changed: Record<string, string> = {}) =>
  as('operator').post(path, { ...formOf(await open(path)), reason: 'the practice moves its server', ...changed });
const pageOf = async ({ headers }: { headers: Record<string, unknown> }) => open(headers.location as string);
const isPaused = async () => {
  const [state] = await query<{ is_paused: boolean }>(db, 'select is_paused from window_pause where installation = ?', [
    id,
  ]);
  return state?.is_paused ?? false;
};
const resume = () =>
  db.transaction((trx) => setPaused(trx, id, false, { actedBy: 'a test', reason: 'the next test begins' }));

beforeAll(async () => {
  const folder = folderOf({
    'vetledger.yaml': demoConfig(clinics.map((each) => ({ id: each, base_url: 'http://127.0.0.1:9' }))),
  });
  config = await loadConfig(`${folder}/vetledger.yaml`, { PRACTICE_TOKEN: 't' });
  site = await openTestConsole(database, { [id]: { erp: '{kind: csv, folder: /tmp/vetledger-none}' } });
  for (const role of roles) {
    await site.user(role, [[role, role === 'admin' ? null : id]]);
    browsers.set(role, await site.signedIn(role));
  }
});
afterAll(() => site?.close());
beforeEach(resume);

test('an operator pauses the windows and resumes them', async () => {
  expect(await open(pauseWindows)).toContain('Not paused.');
  expect(formOf(await open(resumeWindows))).toBeNull();
  const asked = await ask(pauseWindows);
  expect(asked.statusCode).toBe(303);
  expect(await isPaused()).toBe(false);
  await look();
  expect(await isPaused()).toBe(true);
  const page = await pageOf(asked);
  expect(page).toContain('The action is done.');
  expect(page).toContain('the practice moves its server');
  expect(await open(pauseWindows)).toContain('Paused by operator, ');
  expect(formOf(await open(pauseWindows))).toBeNull();
  await ask(resumeWindows);
  await look();
  expect(await isPaused()).toBe(false);
  expect(await brokenAction(db, id)).toBeNull();
});

test('a pause in the meantime refuses the request', async () => {
  const asked = await ask(pauseWindows);
  const shown = { ...formOf(await open(pauseWindows)), reason: 'the same' };
  await db.transaction((trx) => setPaused(trx, id, true, { actedBy: 'another', reason: 'on the command line' }));
  await look();
  const page = await pageOf(asked);
  expect(page).toContain('differ from those that were shown');
  expect(page).toContain(`href="${pauseWindows}"`);
  const late = await as('operator').post(pauseWindows, shown);
  expect(late.statusCode).toBe(409);
  expect(late.body).toContain('The effect changed after this page was opened.');
  expect(late.body).toContain('Paused by another, ');
});

test('a form that is sent twice pauses once', async () => {
  const sent = { ...formOf(await open(pauseWindows)), reason: 'twice' };
  const send = () => as('operator').post(pauseWindows, sent);
  const answers = await Promise.all([send(), send()]);
  expect(new Set(answers.map(({ headers }) => headers.location)).size).toBe(1);
  await look();
  await resume();
  expect((await send()).headers.location).toBe(answers[0]!.headers.location);
  await look();
  expect(await isPaused()).toBe(false);
});

test.each<[string, Record<string, string>]>([
  ['without a reason', { reason: '' }],
  ['without the shown state', { shown: '' }],
])('a form %s changes nothing', async (_, changed) => {
  const count = () => query(db, 'select count(*) from action');
  const before = await count();
  const { statusCode, body } = await ask(pauseWindows, changed);
  expect(statusCode).toBe(400);
  expect(body).toContain('role="alert"');
  expect(await count()).toEqual(before);
});

test.each(roles)('the role %s', async (role) => {
  const { statusCode } = await as(role).post(pauseWindows, { ...formOf(await open(pauseWindows)), reason: 'x' });
  expect([(await as(role).get(pauseWindows)).statusCode, statusCode]).toEqual(
    role === 'operator' ? [200, 303] : [404, 404],
  );
  await look();
});

describe('the delivery', () => {
  const erp = { kind: 'csv', path: '/nowhere' } as unknown as ErpConfig;
  const delivering = () => ({ ...config, installations: config.installations.map((each) => ({ ...each, erp })) });
  const pauses = () => query(db, 'select installation from erp_pause where installation = ?', [id]);
  const [pause, resume] = [form('pause-delivery'), form('resume-delivery')];

  test('is paused and resumed, and refused for an installation without an ERP', async () => {
    const refused = await ask(pause);
    await look();
    expect(await pageOf(refused)).toContain('would change nothing');
    expect(await open(pause)).toContain('Not paused.');
    await ask(pause);
    await look(delivering());
    expect(await pauses()).toEqual([{ installation: id }]);
    expect(await open(resume)).toContain('Paused by operator, ');
    const resumed = await ask(resume);
    await look(delivering());
    expect(await pageOf(resumed)).toContain('The action is done.');
    expect(await pauses()).toEqual([]);
  });

  test('that was paused in the meantime is not paused again', async () => {
    const asked = await ask(pause);
    await db.transaction((trx) => pauseDelivery(trx, id, { actedBy: 'another', reason: 'r' }));
    await look(delivering());
    expect(await pageOf(asked)).toContain('differ from those');
    expect(await pauses()).toHaveLength(1);
  });
});

test.each(['windows', 'delivery'])('the screen %s leads to the form for users who operate', async (screen) => {
  // The delivery was paused last.
  const path = form(screen === 'windows' ? 'pause-windows' : 'resume-delivery');
  expect((await as('operator').get(`/${id}/${screen}`)).body).toContain(`href="${path}"`);
  expect((await as('accountant').get(`/${id}/${screen}`)).body).not.toContain(path);
});
