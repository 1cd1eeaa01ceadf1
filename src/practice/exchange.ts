import type { Clock } from '../domain/clock.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { requestIds } from '../domain/request-ids.ts';
import { isJsonObject, type JsonValue, stringifyJson } from '../records/json.ts';
import { practiceTexts, practiceWaits } from '../texts/errors/practice.ts';
import { readAnswer } from './answers.ts';
import type { Auth } from './auth.ts';
import type { OnWait, RateBudget } from './budget.ts';
import type { CounterSet } from './counters.ts';
import type { HttpAnswer, Method, Transport } from './http.ts';
import type { Log } from './log.ts';
import { longestPauseMs, maxAttempts, retryPauseMs } from './retry.ts';

/** A request fails after this number of 429s. Each of them halves the limit and waits for Retry-After. */
const maxThrottles = 8;

/** The data that all requests of a client share. */
export interface ExchangeContext {
  auth: Auth;
  budget: RateBudget;
  transport: Transport;
  clock: Clock;
  random: () => number;
  /** Makes the id that identifies a request in the log. */
  newRequestId: () => string;
  log: Log;
  counters: CounterSet;
  signal: AbortSignal | undefined;
  onWait: OnWait | undefined;
  onOutcome: OnOutcome | undefined;
  onWaiting: OnWaiting | undefined;
}

/** Called when a request begins to wait. The returned function is called when the wait ends. */
export type OnWaiting = (what: string) => () => void;

/**
 * Called after each attempt of a request: with null if it succeeded, with its error if it will be repeated. The last
 * error is thrown.
 */
export type OnOutcome = (error: PracticeError | null, action: string) => void;

export interface ExchangeRequest<Body> {
  method: Method;
  url: string;
  body?: JsonValue;
  action: string;
  weight: number;
  priority: number;
  /**
   * A time by the clock's `elapsed`. If the budget has no room until then, the request is not sent and fails as
   * `throttled`.
   */
  sendUntilMs?: number | undefined;
  /** Reads the body of a successful answer. Throws SyntaxError if it is not JSON. */
  parse(body: string): Promise<Body>;
}

/** The time span of a request, by the database's clock. */
export interface Asked {
  /** The time before the request was sent. */
  askedAt: Date;
  /** The time after the answer arrived. */
  answeredAt: Date;
}

export interface Exchanged<Body> extends Asked {
  /** The body of the answer. Null for an answer without a body. */
  value: Body | null;
  answer: HttpAnswer;
}

/** How much faster the database's clock may run than this process's, and the loss by rounding to milliseconds. */
const clockDrift = 1.001;
const roundingMs = 1;

/**
 * Codes that the caller may expect and explain, for example a refused filter or a missing record. They are logged at
 * debug level.
 */
const expected: ReadonlySet<string> = new Set(['not_found', 'refused', 'forbidden']);

/**
 * Sends a request and repeats it until it succeeds. Every attempt takes a slot of the budget. POST is never repeated,
 * because it might take effect twice. PATCH is not repeated if it may have taken effect. Time-outs, broken connections,
 * 5xx and bodies that are not JSON are repeated (4 attempts), and 429 (8 attempts). After a 401 it is repeated once,
 * with a renewed token. Throws PracticeError, or the signal's reason. All log lines about a request contain its id, and
 * the server's id if the answer has one.
 */
export async function exchange<Body>(
  context: ExchangeContext,
  request: ExchangeRequest<Body>,
): Promise<Exchanged<Body>> {
  try {
    return await repeat(context, request, context.newRequestId());
  } catch (error) {
    if (error instanceof PracticeError && error.requestIds !== null) {
      const { requestIds, code, status } = error;
      const level = expected.has(code) ? 'debug' : 'warn';
      context.log[level](
        { ...requestIds, action: request.action, code, status },
        practiceTexts.givenUp({ error: error.message }),
      );
    }
    throw error;
  }
}

async function repeat<Body>(
  context: ExchangeContext,
  request: ExchangeRequest<Body>,
  id: string,
): Promise<Exchanged<Body>> {
  const { auth, clock, counters, log, onOutcome, random, signal } = context;
  const repeatable = request.method !== 'POST';
  let failures = 0;
  let throttles = 0;
  let renewed = false;
  for (;;) {
    // The token is fetched first, because the slot's time runs from the moment it is taken.
    const token = await waiting(context, practiceWaits.token, () => auth.token(signal));
    try {
      const exchanged = await attemptOnce(context, request, { id, token });
      onOutcome?.(null, request.action);
      return exchanged;
    } catch (error) {
      if (!(error instanceof PracticeError) || !repeatable) throw error;
      if (error.code === 'unauthorized') {
        const renew = () => auth.renew(token, signal);
        if (renewed || !(await waiting(context, practiceWaits.newToken, renew))) {
          await auth.refused?.();
          throw error;
        }
        renewed = true;
      } else if (error.code === 'throttled') {
        // Without a status, the error comes from the budget, which had no free slot within its longest wait.
        if (error.status !== 429 || ++throttles >= maxThrottles) throw error;
      } else {
        // The source may have applied the change, and another program may have written since. The caller reads the
        // record before it sends again.
        if (request.method === 'PATCH') throw error;
        if (!error.retryable || ++failures >= maxAttempts || (error.retryAfterMs ?? 0) > longestPauseMs) throw error;
      }
      counters.add(request.action, { retry: error.code });
      onOutcome?.(error, request.action);
      const { action } = request;
      const { code, status, requestIds: ids } = error;
      log.warn({ ...ids, action, code, status }, practiceTexts.tryingAgain({ error: error.message }));
      if (failures > 0 && error.retryable && error.code !== 'throttled') {
        const pauseMs = Math.max(retryPauseMs(failures, random), error.retryAfterMs ?? 0);
        const what = practiceWaits.nextAttempt({ action, failed: failures, most: maxAttempts });
        await waiting(context, what, () => clock.sleep(pauseMs, signal));
      }
    }
  }
}

async function waiting<T>({ onWaiting }: ExchangeContext, what: string, work: () => Promise<T>): Promise<T> {
  const ended = onWaiting?.(what);
  try {
    return await work();
  } finally {
    ended?.();
  }
}

async function attemptOnce<Body>(
  context: ExchangeContext,
  request: ExchangeRequest<Body>,
  { id, token }: { id: string; token: string },
): Promise<Exchanged<Body>> {
  const { budget, clock, counters, log, onWait, signal, transport } = context;
  const { action, method, url, weight } = request;
  const path = new URL(url).pathname;
  const slot = await waiting(context, practiceWaits.budget({ action }), () =>
    budget.take(
      action,
      weight,
      request.priority,
      signal,
      (ms) => {
        counters.add(action, { waitedMs: ms });
        onWait?.(ms, action);
      },
      request.sendUntilMs,
    ),
  );
  if (signal?.aborted) {
    slot.finish('notSent');
    signal.throwIfAborted();
  }
  counters.add(action, { requests: 1, weight });
  const send = () =>
    transport.send({
      method,
      url,
      headers: {
        authorization: `Bearer ${token}`,
        ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(request.body === undefined ? {} : { body: stringifyJson(request.body) }),
      signal,
    });
  const answer = await waiting(context, practiceWaits.answer({ method, path }), send);
  if ('error' in answer) {
    // A request that may still arrive at the server keeps its slot.
    if (!answer.sent) slot.finish('notSent');
    answer.error.requestIds = requestIds(id);
    throw answer.error;
  }
  slot.finish();
  const tookMs = (clock.elapsed() - slot.askedMs) * clockDrift + roundingMs;
  const asked = { askedAt: slot.askedAt, answeredAt: new Date(slot.askedAt.getTime() + Math.ceil(tookMs)) };
  const ids = requestIds(id, answer.headers);
  const { status, durationMs } = answer;
  log.debug({ ...ids, action, method, path, status, weight, ms: Math.round(durationMs) }, 'practice API');
  try {
    const value = await readAnswer(answer, method, path, clock.now(), namesIn(request), request.parse);
    await context.auth.accepted?.();
    return { value, answer, ...asked };
  } catch (error) {
    if (error instanceof PracticeError) error.requestIds = ids;
    if (answer.status === 429 && error instanceof PracticeError) {
      counters.add(action, { throttled: 1 });
      await slot.throttled(error.retryAfterMs ?? 1000);
    }
    throw error;
  }
}

/** Names of the filters and fields that a request sends. */
function namesIn({ url, body }: Pick<ExchangeRequest<unknown>, 'url' | 'body'>): string[] {
  return [...new URL(url).searchParams.keys(), ...(isJsonObject(body) ? Object.keys(body) : [])];
}
