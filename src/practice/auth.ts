import type { Clock } from '../domain/clock.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { keepSecret } from '../domain/redact.ts';
import { inSlices } from '../domain/slices.ts';
import type { Dialect } from '../records/dialect.ts';
import { isJsonObject } from '../records/json.ts';
import { readSmall } from '../records/list-body.ts';
import { integer } from '../records/values.ts';
import { readAnswer } from './answers.ts';
import type { Transport } from './http.ts';
import { backoffMs, longestPauseMs, maxAttempts } from './retry.ts';

/** Provides access tokens (practice-api: Authentication). Tokens and secrets appear in no error and no log. */
export interface Auth {
  /** The token to send. Throws PracticeError. */
  token(signal?: AbortSignal): Promise<string>;
  /** Called after the server refused the token `refused` (401). Whether another token is available. */
  renew(refused: string, signal?: AbortSignal): Promise<boolean>;
}

/** A configured token, which cannot be renewed. */
export function staticToken(token: string): Auth {
  keepSecret(token);
  return { token: async () => token, renew: async () => false };
}

export interface ClientCredentialsOptions {
  baseUrl: string;
  installation: number;
  clientId: string;
  clientSecret: string;
  dialect: Dialect;
  transport: Transport;
  clock: Clock;
  random?: () => number;
}

/**
 * OAuth2 client credentials (field-notes: Lists and filters). A token is kept until shortly before it expires; concurrent
 * requests share one fetch.
 */
export function clientCredentials(options: ClientCredentialsOptions): Auth {
  const { clock } = options;
  let current: { token: string; renewAtMs: number } | null = null;
  let fetching: Promise<string> | null = null;

  const fetchOnce = (): Promise<string> => {
    fetching ??= fetchToken(options)
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
      // Another request has renewed it meanwhile.
      if (current && current.token !== refused) return true;
      current = null;
      return (await unlessAborted(fetchOnce(), signal)) !== refused;
    },
  };
}

/** The promise, or the signal's reason. The shared fetch goes on; it has time-outs of its own. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

async function fetchToken(options: ClientCredentialsOptions): Promise<{ token: string; lifeMs: number }> {
  const { clock, random = Math.random } = options;
  for (let attempt = 1; ; attempt++) {
    try {
      return await fetchTokenOnce(options);
    } catch (error) {
      if (!(error instanceof PracticeError) || !error.retryable || attempt >= maxAttempts) throw error;
      if ((error.retryAfterMs ?? 0) > longestPauseMs) throw error;
      await clock.sleep(Math.max(backoffMs(attempt, random), error.retryAfterMs ?? 0));
    }
  }
}

async function fetchTokenOnce(options: ClientCredentialsOptions): Promise<{ token: string; lifeMs: number }> {
  const { baseUrl, installation, clientId, clientSecret, dialect, transport, clock } = options;
  const url = `${baseUrl.replace(/\/+$/, '')}/${installation}/${dialect.paths.token}`;
  const path = new URL(url).pathname;
  // RFC 6749, 2.3.1: id and secret are form-encoded before they are joined.
  const basic = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString('base64');
  keepSecret(clientSecret);
  keepSecret(basic);
  const answer = await transport.send({
    method: 'POST',
    url,
    headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
    body: 'grant_type=client_credentials',
  });
  if ('error' in answer) throw answer.error;
  // RFC 6749, 5.2: 400 for an unknown client, treated as 401. The body is left out of the error: it may quote the client.
  if ([400, 401, 403].includes(answer.status)) {
    throw new PracticeError('unauthorized', `the client id and secret were not accepted (${answer.status})`, {
      method: 'POST',
      path,
      status: answer.status,
    });
  }
  const value = await readAnswer(answer, 'POST', path, clock.now(), [], (body) => inSlices(readSmall('token', body)));
  const token = isJsonObject(value) ? value.access_token : undefined;
  if (!isJsonObject(value) || typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) {
    throw new PracticeError('malformed_response', 'the answer holds no usable access_token', { method: 'POST', path });
  }
  keepSecret(token);
  const seconds = integer.read(value.expires_in);
  // Without expires_in the token is used until the server refuses it.
  const lifeMs = seconds !== undefined && seconds > 0 ? seconds * 1000 : Number.POSITIVE_INFINITY;
  return { token, lifeMs };
}
