// Decisions in the browser: the effect is shown as the command shows it, the form asks once, and the daemon decides.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { recordAction } from '../../src/actions/record.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { roles } from '../../src/console/users/rights.ts';
import { createLog } from '../../src/runtime/log.ts';
import { problemCatalogue } from '../../src/texts/problems.ts';
import { Acting } from '../../src/windows/acting.ts';
import { vetledger } from '../cli/support.ts';
import { useDatabase } from '../support/database.ts';
import { demoMapping } from '../support/demo-config.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { query } from '../support/sql.ts';
import { formOf } from './form-of.ts';
import { type Browser, clinics, hostileName, now, openTestConsole, type TestConsole } from './support.ts';
import { linksIn, tablesIn } from './tables.ts';

const database = useDatabase();
const { db, owner } = database;
const [id, other] = clinics;
const fieldsOf = (body: string) => formOf(body) ?? {};
let site: TestConsole;
let clinic: MirroredClinic;
let daemon: Acting;
const browsers = new Map<string, Browser>();
const as = (name: string) => browsers.get(name)!;
/** Two late invoices of January. */
let [small, large] = [0, 0];

const late = `/${id}/actions/late`;
const retry = `/${id}/actions/retry`;
const command = (...words: string[]) => vetledger([...words, '--config', clinic.config], clinic.env);
const invoice = (sum: string) =>
  clinic.clinic.createInvoice({
    rows: [{ sum, vat_percentage: '14', account_number: '3000' }],
    invoice_date: '2026-01-20',
  }).id;
const window = async () => {
  await clinic.pull();
  await clinic.post();
};
const look = () => daemon.look(new AbortController().signal);
const decisions = (document: number) =>
  query<{ decision: string }>(
    db,
    'select decision from late_decision where installation = ? and document_id = ? order by id',
    [id, document],
  );
const requests = () => query(db, `select id from action where kind in ('decide_late', 'retry_documents')`);

const open = async (search: string, browser = as('accountant')) => {
  const { statusCode, body } = await browser.get(`${late}?${search}`);
  expect(statusCode).toBe(200);
  return body;
};
/** Opens the form, sends it with a reason, and returns the address of the action. */
const decide = async (search: string, browser = as('accountant')): Promise<string> => {
  const answer = await browser.post(late, { ...fieldsOf(await open(search, browser)), reason: 'agreed' });
  expect(answer.statusCode).toBe(303);
  return answer.headers.location as string;
};
const stateOf = async (address: string, browser = as('accountant')) => (await browser.get(address)).body;

beforeAll(async () => {
  clinic = new MirroredClinic(db, database.url, { id, seed: 5, invoices: 0 });
  await clinic.configure(readFileSync(demoMapping, 'utf8'));
  invoice('50.00');
  await window();
  expect((await command('ledger', 'close', '--through', '2026-01-31', '--yes')).code).toBe(0);
  const config = await loadConfig(clinic.config, clinic.env);
  daemon = new Acting({ db, promptDb: db, config, clock: () => now, log: createLog('silent') });
  site = await openTestConsole(database);
  for (const role of roles) {
    await site.user(role, [[role, role === 'admin' ? null : id]]);
    browsers.set(role, await site.signedIn(role));
  }
  await site.user('tilintarkastaja', [['viewer', id]], 'fi');
  browsers.set('tilintarkastaja', await site.signedIn('tilintarkastaja'));
});
afterAll(async () => {
  await site?.close();
  clinic?.remove();
});
/** Makes two late invoices of January: those that a test decides about. */
const fresh = async () => {
  [small, large] = [invoice('1.00'), invoice('100.00')];
  await window();
};

describe('a decision', () => {
  beforeEach(fresh);

  test('the effect is that of the command, and each document is a link', async () => {
    const body = await open(`decision=redate&documents=invoice/${small},invoice/${large}`);
    const [documents, sums, posted] = tablesIn(body);
    const names = [small, large].map((each) => `${id}/invoice/${each}`);
    const { shown } = (await command('late', 'decide', ...names, '--redate', '--dry-run', '--json')).json();
    const [effect] = shown.installations;
    expect(documents?.rows.map((row) => row.slice(2))).toEqual([
      ['2026-01-20', '1.14', '0.14', '2026-02-01'],
      ['2026-01-20', '114.00', '14.00', '2026-02-01'],
    ]);
    expect(sums?.rows).toEqual([['invoice', '2', '115.14', '14.14']]);
    expect(posted?.rows).toEqual(
      effect.effects.map((each: Record<string, string>) => [each.account, `${each.vat_period}, late`, each.amount]),
    );
    expect(posted?.rows).toHaveLength(3);
    expect(fieldsOf(body)).toMatchObject({ shown: shown.hash, decision: 'redate' });
    expect(linksIn(body)).toEqual([`/${id}/documents/invoice/${small}`, `/${id}/documents/invoice/${large}`]);
  });

  test('the page of a late document leads to the form, for users who decide', async () => {
    const link = `${late}?documents=invoice%2F${small}`;
    const document = `/${id}/documents/invoice/${small}`;
    expect(linksIn((await as('bookkeeper').get(document)).body)).toContain(link);
    expect(linksIn((await as('viewer').get(document)).body)).not.toContain(link);
    expect((await as('bookkeeper').get(link)).body).toContain(`value="invoice/${small}"`);
  });

  test('asked, performed by the daemon in the name of the user, and shown as done', async () => {
    const address = await decide(`decision=redate&documents=invoice/${small}`);
    const pending = await stateOf(address);
    expect(pending).toContain('<meta http-equiv="refresh" content="2"');
    expect(pending).toContain('No daemon runs');
    expect(await decisions(small)).toEqual([]);
    await look();
    const done = await stateOf(address);
    expect(done).toContain('The action is done.');
    expect(done).not.toContain('http-equiv="refresh"');
    expect(await decisions(small)).toEqual([{ decision: 'redate' }]);
    const [action] = await query(db, 'select acted_by, reason from action_done where id = ?', [
      address.split('/').at(-1)!,
    ]);
    expect(action).toEqual({ acted_by: 'accountant', reason: 'agreed' });
  });

  test('many by a filter, with its documents at the time of the form', async () => {
    const address = await decide('decision=wait&month=2026-01&code=period_locked&kind=invoice');
    await look();
    expect(await stateOf(address)).toContain('The action is done.');
    expect(await decisions(small)).toEqual([{ decision: 'wait' }]);
    expect(await decisions(large)).toEqual([{ decision: 'wait' }]);
  });

  test('a filter that selects another document at the execution decides nothing', async () => {
    const address = await decide('decision=wait&month=2026-01');
    const shown = { ...fieldsOf(await open('decision=wait&month=2026-01')), reason: 'agreed' };
    const more = invoice('7.00');
    await window();
    const answer = await as('accountant').post(late, shown);
    expect(answer.statusCode).toBe(409);
    expect(tablesIn(answer.body)[0]?.rows.map(([name]) => name)).toContain(`invoice ${more}`);
    await look();
    const page = await stateOf(address);
    expect(page).toContain('differ from those that were shown');
    expect(linksIn(page)).toContain(`${late}?decision=wait&month=2026-01`);
    expect(await decisions(small)).toEqual([]);
    expect(await decisions(more)).toEqual([]);
  });

  test('a form that is sent twice asks once', async () => {
    const fields = { ...fieldsOf(await open(`decision=redate&documents=invoice/${small}`)), reason: 'agreed' };
    const before = (await requests()).length;
    const answers = await Promise.all([1, 2, 3].map(() => as('accountant').post(late, fields)));
    expect(new Set(answers.map(({ headers }) => headers.location)).size).toBe(1);
    expect((await requests()).length).toBe(before + 1);
    await look();
    const [again] = [await as('accountant').post(late, fields)];
    expect(again.headers.location).toBe(answers[0]!.headers.location);
    await look();
    expect(await decisions(small)).toHaveLength(1);
  });
});

test.each([
  ['account=3000&least=50&most=200', () => [large]],
  ['account=3010', () => []],
  ['department=11&least=2', () => [large]],
])('a filter by effects (%s) selects what the command selects', async (filter, expected) => {
  await fresh();
  const conditions = filter.replace('least=', 'amount>=').replace('most=', 'amount<=').replaceAll('&', ',');
  const { shown } = (
    await command('late', 'decide', '--filter', `${conditions},month=2026-01`, '--wait', '--dry-run', '--json')
  ).json();
  const [documents] = tablesIn(await open(`decision=wait&month=2026-01&${filter}`));
  expect((documents?.rows ?? []).map(([name]) => name)).toEqual(
    shown.installations.flatMap((each: { documents: { id: string }[] }) =>
      each.documents.map((one) => one.id.split('/').slice(1).join(' ')),
    ),
  );
  for (const each of expected()) expect(documents?.rows.map(([name]) => name)).toContain(`invoice ${each}`);
});

describe('a new judgement of a held document', () => {
  let held: number;
  const state = async () => {
    const [found] = await query<{ state: string; dirty: boolean }>(
      db,
      `select state, dirty from document where installation = ? and kind = 'invoice' and id = ?`,
      [id, held],
    );
    return found;
  };
  const total = async (to: string) => {
    clinic.clinic.updateInvoice(held, { total: to });
    await clinic.pull();
    await query(db, `update document set dirty = false where installation = ? and kind = 'invoice' and id = ?`, [
      id,
      held,
    ]);
  };
  const shownNow = async () => (await as('bookkeeper').get(`${retry}?invoice/${held}=1`)).body;
  const ask = async () => {
    const answer = await as('bookkeeper').post(retry, { ...fieldsOf(await shownNow()), reason: 'corrected there' });
    expect(answer.statusCode).toBe(303);
    return answer.headers.location as string;
  };

  test('shows the problem that stays, then the entry; what has changed meanwhile is refused', async () => {
    held = clinic.clinic.createInvoice({
      rows: [{ sum: '10.00', vat_percentage: '14', account_number: '3000' }],
      invoice_date: '2026-02-03',
    }).id;
    clinic.clinic.update(clinic.clinic.invoices, clinic.clinic.invoice(held), { total: '999.00' });
    await window();
    const problem = `${problemCatalogue.totals_disagree.sentence} totals_disagree`;
    expect(tablesIn(await shownNow())[0]?.rows).toEqual([
      [`invoice ${held}`, problem, '2026-02-03', '11.40', '1.40', 'not now', problem],
    ]);
    const stale = await ask();
    await total('10.00');
    await look();
    expect(await stateOf(stale)).toContain('differ from those that were shown');
    expect(await state()).toEqual({ state: 'held', dirty: false });
    const [documents, , effects] = tablesIn(await shownNow());
    expect(documents?.rows[0]?.slice(3)).toEqual(['11.40', '1.40', '2026-02-03', '']);
    expect(effects?.rows).toEqual([
      ['1700', '2026-02', '11.40'],
      ['2932', '2026-02', '-1.40'],
      ['3000', '2026-02', '-10.00'],
    ]);
    const asked = await ask();
    await look();
    const page = await stateOf(asked);
    expect(page).toContain('The action is done.');
    expect(linksIn(page)).toEqual([`/${id}/documents/invoice/${held}`]);
    expect(await state()).toEqual({ state: 'held', dirty: true });
    await clinic.post();
    expect(await state()).toEqual({ state: 'posted', dirty: false });
  });

  test.each([`documents=${hostileName}`, 'documents=invoice/0', 'q=', 'month=2026-13', ''])(
    '%s names no document',
    async (search) => {
      const { statusCode, body } = await as('bookkeeper').get(`${retry}?${search}`);
      expect(statusCode).toBe(200);
      expect(body).toContain('are not valid');
      expect(fieldsOf(body)).toEqual({});
    },
  );

  test('a document that does not exist is refused', async () => {
    expect((await as('bookkeeper').get(`${retry}?documents=invoice/999999999`)).body).toContain('There is no invoice');
  });
});

describe('without a right or a complete form, nothing is decided', () => {
  let fields: Record<string, string>;
  beforeAll(async () => {
    await fresh();
    fields = { ...fieldsOf(await open(`decision=redate&documents=invoice/${small}`)), reason: 'agreed' };
  });

  const shownTo = async (path: string) =>
    (await as('accountant').get(`${path}?decision=redate&documents=invoice/${small}`)).body;

  describe('by a form that is not complete', () => {
    test.each<[string, Record<string, string>]>([
      ['without a reason', { reason: ' ' }],
      ['with a long reason', { reason: 'x'.repeat(1001) }],
      ['without the hash', { shown: '' }],
      ['with another hash format', { shown: 'F'.repeat(64) }],
      ['without the id of the form', { form: '' }],
      ['with an id that is none', { form: hostileName }],
      ['with another decision', { decision: 'delete' }],
      ['without a decision', { decision: '' }],
      ['with documents that are none', { documents: hostileName }],
      [
        'with more documents than one request has',
        { documents: Array.from({ length: 501 }, (_, n) => `invoice/${n + 1}`).join(',') },
      ],
    ])('%s', async (_, changed) => {
      const before = (await requests()).length;
      const { statusCode, body } = await as('accountant').post(late, { ...fields, ...changed });
      expect(statusCode).toBe(400);
      expect(body).toContain('role="alert"');
      expect(body).not.toContain('<img');
      expect((await requests()).length).toBe(before);
    });
  });

  test.each([
    'decision=redate&month=2026-13',
    'decision=redate&code=nonsense',
    'decision=redate&kind=row',
    'decision=redate&documents=invoice',
    'decision=redate&documents=invoice/0',
    'decision=nonsense',
  ])('%s is no choice', async (search) => {
    const body = await open(search);
    expect(body).toContain('are not valid');
    expect(fieldsOf(body)).toEqual({});
  });

  test('a decision that is not possible says why; a filter without documents has no form', async () => {
    expect(await open(`decision=confirm_gone&documents=invoice/${small}`)).toContain('is not possible');
    expect(await open('decision=redate&documents=invoice/999999999')).toContain('does not exist');
    const none = await open('decision=redate&month=2025-01');
    expect(none).toContain('No document matches.');
    expect(fieldsOf(none)).toEqual({});
  });

  test.each(roles.flatMap((role) => [[role, late] as const, [role, retry] as const]))(
    'the role %s at %s',
    async (role, path) => {
      const isAllowed = role === 'bookkeeper' || role === 'accountant';
      const fields = fieldsOf(await shownTo(path));
      const before = (await requests()).length;
      expect((await as(role).get(path)).statusCode).toBe(isAllowed ? 200 : 404);
      expect((await as(role).post(path, { ...fields, reason: 'agreed' })).statusCode).toBe(isAllowed ? 303 : 404);
      expect((await requests()).length).toBe(before + (isAllowed ? 1 : 0));
    },
  );
});

test.each(roles)('the role %s at the forms of a document', async (role) => {
  const isAllowed = role === 'bookkeeper' || role === 'accountant';
  for (const path of [`/${id}/actions/match`, `/${id}/actions/repost`]) {
    expect((await as(role).get(path)).statusCode).toBe(isAllowed ? 200 : 404);
    expect((await as(role).post(path, { form: crypto.randomUUID() })).statusCode).toBe(isAllowed ? 400 : 404);
  }
});

describe('the page of an action', () => {
  beforeEach(fresh);

  test('says that the request of a user who was disabled meanwhile is refused', async () => {
    await site.user('leaving', [['accountant', id]]);
    const address = await decide(`decision=redate&documents=invoice/${small}`, await site.signedIn('leaving'));
    await db.raw(`update vetledger_console.subject set disabled_at = clock_timestamp() where name = 'leaving'`);
    await look();
    const page = await stateOf(address);
    expect(page).toContain('leaving');
    expect(page).toMatch(/class="problem" role="status"/);
    expect(await decisions(small)).toEqual([]);
  });

  test('is that of its clinic only, and of actions of the console', async () => {
    const address = await decide(`decision=redate&documents=invoice/${small}`);
    await look();
    const number = address.split('/').at(-1);
    for (const wrong of [
      `/${other}/actions/${number}`,
      `/${id}/actions/999999`,
      `/${id}/actions/0`,
      `/${id}/actions/x`,
    ])
      expect((await as('accountant').get(wrong)).statusCode).toBe(404);
    const by = { actedBy: 'a test', reason: 'moved' };
    const adopted = await db.transaction((trx) =>
      recordAction(trx, { installation: id, kind: 'adopt_identity', by, input: {} }),
    );
    expect((await as('accountant').get(`/${id}/actions/${adopted.id}`)).statusCode).toBe(404);
  });

  test('shows the reason to users who read the books, and not to an operator', async () => {
    const fields = { ...fieldsOf(await open(`decision=redate&documents=invoice/${small}`)), reason: hostileName };
    const address = (await as('accountant').post(late, fields)).headers.location as string;
    await look();
    const escaped = '&lt;img src=x onerror=alert(1)>';
    expect(await stateOf(address, as('viewer'))).toContain(escaped);
    expect(await stateOf(address, as('viewer'))).not.toContain('Open the form again');
    const page = await stateOf(address, as('operator'));
    expect(page).toContain('The action is done.');
    expect(page.replace(/<header[\s\S]*<\/header>/, '')).not.toContain('onerror');
  });

  test('says since when no daemon runs', async () => {
    const address = await decide(`decision=redate&documents=invoice/${small}`);
    const waiting = await stateOf(address);
    expect(waiting).toContain('No daemon runs for this installation.');
    expect(waiting).not.toContain('in a few seconds');
    const { temporal } = await loadConfig(clinic.config, clinic.env);
    await query(
      db,
      `insert into daemon (id, command, host, process, version, task_queue, installations, heard_at)
       values (gen_random_uuid(), 'run', 'h', 1, '0.1.0', ?, ?, clock_timestamp() - interval '5 minutes')`,
      [temporal.taskQueue, [id]],
    );
    expect(await stateOf(address)).toMatch(/No daemon runs since \d{4}-\d\d-\d\d/);
    await query(db, 'update daemon set heard_at = clock_timestamp()');
    expect(await stateOf(address)).not.toContain('No daemon');
    await query(db, 'delete from daemon');
    await look();
  });

  test('shows that a request has expired, also without a daemon', async () => {
    const address = await decide(`decision=redate&documents=invoice/${small}`);
    await owner.transaction(async (trx) => {
      await trx.raw('set local session_replication_role = replica');
      await trx.raw(`update action set asked_at = asked_at - interval '16 minutes' where id = ?`, [
        address.split('/').at(-1)!,
      ]);
    });
    expect(await stateOf(address)).toContain('The action expired');
    await look();
    expect(await stateOf(address)).toContain('The action expired');
    expect(await decisions(small)).toEqual([]);
  });

  test('has the language of its reader', async () => {
    const address = await decide(`decision=confirm_gone&month=2026-01`).catch(() => null);
    expect(address).toBeNull();
    const asked = await decide(`decision=wait&documents=invoice/${small}`);
    clinic.clinic.updateRow(clinic.clinic.invoiceRows.of(small)[0]!.id, { account_number: '3010' });
    await window();
    await look();
    const page = await stateOf(asked, as('tilintarkastaja'));
    expect(page).toContain('Toimi hylättiin. Toimen vaikutukset poikkeavat');
  });
});
