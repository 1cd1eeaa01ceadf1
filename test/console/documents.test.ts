// The pages of documents: every figure as the command line shows it, and some by hand.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { transactionsOf } from '../../src/db/lease.ts';
import { summariseDays } from '../../src/ledger/summaries/summarise.ts';
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
const { db } = database;
const [id, other] = clinics;
const fieldsOf = (body: string) => formOf(body) ?? {};
let site: TestConsole;
let clinic: MirroredClinic;
let neighbour: MirroredClinic;
let accountant: Browser;
const ids = { sale: 0, corrected: 0, held: 0, paid: 0, prepayment: 0, use: 0 };

beforeAll(async () => {
  clinic = new MirroredClinic(db, database.url, { id, seed: 4, invoices: 12 });
  await clinic.configure(readFileSync(demoMapping, 'utf8'), { posting_mode: 'daily_summary' });
  const { clinic: source } = clinic;
  const sale = (sum: string, account: string) =>
    source.createInvoice({ rows: [{ name: hostileName, sum, vat_percentage: '14', account_number: account }] }).id;
  [ids.sale, ids.corrected, ids.held] = [sale('100.00', '3000'), sale('50.00', '3000'), sale('10.00', '3000')];
  // Proof P1 fails, because the totals differ from the rows.
  source.update(source.invoices, source.invoice(ids.held), { total: '999.00' });
  ids.paid = source.pay(ids.sale, { payment_type: 1, paid: '14.00' }).id;
  ids.prepayment = source.takePrepayment({ payment_type: 1, paid: '80.00' }).id;
  ids.use = source.applyPrepayment(ids.prepayment, ids.sale, '30.00').id;
  await clinic.pull();
  await clinic.post();
  source.updateRow(source.invoiceRows.of(ids.corrected)[0]!.id, { account_number: '3010' });
  await clinic.pull();
  await clinic.post();
  await summariseDays(transactionsOf(db), id, { before: '2026-04-01', windowId: null });
  neighbour = new MirroredClinic(db, database.url, { id: other, seed: 5, invoices: 30 });
  await neighbour.configure(readFileSync(demoMapping, 'utf8'));
  await neighbour.pull();
  await neighbour.post();
  site = await openTestConsole(database);
  await site.user('accountant', [['accountant', id]]);
  await site.user('kirjanpitäjä', [['viewer', id]], 'fi');
  accountant = await site.signedIn('accountant');
});
afterAll(async () => {
  await site?.close();
  clinic?.remove();
  neighbour?.remove();
});

const numberOf = (invoice: number) => String(clinic.clinic.invoice(invoice).invoice_number);
const page = async (path: string, browser = accountant) => {
  const answer = await browser.get(`/${id}/${path}`);
  expect(answer.statusCode).toBe(200);
  return answer.body;
};
const explained = async (kind: string, document: number) =>
  (await vetledger(['explain', kind, String(document), '--json', '--config', clinic.config], clinic.env)).json();
/** The tables of the entries: those whose total has two amounts. */
const entryTables = (body: string) => tablesIn(body).filter(({ total }) => total[0] === 'Total');

describe('a document', () => {
  test('a sale has its rows, payments, entry and daily summary', async () => {
    const body = await page(`documents/invoice/${ids.sale}`);
    const tables = tablesIn(body);
    expect(tables.some(({ rows }) => rows.some((row) => row.slice(-3).join() === '100.00,14.00,114.00'))).toBe(true);
    const [entry] = entryTables(body);
    expect(entry?.total.slice(3, 5)).toEqual(['114.00', '114.00']);
    expect(entry?.rows.map((row) => [row[0], row[3], row[4]])).toContainEqual(['3000', '', '100.00']);
    expect(linksIn(body)).toEqual(
      expect.arrayContaining([
        `/${id}/documents/payment/${ids.paid}`,
        `/${id}/documents/payment/${ids.use}`,
        expect.stringMatching(new RegExp(`^/${id}/summaries/2026-03-10-\\d+/1$`)),
      ]),
    );
  });

  test('a correction shows what changed in the source and in the books', async () => {
    const body = await page(`documents/invoice/${ids.corrected}`);
    expect(entryTables(body).map(({ total }) => total[3])).toEqual(['57.00', '57.00', '57.00']);
    expect(entryTables(body).map(({ rows }) => rows[1]?.[0])).toEqual(['3000', '3000', '3010']);
    expect(body).toMatch(/changed: [^<]*3000[^<]* → [^<]*3010/);
    const { entries, source } = await explained('invoice', ids.corrected);
    for (const entry of entries) expect(body).toContain(entry.id);
    expect(source.length).toBeGreaterThan(1);
    expect(body).toContain('modified 2026-03-10T11:00:00.000000+02:00 → 2026-03-10T11:00:10.000000+02:00');
  });

  test('a held invoice shows the problem and what to do', async () => {
    const body = await page(`documents/invoice/${ids.held}`);
    const { problem } = await explained('invoice', ids.held);
    expect(problem.code).toBe('totals_disagree');
    expect(body).toMatch(/class="problem"[\s\S]*totals_disagree[\s\S]*what to do/);
    expect(entryTables(body)).toEqual([]);
  });

  test('a prepayment has its uses, and a payment its invoice and prepayment', async () => {
    expect(linksIn(await page(`documents/prepayment/${ids.prepayment}`))).toContain(
      `/${id}/documents/payment/${ids.use}`,
    );
    expect(linksIn(await page(`documents/payment/${ids.use}`))).toContain(`/${id}/documents/invoice/${ids.sale}`);
  });

  test('every document has a page with the entries and lines of the command line', async () => {
    const documents = await query<{ kind: string; id: number }>(
      db,
      `select distinct on (kind, state) kind, id from document where installation = ? order by kind, state, id`,
      [id],
    );
    expect(documents.length).toBeGreaterThan(2);
    for (const each of documents) {
      const body = await page(`documents/${each.kind}/${each.id}`);
      const { entries } = await explained(each.kind, Number(each.id));
      const lines = entries.map(({ lines: of }: { lines: { account: string; amount: string }[] }) =>
        of.map(({ account, amount }) => [account, ...(amount.startsWith('-') ? ['', amount.slice(1)] : [amount, ''])]),
      );
      expect(entryTables(body).map(({ rows }) => rows.map((row) => [row[0], row[3], row[4]]))).toEqual(lines);
      // Each posting rule has its name beside its code.
      for (const { rows } of entryTables(body)) for (const row of rows) expect(row[5]).toMatch(/^[a-z].* R\d+$/);
    }
  });

  test('names are text', async () => {
    const body = await page(`documents/invoice/${ids.sale}`);
    expect(body).toContain('&lt;img');
    expect(body).not.toContain('<img');
  });

  test('its page is in the language of the user', async () => {
    const body = await page(`documents/invoice/${ids.held}`, await site.signedIn('kirjanpitäjä'));
    expect(body).toContain('Versiot klinikkaohjelmassa');
    expect(body).toContain('pysäytetty');
  });

  test('a document of another clinic, or none, is not found', async () => {
    const [foreign] = await query<{ id: number }>(
      db,
      `select id from document d where installation = ? and kind = 'invoice' and not exists (
         select from document o where o.installation = ? and o.kind = d.kind and o.id = d.id) limit 1`,
      [other, id],
    );
    const paths = [`invoice/${foreign!.id}`, 'invoice/x', `bill/${ids.sale}`, 'invoice/9999999999999999'];
    for (const path of paths) expect((await accountant.get(`/${id}/documents/${path}`)).statusCode).toBe(404);
    for (const path of ['x/1', '2026-03-10-11/x', '2026-03-10-999/1'])
      expect((await accountant.get(`/${id}/summaries/${path}`)).statusCode).toBe(404);
  });
});

describe('the search', () => {
  const search = (text: string) => accountant.get(`/${id}/documents?q=${encodeURIComponent(text)}`);
  test.each([
    ['an id', () => String(ids.sale), () => `/${id}/documents/invoice/${ids.sale}`],
    ['a kind and an id', () => `payment ${ids.paid}`, () => `/${id}/documents/payment/${ids.paid}`],
    ['the number', () => `KU-${numberOf(ids.sale)}`, () => `/${id}/documents/invoice/${ids.sale}`],
    ['the number alone', () => numberOf(ids.sale), () => `/${id}/documents/invoice/${ids.sale}`],
    ['an entry', () => `${id}/invoice/${ids.sale}/1`, () => `/${id}/documents/invoice/${ids.sale}#entry-1`],
    ['a summary', () => `${id}/summary/2026-03-10-11/1`, () => `/${id}/summaries/2026-03-10-11/1`],
  ])('opens a document by %s', async (_, text, path) => {
    const { statusCode, headers } = await search(text());
    expect([statusCode, headers.location]).toEqual([303, path()]);
  });
  test('lists several documents with the same text', async () => {
    const source = clinic.clinic;
    source.updateInvoice(ids.corrected, { invoice_number: ids.sale });
    await clinic.pull();
    const body = await page(`documents?q=${ids.sale}`);
    expect(tablesIn(body)[0]?.rows.map(([document]) => document)).toEqual([
      `invoice ${ids.sale}`,
      `invoice ${ids.corrected}`,
    ]);
  });
  test.each(['', 'nothing', `${other}/invoice/1`, `${other}/summary/2026-03-10-11/1`, hostileName, '%00', "' or 1=1"])(
    'finds nothing for %j',
    async (text) => {
      const body = await page(`documents?q=${encodeURIComponent(text)}`);
      expect(tablesIn(body)).toEqual([]);
      expect(body).not.toContain('<img');
    },
  );
});

describe('actions of a document', () => {
  let daemon: Acting;
  const form = async (path: string, browser = accountant) => {
    const { statusCode, body } = await browser.get(path);
    expect(statusCode).toBe(200);
    return body;
  };
  const ask = async (path: string, search: string) => {
    const fields = fieldsOf(await form(`${path}?${search}`));
    const answer = await accountant.post(path, { ...fields, reason: 'agreed with the clinic' });
    expect(answer.statusCode).toBe(303);
    return answer.headers.location as string;
  };
  const performed = async (address: string) => {
    await daemon.look(new AbortController().signal);
    return form(address);
  };
  const match = `/${id}/actions/match`;
  const repost = `/${id}/actions/repost`;
  const matched = () =>
    query<{ state: string; prepayment: number | null }>(
      db,
      `select u.state, m.prepayment_id::int as prepayment from prepayment_use u
       left join prepayment_match m on m.installation = u.installation and m.payment_id = u.payment_id
       where u.installation = ? and u.payment_id = ?`,
      [id, ids.use],
    );
  const daemonNow = async () => {
    const config = await loadConfig(clinic.config, clinic.env);
    return new Acting({ db, promptDb: db, config, clock: () => now, log: createLog('silent') });
  };
  beforeAll(async () => {
    daemon = await daemonNow();
  });

  test('its page leads to them, for users who decide', async () => {
    const links = (body: string) => linksIn(body).filter((link) => link.includes('/actions/'));
    const held = `invoice%2F${ids.held}`;
    expect(links(await page(`documents/invoice/${ids.held}`))).toEqual([`/${id}/actions/retry?documents=${held}`]);
    expect(links(await page(`documents/payment/${ids.use}`))).toEqual([
      `${match}?payment=${ids.use}`,
      `${repost}?documents=payment%2F${ids.use}`,
    ]);
    expect(links(await page(`documents/payment/${ids.use}`, await site.signedIn('kirjanpitäjä')))).toEqual([]);
  });

  test('a match is removed, proposed, and set again; a form that is old is refused', async () => {
    expect(await matched()).toEqual([{ state: 'matched', prepayment: ids.prepayment }]);
    const stale = fieldsOf(await form(`${match}?payment=${ids.use}&choice=${ids.prepayment}`));
    expect(await performed(await ask(match, `payment=${ids.use}&choice=none`))).toContain('The action is done.');
    expect(await matched()).toEqual([{ state: 'open', prepayment: null }]);
    const { statusCode, body } = await accountant.post(match, { ...stale, reason: 'an old form' });
    expect(statusCode).toBe(409);
    expect(body).toContain('The effect changed after this page was opened.');
    expect(linksIn(await form(match))).toContain(`${match}?payment=${ids.use}`);
    const address = await ask(match, `payment=${ids.use}&choice=others&prepayments=${ids.prepayment}`);
    const done = await performed(address);
    expect(done).toContain('The action is done.');
    expect(linksIn(done)).toEqual([
      `/${id}/documents/payment/${ids.use}`,
      `/${id}/documents/prepayment/${ids.prepayment}`,
    ]);
    expect(await matched()).toEqual([{ state: 'set', prepayment: ids.prepayment }]);
  });

  test('a payment that two prepayments may have paid has both as proposals', async () => {
    const source = clinic.clinic;
    const open = ['40.00', '60.00'].map((paid) => {
      const prepayment = source.takePrepayment({ payment_type: 1, paid }).id;
      const invoice = source.createInvoice({ rows: [{ sum: '20.00', vat_percentage: '14', account_number: '3000' }] });
      return { prepayment, payment: source.applyPrepayment(prepayment, invoice.id, '5.00').id };
    });
    await clinic.pull();
    await clinic.post();
    const [first] = open;
    const body = await form(`${match}?payment=${first!.payment}`);
    const options = [...body.matchAll(/<option[^>]*>(prepayment[^<]*)</g)].map(([, text]) => text);
    expect(options).toEqual(
      open.map(({ prepayment }) => `prepayment ${prepayment} of client 2001: 5.00, received 2026-03-10`),
    );
    const search = `payment=${first!.payment}&choice=${first!.prepayment}`;
    const table = tablesIn(await form(`${match}?${search}`))[0];
    expect(table?.rows).toEqual([[`prepayment ${first!.prepayment}`, 'client 2001', '5.00']]);
    expect(await performed(await ask(match, search))).toContain('The action is done.');
  });

  test.each([
    ['choice=none', 'are not valid'],
    ['payment=1&choice=x', 'are not valid'],
    ['payment=1&choice=others&prepayments=7,7', 'are not valid'],
    ['payment=1&choice=none', 'is not stored as a payment from a prepayment'],
  ])('%s is no match', async (search, says) => {
    const body = await form(`${match}?${search}`);
    expect(body).toContain(says);
    expect(fieldsOf(body)).toEqual({});
  });

  test('a document is posted again after the mapping changed, with the effect that was shown', async () => {
    const document = `documents=invoice/${ids.sale}`;
    expect(await form(`${repost}?${document}`)).toContain('gives the same entry');
    const mapping = readFileSync(demoMapping, 'utf8');
    const stale = async () => {
      const fields = fieldsOf(await form(`${repost}?${document}`));
      return (await accountant.post(repost, { ...fields, reason: 'r' })).headers.location as string;
    };
    await clinic.configure(mapping.replace('revenue: same', 'revenue: {"3000": "3020", "*": same}'));
    daemon = await daemonNow();
    const old = await stale();
    await clinic.configure(mapping.replace('revenue: same', 'revenue: {"3000": "3030", "*": same}'));
    daemon = await daemonNow();
    expect(await performed(old)).toContain('differ from those that were shown');
    const body = await form(`${repost}?${document}`);
    expect(tablesIn(body)[2]?.rows).toEqual([
      ['3000', '2026-03', '100.00'],
      ['3030', '2026-03', '-100.00'],
    ]);
    expect(await performed(await ask(repost, document))).toContain('The action is done.');
    const { entries } = await explained('invoice', ids.sale);
    expect(entries.map(({ reason }: { reason: string }) => reason)).toEqual([
      'posted',
      'mapping_changed',
      'mapping_changed',
    ]);
    expect(await form(`${repost}?${document}`)).toContain('gives the same entry');
    expect((await vetledger(['ledger', 'verify', '--config', clinic.config], clinic.env)).code).toBe(0);
  });

  test.each(['documents=invoice/0', `documents=${hostileName}`, ''])('%s is no document', async (search) => {
    const body = await form(`${repost}?${search}`);
    expect(body).toContain('is not valid');
    expect(body).not.toContain('<img');
  });
  test('a document that is not in the books is refused', async () => {
    expect(await form(`${repost}?documents=invoice/${ids.held}`)).toContain('role="alert"');
  });
});

test('a daily summary has its lines, and its entries add up to them', async () => {
  const link = linksIn(await page(`documents/invoice/${ids.sale}`)).find((each) => each.includes('/summaries/'))!;
  const body = await page(link.slice(`/${id}/`.length));
  const [lines, entries] = tablesIn(body);
  const cents = (cells: readonly (string | undefined)[]) =>
    cells.reduce((all, cell) => all + Math.round(Number(cell || 0) * 100), 0);
  expect(lines?.total[3]).toBe(lines?.total[4]);
  expect(cents(lines!.rows.map((row) => row[3]))).toBe(cents([lines!.total[3]]));
  expect(entries?.rows.map(([entry]) => entry)).toContain(`${id}/invoice/${ids.sale}/1`);
  expect(linksIn(body)).toContain(`/${id}/documents/invoice/${ids.sale}#entry-1`);
});
