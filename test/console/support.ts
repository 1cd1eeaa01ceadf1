// Two firms with three clinics and hostile names: the default fixture of the console's tests.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import { loadConfig } from '../../src/config/load-config.ts';
import { consoleApp, cookieName } from '../../src/console/server.ts';
import { hashPassword } from '../../src/console/users/passwords.ts';
import type { GrantedRole, Role } from '../../src/console/users/rights.ts';
import { addSubject, grantRole, setPassword } from '../../src/console/users/subjects.ts';
import { createLog } from '../../src/runtime/log.ts';
import type { Language } from '../../src/texts/catalogue.ts';
import type { UsedDatabase } from '../support/database.ts';
import { demoConfig, type Settings } from '../support/demo-config.ts';

/** The clinics: the first two belong to one firm, the third to another. */
export const clinics = [4711, 4712, 4713] as const;
export const hostileName = '<img src=x onerror=alert(1)>"\'&';
/** The time of all requests, except that sessions use the clock of the database. */
export const now = new Date('2026-03-10T09:00:00Z');
export const password = 'a long enough password';

export interface TestConsole {
  app: FastifyInstance;
  /** Adds a user with roles and the common password. Returns the id. */
  user(name: string, roles: readonly [Role, number | null][], language?: Language): Promise<number>;
  /** A browser that is signed in as this user. */
  signedIn(name: string): Promise<Browser>;
  browser(): Browser;
  close(): Promise<void>;
}

/**
 * The console on the database of a test, without a port. `settings`: those of single clinics. `others`: other settings of the
 * console, settings of the whole configuration, and variables.
 */
export async function openTestConsole(
  database: Pick<UsedDatabase, 'db' | 'consoleDb'>,
  settings: Record<number, Settings> = {},
  others: { console?: string; common?: Settings; environment?: Record<string, string> } = {},
): Promise<TestConsole> {
  const folder = mkdtempSync(join(tmpdir(), 'vetledger-console-'));
  const file = join(folder, 'vetledger.yaml');
  writeFileSync(
    file,
    demoConfig(
      clinics.map((id) => ({
        id,
        base_url: 'http://127.0.0.1:9',
        name: JSON.stringify(`${id} ${hostileName}`),
        ...settings[id],
      })),
      { console: others.console ?? '{hosts: [books.example]}', ...others.common },
    ),
  );
  const config = await loadConfig(file, { PATH: process.env.PATH, ...others.environment }, { secrets: false });
  const app = await consoleApp({
    ...{
      config,
      temporalUi: 'https://temporal.example/ui',
      db: database.consoleDb,
      log: createLog('silent'),
      clock: () => now,
      version: '0.1.0',
    },
  });
  await app.ready();
  const hash = await hashPassword(password);
  const browser = () => new Browser(app);
  return {
    app,
    browser,
    async user(name, roles, language = 'en') {
      const id = await addSubject(database.db, name, language);
      if (id === null) throw new Error(`${name} exists`);
      for (const [role, installation] of roles)
        await grantRole(database.db, id, { role, installation, until: null } satisfies GrantedRole);
      await database.db.transaction((trx) => setPassword(trx, id, hash));
      return id;
    },
    async signedIn(name) {
      const used = browser();
      const answer = await used.post('/sign-in', { name, password });
      if (answer.statusCode !== 303) throw new Error(`${name} cannot sign in: ${answer.statusCode}`);
      return used;
    },
    async close() {
      await app.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Keeps the cookie, and sends the headers that a browser sends with a form of our page. */
export class Browser {
  readonly #app: FastifyInstance;
  cookie: string | null = null;
  /** The other cookies, by name. */
  readonly #cookies = new Map<string, string>();
  address = '192.0.2.1';

  constructor(app: FastifyInstance) {
    this.#app = app;
  }

  get(url: string, headers: Record<string, string> = {}): Promise<LightMyRequestResponse> {
    return this.#send({ method: 'GET', url, headers });
  }

  /** Sends a form, with the token of the last page that had one. */
  async post(
    url: string,
    fields: Record<string, string> = {},
    headers: Record<string, string> = {},
  ): Promise<LightMyRequestResponse> {
    const csrf = this.cookie === null || 'csrf' in fields ? {} : { csrf: await this.formToken() };
    return this.#send({
      method: 'POST',
      url,
      headers: {
        // Browsers send no origin with a form of a page that has the policy `no-referrer`.
        ...{ 'content-type': 'application/x-www-form-urlencoded', origin: 'null' },
        ...{ 'sec-fetch-site': 'same-origin', ...headers },
      },
      payload: new URLSearchParams({ ...csrf, ...fields }).toString(),
    });
  }

  /** The token of a form on the page of the account. */
  async formToken(): Promise<string> {
    const { body } = await this.get('/account');
    return /name="csrf" value="([^"]+)"/.exec(body)?.[1] ?? '';
  }

  async #send(request: InjectOptions): Promise<LightMyRequestResponse> {
    const answer = await this.#app.inject({
      ...request,
      remoteAddress: this.address,
      headers: {
        host: 'localhost',
        ...this.#cookieHeader(),
        ...request.headers,
      },
    });
    for (const { name, value } of answer.cookies) {
      if (name === cookieName) this.cookie = value === '' ? null : value;
      else if (value === '') this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    return answer;
  }

  #cookieHeader(): { cookie?: string } {
    const own: [string, string][] = this.cookie === null ? [] : [[cookieName, this.cookie]];
    const all = [...own, ...this.#cookies].map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    return all.length === 0 ? {} : { cookie: all.join('; ') };
  }
}
