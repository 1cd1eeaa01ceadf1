// What the console believes of a request, and how it ends a slow one.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { text } from '../../src/db/columns.ts';
import { openDatabase } from '../../src/db/pool.ts';
import { execute, rows } from '../../src/db/rows.ts';
import { useDatabase } from '../support/database.ts';
import { clinics, openTestConsole, password, type TestConsole } from './support.ts';

const database = useDatabase();
const { owner, consoleUrl } = database;
const [proxy, farProxy, client, liar] = ['192.0.2.10', '10.1.2.3', '203.0.113.7', '198.51.100.9'];
let site: TestConsole;

beforeAll(async () => {
  site = await openTestConsole(
    database,
    {},
    {
      console: `{hosts: [books.example], trusted_proxies: [${proxy}, 10.0.0.0/8]}`,
    },
  );
  await site.user('aino', [['accountant', clinics[0]]]);
});
afterAll(() => site.close());

const lastAddress = async () =>
  (await rows(owner, { address: text }, 'select address from vetledger_console.sign_in order by id desc limit 1'))[0]
    ?.address;

describe('a request with X-Forwarded-For', () => {
  test.each<[string, string, string, string]>([
    ['of a trusted proxy', proxy, client, client],
    ['of a proxy in a trusted network', farProxy, client, client],
    ['through two trusted proxies', proxy, `${client}, ${farProxy}`, client],
    ['to which the client added an address', proxy, `127.0.0.1, ${client}`, client],
    ['of another machine', liar, client, liar],
    ['of another machine that names a proxy', liar, `${client}, ${proxy}`, liar],
  ])('%s counts for the right address', async (_, peer, forwarded, expected) => {
    const browser = site.browser();
    browser.address = peer;
    await browser.post('/sign-in', { name: 'nemo', password: '' }, { 'x-forwarded-for': forwarded });
    expect(await lastAddress()).toBe(expected);
  });

  test('is limited per real address: neither other headers nor the proxy change the count', async () => {
    await execute(
      owner,
      `insert into vetledger_console.sign_in (name_hash, address, network, outcome)
       select n::text, ?, ?, 'refused' from generate_series(1, 30) n`,
      [client, client],
    );
    const status = async (peer: string, forwarded: string) => {
      const browser = site.browser();
      browser.address = peer;
      return (await browser.post('/sign-in', { name: 'aino', password }, { 'x-forwarded-for': forwarded })).statusCode;
    };
    expect(await status(proxy, client)).toBe(429);
    expect(await status(proxy, `8.8.8.8, ${client}`)).toBe(429);
    expect(await status(client, '8.8.8.8')).toBe(429);
    expect(await status(proxy, '203.0.113.8')).toBe(303);
  });
});

test.each<[string, string, Record<string, string>, number]>([
  ['https of a trusted proxy', proxy, { 'x-forwarded-proto': 'https' }, 303],
  ['http of a trusted proxy', proxy, { 'x-forwarded-proto': 'http' }, 403],
  ['https of another machine', liar, { 'x-forwarded-proto': 'https' }, 403],
])('an origin of https and X-Forwarded-Proto: %s', async (_, peer, headers, expected) => {
  const browser = site.browser();
  browser.address = peer;
  const fields = { name: 'aino', password };
  const sent = { host: 'books.example', origin: 'https://books.example', 'sec-fetch-site': 'same-origin', ...headers };
  expect((await browser.post('/sign-in', fields, sent)).statusCode).toBe(expected);
});

test('the host that a machine forwards is not believed, and that of a proxy must be configured', async () => {
  const status = async (peer: string, host: string, forwarded: string) => {
    const browser = site.browser();
    browser.address = peer;
    return (await browser.get('/sign-in', { host, 'x-forwarded-host': forwarded })).statusCode;
  };
  expect(await status(liar, 'evil.example', 'books.example')).toBe(421);
  expect(await status(proxy, 'books.example', 'evil.example')).toBe(421);
  expect(await status(proxy, 'inner', 'books.example')).toBe(200);
});

test('a slow statement ends with a page that has an id, and the next page is answered', async () => {
  const consoleDb = openDatabase(consoleUrl, { max: 1, statementTimeoutMs: 300 });
  const slow = await openTestConsole({ ...database, consoleDb });
  try {
    const browser = await slow.signedIn('aino');
    const lock = await owner.transaction();
    await execute(lock, 'lock table entry in access exclusive mode');
    const answer = await browser.get(`/${clinics[0]}/month`);
    await lock.rollback();
    expect(answer.statusCode).toBe(500);
    expect(answer.body).toMatch(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/);
    expect(answer.body).not.toMatch(/timeout|statement|select|entry|\.ts|4711/);
    expect((await browser.get(`/${clinics[0]}/month`)).statusCode).toBe(200);
  } finally {
    await slow.close();
    await consoleDb.destroy();
  }
});

test('a token that was in the browser before the sign-in is no session after it', async () => {
  const browser = site.browser();
  const planted = 'A'.repeat(43);
  browser.cookie = planted;
  await browser.post('/sign-in', { name: 'aino', password, csrf: '' });
  expect(browser.cookie).not.toBe(planted);
  const attacker = site.browser();
  attacker.cookie = planted;
  expect((await attacker.get('/account')).statusCode).toBe(303);
  // A second sign-in in the same browser has another token.
  const first = browser.cookie;
  await browser.post('/sign-in', { name: 'aino', password });
  expect(browser.cookie).not.toBe(first);
});
