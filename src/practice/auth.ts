import type { Clock } from '../domain/clock.ts';
import { unlessAborted } from '../domain/concurrency.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { keepSecret, keepToken } from '../domain/redact.ts';
import { requestIds } from '../domain/request-ids.ts';
import { withoutEnd } from '../domain/text.ts';
import type { Dialect } from '../records/dialect.ts';
import { isJsonObject } from '../records/json.ts';
import { readSmall } from '../records/list-body.ts';
import { integer } from '../records/values.ts';
import { practiceTexts } from '../texts/errors/practice.ts';
import { readAnswer } from './answers.ts';
import type { HttpAnswer, Transport } from './http.ts';
import { type Log, newRequestId } from './log.ts';
import { longestPauseMs, maxAttempts, retryPauseMs } from './retry.ts';
import { fixedSecret, type Secret } from './secret.ts';

/** Provides access tokens (practice-api: Authentication). No error and no log contains tokens or secrets. */
export interface Auth {
  /** The token to send. Throws PracticeError. */
  token(signal?: AbortSignal): Promise<string>;
  /** Called after the server refused the token `refused` (401). Returns whether another token is available. */
  renew(refused: string, signal?: AbortSignal): Promise<boolean>;
  /** The client calls this after the server has refused the last available token. */
  refused?(): Promise<void>;
  /** The client calls this after each answer for which the server accepted the token. */
  accepted?(): Promise<void>;
}

/** A configured token. A token from a file is read again after a 401. */
export function staticToken(token: string | Secret): Auth {
  const secret = typeof token === 'string' ? fixedSecret(token) : token;
  return {
    token: async () => secret.current(),
    renew: async (refused) => {
      secret.readAgain();
      return secret.current() !== refused;
    },
  };
}

export interface ClientCredentialsOptions {
  baseUrl: string;
  installation: number;
  clientId: string;
  clientSecret: string | Secret;
  dialect: Dialect;
  transport: Transport;
  clock: Clock;
  log: Log;
  random?: () => number;
}

/**
 * OAuth2 client credentials (field-notes: Lists and filters). A token is kept until shortly before it expires.
 * Concurrent requests share one request for a token.
 */
export function clientCredentials(options: ClientCredentialsOptions): Auth {
  const { clock } = options;
  const secret = typeof options.clientSecret === 'string' ? fixedSecret(options.clientSecret) : options.clientSecret;
  let current: { token: string; renewAtMs: number } | null = null;
  let fetching: Promise<string> | null = null;

  const fetchOnce = (): Promise<string> => {
    fetching ??= fetchWithSecret(options, secret)
      .then(({ token, lifeMs }) => {
        current = { token, renewAtMs: clock.elapsed() + lifeMs - Math.min(60_000, lifeMs / 10) };
        return token;
      })
      .finally(() => {
        fetching = null;
      });
    return fetching;
  };

  return {
    token: async (signal) => {
      if (current && clock.elapsed() < current.renewAtMs) return current.token;
      return unlessAborted(fetchOnce(), signal);
    },
    renew: async (refused, signal) => {
      // Another request has already renewed the token.
      if (current && current.token !== refused) return true;
      current = null;
      // An abort ends only this wait. The shared request continues, and has its time-outs.
      return (await unlessAborted(fetchOnce(), signal)) !== refused;
    },
  };
}

/** The name of token requests in the log, in place of an action of the rate budget. */
const action = 'token';

/** Fetches a token. If the secret is refused and comes from a file, the file is read again once. */
async function fetchWithSecret(options: ClientCredentialsOptions, secret: Secret) {
  try {
    return await fetchToken(options, secret.current());
  } catch (error) {
    if (!(error instanceof PracticeError) || error.code !== 'unauthorized' || !secret.readAgain()) throw error;
    return fetchToken(options, secret.current());
  }
}

async function fetchToken(
  options: ClientCredentialsOptions,
  clientSecret: string,
): Promise<{ token: string; lifeMs: number }> {
  const { clock, log, random = Math.random } = options;
  const id = newRequestId();
  for (let attempt = 1; ; attempt++) {
    try {
      return await fetchTokenOnce(options, clientSecret, id);
    } catch (error) {
      if (!(error instanceof PracticeError)) throw error;
      error.requestIds ??= requestIds(id);
      // The last error is not logged here, because the caller reports it.
      if (!error.retryable || attempt >= maxAttempts || (error.retryAfterMs ?? 0) > longestPauseMs) throw error;
      const { code, status, requestIds: ids } = error;
      log.warn({ ...ids, action, code, status }, practiceTexts.tryingAgain({ error: error.message }));
      await clock.sleep(Math.max(retryPauseMs(attempt, random), error.retryAfterMs ?? 0));
    }
  }
}

async function fetchTokenOnce(
  { baseUrl, installation, clientId, dialect, transport, clock, log }: ClientCredentialsOptions,
  clientSecret: string,
  id: string,
): Promise<{ token: string; lifeMs: number }> {
  const url = `${withoutEnd(baseUrl, '/')}/${installation}/${dialect.paths.token}`;
  const path = new URL(url).pathname;
  // RFC 6749, 2.3.1: id and secret are form-encoded before they are joined.
  const basic = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString('base64');
  keepSecret(basic);
  const answer = await transport.send({
    method: 'POST',
    url,
    headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
    body: 'grant_type=client_credentials',
  });
  if ('error' in answer) throw answer.error;
  const ids = requestIds(id, answer.headers);
  const { status, durationMs } = answer;
  log.debug({ ...ids, action, method: 'POST', path, status, ms: Math.round(durationMs) }, 'practice API');
  try {
    return await readToken(answer, path, clock.now());
  } catch (error) {
    if (error instanceof PracticeError) error.requestIds = ids;
    throw error;
  }
}

/** The token in an answer, and its lifetime. Throws PracticeError. */
async function readToken(answer: HttpAnswer, path: string, nowMs: number): Promise<{ token: string; lifeMs: number }> {
  // RFC 6749, 5.2: a server may answer 400 for an unknown client, which is treated like 401. The error does not contain
  // the body, because it may quote the client.
  if ([400, 401, 403].includes(answer.status)) {
    throw new PracticeError('unauthorized', practiceTexts.secretRefused({ status: answer.status }), {
      method: 'POST',
      path,
      status: answer.status,
    });
  }
  const value = await readAnswer(answer, 'POST', path, nowMs, [], async (body) => readSmall('token', body));
  const token = isJsonObject(value) ? value.access_token : undefined;
  if (!isJsonObject(value) || typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) {
    throw new PracticeError('malformed_response', practiceTexts.noToken, { method: 'POST', path });
  }
  keepToken(token);
  const seconds = integer.read(value.expires_in);
  // Without expires_in, the token is used until the server refuses it.
  const lifeMs = seconds !== undefined && seconds > 0 ? seconds * 1000 : Number.POSITIVE_INFINITY;
  return { token, lifeMs };
}
