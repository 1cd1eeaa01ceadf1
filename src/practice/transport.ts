import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import got, { type Got, RequestError, TimeoutError } from 'got';
import type { Clock } from '../domain/clock.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { pageLimits } from '../records/limits.ts';
import { connectionTexts } from '../texts/connections.ts';
import { practiceTexts } from '../texts/errors/practice.ts';
import { dateOf, type HttpAnswer, type HttpRequest, type NoAnswer, type Transport } from './http.ts';

export interface Timeouts {
  /** Time limit until the connection is established, TLS included. */
  connectMs: number;
  /** Time limit from the end of the request to the first byte of the response. */
  responseMs: number;
  /** Time limit of the whole request. */
  requestMs: number;
}

export const defaultTimeouts: Timeouts = { connectMs: 10_000, responseMs: 60_000, requestMs: 90_000 };

/** `Date` has whole seconds. */
const dateSecondMs = 1_000;

/** Relative drift of the two clocks, chosen far above that of real clocks. */
const maxDrift = 0.001;

/** A transport with keep-alive connections. `maxBytes` limits the decompressed body. */
export function createTransport(options: { timeouts: Timeouts; clock: Clock; maxBytes?: number }): Transport {
  const { timeouts, clock } = options;
  const maxBytes = options.maxBytes ?? pageLimits.bytes;
  const agent = { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) };
  const client = got.extend({
    agent,
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    timeout: {
      lookup: timeouts.connectMs,
      connect: timeouts.connectMs,
      secureConnect: timeouts.connectMs,
      response: timeouts.responseMs,
      request: timeouts.requestMs,
    },
    headers: { 'user-agent': 'vetledger', accept: 'application/json' },
  });
  let latestDate: number | null = null;
  // Lower bound of how far the server's clock is ahead of ours: the best value of all answers. It decreases over time,
  // because clocks drift.
  let ahead: { ms: number; at: number } | null = null;
  const aheadNow = () => ahead && ahead.ms - (clock.elapsed() - ahead.at) * maxDrift;
  return {
    send: async (request) => {
      const dateBefore = latestDate;
      try {
        const answer = await sendOnce(client, request, clock, maxBytes);
        const date = dateOf(answer);
        if (date !== null) {
          latestDate = date;
          const known = aheadNow();
          // If the server's clock was set back, the earlier bound is not valid any more.
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
      agent.http.destroy();
      agent.https.destroy();
    },
  };
}

/**
 * Uses a stream of got. A promise costs a fifth more time, and could not stop a body that is too large without another
 * abort signal.
 */
async function sendOnce(
  client: Got,
  { url, method, headers, body, signal }: HttpRequest,
  clock: Clock,
  maxBytes: number,
): Promise<Omit<HttpAnswer, 'dateBefore'>> {
  const started = clock.elapsed();
  const answering = client.stream(url, {
    ...{ method, headers },
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  await new Promise<void>((resolve, reject) => {
    answering.on('error', reject);
    answering.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      reject(new TooLarge());
      answering.destroy();
    });
    answering.once('end', resolve);
  });
  const { response } = answering;
  if (response === undefined) throw new Error('a body came without its response');
  return {
    status: response.statusCode,
    headers: response.headers,
    body: new TextDecoder().decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, bytes)),
    durationMs: clock.elapsed() - started,
  };
}

class TooLarge extends Error {}

/** Errors that occur before a connection exists, so the server cannot have received the request. */
const neverConnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

function noAnswer(error: unknown, request: HttpRequest, maxBytes: number): NoAnswer {
  const details = { method: request.method, path: new URL(request.url).pathname };
  if (error instanceof TooLarge) {
    const message = practiceTexts.answerTooLarge({ megabytes: Math.round(maxBytes / 1024 / 1024) });
    return { error: new PracticeError('answer_too_large', message, details), sent: true };
  }
  if (error instanceof TimeoutError) {
    const sent = !['lookup', 'connect', 'secureConnect'].includes(error.event);
    const message = sent
      ? connectionTexts.noAnswerInTime({ event: error.event })
      : connectionTexts.noConnectionInTime({ event: error.event });
    return { error: new PracticeError(sent ? 'timeout' : 'unreachable', message, details), sent };
  }
  if (error instanceof RequestError) {
    const sent = !neverConnected.has(error.code);
    const message = sent
      ? connectionTexts.interrupted({ code: error.code })
      : connectionTexts.noConnection({ reason: error.message });
    return { error: new PracticeError('unreachable', message, details), sent };
  }
  throw error;
}
