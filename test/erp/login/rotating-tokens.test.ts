import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { integer, text } from '../../../src/db/columns.ts';
import { seizeLease } from '../../../src/db/lease.ts';
import type { Db } from '../../../src/db/pool.ts';
import { execute, maybeRow, rows } from '../../../src/db/rows.ts';
import type { Clock } from '../../../src/domain/clock.ts';
import { type SecretKey, secretKeyOf } from '../../../src/domain/secret-key.ts';
import { loginScope, storeLogin } from '../../../src/erp/login/login-store.ts';
import { RotatingTokens, sealedTokens } from '../../../src/erp/login/rotating-tokens.ts';
import { renewOnce } from '../../../src/erp/login/token-request.ts';
import { ErpError } from '../../../src/erp/port.ts';
import { ErpHttp } from '../../../src/erp/targets/api/http.ts';
import { useDatabase } from '../../support/database.ts';
import { type Fault, type Rotation, TokenServer } from './token-server.ts';

const { db, url, owner, openPool } = useDatabase();
const newKey = () => secretKeyOf(randomBytes(32).toString('base64')) as SecretKey;
const key = newKey();
const log = { debug() {}, info() {}, warn() {} };
const request = { signal: new AbortController().signal };
/** Real time whose pauses take a hundredth of it. */
const clock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((done, fail) => {
      const timer = setTimeout(done, ms / 100);
      signal?.addEventListener('abort', () => {
        clearTimeout(timer);
        fail(signal.reason);
      });
    }),
};

let server: TokenServer;
let company = '';
let http: ErpHttp;
beforeAll(async () => {
  server = new TokenServer();
  await server.start();
  http = new ErpHttp({ url: server.url, timeoutSeconds: 1 }, 'ERP', log);
});
afterAll(() => {
  http.close();
  server.stop();
});
let n = 0;
beforeEach(() => {
  n += 1;
  company = `company ${n}`;
  server.end();
  Object.assign(server, { rotation: 'strict', expiresIn: 1_800, faults: [], reused: 0, onAsked: () => {} });
  server.asked.length = 0;
});

/** A process with the login. */
function open({
  pool = db,
  keys = [key],
  clientSecret = server.clientSecret,
}: {
  pool?: Db;
  keys?: SecretKey[];
  clientSecret?: string;
} = {}) {
  const client = { clientId: server.clientId, clientSecret, sentAs: 'basic' as const, log };
  const ask = (token: string) => renewOnce({ erp: 'ERP', transport: http, path: '/connect/token', ...client }, token);
  return new RotatingTokens({ erp: 'ERP', company, keys, ask, unusedDays: 60, db: pool, clock, log });
}

/** Stores a login. By default its access token has ended. */
async function loggedIn({ seconds = 0, of = company } = {}) {
  const { refresh, access } = server.grant();
  const sealed = sealedTokens({ refresh, access, accessSeconds: seconds }, { company: of, keys: [key] });
  await storeLogin(db, company, { ...sealed, erpId: 'tenant-1', erpName: 'Demo Clinic Ltd' });
  return { refresh, access };
}

const stored = () =>
  maybeRow(
    db,
    { state: text, generation: integer, refusals: integer, key_id: text },
    'select state, generation, refusals, key_id from erp_login where company = ?',
    [company],
  );
const end = () => execute(db, 'update erp_login set access_until = clock_timestamp() where company = ?', [company]);
const errorOf = async (running: Promise<unknown>) => {
  const error = await running.catch((thrown: unknown) => thrown);
  if (!(error instanceof ErpError)) throw error;
  return error;
};
/** Uses the credentials as a request does. Returns whether the ERP accepts it. */
async function works(tokens: RotatingTokens): Promise<boolean> {
  return server.accepts((await tokens.headers(request)).authorization);
}

describe('a login', () => {
  test('is used until its access token ends, and renewed then', async () => {
    const { access } = await loggedIn({ seconds: 600 });
    const tokens = open();
    expect(await tokens.headers(request)).toEqual({ authorization: `Bearer ${access}` });
    expect(server.asked).toEqual([]);
    tokens.refused({ authorization: `Bearer ${access}` });
    expect(await works(tokens)).toBe(true);
    expect(await works(tokens)).toBe(true);
    expect(server.asked).toHaveLength(1);
    expect(await stored()).toMatchObject({ generation: 2, state: 'ready' });
  });

  test('is renewed for ever, each time with the newest token', async () => {
    await loggedIn();
    for (let renewals = 0; renewals < 5; renewals++) {
      await end();
      expect(await works(open())).toBe(true);
    }
    expect(server.reused).toBe(0);
    expect(await stored()).toMatchObject({ generation: 6 });
  });

  test('has no readable token in the database', async () => {
    const { refresh } = await loggedIn();
    await works(open());
    const [row] = await rows(
      db,
      { content: text },
      'select erp_login::text as content from erp_login where company = ?',
      [company],
    );
    for (const readable of [refresh, 'refresh-', 'access-', key.key.toString('base64')])
      expect(row?.content).not.toContain(readable);
  });

  test('says when it ends unless it is used', async () => {
    expect(await open().expiries()).toEqual([]);
    await loggedIn();
    await execute(db, `update erp_login set renewed_at = '2026-01-01T10:00Z' where company = ?`, [company]);
    expect(await open().expiries()).toEqual([
      { name: 'ERP, Demo Clinic Ltd', at: new Date('2026-03-02T10:00Z'), isLogin: true },
    ]);
  });
});

describe('a renewal', () => {
  type Expected = { works: boolean; requests: number; reused?: number; state?: string } & Partial<ErpError>;
  const cases: [string, Rotation, Fault[], Expected][] = [
    [
      'whose answer is lost works again, if the server has a grace period',
      'grace',
      ['cut'],
      { works: true, requests: 2, reused: 1 },
    ],
    [
      'whose answer is lost twice works the third time',
      'grace',
      ['cut', 'cut'],
      { works: false, requests: 2, means: 'unsent' },
    ],
    ['that a dying server did not see works again', 'reuse', ['unseen'], { works: true, requests: 2, reused: 0 }],
    ['during a fault of the server works again', 'reuse', [503], { works: true, requests: 2, reused: 0 }],
    ['of a server that does not replace tokens works again', 'same', ['cut'], { works: true, requests: 2, reused: 0 }],
    ['whose answer is a page works again', 'grace', [{ body: '<html>' }], { works: true, requests: 2, reused: 1 }],
    [
      'whose answer is huge works again',
      'grace',
      [{ body: `{"access_token":"t","x":"${'x'.repeat(99_999)}"}` }],
      { works: true, requests: 2 },
    ],
    [
      'with a number as refresh token works again',
      'grace',
      [{ answer: { refresh_token: 7 } }],
      { works: true, requests: 2 },
    ],
    ['with a strange lifetime works', 'strict', [{ answer: { expires_in: 'soon' } }], { works: true, requests: 1 }],
    ['of a lifetime of 0 works', 'strict', [{ answer: { expires_in: 0 } }], { works: true, requests: 1 }],
    ['while the server wants fewer requests waits', 'strict', [429], { works: false, requests: 1, means: 'throttled' }],
  ];
  test.each(cases)('%s', async (_, rotation, faults, { works: isWorking, requests, reused, ...error }) => {
    await loggedIn();
    Object.assign(server, { rotation, faults: [...faults] });
    const tokens = open();
    if (isWorking) expect(await works(tokens)).toBe(true);
    else expect(await errorOf(works(tokens))).toMatchObject(error);
    expect(server.asked).toHaveLength(requests);
    if (reused !== undefined) expect(server.reused).toBe(reused);
    // In each of these cases no person has to log in: the next renewals work.
    expect(await works(open())).toBe(true);
    expect(await stored()).toMatchObject({ state: 'ready', refusals: 0 });
  });

  test.each<[Rotation]>([['strict'], ['reuse']])(
    'whose answer is lost needs a new login, if the server is %s',
    async (rotation) => {
      await loggedIn();
      Object.assign(server, { rotation, faults: ['cut'] });
      expect(await errorOf(works(open()))).toMatchObject({ means: 'auth', problem: null });
      expect(await stored()).toMatchObject({ state: 'ready', refusals: 1 });
      const needed = { means: 'auth', problem: 'erp_login_needed', message: /answer to a renewal at .* was lost$/ };
      expect(await errorOf(works(open()))).toMatchObject({ ...needed, message: expect.stringMatching(needed.message) });
      const requests = server.asked.length;
      // Nothing is requested any more, until a person logs in.
      expect(await errorOf(works(open()))).toMatchObject({ problem: 'erp_login_needed' });
      expect(server.asked).toHaveLength(requests);
      await loggedIn();
      expect(await works(open())).toBe(true);
    },
  );

  test('that the server refuses twice needs a new login', async () => {
    await loggedIn();
    server.end();
    const { problem, message } = await errorOf(works(open()));
    expect({ problem, message }).toEqual({
      problem: 'erp_login_needed',
      message: expect.stringMatching(/^the ERP no longer accepts the login of \d{4}-\d\d-\d\d$/),
    });
    expect(server.asked).toHaveLength(2);
  });

  test('with a wrong client secret keeps the login', async () => {
    await loggedIn();
    const tokens = open({ clientSecret: 'another secret' });
    expect(await errorOf(works(tokens))).toMatchObject({ means: 'auth', problem: null });
    expect(await stored()).toMatchObject({ refusals: 0 });
    expect(await works(open())).toBe(true);
  });

  test('continues after its request was aborted, and its answer is stored', async () => {
    await loggedIn();
    const answer = Promise.withResolvers<void>();
    server.faults = [{ wait: answer.promise }];
    const [tokens, stop] = [open(), new AbortController()];
    const asked = Promise.withResolvers<void>();
    server.onAsked = asked.resolve;
    const waiting = tokens.headers({ signal: stop.signal });
    await asked.promise;
    stop.abort(new Error('stop'));
    await expect(waiting).rejects.toThrow('stop');
    const closed = tokens.close();
    answer.resolve();
    await closed;
    expect(await stored()).toMatchObject({ generation: 2 });
    expect(await works(open())).toBe(true);
    expect(server.asked).toHaveLength(1);
  });

  test('by several processes at once is one', async () => {
    await loggedIn();
    server.rotation = 'reuse';
    const processes = [open(), open({ pool: openPool() }), open({ pool: openPool() })];
    const requests = processes.flatMap((tokens) => [works(tokens), works(tokens)]);
    expect(await Promise.all(requests)).toEqual([true, true, true, true, true, true]);
    expect(server.asked).toHaveLength(1);
    // Each of them also sees that the other has replaced a refused token.
    const refused = await Promise.all(processes.map((tokens) => tokens.headers(request)));
    for (const [i, tokens] of processes.entries()) tokens.refused(refused[i] ?? {});
    expect(await Promise.all(processes.map(works))).toEqual([true, true, true]);
    expect(server.asked).toHaveLength(2);
  });

  test('of a process that lost its lease stores nothing', async () => {
    await loggedIn();
    server.rotation = 'grace';
    const answer = Promise.withResolvers<void>();
    server.faults = [{ wait: answer.promise }];
    const asked = Promise.withResolvers<void>();
    server.onAsked = asked.resolve;
    const frozen = works(open());
    await asked.promise;
    await seizeLease(db, loginScope(company), 'another process');
    await execute(db, 'update lease set expires_at = clock_timestamp() where company = ?', [company]);
    expect(await works(open())).toBe(true);
    answer.resolve();
    expect(await frozen).toBe(true);
    expect(await stored()).toMatchObject({ generation: 2 });
  });

  test('is used only after it is stored, also if the database fails for a moment', async () => {
    await loggedIn();
    const asked = Promise.withResolvers<void>();
    server.onAsked = asked.resolve;
    const answer = Promise.withResolvers<void>();
    server.faults = [{ wait: answer.promise }];
    let isUsed = false;
    const working = works(open()).finally(() => {
      isUsed = true;
    });
    await asked.promise;
    await execute(owner, 'alter table erp_login rename to erp_login_away');
    answer.resolve();
    await new Promise((done) => setTimeout(done, 60));
    expect(isUsed).toBe(false);
    await execute(owner, 'alter table erp_login_away rename to erp_login');
    expect(await working).toBe(true);
    expect(await stored()).toMatchObject({ generation: 2 });
    expect(server.asked).toHaveLength(1);
  });

  test('gives way to a login that a person made meanwhile', async () => {
    await loggedIn();
    const answer = Promise.withResolvers<void>();
    server.faults = [{ wait: answer.promise }];
    const asked = Promise.withResolvers<void>();
    server.onAsked = asked.resolve;
    const tokens = open();
    const renewing = tokens.headers(request);
    await asked.promise;
    const { access } = await loggedIn({ seconds: 600 });
    answer.resolve();
    expect(await renewing).toEqual({ authorization: `Bearer ${access}` });
  });

  test('is not made by a copy of the database', async () => {
    await loggedIn();
    await execute(db, `insert into copy_bar (kind, key) values ('company', ?)`, [company]);
    expect(await errorOf(works(open()))).toMatchObject({ problem: 'erp_login_needed' });
    expect(server.asked).toEqual([]);
  });
});

test('a process is killed between the answer and the commit', async () => {
  const companies: [string, Rotation][] = [
    [`${company} grace`, 'grace'],
    [`${company} strict`, 'strict'],
  ];
  for (const [each] of companies) {
    company = each;
    await loggedIn();
  }
  const script = fileURLToPath(new URL('./killed-renewal.ts', import.meta.url));
  const secret = key.key.toString('base64');
  const child = spawn(process.execPath, [script, url, server.url, secret, ...companies.map(([each]) => each)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  try {
    await Promise.race([once(child.stdout, 'data'), ended]);
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
  expect(child.signalCode).toBe('SIGKILL');
  for (const [each, rotation] of companies) {
    [company, server.rotation] = [each, rotation];
    // The lease of the killed process has not ended yet, so nothing is requested.
    const before = server.asked.length;
    await end();
    await execute(db, `update lease set expires_at = clock_timestamp() + interval '200 ms' where company = ?`, [
      company,
    ]);
    const tokens = open();
    if (rotation === 'grace') expect(await works(tokens)).toBe(true);
    else {
      const error = await errorOf(works(tokens));
      expect(error).toMatchObject({ problem: 'erp_login_needed', message: expect.stringContaining('was lost') });
    }
    expect(server.asked.length - before).toBe(rotation === 'grace' ? 1 : 2);
  }
});

describe('keys', () => {
  const other = newKey();
  test.each<[string, { keys: SecretKey[]; of?: string; expected: string | null }]>([
    ['the new key is used after a renewal with the old one', { keys: [other, key], expected: null }],
    ['another key opens nothing', { keys: [other], expected: 'erp_login_unreadable' }],
    ['no key opens nothing', { keys: [], expected: 'erp_login_unreadable' }],
    ['tokens of another company are refused', { keys: [key], of: 'elsewhere', expected: 'erp_login_unreadable' }],
  ])('%s', async (_, { keys, of, expected }) => {
    await loggedIn(of === undefined ? {} : { of });
    const tokens = open({ keys });
    if (expected === null) {
      expect(await works(tokens)).toBe(true);
      expect(await stored()).toMatchObject({ key_id: other.id });
      expect(await works(open({ keys: [other] }))).toBe(true);
    } else {
      expect(await errorOf(works(tokens))).toMatchObject({ means: 'auth', problem: expected });
      expect(server.asked).toEqual([]);
    }
  });

  test('a token with another purpose is refused', async () => {
    await loggedIn();
    await execute(db, 'update erp_login set refresh_sealed = access_sealed where company = ?', [company]);
    expect(await errorOf(works(open()))).toMatchObject({ problem: 'erp_login_unreadable' });
  });
});
