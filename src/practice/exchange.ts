import type { Clock } from '../domain/clock.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { type JsonValue, stringifyJson } from '../records/json.ts';
import { readAnswer } from './answers.ts';
import type { Auth } from './auth.ts';
import type { OnWait, RateBudget } from './budget.ts';
import type { CounterSet } from './counters.ts';
import type { HttpAnswer, Method, Transport } from './http.ts';
import { backoffMs, longestPauseMs, maxAttempts } from './retry.ts';

/** 429s in a row after which one request gives up; each halves the limit and waits as the server says. */
const maxThrottles = 8;

/** The part of a pino logger that is used. */
export interface Log {
  debug(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** What every request of a client shares. */
export interface ExchangeContext {
  auth: Auth;
  budget: RateBudget;
  transport: Transport;
  clock: Clock;
  random: () => number;
  log: Log;
  counters: CounterSet;
  signal: AbortSignal | undefined;
  onWait: OnWait | undefined;
}

export interface ExchangeRequest<Body> {
  method: Method;
  url: string;
  body?: JsonValue;
  action: string;
  weight: number;
  priority: number;
  /** Reads the body of a good answer; throws SyntaxError where it is no JSON. */
  parse(body: string): Body;
}

export interface Exchanged<Body> {
  /** Null for an answer without a body. */
  value: Body | null;
  answer: HttpAnswer;
}

/**
 * One request until it is answered well. Every attempt takes from the budget anew. GET and PATCH are repeated, a POST never:
 * it might do its work twice. Repeated are time-outs, broken connections, 5xx and what is not JSON (4 attempts), 429 once the
 * budget allows (8), and 401 once, with a renewed token. Throws PracticeError, or the signal's reason.
 */
export async function exchange<Body>(
  context: ExchangeContext,
  request: ExchangeRequest<Body>,
): Promise<Exchanged<Body>> {
  const { auth, clock, counters, log, random, signal } = context;
  const repeatable = request.method !== 'POST';
  let failures = 0;
  let throttles = 0;
  let renewed = false;
  for (;;) {
    // Before the budget: a slot's life is reckoned from its grant.
    const token = await auth.token(signal);
    try {
      return await attemptOnce(context, request, token);
    } catch (error) {
      if (!(error instanceof PracticeError) || !repeatable) throw error;
      if (error.code === 'unauthorized') {
        if (renewed || !(await auth.renew(token, signal))) throw error;
        renewed = true;
      } else if (error.code === 'throttled') {
        // Without a status it is our own budget that had no room in its longest wait.
        if (error.status !== 429 || ++throttles >= maxThrottles) throw error;
      } else {
        if (!error.retryable || ++failures >= maxAttempts || (error.retryAfterMs ?? 0) > longestPauseMs) throw error;
      }
      counters.add(request.action, { retry: error.code });
      log.warn({ action: request.action, code: error.code, status: error.status }, `${error.message}; trying again`);
      if (failures > 0 && error.retryable && error.code !== 'throttled') {
        await clock.sleep(Math.max(backoffMs(failures, random), error.retryAfterMs ?? 0), signal);
      }
    }
  }
}

async function attemptOnce<Body>(
  context: ExchangeContext,
  request: ExchangeRequest<Body>,
  token: string,
): Promise<Exchanged<Body>> {
  const { budget, clock, counters, log, onWait, signal, transport } = context;
  const { action, method, url, weight } = request;
  const slot = await budget.take(action, weight, request.priority, signal, (ms) => {
    counters.add(action, { waitedMs: ms });
    onWait?.(ms, action);
  });
  counters.add(action, { requests: 1, weight });
  const answer = await transport.send({
    method,
    url,
    headers: {
      authorization: `Bearer ${token}`,
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(request.body === undefined ? {} : { body: stringifyJson(request.body) }),
    signal,
  });
  if ('error' in answer) {
    // One that may be on its way yet keeps its slot.
    if (!answer.sent) slot.finish('notSent');
    throw answer.error;
  }
  slot.finish();
  const path = new URL(url).pathname;
  log.debug({ action, method, path, status: answer.status, weight, ms: Math.round(answer.durationMs) }, 'practice API');
  try {
    const redact = (said: string) => said.replaceAll(token, '…');
    const value = readAnswer(answer, method, path, clock.now(), redact, request.parse);
    return { value, answer };
  } catch (error) {
    if (answer.status === 429 && error instanceof PracticeError) {
      counters.add(action, { throttled: 1 });
      await slot.throttled(error.retryAfterMs ?? 1000);
    }
    throw error;
  }
}
