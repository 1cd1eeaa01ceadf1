// Signing in and out: passwords, links, sessions, refused attempts.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { disableSubject, makeLink } from '../../src/console/users/subjects.ts';
import { integer, text } from '../../src/db/columns.ts';
import { execute, row, rows } from '../../src/db/rows.ts';
import { useDatabase } from '../support/database.ts';
import { openTestConsole, password, type TestConsole } from './support.ts';

const database = useDatabase();
const { db, owner } = database;
let site: TestConsole;
let aino: number;

beforeAll(async () => {
  site = await openTestConsole(database);
});
afterAll(() => site.close());
beforeEach(async () => {
  await owner.transaction(async (trx) => {
    await execute(trx, 'set local session_replication_role = replica');
    for (const table of ['session', 'link', 'sign_in', 'refused', 'subject_role', 'subject'])
      await execute(trx, `delete from vetledger_console.${table}`);
  });
  aino = await site.user('aino', [['accountant', 4711]]);
});

const outcomes = async () =>
  (await rows(db, { outcome: text }, 'select outcome from vetledger_console.sign_in order by id')).map(
    ({ outcome }) => outcome,
  );

test('a user signs in with name and password, in any case of the name, and gets a session of this host only', async () => {
  const browser = site.browser();
  const answer = await browser.post('/sign-in', { name: 'AINO', password });
  expect(answer.statusCode).toBe(303);
  expect(answer.headers.location).toBe('/');
  expect(answer.headers['set-cookie']).toMatch(/^__Host-vetledger=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  expect((await browser.get('/account')).body).toContain('aino');
  expect(await outcomes()).toEqual(['signed_in']);
});

test('the database knows a session only by its hash', async () => {
  const browser = await site.signedIn('aino');
  const { hash } = await row(db, { hash: text }, 'select token_hash as hash from vetledger_console.session');
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  expect(hash).not.toContain(browser.cookie);
});

test.each([
  ['a wrong password', 'aino', 'another password'],
  ['an unknown name', 'nemo', password],
  ['an empty form', '', ''],
])('%s gets the same answer', async (_, name, given) => {
  const browser = site.browser();
  const answer = await browser.post('/sign-in', { name, password: given });
  expect(answer.statusCode).toBe(403);
  expect(answer.body).toContain('The user name or the password is wrong.');
  expect(browser.cookie).toBeNull();
});

test('signing out ends the session in the database, so that a copy of the cookie is worth nothing', async () => {
  const browser = await site.signedIn('aino');
  const copy = browser.cookie;
  await browser.post('/sign-out');
  expect(browser.cookie).toBeNull();
  browser.cookie = copy;
  expect((await browser.get('/account')).headers.location).toBe('/sign-in?next=%2Faccount');
});

test.each([
  ['30 minutes without a request', `seen_at = clock_timestamp() - interval '31 minutes'`, false],
  ['29 minutes without a request', `seen_at = clock_timestamp() - interval '29 minutes'`, true],
  ['12 hours', `began_at = clock_timestamp() - interval '12 hours 1 minute'`, false],
])('a session after %s', async (_, change, isAlive) => {
  const browser = await site.signedIn('aino');
  await execute(owner, `update vetledger_console.session set ${change}`);
  expect((await browser.get('/account')).statusCode).toBe(isAlive ? 200 : 303);
});

test('a disabled user is signed out at once and cannot sign in', async () => {
  const browser = await site.signedIn('aino');
  await db.transaction((trx) => disableSubject(trx, aino));
  expect((await browser.get('/account')).statusCode).toBe(303);
  expect((await site.browser().post('/sign-in', { name: 'aino', password })).statusCode).toBe(403);
});

test('a link signs in once, by its form and not by being opened', async () => {
  const token = await makeLink(db, aino, 'sign_in');
  const browser = site.browser();
  expect((await browser.get(`/link/${token}`)).body).toContain('Sign in as aino');
  expect(browser.cookie).toBeNull();
  expect((await browser.post(`/link/${token}`)).statusCode).toBe(303);
  expect((await browser.get('/account')).statusCode).toBe(200);
  expect((await site.browser().post(`/link/${token}`)).statusCode).toBe(410);
});

test('a link for a password cannot sign in without a new password; the new one ends all sessions', async () => {
  const before = await site.signedIn('aino');
  const token = await makeLink(db, aino, 'password');
  expect((await site.browser().post(`/link/${token}`)).statusCode).toBe(410);
  const browser = site.browser();
  const short = await browser.post(`/password/${token}`, { password: 'short', again: 'short' });
  expect([short.statusCode, short.body.includes('12 to 200 characters')]).toEqual([400, true]);
  const differs = await browser.post(`/password/${token}`, { password, again: `${password}!` });
  expect([differs.statusCode, differs.body.includes('The two passwords differ.')]).toEqual([400, true]);
  const chosen = 'an even longer password';
  expect((await browser.post(`/password/${token}`, { password: chosen, again: chosen })).statusCode).toBe(303);
  expect((await browser.get('/account')).statusCode).toBe(200);
  expect((await before.get('/account')).statusCode).toBe(303);
  expect((await site.browser().post('/sign-in', { name: 'aino', password })).statusCode).toBe(403);
  expect((await site.browser().post('/sign-in', { name: 'aino', password: chosen })).statusCode).toBe(303);
});

test('an expired link is over', async () => {
  const token = await makeLink(db, aino, 'sign_in');
  await execute(owner, `update vetledger_console.link set expires_at = clock_timestamp() - interval '1 second'`);
  expect((await site.browser().post(`/link/${token}`)).statusCode).toBe(410);
});

test('many wrong attempts from elsewhere are refused, and do not lock out the owner', async () => {
  await site.signedIn('aino');
  const attacker = site.browser();
  attacker.address = '198.51.100.7';
  for (let attempt = 0; attempt < 10; attempt += 1)
    expect((await attacker.post('/sign-in', { name: 'aino', password: 'guess' })).statusCode).toBe(403);
  expect((await attacker.post('/sign-in', { name: 'aino', password })).statusCode).toBe(429);
  const another = site.browser();
  another.address = '203.0.113.9';
  expect((await another.post('/sign-in', { name: 'aino', password })).statusCode).toBe(429);
  // The owner's address has signed in before.
  expect((await site.browser().post('/sign-in', { name: 'aino', password })).statusCode).toBe(303);
  await execute(owner, 'alter table vetledger_console.sign_in disable trigger sign_in_immutable');
  await execute(owner, `update vetledger_console.sign_in set at = at - interval '16 minutes'`);
  await execute(owner, 'alter table vetledger_console.sign_in enable trigger sign_in_immutable');
  expect((await another.post('/sign-in', { name: 'aino', password })).statusCode).toBe(303);
});

test.each<[string, (attempt: number) => string]>([
  ['one address', () => '198.51.100.8'],
  ['many addresses of one IPv6 network', (attempt) => `2001:db8:1:2::${attempt.toString(16)}`],
])('%s: trying many names is refused', async (_, addressOf) => {
  const attacker = site.browser();
  for (let attempt = 0; attempt < 30; attempt += 1) {
    attacker.address = addressOf(attempt);
    await attacker.post('/sign-in', { name: `user${attempt}`, password });
  }
  attacker.address = addressOf(30);
  expect((await attacker.post('/sign-in', { name: 'aino', password })).statusCode).toBe(429);
});

test('a second sign-in in the same browser ends the session before it', async () => {
  const browser = await site.signedIn('aino');
  const copy = site.browser();
  copy.cookie = browser.cookie;
  expect((await copy.get('/account')).statusCode).toBe(200);
  expect((await browser.post('/sign-in', { name: 'aino', password })).statusCode).toBe(303);
  expect((await copy.get('/account')).headers.location).toContain('/sign-in');
  expect((await browser.get('/account')).statusCode).toBe(200);
});

test('a password in the field of the name is not stored', async () => {
  await site.browser().post('/sign-in', { name: 'my secret phrase', password: '' });
  const { found } = await row(
    owner,
    { found: integer },
    `select count(*) as found from vetledger_console.sign_in s where s::text like '%secret%'`,
  );
  expect(found).toBe(0);
});

test.each([
  ['/4711/month?month=2026-02', '/4711/month?month=2026-02'],
  ['https://evil.example/', '/'],
  ['//evil.example/', '/'],
  ['/\\evil.example', '/'],
  ['/a\nb', '/'],
  ['javascript:alert(1)', '/'],
])('after the sign-in, %j leads to %j', async (next, expected) => {
  const answer = await site.browser().post('/sign-in', { name: 'aino', password, next });
  expect(answer.headers.location).toBe(expected);
});

test('a changed password needs the present one, and keeps this browser signed in', async () => {
  const browser = await site.signedIn('aino');
  const other = await site.signedIn('aino');
  const chosen = { password: 'an even longer password', again: 'an even longer password' };
  const wrong = await browser.post('/account/password', { present: 'wrong', ...chosen });
  expect([wrong.statusCode, wrong.body.includes('The present password is wrong.')]).toEqual([400, true]);
  expect((await browser.post('/account/password', { present: password, ...chosen })).statusCode).toBe(303);
  expect((await browser.get('/account')).statusCode).toBe(200);
  expect((await other.get('/account')).statusCode).toBe(303);
});
