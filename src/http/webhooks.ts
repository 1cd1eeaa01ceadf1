import { createHash, timingSafeEqual } from 'node:crypto';
import type { Server } from 'node:http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Clock } from '../domain/clock.ts';
import { networkOf } from '../domain/network.ts';
import { httpAnswers, listenErrors } from '../texts/errors/listening.ts';
import { headersTimeoutMs, limitConnections } from './connections.ts';
import { listenAt } from './listen.ts';
import { KeyedBuckets, TokenBucket } from './token-buckets.ts';

/**
 * The largest accepted body in bytes. A webhook carries the id of one record (field-notes: Webhooks for record
 * changes).
 */
const bodyLimit = 16 * 1024;
const maxHeaderSize = 8 * 1024;
/** Milliseconds for receiving a whole request. It is also the longest idle time of a connection. */
const requestTimeout = 5_000;
const checkEveryMs = 500;
/**
 * Limit of wrong requests from one address: ten at once, then one every six seconds. Further requests are answered with
 * 429.
 */
const refusalsAtOnce = 10;
const refusalEveryMs = 6_000;
const maxAddresses = 1_000;
const reportEveryMs = 60_000;

export interface ReceiverOptions {
  host: string;
  /** The port of the server. 0 means any free port. */
  port: number;
  secret: string;
  installations: readonly number[] | { has(installation: number): boolean };
  /** Called for each accepted webhook. It must return at once, because the answer waits for it. */
  nudge(installation: number): void;
  clock: Clock;
  /**
   * Called at most once a minute. `count` is the number of refused requests and closed connections since the last call.
   * Refused requests are not logged one by one.
   */
  refused(count: number): void;
}

export interface Receiver {
  /** The address without installation and secret. */
  url: string;
  close(): Promise<void>;
}

/**
 * Receives webhooks for record changes: `POST /webhooks/<installation>/<secret>`, or `POST /webhooks/<installation>`
 * with the secret as a bearer token. A webhook with the right secret is answered with 200 at once and nudges the
 * installation. Its body is ignored, because a window reads all changes anyway. A forged webhook can therefore only
 * start a window. A wrong secret and an unknown installation get the same answer, 404. Throws UserError if the address
 * cannot be used.
 */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const app = createServer(options);
  const url = await listenAt(app, options, listenErrors.webhooks);
  return { url: `${url}/webhooks`, close: () => app.close() };
}

function createServer(options: ReceiverOptions): FastifyInstance {
  const gate = new Gate(options);
  const app = fastify({
    bodyLimit,
    requestTimeout,
    // A sender that kept its connection could send its next request just when this connection is closed for another client.
    maxRequestsPerSocket: 1,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    http: { maxHeaderSize, headersTimeout: headersTimeoutMs, connectionsCheckingInterval: checkEveryMs },
    // A malformed URL gets the same answer as an unknown one.
    frameworkErrors: (_error, _request, reply) => void refuse(reply as FastifyReply, 404),
  });
  limitConnections(app.server as Server, () => gate.note());
  // Bodies of any content type are read up to the limit and discarded.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => done(null));
  app.setNotFoundHandler((_request, reply) => refuse(reply, 404));
  app.setErrorHandler((error: { statusCode?: number }, _request, reply) => refuse(reply, error.statusCode ?? 500));
  // The check runs in onRequest, so that the body of a refused request is not read.
  app.addHook('onRequest', async (request, reply) => {
    const status = gate.statusOf(request);
    if (status !== 200) return refuse(reply, status);
    // Fastify would refuse a malformed content type, although the body is discarded.
    request.raw.headers['content-type'] = 'application/octet-stream';
  });
  app.post('/*', async (request, reply) => {
    const { installation } = addressOf(request);
    if (installation !== null) options.nudge(installation);
    return reply.code(200).send({ ok: true });
  });
  return app;
}

const details: Record<number, string> = {
  404: httpAnswers.notFound,
  405: httpAnswers.onlyPost,
  413: httpAnswers.bodyTooLarge,
  429: httpAnswers.tooManyWrong,
};

function refuse(reply: FastifyReply, status: number): FastifyReply {
  reply.code(status);
  if (status === 405) reply.header('allow', 'POST');
  if (status === 429) reply.header('retry-after', String(refusalEveryMs / 1000));
  return reply.send({ detail: details[status] ?? httpAnswers.refused });
}

/** Decides which requests may nudge an installation. */
class Gate {
  readonly #secret: Buffer;
  readonly #installations: { has(installation: number): boolean };
  readonly #refusals: KeyedBuckets;
  readonly #clock: Clock;
  readonly #report: (count: number) => void;
  #refused = 0;
  #reportedAt = Number.NEGATIVE_INFINITY;

  constructor({ secret, installations, clock, refused }: ReceiverOptions) {
    this.#secret = digest(secret);
    this.#installations = 'has' in installations ? installations : new Set(installations);
    this.#refusals = new KeyedBuckets((nowMs) => new TokenBucket(refusalsAtOnce, refusalEveryMs, nowMs), maxAddresses);
    this.#clock = clock;
    this.#report = refused;
  }

  /**
   * Returns 200, or the status to refuse with. The right secret never gets 429, even if its address has sent many wrong
   * requests.
   */
  statusOf(request: FastifyRequest): number {
    const { isWebhook, installation, secret } = addressOf(request);
    if (isWebhook && request.method !== 'POST') return 405;
    const isRight = timingSafeEqual(digest(secret ?? ''), this.#secret);
    if (isWebhook && isRight && installation !== null && this.#installations.has(installation)) return 200;
    this.note();
    return this.#refusals.take(networkOf(request.ip), this.#clock.elapsed()) ? 404 : 429;
  }

  /** Counts a refused request, or a connection that was closed to make room for another one. */
  note(): void {
    const now = this.#clock.elapsed();
    this.#refused += 1;
    if (now - this.#reportedAt < reportEveryMs) return;
    this.#report(this.#refused);
    this.#reportedAt = now;
    this.#refused = 0;
  }
}

/** The comparison in constant time needs digests of equal length. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

interface WebhookAddress {
  isWebhook: boolean;
  installation: number | null;
  secret: string | null;
}

function addressOf(request: FastifyRequest): WebhookAddress {
  const [path = ''] = (request.raw.url ?? '').split('?', 1);
  const parts = /^\/webhooks\/(\d{1,15})(?:\/([^/]*))?\/?$/.exec(path);
  const bearer = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  return {
    isWebhook: /^\/webhooks(\/|$)/.test(path),
    installation: parts ? Number(parts[1]) : null,
    secret: parts?.[2] || bearer || null,
  };
}
