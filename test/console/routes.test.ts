// What must hold for each route, generated from the table of routes.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkRoutes, type Route, RouteFault } from '../../src/console/route.ts';
import { routes } from '../../src/console/routes.ts';
import { type Permission, permissions, Rights, type Role, roles } from '../../src/console/users/rights.ts';
import { integer, text } from '../../src/db/columns.ts';
import { row, rows } from '../../src/db/rows.ts';
import { useDatabase } from '../support/database.ts';
import { type Browser, clinics, openTestConsole, type TestConsole } from './support.ts';

const database = useDatabase();
const { db, owner } = database;
const [own, , foreign] = clinics;
let site: TestConsole;
const browsers = new Map<string, Browser>();
const as = (name: string) => browsers.get(name)!;

beforeAll(async () => {
  site = await openTestConsole(database);
  for (const role of roles) await site.user(role, [[role, role === 'admin' ? null : own]]);
  await site.user('nobody', []);
  for (const name of [...roles, 'nobody']) browsers.set(name, await site.signedIn(name));
});
afterAll(() => site.close());

const named = routes.map((route) => [`${route.method} ${route.path}`, route] as const);
/** Values of parameters, so that a path leads somewhere. */
const values: Record<string, string> = { token: 'a'.repeat(43) };
const addressOf = ({ path }: Route, installation: number | string = own) =>
  path.replace(/:(\w+)\??/g, (_, name: string) =>
    name === 'installation' ? String(installation) : (values[name] ?? '1'),
  );
const send = (browser: Browser, route: Route, installation?: number | string) =>
  route.method === 'GET' ? browser.get(addressOf(route, installation)) : browser.post(addressOf(route, installation));
/** The page without what differs between two requests for the same. */
const comparable = (body: string) => body.replace(/name="csrf" value="[^"]+"/g, '');

const needsRole = named.filter(([, { access }]) => 'in' in access);
const posts = named.filter(([, { method }]) => method === 'POST');

describe('a table of routes', () => {
  const route = { method: 'GET', path: '/x', access: { who: 'signed_in' }, audit: 'nothing' } as const;
  test.each<[string, unknown[]]>([
    ['without access', [{ ...route, access: undefined }]],
    ['without an audit event', [{ ...route, audit: undefined }]],
    ['with a form that leaves no record', [{ ...route, method: 'POST' }]],
    ['with a page that leaves one', [{ ...route, audit: 'action' }]],
    [
      'with the permission of an installation, and none in the path',
      [{ ...route, access: { who: 'decide', in: 'installation' } }],
    ],
    ['with an installation in the path, and no permission of it', [{ ...route, path: '/:installation/x' }]],
    ['with a route twice', [route, route]],
  ])('%s does not start', (_, table) => {
    expect(() => checkRoutes(table as Route[])).toThrow(RouteFault);
  });
});

test.each(named.filter(([, { access }]) => access.who !== 'anyone'))('%s needs a sign-in', async (_, route) => {
  const answer = await send(site.browser(), route);
  if (route.method === 'GET')
    expect([answer.statusCode, answer.headers.location]).toEqual([303, expect.stringMatching(/^\/sign-in/)]);
  else expect(answer.statusCode).toBe(401);
});

test.each(needsRole)('%s answers a user without the role as if the page did not exist', async (_, route) => {
  const missing = await as('nobody').get('/no-such-page');
  const answer = await send(as('nobody'), route);
  expect(answer.statusCode).toBe(404);
  expect(comparable(answer.body)).toBe(comparable(missing.body));
});

test.each(needsRole.filter(([, { access }]) => 'in' in access && access.in === 'installation'))(
  '%s answers alike for the clinic of another firm, a clinic that does not exist, and nonsense',
  async (_, route) => {
    for (const name of ['viewer', 'accountant', 'operator']) {
      const answers = await Promise.all(
        [foreign, 9999, 'x', '0', '4711x', '99999999999999999999'].map((id) => send(as(name), route, id)),
      );
      expect(answers.map(({ statusCode }) => statusCode)).toEqual(answers.map(() => 404));
      expect(new Set(answers.map(({ body }) => comparable(body))).size).toBe(1);
    }
  },
);

test.each(posts)('%s refuses a form that another site sends', async (_, route) => {
  const before = await row(db, { n: integer }, 'select count(*) as n from vetledger_console.refused');
  const hostile: Record<string, string>[] = [
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    { origin: 'null', 'sec-fetch-site': 'cross-site' },
    { origin: 'null', 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'same-site' },
  ];
  for (const headers of hostile)
    expect((await as('accountant').post(addressOf(route), {}, headers)).statusCode).toBe(403);
  const after = await row(db, { n: integer }, 'select count(*) as n from vetledger_console.refused');
  expect(after.n - before.n).toBe(hostile.length);
});

test.each(posts)('%s refuses a form without the token of the session', async (_, route) => {
  const other = await as('operator').formToken();
  for (const csrf of ['', 'x', 'A'.repeat(86), other])
    expect((await as('accountant').post(addressOf(route), { csrf })).statusCode).toBe(403);
});

test.each(posts.filter(([, { path }]) => !routes.some((other) => other.method === 'GET' && other.path === path)))(
  '%s does nothing when its address is only opened',
  async (_, route) => {
    expect((await as('accountant').get(addressOf(route))).statusCode).toBe(404);
  },
);

test.each(named)('%s sends all security headers, and is not cached', async (_, route) => {
  const { headers } = await send(site.browser(), route);
  expect(headers['content-security-policy']).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  );
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  });
});

test.each(named.filter(([, { method }]) => method === 'GET'))('%s shows hostile names as text', async (_, route) => {
  for (const name of ['accountant', 'operator', 'admin']) {
    const { body } = await send(as(name), route);
    expect(body).not.toMatch(/<img|<script(?! src="\/static\/)|<[^>]*\s(style|on\w+)=/i);
  }
});

test('a refused right is recorded with the user, the route and the clinic', async () => {
  await as('nobody').get(`/${own}/month`);
  await as('nobody').get('/clinics');
  const found = await rows(
    db,
    { name: text, route: text, reason: text },
    `select s.name, r.route, r.reason from vetledger_console.refused r join vetledger_console.subject s on s.id = r.subject_id
     where s.name = 'nobody' order by r.id desc limit 1`,
  );
  expect(found).toEqual([{ name: 'nobody', route: 'GET /clinics', reason: 'right' }]);
});

test.each([
  ['localhost', 200],
  ['127.0.0.1:8095', 200],
  ['[::1]:8095', 200],
  ['books.example', 200],
  ['evil.example', 421],
  ['books.example.evil.example', 421],
])('the host %s gets %i', async (host, expected) => {
  expect((await site.browser().get('/sign-in', { host })).statusCode).toBe(expected);
});

describe('roles', () => {
  const matrix: Record<Role, readonly Permission[]> = {
    viewer: ['read_books', 'read_operations'],
    bookkeeper: ['read_books', 'read_operations', 'decide', 'deliver', 'reconcile'],
    accountant: ['read_books', 'read_operations', 'decide', 'deliver', 'reconcile', 'close'],
    operator: ['read_operations', 'deliver', 'reconcile', 'operate'],
    admin: ['manage_users'],
  };
  test.each(roles.flatMap((role) => permissions.map((permission) => [role, permission] as const)))(
    '%s: %s',
    (role, permission) => {
      const installation = role === 'admin' ? null : own;
      const rights = new Rights([{ role, installation, until: null }], '2026-03-10');
      expect(rights.may(permission, installation)).toBe(matrix[role].includes(permission));
      expect(rights.may(permission, foreign)).toBe(false);
    },
  );
  test.each([
    ['2026-03-09', false],
    ['2026-03-10', true],
    [null, true],
  ])('a role until %s holds on 2026-03-10: %s', (until, holds) => {
    const rights = new Rights([{ role: 'viewer', installation: own, until }], '2026-03-10');
    expect(rights.may('read_books', own)).toBe(holds);
  });
  test('a role that is taken away ends at the next request', async () => {
    const id = await site.user('leaving', [['viewer', own]]);
    const browser = await site.signedIn('leaving');
    expect((await browser.get('/clinics')).statusCode).toBe(200);
    await db.raw('delete from vetledger_console.subject_role where subject_id = ?', [id]);
    expect((await browser.get('/clinics')).statusCode).toBe(404);
  });
});

test('a clinic list shows only the clinics of the user', async () => {
  const { body } = await as('accountant').get('/clinics');
  expect(body).toContain(String(own));
  expect(body).not.toContain(String(foreign));
});

test('a form that is too large is refused, and so is a malformed one', async () => {
  const large = await as('accountant').post('/account/language', { language: 'x'.repeat(300_000) });
  expect([large.statusCode, large.body.includes('too large or malformed')]).toEqual([413, true]);
  const other = await as('accountant').post('/account/language', {}, { 'content-type': 'application/xml' });
  expect(other.statusCode).toBe(415);
});

test('a failure shows an id that the log has, and no stack or text of the error', async () => {
  await owner.raw('alter table vetledger_console.subject_role rename to away');
  const answer = await as('accountant').get('/clinics');
  await owner.raw('alter table vetledger_console.away rename to subject_role');
  expect(answer.statusCode).toBe(500);
  expect(answer.body).toMatch(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/);
  expect(answer.body).not.toMatch(/subject_role|select|\.ts|4711|node_modules/);
});
