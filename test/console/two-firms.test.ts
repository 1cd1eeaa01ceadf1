// Two firms in one database: no address, id, search, count, file or error shows one of them anything of the other.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Route } from '../../src/console/route.ts';
import { routes } from '../../src/console/routes.ts';
import { roles } from '../../src/console/users/rights.ts';
import { integer } from '../../src/db/columns.ts';
import { transactionsOf } from '../../src/db/lease.ts';
import { row } from '../../src/db/rows.ts';
import { summariseDays } from '../../src/ledger/summaries/summarise.ts';
import { vetledger } from '../cli/support.ts';
import { useDatabase } from '../support/database.ts';
import { demoMapping } from '../support/demo-config.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { addressesIn, crawl } from './crawl.ts';
import { formOf } from './form-of.ts';
import { type Browser, clinics, hostileName, openTestConsole, type TestConsole } from './support.ts';

const database = useDatabase();
const { db, owner } = database;
const [own, , foreign] = clinics;
const secret = 'Vieras Oy 7f3a';
/** An id that no record has. */
const absent = 987654321;
let site: TestConsole;
let [mine, theirs]: MirroredClinic[] = [];
let [insider, outsider]: Browser[] = [];
/** Ids of documents, actions and invoice numbers that only the other firm has. */
let ids = { held: 0, late: 0, payment: 0, prepayment: 0, action: 0, number: 0 };
/** Every kind of page that the other firm sees, and that ours sees. */
let [foreignPages, ownPages]: Map<string, string>[] = [];

const inInstallation = routes.filter(({ access }) => 'in' in access && access.in === 'installation');

async function fill(clinic: MirroredClinic, payer_name: string) {
  await clinic.configure(readFileSync(demoMapping, 'utf8'), { erp: '{kind: ledger}', posting_mode: 'daily_summary' });
  const source = clinic.clinic;
  const sale = (invoice_date: string) =>
    source.createInvoice({
      rows: [{ name: payer_name, sum: '100.00', vat_percentage: '14', account_number: '3000' }],
      ...{ payer_name, invoice_date },
    }).id;
  const [late, held] = [sale('2026-02-20'), sale('2026-03-01')];
  source.update(source.invoices, source.invoice(held), { total: '999.00' });
  const payment = source.pay(late, { payment_type: 1, paid: '14.00' }).id;
  const prepayment = source.takePrepayment({ payment_type: 1, paid: '80.00' }).id;
  source.applyPrepayment(prepayment, late, '30.00');
  await clinic.pull();
  await clinic.post();
  await summariseDays(transactionsOf(db), clinic.id, { before: '2026-04-01', windowId: null });
  return { late, held, payment, prepayment, number: Number(source.invoice(late).invoice_number) };
}

beforeAll(async () => {
  mine = new MirroredClinic(db, database.url, { id: own, seed: 3, invoices: 0 });
  theirs = new MirroredClinic(db, database.url, { id: foreign, seed: 4, invoices: 40 });
  await fill(mine, hostileName);
  const found = await fill(theirs, secret);
  const close = ['ledger', 'close', '--through', '2026-01-31', '--yes', '--config', theirs.config];
  expect((await vetledger(close, theirs.env)).code).toBe(0);
  site = await openTestConsole(database, { [foreign]: { name: JSON.stringify(secret) } });
  for (const [name, id] of [
    ['inside', foreign],
    ['outside', own],
  ] as const)
    await site.user(
      name,
      roles.map((role) => [role, role === 'admin' ? null : id]),
    );
  [insider, outsider] = [await site.signedIn('inside'), await site.signedIn('outside')];
  // An id of an action that is no other number of a page.
  await row(owner, { n: integer }, `select setval('vetledger.action_id', 770001) as n`);
  const form = formOf((await insider.get(`/${foreign}/actions/read-again?read=backfill`)).body)!;
  const asked = await insider.post(`/${foreign}/actions/read-again`, { ...form, reason: secret });
  expect(asked.statusCode).toBe(303);
  ids = { ...found, action: Number(String(asked.headers.location).split('/').at(-1)) };
  const { held, late, payment } = found;
  const starts = [
    ...inInstallation.flatMap(({ method, path }) => (method === 'GET' && !/:.*:/.test(path) ? path : [])),
    ...[`actions/late?documents=invoice/${late}&decision=redate`, `actions/retry?documents=invoice/${held}`],
    ...[`actions/match?payment=${payment}`, `actions/repost?documents=invoice/${late}`, `actions/${ids.action}`],
    ...[`documents/invoice/${late}`, `documents/payment/${payment}`, `documents/prepayment/${found.prepayment}`],
    ...['reports/vat', 'month/binder?month=2026-01'],
  ].map((path) => `/${foreign}/${path.replace('/:installation/', '')}`);
  foreignPages = await crawl((url) => insider!.get(url), starts);
  ownPages = await crawl((url) => outsider!.get(url), ['/clinics', '/machine', '/account', '/users']);
}, 120_000);
afterAll(async () => {
  await site?.close();
  mine?.remove();
  theirs?.remove();
});

/** A page without what differs between two requests for the same, and with the ids in question replaced. */
const comparable = (body: string, ...given: number[]) =>
  given.reduce(
    (text, id) => text.replace(new RegExp(`(?<![\\w.])${id}(?!\\w)`, 'g'), 'ID'),
    body.replace(/name="(csrf|form)" value="[^"]+"/g, ''),
  );

test('the pages are those of every route of an installation', () => {
  const pattern = ({ path }: Route) => new RegExp(`^${path.replace(/:\w+/g, '[^/?]+')}(\\?|$)`);
  const missed = inInstallation.filter(
    (route) => route.method === 'GET' && ![...foreignPages!.keys()].some((address) => pattern(route).test(address)),
  );
  expect(missed.map(({ path }) => path)).toEqual([]);
  expect([...foreignPages!.values()].filter((body) => body.includes(secret)).length).toBeGreaterThan(10);
});

test('no page of a firm names the other', () => {
  for (const [address, body] of ownPages!)
    if (!address.startsWith('/users'))
      expect([address, body.includes(secret) || body.includes(String(foreign))]).toEqual([address, false]);
});

test('each address of another firm is the same as none', async () => {
  const missing = comparable((await outsider!.get('/no-such-page')).body);
  for (const address of foreignPages!.keys()) {
    if (!address.startsWith(`/${foreign}`)) continue;
    const { statusCode, body } = await outsider!.get(address);
    expect([address, statusCode, comparable(body) === missing]).toEqual([address, 404, true]);
  }
});

test('each id of another firm, in our address, search or filter, is the same as an id that does not exist', async () => {
  const known = Object.values(ids);
  const withIds = [...foreignPages!.keys()].flatMap((address) => {
    const id = known.find((each) => new RegExp(`(?<!\\d)${each}(?!\\d)`).test(address.slice(5)));
    return id === undefined ? [] : [[`/${own}${address.slice(5)}`, id] as const];
  });
  const searched = known.flatMap((id) =>
    [
      `documents?q=${id}`,
      `documents?q=invoice ${id}`,
      `documents?q=${foreign}/invoice/${id}/1`,
      `decide?q=${id}`,
      `reports/account?account=1700&q=${id}`,
      `reports/account?account=1700&csv=lines&q=${id}`,
      `delivery?q=${id}`,
      `delivery?batch=${id}`,
      `windows?after=${id}`,
      `audit?after=${id}`,
      `audit?csv=1&after=${id}`,
    ].map((path) => [`/${own}/${path}`, id] as const),
  );
  expect(withIds.length).toBeGreaterThan(5);
  for (const [address, id] of [...withIds, ...searched]) {
    const [theirsThere, nothing] = [
      address,
      address.replaceAll(new RegExp(`(?<!\\d)${id}(?!\\d)`, 'g'), String(absent)),
    ];
    const [given, expected] = [await outsider!.get(theirsThere), await outsider!.get(nothing)];
    expect([address, given.statusCode, comparable(given.body, id)]).toEqual([
      address,
      expected.statusCode,
      comparable(expected.body, absent),
    ]);
    expect(given.body).not.toContain(secret);
  }
});

test.each(inInstallation.filter(({ method }) => method === 'POST').map((route) => [route.path, route] as const))(
  'a form to %s with ids of another firm is the same as with ids that do not exist',
  async (_, route) => {
    const count = () => row(db, { n: integer }, 'select count(*) as n from action where installation = ?', [foreign]);
    const before = await count();
    const csrf = await outsider!.formToken();
    const send = ({ late, held, payment, prepayment, action }: typeof ids) =>
      outsider!.post(route.path.replace(':installation', String(own)).replace(':id', String(action)), {
        ...{ documents: `invoice/${late},invoice/${held},payment/${payment}`, decision: 'redate', choice: 'set' },
        ...{ payment: String(payment), prepayments: String(prepayment), units: String(action), batch: String(action) },
        ...{ price: String(action), preview: String(action), windows: String(action), read: 'windows' },
        ...{ shown: 'a'.repeat(64), form: crypto.randomUUID(), reason: 'curious', csrf },
      });
    const nothing = Object.fromEntries(Object.keys(ids).map((name, n) => [name, absent + n])) as typeof ids;
    const [given, expected] = [await send(ids), await send(nothing)];
    expect(given.statusCode).toBe(expected.statusCode);
    expect(comparable(given.body, ...Object.values(ids))).toBe(comparable(expected.body, ...Object.values(nothing)));
    expect(given.body).not.toContain(secret);
    expect(await count()).toEqual(before);
  },
);

test('every address on every page is one of this console or of the configured Temporal UI', () => {
  for (const [page, body] of [...ownPages!, ...foreignPages!])
    for (const address of addressesIn(body)) {
      const isOurs = /^(\/(?![/\\])|#)/.test(address) || address.startsWith('https://temporal.example/ui/');
      expect([page, address, isOurs]).toEqual([page, address, true]);
    }
});

test('hostile names on every page are text', () => {
  expect([...ownPages!.values()].filter((body) => body.includes('&lt;img src=x')).length).toBeGreaterThan(3);
  for (const [page, body] of ownPages!)
    expect([page, /<img|<script(?! src="\/static\/)|<[^>"']*\s(style|on\w+)=/i.test(body)]).toEqual([page, false]);
});
