import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isTrytonInstalled } from '../../scripts/tryton/program.ts';
import { startTryton, type TrytonServer } from '../../scripts/tryton/server.ts';
import type { TrytonConfig } from '../../src/config/erp.ts';

/** The folder of an installed Tryton and its prepared database; `.ci/run` installs it there. */
export const programDir =
  process.env.VETLEDGER_TRYTON ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'vetledger', 'tryton');

/** True if tests against a real Tryton run. If it is not installed, they are skipped with a notice. */
export const hasTryton = isTrytonInstalled(programDir);
if (!hasTryton) {
  process.stderr.write(
    `skipped: tests against a real Tryton, which is not installed in ${programDir} (VETLEDGER_TRYTON=${programDir} npm run tryton -- --install-only)\n`,
  );
}

/** Starts a server with a new data folder, which is deleted with it. */
export async function openTestTryton(): Promise<TrytonServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'vetledger-tryton-'));
  const server = await startTryton({ dataDir, programDir, progress: () => {}, env: process.env });
  return {
    ...server,
    release: async () => {
      await server.release();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** A configuration for delivery to a server's database with the API user. */
export function configOf(server: TrytonServer, changes: Partial<TrytonConfig> = {}): TrytonConfig {
  return {
    ...{ kind: 'tryton', url: server.url, database: server.database, company: null, ...server.users.api },
    ...{ from: null, auto: true, post: 'posted', ownedAccounts: [], closeSourcePeriods: false, timeoutSeconds: 60 },
    ...changes,
  };
}

export const ports = {
  databaseId: 'test',
  installation: 4711,
  clock: { now: Date.now, elapsed: () => performance.now(), sleep: (ms: number) => sleep(ms) },
  log: { debug: () => {}, info: () => {}, warn: () => {} },
};

/** A user of Tryton for the actions of accountants. It shares no code with the target. */
export class TrytonPerson {
  readonly #url: string;
  readonly #authorization: string;

  private constructor(url: string, authorization: string) {
    this.#url = url;
    this.#authorization = authorization;
  }

  static async logIn(server: TrytonServer, user: keyof TrytonServer['users']): Promise<TrytonPerson> {
    const { user: login, password } = server.users[user];
    const url = `${server.url}/${server.database}/rpc/`;
    const answer = await ask(url, 'common.db.login', [login, { password }, 'en']);
    const [id, token] = (answer as { result: [number, string] }).result;
    return new TrytonPerson(url, `Session ${Buffer.from(`${login}:${id}:${token}`).toString('base64')}`);
  }

  /** Calls a method in company 1. Throws Tryton's error. */
  async call<Result>(method: string, ...params: unknown[]): Promise<Result> {
    const context = { company: 1, language: 'en' };
    const answer = await ask(this.#url, method, [...params, context], this.#authorization);
    if ('error' in answer) throw new Error(JSON.stringify(answer.error));
    return answer.result as Result;
  }

  /** The id of the only record of a domain. */
  async idOf(model: string, domain: unknown[]): Promise<number> {
    const ids = await this.call<number[]>(`model.${model}.search`, domain, 0, null, null);
    if (ids.length !== 1) throw new Error(`${ids.length} of ${model}`);
    return ids[0]!;
  }
}

async function ask(url: string, method: string, params: unknown[], authorization?: string) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(authorization === undefined ? {} : { authorization }) },
    body: JSON.stringify({ id: 1, method, params }),
  });
  return (await answer.json()) as { result: unknown } | { error: unknown };
}
