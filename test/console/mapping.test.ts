// The screen Mapping: its figures are sums over the clinic's records, and its history is that of the mapping.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askAction } from '../../src/actions/asking.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { roles } from '../../src/console/users/rights.ts';
import { refreshUsage } from '../../src/queries/mapping-shown.ts';
import { createLog } from '../../src/runtime/log.ts';
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
const [id, empty] = clinics;
const demo = readFileSync(demoMapping, 'utf8');
let site: TestConsole;
let clinic: MirroredClinic;
let accountant: Browser;

const page = async (query = '', of: number = id) => {
  const answer = await accountant.get(`/${of}/mapping${query}`);
  expect(answer.statusCode).toBe(200);
  return answer.body;
};

beforeAll(async () => {
  clinic = new MirroredClinic(database.db, database.url, { id, seed: 4, invoices: 30 });
  await clinic.configure(demo);
  await clinic.pull();
  await clinic.post();
  site = await openTestConsole(database);
  await site.user('accountant', [
    ['accountant', id],
    ['accountant', empty],
  ]);
  accountant = await site.signedIn('accountant');
});
afterAll(async () => {
  await site?.close();
  clinic?.remove();
});

test('payments by type have the counts and amounts of the records', async () => {
  const body = await page();
  const table = tablesIn(body)[2]!;
  const paid = clinic.clinic.invoicePayments.all();
  const cents = (text: string) => Math.round(Number(text) * 100);
  const shown = table.rows.filter(([of]) => of === 'payment');
  expect(shown.reduce((sum, row) => sum + Number(row.at(-2)), 0)).toBe(paid.length);
  expect(shown.reduce((sum, row) => sum + cents(row.at(-1)!), 0)).toBe(
    paid.reduce((sum, payment) => sum + cents(String(payment.paid)), 0),
  );
});

test('the tables have the numbers of the last daily turn, with their age', async () => {
  const first = await page();
  expect(first).not.toContain('were read');
  await refreshUsage(database.db, clinic.installation, now);
  const body = await page();
  expect(body).toMatch(/Their numbers and amounts were read \d+ \w+ ago\./);
  expect(tablesIn(body).slice(0, 4)).toEqual(tablesIn(first).slice(0, 4));
});

test('the mapping has the name of its file, without the folder', async () => {
  const [, named] = /<p>([^<]*) is in force\./.exec(await page('', empty)) ?? [];
  expect(named).toBe(basename(demoMapping));
});

test('an account leads to its lines', async () => {
  const account = tablesIn(await page())[0]!.rows[0]![4]!;
  expect(account).toMatch(/^\d{4}$/);
  expect(linksIn(await page())).toContain(`/${id}/reports/account?account=${account}`);
});

test('a search selects rows with their sums, also in the file', async () => {
  const tables = tablesIn(await page('?q=prepayment'));
  expect(tables.length).toBeGreaterThan(0);
  const file = await accountant.get(`/${id}/mapping?csv=payments&q=prepayment`);
  const lines = file.body.trimEnd().split('\r\n');
  expect(lines.length).toBeGreaterThan(1);
  for (const line of lines.slice(1)) expect(line).toContain('prepayment');
  expect((await accountant.get(`/${id}/mapping?csv=other`)).statusCode).toBe(404);
});

test('the history has the version, who applied it and why, and its entries', async () => {
  const body = await page();
  const tables = tablesIn(body);
  const used = tables.at(-1)!.rows;
  const { rows: versions } = tables.at(-2)!;
  expect(versions).toHaveLength(1);
  expect(versions[0]).toEqual(expect.arrayContaining(['a test', 'configured', 'in force, configured']));
  const { rows: found } = await database.db.raw('select count(*)::int as n from entry where installation = ?', [id]);
  expect(used.map((row) => row[2])).toEqual([String(found[0].n)]);
  // The cases of the demo's mapping hold.
  expect(tables.at(-3)!.rows.length).toBeGreaterThan(3);
  expect(tables.at(-3)!.rows.map(([, result]) => result)).toEqual(tables.at(-3)!.rows.map(() => 'as expected'));
});

describe('a changed mapping', () => {
  const proposal = `/${id}/actions/proposal`;
  const browsers = new Map<string, Browser>();
  const as = (name: string) => browsers.get(name)!;
  let daemon: Acting;
  const changed = (to: string) => demo.replace('revenue: same', `revenue: {"3000": "${to}", "*": same}`);
  const open = async (path: string, browser = accountant) => {
    const { statusCode, body } = await browser.get(path);
    expect([path, statusCode]).toEqual([path, 200]);
    return body;
  };
  const look = async () => {
    await daemon.look(new AbortController().signal);
    await daemon.ended();
  };
  const send = (path: string, fields: Record<string, string>, browser = accountant) =>
    browser.post(path, { reason: 'the auditor asked for it', ...fields });
  /** Asks by the form of a page, and returns the page of the action after the daemon's look. */
  const performed = async (path: string, fields: Record<string, string> = {}, browser = accountant) => {
    const form = formOf(await open(path, browser)) ?? {};
    const { statusCode, headers } = await send(path.split('?')[0]!, { ...form, ...fields }, browser);
    expect([path, statusCode]).toEqual([path, 303]);
    await look();
    const address = headers.location as string;
    return { address, body: await open(address, browser) };
  };
  /** The balance of an account by month of the document, of the entries in force, without the code under test. */
  const balances = async (account: string) =>
    Object.fromEntries(
      (
        await query<{ month: string; sum: string }>(
          database.db,
          `select to_char(e.document_date, 'YYYY-MM') as month, sum(case side when 'debit' then amount else -amount end) as sum
           from document d join entry e on e.id = d.entry_id join entry_line l on l.entry_id = e.id
           where d.installation = ? and l.account = ? group by 1 having sum(case side when 'debit' then amount else -amount end) <> 0 order by 1`,
          [id, account],
        )
      ).map(({ month, sum }) => [month, Number(sum).toFixed(2)]),
    );
  const negative = (amount: string) => (amount.startsWith('-') ? amount.slice(1) : `-${amount}`);
  const mappingRows = (of: string) => tablesIn(of).find(({ rows }) => rows.some(([name]) => name === 'revenue'))?.rows;

  beforeAll(async () => {
    const closed = ['ledger', 'close', '--through', '2026-01-31', '--yes', '--config', clinic.config];
    expect((await vetledger(closed, clinic.env)).code).toBe(0);
    daemon = new Acting({
      ...{ db: database.db, promptDb: database.db, config: await loadConfig(clinic.config, clinic.env) },
      ...{ clock: () => now, log: createLog('silent') },
    });
    for (const role of roles) {
      await site.user(role === 'accountant' ? 'second' : role, [[role, role === 'admin' ? null : id]]);
      browsers.set(role, await site.signedIn(role === 'accountant' ? 'second' : role));
    }
  });

  test.each([
    ['not YAML', 'roles: [', 'is not valid'],
    ['an unknown setting', `${demo}\n${JSON.stringify(hostileName)}: 1\n`, 'is not valid'],
    ['references that expand', `a: &a [1, 2]\nb: [${'*a, '.repeat(200)}*a]\n`, 'is not valid'],
    ['a deep nesting', '['.repeat(10_000), 'is not valid'],
    ['nothing', ' ', 'is incomplete'],
    ['the same mapping', demo, 'is the same as the mapping in force'],
    ['another chart', `${demo}\nchart: ../../../../etc/passwd\n`, 'another chart of accounts'],
    ['a text that is too long', `${demo}${'#'.repeat(60_001)}`, 'more than 60000 characters'],
  ])('%s is refused, and the form keeps the text', async (_, mapping, says) => {
    const fields = formOf(await open(proposal))!;
    const { statusCode, body } = await send(proposal, { ...fields, mapping });
    expect([statusCode, body.includes(says)]).toEqual([400, true]);
    expect(body).not.toContain('<img');
    expect(formOf(body)).not.toBeNull();
  });

  test('a form that is larger than a request may be is refused', async () => {
    expect((await send(proposal, { mapping: 'x'.repeat(270_000) })).statusCode).toBe(413);
  });

  /** The page of an approval that the console let pass, after the daemon has judged it. */
  const asked = async (actedBy: string, { preview, shown }: Record<string, string>) => {
    const action = await database.db.transaction((trx) =>
      askAction(trx, {
        ...{ installation: id, kind: 'apply_mapping', by: { actedBy, reason: 'agreed' } },
        ...{ input: { preview: Number(preview) }, shownHash: shown ?? null, form: crypto.randomUUID() },
      }),
    );
    await look();
    return open(`/${id}/actions/${action}`);
  };

  test('is proposed from the text in force, previewed, approved by another, and posted', async () => {
    expect(await open(proposal)).toContain('revenue: same');
    const [was, of3020] = [await balances('3000'), await balances('3020')];
    expect(Object.keys(was)).toEqual(expect.arrayContaining(['2026-01', '2026-02']));
    const proposed = await performed(proposal, { mapping: changed('3020') });
    expect(proposed.body).toContain('Another accountant approves this proposal');
    expect(mappingRows(proposed.body)).toEqual([
      ['revenue', 'same', '(none)'],
      ['revenue.*', '(none)', 'same'],
      ['revenue.3000', '(none)', '3020'],
    ]);
    const months = Object.entries(was);
    const movesOf = (isClosed: boolean) =>
      months
        .filter(([month]) => month <= '2026-01' === isClosed)
        .flatMap(([month, sum]) => [
          [month, '3000', negative(sum)],
          [month, '3020', sum],
        ]);
    const moves = tablesIn(proposed.body).filter(({ rows }) =>
      rows.some(([month]) => /^\d{4}-\d\d$/.test(month ?? '')),
    );
    expect(moves.map(({ rows }) => rows.map(([month, account, , change]) => [month, account, change]))).toEqual([
      movesOf(false),
      movesOf(true),
    ]);
    const approval = `/${id}/actions/approval?preview=${proposed.address.split('/').at(-1)}`;
    // No user approves an own proposal: neither by the form, nor by a form of another person.
    expect(formOf(await open(approval))).toBeNull();
    const fields = formOf(await open(approval, as('accountant')))!;
    const own = await send(`/${id}/actions/approval`, { ...fields, form: crypto.randomUUID() });
    expect(own.statusCode).toBe(409);
    await expect(asked('Accountant ', fields)).rejects.toThrow('another person must approve it');
    expect((await as('bookkeeper').get(approval)).statusCode).toBe(404);
    const approved = await performed(approval, {}, as('accountant'));
    expect(approved.body).toContain('The action is done.');
    const versions = tablesIn(await page()).at(-2)!.rows;
    expect(versions[0]).toEqual(expect.arrayContaining(['2', 'second', 'accountant', 'the auditor asked for it']));
    expect(await balances('3000')).toEqual(was);

    const preview = await performed(`/${id}/actions/corrections`, {}, as('accountant'));
    const posting = `/${id}/actions/posting?preview=${preview.address.split('/').at(-1)}`;
    expect(linksIn(preview.body)).toContain(posting);
    const posted = await performed(posting, {}, as('accountant'));
    expect(posted.body).toMatch(/\d+ documents were corrected\. \d+ corrections are held\./);
    const open3000 = months.filter(([month]) => month > '2026-01');
    const after = await balances('3020');
    for (const [month, sum] of open3000)
      expect(Number(after[month])).toBeCloseTo(Number(sum) + Number(of3020[month] ?? 0), 2);
    expect(await balances('3000')).toEqual(Object.fromEntries(months.filter(([month]) => month <= '2026-01')));
    expect((await open(`/${id}/decide?code=change_held`)).match(/type="checkbox"/g)?.length).toBeGreaterThan(0);
    // The same preview posts nothing a second time.
    const again = await performed(posting, {}, as('accountant'));
    expect(again.body).toContain('differ from those that were shown');
    expect((await vetledger(['ledger', 'verify', '--config', clinic.config], clinic.env)).code).toBe(0);
  });

  test('a proposal is approved only while the mapping is in force that it was compared with', async () => {
    const [one, two] = [
      await performed(proposal, { mapping: changed('3030') }),
      await performed(proposal, { mapping: changed('3040') }),
    ].map(({ address }) => `/${id}/actions/approval?preview=${address.split('/').at(-1)}`);
    const late = formOf(await open(two!, as('accountant')))!;
    const form = formOf(await open(one!, as('accountant')))!;
    const first = await send(`/${id}/actions/approval`, form, as('accountant'));
    await look();
    // The form sent again leads to its action, although its effect is done.
    const second = await send(`/${id}/actions/approval`, form, as('accountant'));
    expect([second.statusCode, second.headers.location]).toEqual([303, first.headers.location]);
    expect(await open(String(second.headers.location))).toContain('The action is done.');
    expect(await open(two!, as('accountant'))).toContain('Another mapping has come into force since the preview');
    const sent = await send(`/${id}/actions/approval`, late, as('accountant'));
    expect([sent.statusCode, sent.headers.location]).toEqual([409, undefined]);
    expect(sent.body).toContain('The effect changed after this page was opened. Nothing was requested.');
    expect(sent.body).toContain('Another mapping has come into force since the preview');
    expect(await asked('second', late)).toContain('differ from those that were shown');
  });

  test('a posting stays pending when the daemon stops, and expires with what it says about posted corrections', async () => {
    const preview = await performed(`/${id}/actions/corrections`, {}, as('accountant'));
    const fields = formOf(
      await open(`/${id}/actions/posting?preview=${preview.address.split('/').at(-1)}`, as('accountant')),
    )!;
    const address = (await send(`/${id}/actions/posting`, fields, as('accountant'))).headers.location as string;
    const stopping = new AbortController();
    const looking = daemon.look(stopping.signal);
    stopping.abort();
    await looking;
    await daemon.ended();
    expect(await open(address)).toContain('No daemon runs');
    await database.owner.transaction(async (trx) => {
      await trx.raw('set local session_replication_role = replica');
      await trx.raw(`update action set asked_at = asked_at - interval '16 minutes' where id = ?`, [
        address.split('/').at(-1)!,
      ]);
    });
    await look();
    expect(await open(address)).toContain('Corrections that were posted before stay.');
  });

  test.each(roles)('the role %s', async (role) => {
    const mayPropose = role === 'bookkeeper' || role === 'accountant';
    expect((await as(role).get(proposal)).statusCode).toBe(mayPropose ? 200 : 404);
    expect((await send(proposal, {}, as(role))).statusCode).toBe(mayPropose ? 400 : 404);
    for (const name of ['approval', 'corrections', 'posting']) {
      const path = `/${id}/actions/${name}`;
      expect((await as(role).get(path)).statusCode).toBe(role === 'accountant' ? 200 : 404);
      expect((await send(path, {}, as(role))).statusCode).toBe(role === 'accountant' ? 400 : 404);
    }
  });

  test.each(['approval', 'posting'])('%s of an action that is no preview', async (name) => {
    for (const preview of ['0', '1', '999999', hostileName]) {
      const body = await open(`/${id}/actions/${name}?preview=${encodeURIComponent(preview)}`, as('accountant'));
      expect(body).toContain('There is no such preview');
      expect(formOf(body)).toBeNull();
    }
  });
});

test('a clinic without records has a page', async () => {
  expect(await page('', empty)).toContain('No entry is posted yet.');
});
