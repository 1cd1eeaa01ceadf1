import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Io } from '../../src/cli/context.ts';
import { main } from '../../src/cli/main.ts';
import { text } from '../../src/db/columns.ts';
import { execute, rows } from '../../src/db/rows.ts';
import { TokenServer } from '../erp/login/token-server.ts';
import { useDatabase } from '../support/database.ts';
import { demoConfig, fromEnvironment } from '../support/demo-config.ts';
import { folderOf, vetledger } from './support.ts';

const { db, url } = useDatabase();
const server = new TokenServer();
beforeAll(() => server.start());
afterAll(() => server.stop());
beforeEach(async () => {
  await execute(db, 'delete from erp_login');
  server.end();
  Object.assign(server, { faults: [], revokes: true, expiresIn: 1_800 });
  server.asked.length = 0;
});

const redirectUrl = 'http://localhost:8096/vetledger';
const env = {
  ...{ PRACTICE_TOKEN: 'practice-token-1', DATABASE_URL: url, CLIENT_SECRET: server.clientSecret },
  SECRET_KEY: randomBytes(32).toString('base64'),
};

function configWith({
  company = 'Demo Clinic Ltd',
  redirect = redirectUrl,
  address = server.url,
  key = fromEnvironment('SECRET_KEY'),
} = {}): string {
  const client = `client_id: ${server.clientId}, client_secret: ${fromEnvironment('CLIENT_SECRET')}`;
  const login = redirect === '' ? '' : `, redirect_url: "${redirect}"`;
  const erp = `{kind: xero, url: "${address}", company: "${company}", ${client}${login}}`;
  const content = demoConfig([{ id: 4711, base_url: 'http://127.0.0.1:9', erp }], {
    ...{ database_url: fromEnvironment('DATABASE_URL'), ...(key && { secret_key: key }) },
  });
  return join(folderOf({ 'vetledger.yaml': content }), 'vetledger.yaml');
}

/** Runs a command on a terminal. `answers` are typed, one for each question; each sees what was printed before. */
async function onTerminal(
  args: string[],
  answers: ((printed: string, stop: AbortController) => string | null)[],
  config = configWith(),
) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const stop = new AbortController();
  let printed = '';
  let asked = 0;
  stderr.on('data', (chunk) => {
    printed += String(chunk);
    if (!/(here:|\[y\/N\]) $/.test(printed)) return;
    const answer = answers[asked]?.(printed, stop);
    asked += 1;
    printed += '\n';
    if (answer === null) stdin.end();
    else if (!stop.signal.aborted) stdin.write(`${answer}\n`);
  });
  const io = { env, stdin: Object.assign(stdin, { isTTY: true }), stdout, stderr, signal: stop.signal };
  const code = await main(['erp', ...args, '--config', config], io as unknown as Io);
  return { code, asked, printed, said: String(stdout.read() ?? '') };
}

const agree = (printed: string) => server.agree(/^ {2}(http\S+)$/m.exec(printed)?.[1] ?? '');
const yes = () => 'yes';
const interrupt = (_: string, stop: AbortController) => {
  stop.abort(new Error('stop'));
  return '';
};
const stored = () => rows(db, { name: text }, 'select erp_name as name from erp_login');
const actions = async () =>
  (await rows(db, { kind: text }, 'select kind from action order by id')).map(({ kind }) => kind);

describe('vetledger erp login', () => {
  test('stores the login after a yes, and erp logout revokes it', async () => {
    const { code, printed, said } = await onTerminal(['login'], [agree, yes]);
    expect({ code, said }).toEqual({
      code: 0,
      said: expect.stringContaining('vetledger is logged in to “Demo Clinic Ltd”'),
    });
    expect(printed).toContain('Deliver the books of installation 4711 to it? [y/N]');
    expect(await stored()).toEqual([{ name: 'Demo Clinic Ltd' }]);
    const [content] = await rows(db, { all: text }, 'select erp_login::text as all from erp_login');
    expect(content?.all).not.toMatch(/refresh-\d|access-\d/);
    const address = new URL(/^ {2}(http\S+)$/m.exec(printed)?.[1] ?? '');
    expect(Object.fromEntries(address.searchParams)).toEqual({
      ...{ client_id: 'client-1', redirect_uri: redirectUrl, response_type: 'code', code_challenge_method: 'S256' },
      ...{ code_challenge: expect.stringMatching(/^[\w-]{43}$/), state: expect.stringMatching(/^[\w-]{43}$/) },
      scope: 'offline_access accounting.manualjournals accounting.settings.read',
    });

    const logout = await onTerminal(['logout'], [yes]);
    expect(logout).toMatchObject({ code: 0, said: 'The login to “Demo Clinic Ltd” of Xero has ended.\n' });
    expect([await stored(), server.grants]).toEqual([[], 0]);
    expect(await actions()).toEqual(['login_erp', 'logout_erp']);
    expect(await onTerminal(['logout'], [])).toMatchObject({ said: 'vetledger is not logged in to Xero.\n' });
  });

  test.each<[string, { answers: Parameters<typeof onTerminal>[1]; company?: string; code: number; says: RegExp }]>([
    ['the answer is no', { answers: [agree, () => 'n'], code: 0, says: /Nothing was stored/ }],
    [
      'the token reaches another company',
      { answers: [agree], company: 'Other Ltd', code: 1, says: /may not use the company Other Ltd/ },
    ],
    [
      'the address of another attempt is pasted',
      {
        answers: [() => `${redirectUrl}?code=c&state=s`, () => 'https://example.org', () => 'x'],
        code: 1,
        says: /not the address/,
      },
    ],
    [
      'the person declines',
      {
        answers: [
          (printed) =>
            `${redirectUrl}?${new URLSearchParams({ error: 'access_denied', state: new URL(agree(printed)).searchParams.get('state') ?? '' })}`,
        ],
        code: 1,
        says: /does not permit the login: access_denied/,
      },
    ],
    [
      'the code is wrong',
      {
        answers: [(printed) => agree(printed).replace(/code=[^&]*/, 'code=guessed')],
        code: 1,
        says: /does not accept the login: invalid_grant/,
      },
    ],
    ['the terminal is closed at the question', { answers: [agree, () => null], code: 0, says: /Nothing was stored/ }],
    ['Ctrl-C before the address', { answers: [interrupt], code: 1, says: /./ }],
    ['Ctrl-C at the question', { answers: [agree, interrupt], code: 1, says: /./ }],
  ])('leaves nothing behind if %s', async (_, { answers, company, code, says }) => {
    const ran = await onTerminal(['login'], answers, configWith(company === undefined ? {} : { company }));
    expect(ran.said + ran.printed).toMatch(says);
    expect(ran.asked).toBe(answers.length);
    if (code === 0) expect(ran.code).toBe(0);
    else expect(ran.code).not.toBe(0);
    expect([await stored(), server.grants]).toEqual([[], 0]);
  });

  test.each<[string, ConstructorParameters<typeof Object>[0], RegExp]>([
    ['without a refresh token', { answer: { refresh_token: undefined } }, /no token that can be renewed/],
    ['as a page', { body: '<html>' }, /The login to Xero failed/],
    ['with a strange token', { answer: { access_token: 7 } }, /The login to Xero failed/],
    ['never', 'cut', /The login to Xero failed/],
  ])('stores nothing if the server answers %s', async (_, fault, says) => {
    server.faults = [fault as never];
    const { code, printed } = await onTerminal(['login'], [agree]);
    expect(code).not.toBe(0);
    expect(printed).toMatch(says);
    expect(printed).not.toMatch(/code-\d+-x/);
    expect(await stored()).toEqual([]);
  });

  test('replaces a login, also after a wrong first address', async () => {
    await onTerminal(['login'], [agree, yes]);
    const [first] = await rows(db, { sealed: text }, 'select refresh_sealed as sealed from erp_login');
    const failed = `update erp_company set last_error_code = 'erp_login_needed', not_before = clock_timestamp() + interval '1 hour'`;
    await execute(db, `insert into erp_company (company, kind, name) select company, 'xero', '' from erp_login`);
    await execute(db, failed);
    const { code } = await onTerminal(['login'], [() => 'a typo', agree, yes]);
    expect(code).toBe(0);
    // Deliveries no longer wait.
    const waits = 'select company as name from erp_company where not_before is not null or last_error_code is not null';
    expect(await rows(db, { name: text }, waits)).toEqual([]);
    const [second] = await rows(db, { sealed: text }, 'select refresh_sealed as sealed from erp_login');
    expect(second).not.toEqual(first);
  });

  test('needs a terminal, and an ERP that a person logs in to', async () => {
    const withoutTerminal = await vetledger(['erp', 'login', '--json', '--config', configWith()], env);
    expect([withoutTerminal.code, withoutTerminal.json().error.code]).toEqual([2, 'no_terminal']);
    const unused = await vetledger(['erp', 'login', '--json', '--config', configWith({ redirect: '' })], env);
    expect([unused.code, unused.json().error.code]).toEqual([2, 'erp_login_unused']);
  });
});

test('erp logout says if the ERP did not confirm it, and deletes the tokens anyway', async () => {
  await onTerminal(['login'], [agree, yes]);
  server.revokes = false;
  const { code, json } = await vetledger(['erp', 'logout', '--yes', '--json', '--config', configWith()], env);
  expect([code, json()]).toEqual([0, { installation: 4711, ended: true, revoked: false }]);
  expect([await stored(), server.grants]).toEqual([[], 1]);
});

test('a copy neither logs in nor out, because it would end the login of the original', async () => {
  await onTerminal(['login'], [agree, yes]);
  await execute(db, `insert into copy_bar (kind, key) select 'company', company from erp_login`);
  try {
    for (const command of ['login', 'logout']) {
      const { code, json } = await vetledger(['erp', command, '--json', '--config', configWith()], env);
      expect([code, json().error.code]).toEqual([2, 'copy_barred']);
    }
    expect([(await stored()).length, server.grants]).toEqual([1, 1]);
  } finally {
    await execute(db, 'delete from copy_bar');
  }
});

test('without a login, erp check says what to do', async () => {
  const { stdout } = await vetledger(['erp', 'check', '--config', configWith()], env);
  expect(stdout).toContain('no person has logged in yet, or the login was ended');
  expect(stdout).toContain('Run `vetledger erp login`. Delivery then continues automatically.');
  expect(server.asked).toEqual([]);
});

test('with a login, the target uses its token, and renews it once after a 401', async () => {
  await onTerminal(['login'], [agree, yes]);
  server.asked.length = 0;
  const { stdout } = await vetledger(['erp', 'check', '--config', configWith()], env);
  expect(stdout).toMatch(
    /credentials +Xero, Demo Clinic Ltd: until \d{4}-\d\d-\d\d|Xero, Demo Clinic Ltd: until \d{4}/,
  );
  const renewals = server.asked.filter(({ grant_type }) => grant_type === 'refresh_token');
  const [first] = server.asked;
  // The server of tokens has no books: it refuses each other request with 401.
  expect([first?.path, renewals.length > 0, server.reused]).toEqual(['/connections', true, 0]);
  expect(server.asked.filter(({ path }) => path?.startsWith('/api.xro')).length).toBe(2 * renewals.length);
});

test.each([
  ['http://elsewhere.example/x', 'redirect_url'],
  ['http://localhost:8096/', 'redirect_url'],
  ['https://clinic.example/x?a=1', 'redirect_url'],
])('the redirect address %s is refused', async (redirect, key) => {
  const { code, json } = await vetledger(['erp', 'logout', '--json', '--config', configWith({ redirect })], env);
  expect([code, json().error.message]).toEqual([2, expect.stringContaining(key)]);
});

test.each([
  ['no key', { key: '' }, 'key_invalid', /secret_key is required, because installations\[0\].erp has a redirect_url/],
  ['a key in the file', { key: env.SECRET_KEY }, 'secret_in_config', /secret_key/],
  ['an unencrypted address', { address: 'http://xero.example' }, 'insecure_connection', /installations\[0\].erp.url/],
])('%s is refused', async (_, settings, code, message) => {
  const { code: exitCode, json } = await vetledger(['erp', 'logout', '--json', '--config', configWith(settings)], env);
  expect([exitCode, json().error.message]).toEqual([2, expect.stringMatching(message)]);
  if (code !== 'key_invalid') expect(json().error.code).toBe(code);
});

test.each([
  ['too short', 'c2hvcnQ='],
  ['no base64', 'x'.repeat(44)],
])('a secret key that is %s is refused', async (_, SECRET_KEY) => {
  const args = ['erp', 'logout', '--json', '--config', configWith()];
  const { code, json } = await vetledger(args, { ...env, SECRET_KEY });
  expect([code, json().error.code]).toEqual([2, 'secret_key_unusable']);
});
