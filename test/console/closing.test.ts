// The month end in the browser: close, reopening, filed VAT return, and the approval by a second person.
import { appendFileSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { brokenAction } from '../../src/actions/verify.ts';
import { type Config, loadConfig } from '../../src/config/load-config.ts';
import { roles } from '../../src/console/users/rights.ts';
import { linkAccount } from '../../src/console/users/subjects.ts';
import { walkChains } from '../../src/ledger/verify.ts';
import { checklistAnswer } from '../../src/queries/closing-answer.ts';
import { createLog } from '../../src/runtime/log.ts';
import { Acting } from '../../src/windows/acting.ts';
import { vetledger } from '../cli/support.ts';
import { useDatabase } from '../support/database.ts';
import { demoMapping } from '../support/demo-config.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { query } from '../support/sql.ts';
import { type Browser, clinics, now, openTestConsole, type TestConsole } from './support.ts';
import { linksIn, tablesIn } from './tables.ts';

const database = useDatabase();
const { db, owner } = database;
const [id] = clinics;
let clinic: MirroredClinic;
let config: Config;
/** The console as usual, and with `two_persons`. */
let site: TestConsole;
let strict: TestConsole;
const browsers = new Map<string, Browser>();
const as = (name: string) => browsers.get(name)!;
const path = (form: string) => `/${id}/actions/${form}`;

const command = (...words: string[]) => vetledger([...words, '--config', clinic.config], clinic.env);
const look = (using = config) =>
  new Acting({ db, promptDb: db, config: using, clock: () => now, log: createLog('silent') }).look(
    new AbortController().signal,
  );
const lookStrictly = () => look({ ...config, twoPersons: true });
const invoice = (sum: string, day: string) =>
  clinic.clinic.createInvoice({
    rows: [{ sum, vat_percentage: '14', account_number: '3000' }],
    invoice_date: day,
  }).id;
const window = async () => {
  await clinic.pull();
  await clinic.post();
};
const formOf = (body: string): Record<string, string> => {
  const content = /<form method="post" action="\/\d+\/actions[\s\S]*?<\/form>/.exec(body)?.[0] ?? '';
  const fields = [...content.matchAll(/<input [^>]*?name="(\w+)" value="([^"]*)"/g)];
  return Object.fromEntries(
    fields.map(([, name = '', value = '']) => [name, value]).filter(([name]) => name !== 'csrf'),
  );
};
/** The texts of a list of terms by their names. */
const termsOn = (body: string) =>
  Object.fromEntries(
    [...body.matchAll(/<dt>([^<]*)<\/dt><dd>([^<]*)<\/dd>/g)].map(([, term = '', text = '']) => [term, text]),
  );
const pageOf = async (address: string, browser = as('accountant')) => (await browser.get(address)).body;
/** Opens a form, sends it with a reason, and returns the address of the action. */
const ask = async (form: string, search: string, browser = as('accountant')): Promise<string> => {
  const fields = { ...formOf(await pageOf(`${path(form)}?${search}`, browser)), reason: 'as agreed' };
  const { statusCode, headers } = await browser.post(path(form), fields);
  expect(statusCode).toBe(303);
  return headers.location as string;
};
const approve = async (address: string, browser: Browser) =>
  browser.post(address, { ...formOf(await pageOf(address, browser)), reason: 'checked' });
const links = () =>
  query<{ kind: string; through: string }>(
    db,
    'select kind, through::text from ledger_close where installation = ? order by seq',
    [id],
  );
const lastClose = async () => (await command('ledger', 'closes', '--json')).json().installations[0].closes.at(-1);

beforeAll(async () => {
  clinic = new MirroredClinic(db, database.url, { id, seed: 5, invoices: 0 });
  await clinic.configure(readFileSync(demoMapping, 'utf8'));
  config = await loadConfig(clinic.config, clinic.env);
  invoice('100.00', '2026-01-20');
  invoice('50.00', '2026-01-21');
  invoice('200.00', '2026-02-10');
  await window();
  site = await openTestConsole(database);
  strict = await openTestConsole(database, {}, { common: { two_persons: 'true' } });
  for (const role of roles) {
    await site.user(role, [[role, role === 'admin' ? null : id]]);
    browsers.set(role, await site.signedIn(role));
  }
  for (const name of ['aino', 'bertta']) {
    await strict.user(name, [['accountant', id]]);
    browsers.set(name, await strict.signedIn(name));
  }
  browsers.set('strict bookkeeper', await strict.signedIn('bookkeeper'));
});
afterAll(async () => {
  await site?.close();
  await strict?.close();
  clinic?.remove();
});

describe('before January is closed', () => {
  test('the form shows what the close locks: entries, debits, VAT and the checklist', async () => {
    const body = await pageOf(`${path('close')}?month=2026-01`);
    expect(termsOn(body)).toMatchObject({
      'Last closed day': '2026-01-31',
      'Entries that the close locks': '2',
      'Sum of their debits, EUR': '171.00',
      'VAT of the return 2026-01 by the present books, EUR': '21.00',
    });
    expect(tablesIn(body)[0]!.rows.map(([, item]) => item)).toContain('Held documents');
    expect(formOf(body)).toMatchObject({ month: '2026-01', shown: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  test('a close of two months shows the VAT of both', async () => {
    const body = await pageOf(`${path('close')}?month=2026-02`);
    expect([...body.matchAll(/<h2>VAT[^<]* (\d{4}-\d\d)<\/h2>/g)].map(([, month]) => month)).toEqual([
      '2026-01',
      '2026-02',
    ]);
  });

  test('Month leads to the form, for users who close', async () => {
    const month = `/${id}/month?month=2026-01`;
    expect(linksIn(await pageOf(month))).toContain(`${path('close')}?month=2026-01`);
    expect(linksIn(await pageOf(month, as('bookkeeper')))).not.toContain(`${path('close')}?month=2026-01`);
  });

  test.each([
    ['close', 'month=2026-03', 'is not over yet'],
    ['file-vat', 'month=2026-01', 'is not closed, so its return cannot be filed'],
    ['reopen', 'from=2026-01-10', 'there is no closed period to reopen'],
  ])('%s with %s says why it is not possible, and has no form', async (form, search, why) => {
    const body = await pageOf(`${path(form)}?${search}`);
    expect(body).toContain(why);
    expect(formOf(body)).toEqual({});
  });

  describe.each(['close', 'reopen', 'file-vat'])('the form %s', (form) => {
    test.each(roles)('and the role %s', async (role) => {
      const fields = { month: '2026-01', from: '2026-01-01', shown: 'a'.repeat(64), form: crypto.randomUUID() };
      const answers = [await as(role).get(path(form)), await as(role).post(path(form), { ...fields, reason: '' })];
      expect(answers.map(({ statusCode }) => statusCode)).toEqual(role === 'accountant' ? [200, 400] : [404, 404]);
    });
  });

  test.each([
    ['without a reason', { reason: ' ' }],
    ['without the hash', { shown: '' }],
    ['without a month', { month: '' }],
    ['with a month that is none', { month: '2026-13' }],
  ])('a form %s asks for nothing', async (_, changed) => {
    const fields = { ...formOf(await pageOf(`${path('close')}?month=2026-01`)), reason: 'x', ...changed };
    const count = () => query(db, 'select count(*) from action');
    const before = await count();
    expect((await as('accountant').post(path('close'), fields)).statusCode).toBe(400);
    expect(await count()).toEqual(before);
  });

  test('an invoice that was posted after the form was shown refuses the close', async () => {
    const address = await ask('close', 'month=2026-01');
    invoice('10.00', '2026-01-22');
    await window();
    await look();
    expect(await pageOf(address)).toContain('differ from those that were shown');
    expect(await links()).toEqual([]);
  });
});

describe('one person', () => {
  test('closes January: performed by the daemon, with checklist and name in the chain', async () => {
    const address = await ask('close', 'month=2026-01');
    expect(await links()).toEqual([]);
    await look();
    expect(await pageOf(address)).toContain('The action is done.');
    expect(await pageOf(`/${id}/month?month=2026-01`)).toContain('as agreed');
    const close = await lastClose();
    expect(close).toMatchObject({ kind: 'close', through: '2026-01-31', by: 'accountant', second: null });
    expect(checklistAnswer.safeParse(close.checklist).error).toBeUndefined();
    expect(await walkChains(db, id)).toMatchObject({ broken: null });
    expect(await brokenAction(db, id)).toBeNull();
    expect(await pageOf(`/${id}/month?month=2026-01`)).toContain('This month is closed.');
  });

  test('cannot close a month that the command line closed meanwhile', async () => {
    const address = await ask('close', 'month=2026-02');
    expect((await command('ledger', 'close', '--through', '2026-02-28', '--yes')).code).toBe(0);
    await look();
    expect(await pageOf(address)).toContain('its effect exists already');
    expect(await links()).toHaveLength(2);
  });

  test('files the return with its figures, and a second time only what changed', async () => {
    const body = await pageOf(`${path('file-vat')}?month=2026-01`);
    // 14 % of 100.00, 50.00 and 10.00.
    expect(tablesIn(body).some(({ total }) => total.at(-1) === '22.40')).toBe(true);
    const address = await ask('file-vat', 'month=2026-01');
    await look();
    expect(await pageOf(address)).toContain('The action is done.');
    expect(linksIn(await pageOf(address))).toContain(`/${id}/month?month=2026-01`);
    const filed = await query(db, 'select period, version from vat_return where installation = ?', [id]);
    expect(filed).toEqual([{ period: '2026-01', version: 1 }]);
    expect(await pageOf(`${path('file-vat')}?month=2026-01`)).toContain('Nothing has changed since the return');
    // The return has this tax, although nothing of it is left to file.
    expect(await pageOf(`${path('close')}?month=2026-01`)).toContain('by the present books, EUR</dt><dd>22.40</dd>');
  });

  test('reopens February, and sees that a filed return would be opened with January', async () => {
    const january = await pageOf(`${path('reopen')}?from=2026-01-01`);
    expect(january).toContain('VAT returns are filed for 2026-01.');
    const february = await pageOf(`${path('reopen')}?from=2026-02-01`);
    expect(february).not.toContain('VAT returns are filed');
    const address = await ask('reopen', 'from=2026-02-01');
    await look();
    expect(await pageOf(address)).toContain('The action is done.');
    expect(await lastClose()).toMatchObject({ kind: 'reopen', through: '2026-01-31', by: 'accountant' });
  });
});

describe('two persons', () => {
  const february = 'month=2026-02';
  const actionOf = (address: string) => Number(address.split('/').at(-1));
  const waiting = () => ask('close', february, as('aino'));

  test('a request waits, and neither its author, nor a bookkeeper, nor one person with SQL can approve it', async () => {
    const address = await waiting();
    await lookStrictly();
    expect(await pageOf(address, as('aino'))).toContain('waits for the approval of a second person');
    expect(formOf(await pageOf(address, as('aino')))).toMatchObject({ reason: 'withdrawn' });
    const fields: Record<string, string> = { ...formOf(await pageOf(address, as('bertta'))), reason: 'x' };
    expect((await as('aino').post(address, fields)).statusCode).toBe(400);
    expect((await as('strict bookkeeper').post(address, fields)).statusCode).toBe(404);
    const insert = (subject: string, shown = fields.shown) =>
      owner.raw(
        `insert into action (id, installation, seq, kind, subject, input, shown_hash, reason_hash, asked_at, previous_hash, hash)
         values (nextval('action_id'), ?, 99999, 'approve_action', ?, ?, ?, 'x', now(), 'x', 'x')`,
        [id, subject, JSON.stringify({ action: actionOf(address) }), shown ?? null],
      );
    await expect(insert('aino')).rejects.toThrow('another person must approve it');
    await expect(insert(' Aino')).rejects.toThrow('another person must approve it');
    await expect(insert('bertta', 'f'.repeat(64))).rejects.toThrow('waits for approval');
    const end = owner.raw(
      `insert into action_outcome (action_id, installation, seq, result, ended_at, previous_hash, hash)
       values (?, ?, 99999, '{}', now(), 'x', 'x')`,
      [actionOf(address), id],
    );
    await expect(end).rejects.toThrow('needs the approval of a second person');
    const named = owner.raw(
      `insert into action (id, installation, seq, kind, subject, input, reason_hash, asked_at, previous_hash, hash)
       values (nextval('action_id'), ?, 99999, 'close_books', 'Aino', '{"second": "aino "}', 'x', now(), 'x', 'x')`,
      [id],
    );
    await expect(named).rejects.toThrow('action_second_person');
    expect(await links()).toHaveLength(3);
  });

  test('the person who asked withdraws the request, and no other person can', async () => {
    const address = await waiting();
    const fields = formOf(await pageOf(address, as('aino')));
    expect((await as('bertta').post(`${address}/withdrawal`, fields)).statusCode).toBe(404);
    expect((await as('aino').post(`${address}/withdrawal`, fields)).statusCode).toBe(303);
    const approval = { ...formOf(await pageOf(address, as('bertta'))), reason: 'checked' };
    expect((await as('bertta').post(address, approval)).statusCode).toBe(303);
    await lookStrictly();
    const page = await pageOf(address, as('bertta'));
    expect(page).toContain('The person who asked withdrew the request. Nothing was changed.');
    expect(formOf(page)).toEqual({});
    expect(await links()).toHaveLength(3);
    expect(await brokenAction(db, id)).toBeNull();
  });

  test('close a month: the second one sees the same effect, approves, and both are recorded', async () => {
    const address = await waiting();
    expect(linksIn(await pageOf(`/${id}/month?${february}`, as('bertta')))).toContain(address);
    expect(termsOn(await pageOf(address, as('bertta')))).toMatchObject({
      'Requested by': 'aino',
      'Entries that the close locks': '1',
      'Sum of their debits, EUR': '228.00',
    });
    const answers = [await approve(address, as('bertta')), await approve(address, as('bertta'))];
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([303, 400]);
    await lookStrictly();
    expect(await pageOf(address, as('aino'))).toContain('The action is done.');
    expect(await lastClose()).toMatchObject({ kind: 'close', through: '2026-02-28', by: 'aino', second: 'bertta' });
    expect(await walkChains(db, id)).toMatchObject({ broken: null });
  });

  test('reopen it, after the command line only asked, as the linked user', async () => {
    const account = userInfo().username;
    const [subject] = await query<{ id: number }>(db, `select id from vetledger_console.subject where name = 'aino'`);
    const reopen = () =>
      vetledger(
        ['ledger', 'reopen', '--from', '2026-02-01', '--reason', 'wrong', '--yes', '--json', '--config', clinic.config],
        clinic.env,
      );
    appendFileSync(clinic.config, '\ntwo_persons: true\n');
    expect((await reopen()).json().error.code).toBe('account_not_linked');
    await linkAccount(db, subject!.id, account);
    const [{ action }] = (await reopen()).json().requested;
    await linkAccount(db, subject!.id, null);
    expect(await links()).toHaveLength(4);
    const address = path(String(action));
    expect((await approve(address, as('bertta'))).statusCode).toBe(303);
    await lookStrictly();
    expect(await lastClose()).toMatchObject({ kind: 'reopen', by: 'aino', second: 'bertta', reason: 'wrong' });
  });

  test('a change before the approval leaves no form; a change after it refuses the close', async () => {
    const address = await waiting();
    const fields = { ...formOf(await pageOf(address, as('bertta'))), reason: 'checked' };
    invoice('5.00', '2026-02-11');
    await window();
    const body = await pageOf(address, as('bertta'));
    expect(body).toContain('The effects have changed since the request');
    expect(formOf(body)).toEqual({});
    expect((await as('bertta').post(address, fields)).statusCode).toBe(303);
    await lookStrictly();
    expect(await pageOf(address, as('bertta'))).toContain('differ from those that were shown');
    expect(await links()).toHaveLength(5);
  });

  test('a request ends after 24 hours; a role that was taken away refuses it', async () => {
    const old = await waiting();
    await owner.transaction(async (trx) => {
      await trx.raw('set local session_replication_role = replica');
      await trx.raw(`update action set asked_at = asked_at - interval '25 hours' where id = ?`, [actionOf(old)]);
    });
    expect(formOf(await pageOf(old, as('bertta')))).toEqual({});
    await lookStrictly();
    expect(await pageOf(old, as('aino'))).toContain('The action expired');

    const address = await waiting();
    expect((await approve(address, as('bertta'))).statusCode).toBe(303);
    await query(db, `update vetledger_console.subject set disabled_at = now() where name = 'aino'`);
    await lookStrictly();
    expect(await pageOf(address, as('bertta'))).toContain('aino has no right to this action any more');
    expect(await links()).toHaveLength(5);
  });

  test('a request of one person is refused where the daemon requires two', async () => {
    const address = await ask('close', february);
    await lookStrictly();
    expect(await pageOf(address)).toContain('no second person approved the action');
  });
});
