// Approvals, retries, undos and acknowledgements in the browser: the form shows the effect, and the daemon performs it once.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { brokenAction } from '../../src/actions/verify.ts';
import { type Config, loadConfig } from '../../src/config/load-config.ts';
import { roles } from '../../src/console/users/rights.ts';
import type { DraftEntry } from '../../src/domain/entry.ts';
import { enqueueUnits } from '../../src/erp/outbox/enqueue.ts';
import { appendEntries } from '../../src/ledger/journal/append-entries.ts';
import { createLog } from '../../src/runtime/log.ts';
import { Acting } from '../../src/windows/acting.ts';
import { folderOf } from '../cli/support.ts';
import { draft } from '../ledger/drafts.ts';
import { useDatabase } from '../support/database.ts';
import { demoConfig } from '../support/demo-config.ts';
import { query } from '../support/sql.ts';
import { formOf } from './form-of.ts';
import { type Browser, clinics, now, openTestConsole, type TestConsole } from './support.ts';

const database = useDatabase();
const { db, owner } = database;
const [id] = clinics;
const erp = '{kind: csv, folder: /tmp/vetledger-none}';
let site: TestConsole;
let config: Config;
let documents = 0;
const browsers = new Map<string, Browser>();
const as = (name: string) => browsers.get(name)!;

const look = () =>
  new Acting({ db, promptDb: db, config, clock: () => now, log: createLog('silent') }).look(
    new AbortController().signal,
  );
const addressOf = (name: string, fields: Record<string, string> = {}) =>
  `/${id}/actions/${name}?${new URLSearchParams(fields)}`;
const open = async (user: string, name: string, fields: Record<string, string> = {}) =>
  (await as(user).get(addressOf(name, fields))).body;
/** Asks as the page shows it. Returns the address of the action's page. */
async function ask(user: string, name: string, fields: Record<string, string> = {}): Promise<string> {
  const form = formOf(await open(user, name, fields));
  const { statusCode, headers } = await as(user).post(`/${id}/actions/${name}`, {
    ...form,
    reason: 'agreed by telephone',
  });
  expect(statusCode).toBe(303);
  return headers.location as string;
}
const page = async (user: string, address: string) => (await as(user).get(address)).body;
const states = async () =>
  Object.fromEntries(
    (
      await query<{ n: string; state: string; approval: boolean }>(
        db,
        `select split_part(unit_id, '/', 3) as n, state, needs_approval as approval from erp_unit where installation = ? and undo_of is null order by seq`,
        [id],
      )
    ).map(({ n, state, approval }) => [n, approval ? 'unapproved' : state]),
  );

/** Posts payments of 10.00 with these dates. Returns their ids. */
async function post(...dates: string[]): Promise<string[]> {
  const drafts = dates.map((date): DraftEntry => {
    documents += 1;
    return draft({
      ...{ kind: 'payment', id: documents, date, inputHash: String(documents) },
      lines: [
        ['1910', 'bank_clearing', '10.00'],
        ['1700', 'receivable', '-10.00'],
      ],
    });
  });
  const ids = await db.transaction((trx) =>
    appendEntries(trx, id, drafts, { decimals: 2, windowId: null, postingMode: 'document' }),
  );
  await db.transaction((trx) =>
    enqueueUnits(trx, { installation: id, databaseId: 'abc', company: 'c', from: null, auto: true }),
  );
  return ids;
}
const set = (change: string, ids: readonly string[]) =>
  owner.raw(`update erp_unit set ${change} where installation = ? and unit_id = any(?)`, [id, [...ids]]);

beforeAll(async () => {
  const each = clinics.map((clinic) => ({ id: clinic, base_url: 'http://127.0.0.1:9', erp }));
  config = await loadConfig(`${folderOf({ 'vetledger.yaml': demoConfig(each) })}/vetledger.yaml`, {
    PRACTICE_TOKEN: 't',
  });
  site = await openTestConsole(database, { [id]: { erp } });
  for (const role of roles) {
    await site.user(role, [[role, role === 'admin' ? null : id]]);
    browsers.set(role, await site.signedIn(role));
  }
});
afterAll(() => site?.close());
beforeEach(() => owner.raw('delete from erp_unit'));

test('an accountant approves the entries of a first load through a date', async () => {
  const [a, b, c] = await post('2026-01-10', '2026-01-31', '2026-02-01');
  await set('needs_approval = true', [a!, b!, c!]);
  const { body } = await as('accountant').get(`/${id}/delivery`);
  expect(body).toContain(`href="/${id}/actions/approve"`);
  expect(await open('accountant', 'approve')).toContain('30.00 EUR');
  const shown = await open('accountant', 'approve', { through: '2026-01-31' });
  expect(shown).toContain('2026-01-10 – 2026-01-31');
  expect(shown).toContain('20.00 EUR');
  const asked = await ask('accountant', 'approve', { through: '2026-01-31' });
  await look();
  expect(Object.values(await states())).toEqual(['pending', 'pending', 'unapproved']);
  expect(await page('accountant', asked)).toContain('2 entries approved');
  expect(await brokenAction(db, id)).toBeNull();
});

test.each<[string, string, Record<string, string>, (ids: string[]) => Promise<unknown>]>([
  [
    'an approval with another entry',
    'approve',
    { through: '2026-01-31' },
    async () => set('needs_approval = true', await post('2026-01-09')),
  ],
  ['a retry of which one was sent', 'resend', {}, (ids) => set(`state = 'delivered'`, ids.slice(0, 1))],
  ['an undo with another entry', 'undo', { from: '2026-01-01', to: '2026-01-31' }, () => post('2026-01-09')],
])('%s since the form was shown is refused', async (_, name, fields, change) => {
  const ids = await post('2026-01-10', '2026-01-11');
  await set(
    name === 'approve' ? 'needs_approval = true' : name === 'resend' ? `state = 'refused'` : 'attempts = 0',
    ids,
  );
  const asked = await ask('accountant', name, fields);
  await change(ids);
  const before = await states();
  await look();
  expect(await states()).toEqual(before);
  const answer = await page('accountant', asked);
  expect(answer).toContain('differ from those that were shown');
  expect(answer).toContain(`href="/${id}/actions/${name}`);
});

test('an operator sends refused entries again: one, those of a filter, or all', async () => {
  const ids = await post('2026-01-10', '2026-02-10', '2026-02-11', '2026-03-01');
  await set(`state = 'refused', problem_code = 'erp_refused', problem_message = 'Aino Hietala is blocked'`, ids);
  const [one, two, three, four] = ids.map((each) => each.split('/')[2]!);
  const list = await page('operator', `/${id}/delivery?state=refused&from=2026-02-01`);
  expect(list).toContain(`/${id}/actions/resend?from=2026-02-01`);
  expect(list).not.toContain('Hietala');
  const asked = await ask('operator', 'resend', { units: ids[0]! });
  await look();
  expect(await states()).toEqual({ [one!]: 'pending', [two!]: 'refused', [three!]: 'refused', [four!]: 'refused' });
  const done = await page('operator', asked);
  expect(done).toContain('1 entry sent again');
  expect(done).not.toContain('Hietala');
  expect(await open('operator', 'resend', { from: '2026-02-01', through: '2026-02-28' })).toContain('20.00 EUR');
  await ask('operator', 'resend', { from: '2026-02-01', through: '2026-02-28' });
  await look();
  expect(await states()).toMatchObject({ [two!]: 'pending', [three!]: 'pending', [four!]: 'refused' });
  await ask('operator', 'resend');
  await look();
  expect(await states()).toMatchObject({ [four!]: 'pending' });
  expect(await open('operator', 'resend')).toContain('There is no entry for this action.');
  expect(await open('operator', 'resend', { from: '2026-02-01' })).toContain('There is no entry for this action.');
});

test('an undo reverses what the ERP has, excludes the rest, and a retry sends an excluded one again', async () => {
  const [sent, waits] = await post('2026-01-10', '2026-01-11');
  await set(`state = 'delivered', attempts = 1`, [sent!]);
  const range = { from: '2026-01-01', to: '2026-01-31' };
  expect(await open('operator', 'undo', range)).toMatch(
    /Reversed in the ERP<\/dt><dd>1<[\s\S]*10\.00 EUR[\s\S]*not sent yet<\/dt><dd>1</,
  );
  const asked = await ask('operator', 'undo', range);
  await look();
  expect(Object.values(await states())).toEqual(['delivered', 'excluded']);
  expect(await query(db, `select undo_of, state from erp_unit where undo_of is not null`)).toEqual([
    { undo_of: sent, state: 'pending' },
  ]);
  expect(await page('operator', asked)).toContain('1 entry reversed in the ERP, 1 entry excluded');
  await ask('operator', 'resend', { units: waits! });
  await look();
  expect(Object.values(await states())).toEqual(['delivered', 'pending']);
});

test('an undo of entries that are being sent explains why it is not possible', async () => {
  await set(`state = 'sending', attempts = 1`, await post('2026-01-10'));
  const body = await open('operator', 'undo', { from: '2026-01-01', to: '2026-01-31' });
  expect(body).toContain('cannot be reversed yet');
  expect(formOf(body)).toBeNull();
});

test('a file is acknowledged once', async () => {
  await set(`state = 'handed_over', batch = 7`, await post('2026-01-10'));
  await owner.raw(
    `insert into erp_batch (installation, number, format, file, sha256, units, manifest, created_at, written_at)
     values (?, 7, 'csv', '000007.csv', 'x', 1, '{}', now(), now())`,
    [id],
  );
  expect(await page('operator', `/${id}/delivery`)).toContain(`href="/${id}/actions/acknowledge?batch=7"`);
  const asked = await ask('operator', 'acknowledge', { batch: '7' });
  await look();
  expect(Object.values(await states())).toEqual(['acknowledged']);
  expect(await page('operator', asked)).toContain('1 entry acknowledged, in 000007.csv');
  expect(await open('operator', 'acknowledge', { batch: '7' })).toContain('The file was acknowledged');
  expect(await open('operator', 'acknowledge', { batch: '8' })).toContain('There is no such file.');
});

test.each([
  ['approve', { through: 'yesterday' }],
  ['undo', { from: '2026-02-01', to: '2026-01-01' }],
  ['undo', { from: '2026-02-01' }],
  ['acknowledge', { batch: '7; drop' }],
  ['resend', { units: Array.from({ length: 501 }, (_, n) => `u${n}`).join(',') }],
])('the choice of %s with %o is refused', async (name, fields) => {
  const body = await open('accountant', name, fields as Record<string, string>);
  expect(body).toContain('role="alert"');
  expect(formOf(body)).toBeNull();
  const shown = { shown: 'a'.repeat(64), form: crypto.randomUUID(), reason: 'x' };
  expect((await as('accountant').post(`/${id}/actions/${name}`, { ...(fields as object), ...shown })).statusCode).toBe(
    400,
  );
});

test.each(roles.flatMap((role) => ['approve', 'resend', 'undo', 'acknowledge'].map((name) => [role, name] as const)))(
  'the role %s and the form %s',
  async (role, name) => {
    const may = { approve: ['bookkeeper', 'accountant'] }[name] ?? ['bookkeeper', 'accountant', 'operator'];
    expect((await as(role).get(addressOf(name))).statusCode).toBe(may.includes(role) ? 200 : 404);
  },
);
