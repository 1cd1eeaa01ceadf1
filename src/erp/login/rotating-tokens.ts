import { randomUUID } from 'node:crypto';
import { LeaseLost, takeLease, underLease } from '../../db/lease.ts';
import type { Db } from '../../db/pool.ts';
import { keepLease } from '../../db/with-lease.ts';
import type { Clock } from '../../domain/clock.ts';
import { unlessAborted } from '../../domain/concurrency.ts';
import { keepToken } from '../../domain/redact.ts';
import type { SecretKey } from '../../domain/secret-key.ts';
import { isBarred } from '../../ledger/adoption.ts';
import { loginReasons } from '../../texts/errors/erp-login.ts';
import type { Logger } from '../deliver/slice.ts';
import { ErpError, type Expiry, type RequestOptions } from '../port.ts';
import type { Credentials } from '../targets/api/credentials.ts';
import { loginNeededProblem, loginUnreadableProblem } from './login-problems.ts';
import {
  type LoginLease,
  loginScope,
  noteAsked,
  noteRefused,
  noteUnasked,
  type SealedTokens,
  type StoredLogin,
  storedLogin,
  storeRenewed,
} from './login-store.ts';
import { SealError, seal, unseal } from './seal.ts';
import type { AskForTokens, Tokens } from './token-request.ts';

/** How long to wait for another process that renews the login. */
const longestWaitMs = 60_000;
const pollMs = 500;
/** Pause before a renewal without a usable answer is tried again. Servers with a grace period still accept the old token. */
const againMs = 2_000;
const mostTries = 2;
/** Answered tokens exist nowhere else, so storing them is tried for some time if the database does not answer. */
const storeTries = 15;
const storeAgainMs = 2_000;

export interface RotatingTokensOptions {
  /** Name of the ERP, for messages. */
  erp: string;
  /** Key of the company in our tables. */
  company: string;
  /** The keys that open stored tokens. The first one seals. */
  keys: readonly SecretKey[];
  /** Asks the server of tokens for new ones. */
  ask: AskForTokens;
  onClosed?: () => void;
  /** Days after which an unused login ends. Null if it does not end, or nothing is known. */
  unusedDays: number | null;
  db: Db;
  clock: Clock;
  log: Logger;
}

/**
 * The login of a person to a company (`vetledger erp login`). Each renewal may replace the refresh token, and some servers end
 * a login whose old token is used again. So one process at a time renews, under a lease; the new tokens are committed before
 * they are used; and without an answer the stored token is tried once more, because no newer one is known.
 */
export class RotatingTokens implements Credentials {
  readonly #options: RotatingTokensOptions;
  readonly #holder = `login ${randomUUID()}`;
  #token: { header: string; generation: number; untilMs: number } | null = null;
  /** The ERP refused the access token of this generation. */
  #refusedGeneration = 0;
  #renewing: Promise<string> | null = null;

  constructor(options: RotatingTokensOptions) {
    this.#options = options;
  }

  async headers({ signal }: Pick<RequestOptions, 'signal'>): Promise<Record<string, string>> {
    const { clock } = this.#options;
    if (this.#token !== null && this.#token.untilMs > clock.elapsed()) return { authorization: this.#token.header };
    // An abort ends only this wait: the answer to a running renewal must be stored.
    this.#renewing ??= this.#current().finally(() => {
      this.#renewing = null;
    });
    return { authorization: await unlessAborted(this.#renewing, signal) };
  }

  refused({ authorization }: Record<string, string>): void {
    if (this.#token === null || this.#token.header !== authorization) return;
    this.#refusedGeneration = this.#token.generation;
    this.#token = null;
  }

  async expiries(): Promise<Expiry[]> {
    const { db, company, unusedDays, erp } = this.#options;
    const login = await storedLogin(db, company);
    if (login === null || unusedDays === null) return [];
    const at = new Date(login.renewedAt.getTime() + unusedDays * 86_400_000);
    return [{ name: `${erp}, ${login.erpName}`, at, isLogin: true }];
  }

  /** Waits for a running renewal, whose answer must not be lost. */
  async close(): Promise<void> {
    await this.#renewing?.catch(() => undefined);
    this.#options.onClosed?.();
  }

  /** The header with the stored access token, or with a renewed one. */
  async #current(): Promise<string> {
    const { db, company, clock } = this.#options;
    const endMs = clock.elapsed() + longestWaitMs;
    for (;;) {
      const stored = this.#usable(await this.#login());
      if (stored !== null) return stored;
      // The renewal by a copy would end the login of the original.
      if (await isBarred(db, { kind: 'company', key: company })) throw loginNeeded(loginReasons.copy);
      const lease = await takeLease(db, loginScope(company), this.#holder);
      if (lease !== null) {
        try {
          const { signal } = new AbortController();
          return await keepLease({ db, clock, signal }, lease, () => this.#renew(lease));
        } catch (error) {
          if (!(error instanceof LeaseLost)) throw error;
        }
      }
      if (clock.elapsed() >= endMs) throw new ErpError('unsent', loginReasons.renewedElsewhere);
      await clock.sleep(pollMs);
    }
  }

  /** Renews the tokens. The caller holds the lease. */
  async #renew(lease: LoginLease): Promise<string> {
    const { db, company, clock, ask } = this.#options;
    for (let tries = 1; ; tries++) {
      const login = await this.#login();
      const newer = this.#usable(login);
      if (newer !== null) return newer;
      const { generation } = login;
      const refreshToken = this.#unsealed(login, 'refresh');
      await underLease(db, lease, (trx) => noteAsked(trx, company, generation));
      const answer = await ask(refreshToken);
      if ('error' in answer) {
        // The server did nothing. An earlier renewal without an answer stays in doubt.
        if (login.askedAt === null) await underLease(db, lease, (trx) => noteUnasked(trx, company, generation));
        throw answer.error;
      }
      if ('tokens' in answer) {
        const header = await this.#store(lease, generation, { refresh: refreshToken, ...answer.tokens });
        if (header !== null) return header;
      } else if ('lost' in answer) {
        if (tries >= mostTries) throw answer.lost;
      } else {
        const isInDoubt = login.askedAt !== null;
        await underLease(db, lease, (trx) => noteRefused(trx, company, generation, { isInDoubt }));
        // After the second refusal, this throws that a login is needed.
        await this.#login();
        if (tries >= mostTries) throw new ErpError('auth', loginReasons.refusedOnce(this.#options));
      }
      await clock.sleep(againMs);
    }
  }

  /** Commits the tokens, and uses them only then. Null if a person has logged in meanwhile. */
  async #store(lease: LoginLease, generation: number, tokens: Required<Tokens>): Promise<string | null> {
    const { db, company, keys, clock, log } = this.#options;
    const sealed = sealedTokens(tokens, { company, keys });
    const untilMs = clock.elapsed() + tokens.accessSeconds * 1_000;
    for (let tries = 1; ; tries++) {
      try {
        const isStored = await underLease(db, lease, (trx) => storeRenewed(trx, company, generation, sealed));
        return isStored ? this.#use(tokens.access, generation + 1, untilMs) : null;
      } catch (error) {
        if (error instanceof LeaseLost || tries >= storeTries) throw error;
        log.warn({ tries }, 'the renewed login could not be stored; this is tried again');
        await clock.sleep(storeAgainMs);
      }
    }
  }

  /** The header with the stored access token. Null if it has ended, or the ERP has refused it. */
  #usable(login: StoredLogin): string | null {
    if (login.accessSeconds <= 0 || login.generation <= this.#refusedGeneration) return null;
    const untilMs = this.#options.clock.elapsed() + login.accessSeconds * 1_000;
    return this.#use(this.#unsealed(login, 'access'), login.generation, untilMs);
  }

  #use(access: string, generation: number, untilMs: number): string {
    keepToken(access);
    this.#token = { header: `Bearer ${access}`, generation, untilMs };
    return this.#token.header;
  }

  /** The stored login. Throws ErpError `auth` if a person has to log in. */
  async #login(): Promise<StoredLogin> {
    const login = await storedLogin(this.#options.db, this.#options.company);
    if (login === null) throw loginNeeded(loginReasons.none);
    if (login.state === 'ready') return login;
    const { loggedInAt, askedAt } = login;
    const day = loggedInAt.toISOString().slice(0, 10);
    const at = askedAt?.toISOString();
    throw loginNeeded(at === undefined ? loginReasons.refused({ day }) : loginReasons.refusedAfterLoss({ day, at }));
  }

  #unsealed(login: StoredLogin, which: 'refresh' | 'access'): string {
    const { company, keys } = this.#options;
    return openToken(login, which, { company, keys });
  }
}

/** Tokens, sealed with the first key. Throws ErpError `auth` without a key. */
export function sealedTokens(
  { refresh, access, accessSeconds }: Required<Tokens>,
  { company, keys: [key] }: { company: string; keys: readonly SecretKey[] },
): SealedTokens {
  if (key === undefined) throw unreadable(loginReasons.noKey);
  return {
    keyId: key.id,
    refresh: seal(refresh, key, about(company, 'refresh')).content,
    access: seal(access, key, about(company, 'access')).content,
    accessSeconds,
  };
}

/** A stored token. Throws ErpError `auth`. */
export function openToken(
  login: StoredLogin,
  which: 'refresh' | 'access',
  { company, keys }: { company: string; keys: readonly SecretKey[] },
): string {
  if (keys.length === 0) throw unreadable(loginReasons.noKey);
  try {
    const token = unseal({ keyId: login.keyId, content: login[which] }, keys, about(company, which));
    keepToken(token);
    return token;
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw unreadable(error.isKeyMissing ? loginReasons.otherKey({ key: error.keyId }) : loginReasons.damaged);
  }
}

/** A sealed token belongs to its company and its purpose. */
function about(company: string, which: 'refresh' | 'access'): string {
  return `${company}\n${which}`;
}

function loginNeeded(reason: string): ErpError {
  return new ErpError('auth', reason, { problem: loginNeededProblem });
}

function unreadable(reason: string): ErpError {
  return new ErpError('auth', reason, { problem: loginUnreadableProblem });
}
