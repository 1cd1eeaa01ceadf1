import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Clock } from '../domain/clock.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { pageLimits } from '../records/limits.ts';
import { dateOf, type HttpRequest, type NoAnswer, type Transport } from './http.ts';
import { PhaseTimeout, sendOnce, TooLarge } from './send-once.ts';

export interface Timeouts {
  /** Until the connection is established, TLS included. */
  connectMs: number;
  /** From the end of the request to the response's first byte. */
  responseMs: number;
  /** The whole request. */
  requestMs: number;
}

export const defaultTimeouts: Timeouts = { connectMs: 10_000, responseMs: 60_000, requestMs: 90_000 };

/** `Date` has whole seconds. */
const dateSecondMs = 1_000;

/** Drift of two clocks, far above that of real ones. */
const maxDrift = 0.001;

/** A transport with keep-alive connections. `maxBytes` limits the decompressed body. */
export function createTransport(options: { timeouts: Timeouts; clock: Clock; maxBytes?: number }): Transport {
  const { timeouts, clock } = options;
  const maxBytes = options.maxBytes ?? pageLimits.bytes;
  const agents = { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) };
  let latestDate: number | null = null;
  // Lower bound of the server's lead over our clock: the best of all answers, lowered over time because clocks drift.
  let ahead: { ms: number; at: number } | null = null;
  const aheadNow = () => ahead && ahead.ms - (clock.elapsed() - ahead.at) * maxDrift;
  return {
    send: async (request) => {
      const dateBefore = latestDate;
      try {
        const started = clock.elapsed();
        const answered = await sendOnce(request, { agents, timeouts, maxBytes });
        const answer = { ...answered, durationMs: clock.elapsed() - started };
        const date = dateOf(answer);
        if (date !== null) {
          latestDate = date;
          const known = aheadNow();
          // What was known is void where the server's clock was put back.
          const isPutBack = known !== null && known > date + dateSecondMs + answer.durationMs - clock.now();
          const least = known === null || isPutBack ? Number.NEGATIVE_INFINITY : known;
          ahead = { ms: Math.max(date - clock.now(), least), at: clock.elapsed() };
        }
        return { ...answer, dateBefore };
      } catch (error) {
        request.signal?.throwIfAborted();
        return { ...noAnswer(error, request, maxBytes) };
      }
    },
    serverNow: () => {
      const ms = aheadNow();
      return ms === null ? null : clock.now() + ms;
    },
    close: () => {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

/** Errors before a connection existed: the server cannot have received the request. */
const neverConnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

function noAnswer(error: unknown, request: HttpRequest, maxBytes: number): NoAnswer {
  const details = { method: request.method, path: new URL(request.url).pathname };
  if (error instanceof TooLarge) {
    const message = `the answer is larger than ${Math.round(maxBytes / 1024 / 1024)} MB and was refused`;
    return { error: new PracticeError('answer_too_large', message, details), sent: true };
  }
  if (error instanceof PhaseTimeout) {
    const sent = error.phase !== 'connect';
    const message = sent
      ? `no complete answer in time (${error.phase} time-out)`
      : `no connection in time (${error.phase} time-out)`;
    return { error: new PracticeError(sent ? 'timeout' : 'unreachable', message, details), sent };
  }
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
    const { code } = error;
    const sent = !neverConnected.has(code);
    const message = sent ? `the connection broke off (${code})` : `no connection (${error.message || code})`;
    return { error: new PracticeError('unreachable', message, details), sent };
  }
  throw error;
}
