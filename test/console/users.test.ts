// The page of users: administrators add people, grant and take away roles, and disable; each change is an action.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { brokenAction } from '../../src/actions/verify.ts';
import { text } from '../../src/db/columns.ts';
import { rows } from '../../src/db/rows.ts';
import { useDatabase } from '../support/database.ts';
import { type Browser, hostileName, openTestConsole, type TestConsole } from './support.ts';

const database = useDatabase();
const { db } = database;
let site: TestConsole;
let admin: Browser;

beforeAll(async () => {
  site = await openTestConsole(database);
  await site.user('boss', [['admin', null]]);
  await site.user('aino', [['accountant', 4711]]);
  admin = await site.signedIn('boss');
});
afterAll(() => site.close());

const reason = 'asked by the firm';
const change = (name: string, fields: Record<string, string>) => admin.post(`/users/${name}`, { reason, ...fields });
const lastAction = async () =>
  (
    await rows(
      db,
      { kind: text, by: text, reason: text },
      `select a.kind, a.acted_by as "by", r.reason from action_done a join action_reason r on r.action_id = a.id
       where a.installation is null order by a.id desc limit 1`,
    )
  )[0];

test('an administrator adds a user, whose link is shown once and lets the person choose a password', async () => {
  const added = await admin.post('/users', { name: 'Veikko', language: 'sv', reason });
  expect(added.statusCode).toBe(200);
  const [link = ''] = /http:\/\/localhost\/password\/[\w-]{43}/.exec(added.body) ?? [];
  expect(await lastAction()).toEqual({ kind: 'add_user', by: 'boss', reason });
  const browser = site.browser();
  const chosen = { password: 'a long enough password', again: 'a long enough password' };
  expect((await browser.post(new URL(link).pathname, chosen)).statusCode).toBe(303);
  expect((await browser.get('/account')).body).toContain('<html lang="sv">');
  expect((await site.browser().post(new URL(link).pathname, chosen)).statusCode).toBe(410);
  expect((await admin.get('/users')).body).not.toContain('/password/');
});

test('a role is granted until a day, and taken away at once', async () => {
  const browser = await site.signedIn('aino');
  expect((await browser.get('/4712/month')).statusCode).toBe(404);
  const granted = { change: 'grant', role: 'viewer', installation: '4712', until: '2026-03-10' };
  expect((await change('aino', granted)).statusCode).toBe(303);
  expect((await admin.get('/users')).body).toContain('viewer 4712 ≤ 2026-03-10');
  expect((await browser.get('/4712/audit')).statusCode).toBe(200);
  await change('aino', { ...granted, until: '2026-03-09' });
  expect((await browser.get('/4712/audit')).statusCode).toBe(404);
  await change('aino', { change: 'revoke', role: 'viewer', installation: '4712' });
  expect((await admin.get('/users/aino')).body).not.toContain('<td>4712</td>');
  expect(await lastAction()).toMatchObject({ kind: 'revoke_role', by: 'boss' });
});

test('a new password by a link ends all sessions', async () => {
  const browser = await site.signedIn('aino');
  const { body } = await change('aino', { change: 'password' });
  const [path = ''] = /\/password\/[\w-]{43}/.exec(body) ?? [];
  expect((await browser.get('/account')).statusCode).toBe(200);
  const chosen = { password: 'a long enough password', again: 'a long enough password' };
  expect((await site.browser().post(path, chosen)).statusCode).toBe(303);
  expect((await browser.get('/account')).statusCode).toBe(303);
});

test('an account is linked, and the link ends with an empty one', async () => {
  expect((await change('aino', { change: 'link', account: 'alaine' })).statusCode).toBe(303);
  expect((await admin.get('/users')).body).toContain('<td>alaine</td>');
  expect((await change('boss', { change: 'link', account: 'alaine' })).body).toContain('linked to aino');
  expect((await change('aino', { change: 'link', account: '' })).statusCode).toBe(303);
  expect((await admin.get('/users')).body).not.toContain('alaine');
});

describe('refused, and nothing is recorded:', () => {
  test.each<[string, string, Record<string, string>, string]>([
    ['no reason', 'aino', { change: 'disable', reason: ' ' }, 'reason'],
    ['an unknown change', 'aino', { change: 'promote' }, 'class="problem"'],
    ['a role without its installation', 'aino', { change: 'grant', role: 'viewer', installation: '' }, 'installation'],
    ['admin of one installation', 'aino', { change: 'grant', role: 'admin', installation: '4711' }, 'installation'],
    ['an unknown installation', 'aino', { change: 'grant', role: 'viewer', installation: '9999' }, 'installation'],
    ['a day that is none', 'aino', { change: 'grant', role: 'viewer', installation: '4711', until: 'x' }, 'not a date'],
    ['a role that was not granted', 'aino', { change: 'revoke', role: 'operator', installation: '4711' }, 'operator'],
    ['an identity without a provider', 'aino', { change: 'link', identity: 'x' }, 'identity'],
    ['the last administrator disabled', 'boss', { change: 'disable' }, 'last administrator'],
    ['the last administrator without the role', 'boss', { change: 'revoke', role: 'admin', installation: '' }, 'last'],
  ])('%s', async (_, name, fields, expected) => {
    const before = await lastAction();
    const answer = await change(name, fields);
    expect([answer.statusCode, answer.body.includes(expected)]).toEqual([400, true]);
    expect(await lastAction()).toEqual(before);
    expect(await brokenAction(db, null)).toBeNull();
  });

  test.each([
    ['a name that was used', 'aino', 'is or was the name of a user'],
    ['a hostile name', hostileName, 'is not a user name'],
  ])('%s', async (_, name, expected) => {
    const answer = await admin.post('/users', { name, language: 'en', reason });
    expect([answer.statusCode, answer.body.includes(expected)]).toEqual([400, true]);
    expect(answer.body).not.toContain('<img');
  });
});

test('a disabled user is signed out; the name stays', async () => {
  await site.user('leaving', [['viewer', 4711]]);
  const browser = await site.signedIn('leaving');
  expect((await change('leaving', { change: 'disable' })).statusCode).toBe(303);
  expect((await browser.get('/account')).statusCode).toBe(303);
  expect((await admin.get('/users/leaving')).body).not.toContain('name="change"');
  expect((await change('leaving', { change: 'password' })).statusCode).toBe(400);
});

test('the page of an unknown user does not exist, and an administrator sees no books', async () => {
  expect((await admin.get('/users/nemo')).statusCode).toBe(404);
  expect((await change('nemo', { change: 'disable' })).statusCode).toBe(404);
  expect((await admin.get('/')).headers.location).toBe('/users');
  expect((await admin.get('/4711/audit')).statusCode).toBe(404);
});

test('only these pages read the actions of the whole database', async () => {
  const read = () => rows(database.consoleDb, { kind: text }, 'select kind from action where installation is null');
  expect(await read()).toEqual([]);
});
