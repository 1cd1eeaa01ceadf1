// `vetledger user`: users, roles and links, each change as an action; the last administrator stays.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { brokenAction } from '../../src/actions/verify.ts';
import { text } from '../../src/db/columns.ts';
import { rows } from '../../src/db/rows.ts';
import { vetledger } from '../cli/support.ts';
import { useDatabase } from '../support/database.ts';
import { demoConfig, fromEnvironment } from '../support/demo-config.ts';
import { openTestConsole, type TestConsole } from './support.ts';

const database = useDatabase();
const { db } = database;
const folder = mkdtempSync(join(tmpdir(), 'vetledger-users-'));
const config = join(folder, 'vetledger.yaml');
let site: TestConsole;

beforeAll(async () => {
  writeFileSync(
    config,
    demoConfig([{ id: 4711, base_url: 'http://127.0.0.1:9' }], {
      database_url: fromEnvironment('DATABASE_URL'),
      // The commands do not need the secret, whose variable is unset.
      console: `{hosts: [books.example], oidc: {issuer: "https://login.example", client_id: c, client_secret: ${fromEnvironment('UNSET')}}}`,
    }),
  );
  site = await openTestConsole(database);
});
afterAll(async () => {
  await site.close();
  rmSync(folder, { recursive: true, force: true });
});

const user = (...args: string[]) => userWithout(...args, ...(args[0] === 'list' ? [] : ['--by', 'the admin']));

async function userWithout(
  ...args: string[]
): Promise<{ code: number; document: Record<string, unknown> & { error?: { code: string } } }> {
  const ran = await vetledger(['user', ...args, '--config', config, '--json'], {
    ...{ PATH: process.env.PATH, PRACTICE_TOKEN: 'token', DATABASE_URL: database.url, VETLEDGER_LOG: 'silent' },
  });
  return { code: ran.code, document: ran.json() };
}

test('a new user chooses a password with the link, and sees the clinics of the role', async () => {
  const added = await user('add', 'Aino', '--as', 'fi');
  expect(added).toMatchObject({
    code: 0,
    document: { name: 'aino', link: expect.stringMatching(/^https:\/\/books\.example\/password\/[\w-]{43}$/) },
  });
  expect(await user('role', 'aino', 'accountant', '--installation', '4711')).toMatchObject({
    code: 0,
    document: { name: 'aino', role: 'accountant', installation: 4711, until: null, revoked: false },
  });
  const browser = site.browser();
  const { pathname } = new URL(String(added.document.link));
  const chosen = { password: 'a long enough password', again: 'a long enough password' };
  expect((await browser.post(pathname, chosen)).statusCode).toBe(303);
  const page = await browser.get('/clinics');
  expect(page.body).toContain('<html lang="fi">');
  expect(page.body).toContain('>Klinikat<');
  expect(page.body).toContain('4711');
});

test.each<[string, string[], string]>([
  ['a name that is taken, in other case', ['add', 'AINO'], 'user_name_taken'],
  ['a name with blanks', ['add', 'a b'], 'user_name_invalid'],
  ['an unknown user', ['role', 'nemo', 'viewer', '--installation', '4711'], 'user_unknown'],
  ['an unknown role', ['role', 'aino', 'king'], 'role_unknown'],
  ['a role without its installation', ['role', 'aino', 'viewer'], 'role_needs_installation'],
  ['admin with an installation', ['role', 'aino', 'admin', '--installation', '4711'], 'role_without_installation'],
  ['a role that was not granted', ['role', 'aino', 'viewer', '--installation', '4711', '--revoke'], 'role_not_granted'],
])('%s is refused', async (_, args, code) => {
  expect((await user(...args)).document.error?.code).toBe(code);
});

test('the last administrator keeps the role and is not disabled', async () => {
  await user('add', 'boss');
  await user('role', 'boss', 'admin');
  expect((await user('role', 'boss', 'admin', '--revoke')).document.error?.code).toBe('last_admin');
  expect((await user('disable', 'boss', '--yes')).document.error?.code).toBe('last_admin');
  expect((await user('role', 'boss', 'admin', '--until', '2030-01-01')).document.error?.code).toBe('last_admin');
  await user('add', 'deputy');
  await user('role', 'deputy', 'admin');
  expect((await user('role', 'boss', 'admin', '--revoke')).code).toBe(0);
});

test('a new link for a password does not end the old password before it is used', async () => {
  const { document } = await user('password', 'aino');
  const browser = await site.signedIn('aino');
  expect((await browser.get('/account')).statusCode).toBe(200);
  expect(String(document.link)).toContain('/password/');
});

test('a disabled user is listed so, cannot sign in, and gets no role', async () => {
  expect((await user('disable', 'aino', '--yes')).document).toEqual({ name: 'aino', disabled: true });
  await expect(site.signedIn('aino')).rejects.toThrow('403');
  expect((await user('role', 'aino', 'viewer', '--installation', '4711')).document.error?.code).toBe('user_disabled');
  expect((await user('list')).document.users).toContainEqual(expect.objectContaining({ name: 'aino', disabled: true }));
});

test('each change is an action of the person who made it, in a chain that holds', async () => {
  const found = await rows(
    db,
    { kind: text, by: text },
    'select kind, acted_by as "by" from action_done where installation is null order by id',
  );
  expect(new Set(found.map(({ by }) => by))).toEqual(new Set(['the admin']));
  expect(found.map(({ kind }) => kind)).toEqual([
    ...['add_user', 'grant_role', 'add_user', 'grant_role', 'add_user', 'grant_role', 'revoke_role'],
    ...['renew_password', 'disable_user'],
  ]);
  expect(await brokenAction(db, null)).toBeNull();
});

describe('an account of the operating system', () => {
  const account = userInfo().username;
  const lastBy = async () =>
    (await rows(db, { by: text }, 'select acted_by as "by" from action_done order by id desc limit 1'))[0]?.by;

  test('without a link acts with its own name, or that of --by, but not as a user of the console', async () => {
    await user('add', 'kaisa');
    const own = await userWithout('role', 'kaisa', 'viewer', '--installation', '4711');
    expect([own.code, await lastBy()]).toEqual([0, account]);
    expect((await userWithout('password', 'kaisa', '--by', 'KAISA')).document.error?.code).toBe('by_is_user');
  });

  test('without a link is not recorded as the user whose name it has', async () => {
    const { code } = await user('add', account);
    expect(code).toBe(0);
    expect((await userWithout('role', account, 'viewer', '--installation', '4711')).code).toBe(0);
    expect(await lastBy()).toBe(`account ${account}`);
  });

  test('acts as the user to whom it is linked, and as no other user', async () => {
    await user('add', 'veikko');
    expect(await user('link', 'veikko', '--account', account)).toMatchObject({
      code: 0,
      document: { name: 'veikko', account },
    });
    expect((await userWithout('password', 'kaisa')).code).toBe(0);
    expect(await lastBy()).toBe('veikko');
    expect((await userWithout('password', 'kaisa', '--by', 'Veikko')).code).toBe(0);
    expect((await userWithout('password', 'kaisa', '--by', 'the admin')).document.error?.code).toBe(
      'account_is_linked',
    );
    expect((await userWithout('link', 'kaisa', '--account', account)).document.error?.code).toBe('link_taken');
    expect((await userWithout('list')).document.users).toContainEqual(
      expect.objectContaining({ name: 'veikko', account }),
    );
  });

  test('of a disabled user does not act', async () => {
    await userWithout('add', 'heikki');
    await userWithout('link', 'veikko', '--remove', 'account');
    await user('link', 'heikki', '--account', account);
    await userWithout('disable', 'heikki', '--yes');
    expect((await userWithout('password', 'kaisa')).document.error?.code).toBe('user_disabled');
    await db.raw(`update vetledger_console.subject set account = null where name = 'heikki'`);
  });
});

test('an identity is linked to one user, and a changed identity ends the sessions', async () => {
  const identity = { issuer: 'https://login.example', subject: '248289761001' };
  const { document } = await user('add', 'outi');
  const browser = site.browser();
  const chosen = { password: 'a long enough password', again: 'a long enough password' };
  await browser.post(new URL(String(document.link)).pathname, chosen);
  expect((await browser.get('/account')).statusCode).toBe(200);
  expect(await user('link', 'outi', '--identity', identity.subject)).toMatchObject({
    code: 0,
    document: { name: 'outi', identity },
  });
  expect((await browser.get('/account')).statusCode).toBe(303);
  expect((await user('link', 'kaisa', '--identity', identity.subject)).document.error?.code).toBe('link_taken');
  expect((await user('list')).document.users).toContainEqual(expect.objectContaining({ name: 'outi', identity }));
  expect((await user('link', 'outi', '--remove', 'identity')).document.identity).toBeNull();
  expect((await user('link', 'kaisa', '--identity', identity.subject)).code).toBe(0);
});

test.each([[[]], [['--account', 'x', '--identity', 'y']], [['--account', ' ']]])(
  'user link %j is wrong usage',
  async (given) => {
    expect((await user('link', 'kaisa', ...given)).code).toBe(2);
  },
);
