// `vetledger user`: users, roles and links, each change as an action; the last administrator stays.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
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
      console: '{hosts: [books.example]}',
    }),
  );
  site = await openTestConsole(database);
});
afterAll(async () => {
  await site.close();
  rmSync(folder, { recursive: true, force: true });
});

async function user(
  ...args: string[]
): Promise<{ code: number; document: Record<string, unknown> & { error?: { code: string } } }> {
  const by = args[0] === 'list' ? [] : ['--by', 'the admin'];
  const ran = await vetledger(['user', ...args, '--config', config, '--json', ...by], {
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
