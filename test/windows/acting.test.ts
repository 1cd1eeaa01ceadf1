// The daemon performs what users ask for in the console: once, as shown, in time, and with the right.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { actionState, askAction } from '../../src/actions/asking.ts';
import type { ActionKind } from '../../src/actions/record.ts';
import { brokenAction } from '../../src/actions/verify.ts';
import { type Config, loadConfig } from '../../src/config/load-config.ts';
import { addSubject, grantRole } from '../../src/console/users/subjects.ts';
import { takeLease } from '../../src/db/lease.ts';
import { createLog } from '../../src/runtime/log.ts';
import { Acting, type ActingPorts, startActing } from '../../src/windows/acting.ts';
import { vetledger } from '../cli/support.ts';
import { useDatabase } from '../support/database.ts';
import { demoMapping } from '../support/demo-config.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { query } from '../support/sql.ts';

const { db, url, owner, openPool } = useDatabase();
const second = openPool({ max: 4 });
const id = 54;
const now = new Date('2026-03-10T09:00:00Z');
const signal = new AbortController().signal;
let clinic: MirroredClinic;
let config: Config;
let late = 0;
let users = 0;

const daemon = (pool = db, using = config) => {
  const ports: ActingPorts = {
    ...{ db: pool, promptDb: pool, config: using, clock: () => now, log: createLog('silent') },
  };
  return new Acting(ports);
};
const window = async () => {
  await clinic.pull();
  await clinic.post();
};
const command = (...words: string[]) => vetledger([...words, '--config', clinic.config], clinic.env);
/** The hash that the command shows for a decision. */
const hashOf = async (decision = '--redate', number = late): Promise<string> =>
  (await command('late', 'decide', `${id}/invoice/${number}`, decision, '--dry-run', '--json')).json().shown.hash;
const ask = (
  shownHash: string | null,
  {
    input = {},
    user = 'anna',
    kind = 'decide_late' as ActionKind,
  }: { input?: object; user?: string; kind?: ActionKind } = {},
) =>
  db.transaction((trx) =>
    askAction(trx, {
      ...{ installation: id, kind, by: { actedBy: user, reason: 'agreed' }, shownHash },
      ...{
        input: { decision: 'redate', documents: [{ kind: 'invoice', id: late }], ...input },
        form: crypto.randomUUID(),
      },
    }),
  );
const outcome = async (action: number) => (await actionState(db, id, action))?.outcome;
const refused = (code: string) => ({ state: 'refused', error: expect.objectContaining({ code }) });
const decisions = (number = late) =>
  query<{ decision: string; action_id: string }>(
    db,
    'select decision, action_id from late_decision where installation = ? and document_id = ? order by id',
    [id, number],
  );
const age = (action: number, minutes: number) =>
  owner.transaction(async (trx) => {
    await trx.raw('set local session_replication_role = replica');
    await trx.raw('update action set asked_at = asked_at - make_interval(mins => ?) where id = ?', [minutes, action]);
  });
const user = async (name: string, role: 'accountant' | 'viewer' | 'operator' = 'accountant', installation = id) => {
  const subject = (await addSubject(db, name, 'en'))!;
  await grantRole(db, subject, { role, installation, until: null });
  return subject;
};

beforeAll(async () => {
  clinic = new MirroredClinic(db, url, { id, seed: 5, invoices: 0 });
  await clinic.configure(readFileSync(demoMapping, 'utf8'));
  config = await loadConfig(clinic.config, clinic.env);
  clinic.clinic.createInvoice({
    ...{ rows: [{ sum: '50.00', vat_percentage: '14', account_number: '3000' }], invoice_date: '2026-01-20' },
  });
  await window();
  expect((await command('ledger', 'close', '--through', '2026-01-31', '--yes')).code).toBe(0);
  await user('anna');
});
afterAll(() => clinic?.remove());

/** A late invoice for each test. */
beforeEach(async () => {
  late = clinic.clinic.createInvoice({
    ...{ rows: [{ sum: '10.00', vat_percentage: '14', account_number: '3000' }], invoice_date: '2026-01-20' },
  }).id;
  await window();
});

test('a decision is performed as asked, by the user, with the reason', async () => {
  const action = await ask(await hashOf());
  expect(await decisions()).toEqual([]);
  await daemon().look(signal);
  expect(await outcome(action)).toEqual({ state: 'done' });
  expect(await decisions()).toEqual([{ decision: 'redate', action_id: action }]);
  expect(await query(db, 'select acted_by, reason from action_done where id = ?', [action])).toEqual([
    { acted_by: 'anna', reason: 'agreed' },
  ]);
  await window();
  expect((await command('late', '--json')).json().documents.map((each: { id: string }) => each.id)).not.toContain(
    `${id}/invoice/${late}`,
  );
});

test('two daemons perform an action once', async () => {
  const action = await ask(await hashOf());
  await Promise.all([daemon(), daemon(second), daemon(), daemon(second)].map((each) => each.look(signal)));
  expect(await outcome(action)).toEqual({ state: 'done' });
  expect(await decisions()).toHaveLength(1);
  expect(await brokenAction(db, id)).toBeNull();
});

test('a decision whose effects have changed since they were shown is refused', async () => {
  const action = await ask(await hashOf());
  clinic.clinic.updateRow(clinic.clinic.invoiceRows.of(late)[0]!.id, { account_number: '3010' });
  await window();
  await daemon().look(signal);
  expect(await outcome(action)).toEqual(refused('changed_since_shown'));
  expect(await decisions()).toEqual([]);
  expect(await hashOf()).toMatch(/^[0-9a-f]{64}$/);
});

test.each<[string, string | null]>([
  ['another hash', 'f'.repeat(64)],
  ['no hash', null],
])('a decision with %s is refused', async (_, hash) => {
  const action = await ask(hash);
  await daemon().look(signal);
  expect(await outcome(action)).toEqual(refused('changed_since_shown'));
  expect(await decisions()).toEqual([]);
});

test('a decision that is not possible is refused with the reason of the command', async () => {
  const action = await ask('f'.repeat(64), { input: { decision: 'confirm_gone' } });
  await daemon().look(signal);
  expect(await outcome(action)).toEqual(refused('not_decidable'));
});

test('an action is performed until 15 minutes after the request, also by a daemon that starts later, and expires then', async () => {
  const hash = await hashOf();
  const over = await ask(hash);
  await age(over, 16);
  await daemon().look(signal);
  expect(await outcome(over)).toEqual({ state: 'expired' });
  expect(await decisions()).toEqual([]);
  const old = await ask(hash);
  await age(old, 3 * 1440);
  const inTime = await ask(hash);
  await age(inTime, 14);
  await daemon().look(signal);
  expect([await outcome(old), await outcome(inTime)]).toEqual([{ state: 'expired' }, { state: 'done' }]);
  expect(await query(db, 'select action_id from action_outcome where action_id = ?', [old])).toHaveLength(1);
});

test.each<[string, (subject: number, name: string) => Promise<unknown>]>([
  [
    'the role was taken away',
    (subject) => db.raw('delete from vetledger_console.subject_role where subject_id = ?', [subject]),
  ],
  [
    'the role has ended',
    (subject) =>
      db.raw(`update vetledger_console.subject_role set until = '2026-03-09' where subject_id = ?`, [subject]),
  ],
  [
    'the user was disabled',
    (subject) => db.raw('update vetledger_console.subject set disabled_at = now() where id = ?', [subject]),
  ],
  [
    'the role is one that reads',
    (subject) => db.raw(`update vetledger_console.subject_role set role = 'viewer' where subject_id = ?`, [subject]),
  ],
  [
    'the role is one of operation',
    (subject) => db.raw(`update vetledger_console.subject_role set role = 'operator' where subject_id = ?`, [subject]),
  ],
  [
    'the role is of another clinic',
    (subject) => db.raw('update vetledger_console.subject_role set installation = 55 where subject_id = ?', [subject]),
  ],
])('a user without the right at the time of the execution is refused: %s', async (_, change) => {
  users += 1;
  const name = `user ${users}`;
  const subject = await user(name);
  const action = await ask(await hashOf(), { user: name });
  await change(subject, name);
  await daemon().look(signal);
  expect(await outcome(action)).toEqual(refused('no_right'));
  expect(await decisions()).toEqual([]);
});

test('a user who does not exist is refused', async () => {
  const action = await ask(await hashOf(), { user: 'mallory' });
  await daemon().look(signal);
  expect(await outcome(action)).toEqual(refused('no_right'));
});

test('while another daemon holds the actions of the installation, they wait; it may be killed', async () => {
  const action = await ask(await hashOf());
  await takeLease(db, { installation: id, lane: 'actions' }, 'a killed daemon');
  await daemon().look(signal);
  expect(await outcome(action)).toEqual({ state: 'pending' });
  await owner.raw(`update lease set expires_at = clock_timestamp() - interval '1 second' where lane = 'actions'`);
  await daemon().look(signal);
  expect(await outcome(action)).toEqual({ state: 'done' });
});

test('a failing action stops nothing else', async () => {
  const hash = await hashOf();
  const broken = await ask(hash, { input: { documents: 'all' } });
  const unknown = await ask(hash, { kind: 'adopt_identity' });
  const good = await ask(hash);
  await daemon().look(signal);
  expect(await outcome(broken)).toEqual(refused('action_failed'));
  expect(await outcome(unknown)).toEqual({ state: 'pending' });
  expect(await outcome(good)).toEqual({ state: 'done' });
  await age(unknown, 16);
  await daemon().look(signal);
  expect(await outcome(unknown)).toEqual({ state: 'expired' });
});

test('a decision that exists already is refused and has no second effect', async () => {
  const hash = await hashOf();
  await ask(hash);
  await daemon().look(signal);
  await window();
  const again = await ask(hash);
  await daemon().look(signal);
  expect(await outcome(again)).toMatchObject({ state: 'refused' });
  expect(await decisions()).toHaveLength(1);
});

test('nothing is performed for books of another configuration', async () => {
  const action = await ask(await hashOf());
  const other = { ...config, installations: config.installations.map((each) => ({ ...each, currency: 'SEK' })) };
  await daemon(db, other as Config).look(signal);
  expect(await outcome(action)).toEqual({ state: 'pending' });
  await daemon().look(signal);
});

test('a daemon that stops begins no action', async () => {
  const action = await ask(await hashOf());
  await daemon()
    .look(AbortSignal.abort())
    .catch(() => undefined);
  expect(await outcome(action)).toEqual({ state: 'pending' });
  await daemon().look(signal);
});

test('the loop of the daemon finds an action', async () => {
  const action = await ask(await hashOf());
  const app = { db, promptDb: db, config, clock: () => now, log: createLog('silent'), outages: { of: () => null } };
  const loop = startActing(app as unknown as Parameters<typeof startActing>[0], null, 20);
  await vi.waitFor(async () => expect(await outcome(action)).toEqual({ state: 'done' }), 10_000);
  await loop.stop();
});
