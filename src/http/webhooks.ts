import { createHash, timingSafeEqual } from 'node:crypto';
import type { Server } from 'node:http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Clock } from '../domain/clock.ts';
import { headersTimeoutMs, limitConnections } from './connections.ts';
import { listenAt } from './listen.ts';
import { KeyedBuckets, TokenBucket } from './token-buckets.ts';

/** Largest body in bytes. A webhook carries the id of one record (field-notes: Webhooks for record changes). */
const bodyLimit = 16 * 1024;
const maxHeaderSize = 8 * 1024;
/** Milliseconds for receiving a whole request; also the longest idle time of a connection. */
const requestTimeout = 5_000;
const checkEveryMs = 500;
/** Refused requests per address: ten at once, then one every six seconds. Further ones are answered with 429. */
const refusalsAtOnce = 10;
const refusalEveryMs = 6_000;
const maxAddresses = 1_000;
const reportEveryMs = 60_000;

export interface ReceiverOptions {
  host: string;
  /** 0 takes any free port. */
  port: number;
  secret: string;
  installations: readonly number[] | { has(installation: number): boolean };
  /** Called for each accepted webhook. It must return at once, because the answer waits for it. */
  nudge(installation: number): void;
  clock: Clock;
  /** Called at most once a minute with the number of requests refused, and connections closed for others, since the last call. The requests are not logged. */
  refused(count: number): void;
}

export interface Receiver {
  /** The address without installation and secret. */
  url: string;
  close(): Promise<void>;
}

/**
 * Receives webhooks for record changes: `POST /webhooks/<installation>/<secret>`, or `POST /webhooks/<installation>` with the
 * secret as a bearer token. A webhook with the right secret is answered with 200 at once and nudges the installation. Its body
 * is ignored, because a window asks for everything that changed; a forged webhook can therefore open a window and do nothing
 * else. A wrong secret and an unknown installation get the same 404. Throws ConfigError when it cannot listen there.
 */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const app = createServer(options);
  const url = await listenAt(app, options, {
    code: 'webhooks_cannot_listen',
    what: 'Webhooks cannot be received',
    key: 'webhooks.listen',
  });
  return { url: `${url}/webhooks`, close: () => app.close() };
}

function createServer(options: ReceiverOptions): FastifyInstance {
  const gate = new Gate(options);
  const app = fastify({
    bodyLimit,
    requestTimeout,
    keepAliveTimeout: requestTimeout,
    maxRequestsPerSocket: 100,
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
  // In onRequest, so that the body of a refused request is not read.
  app.addHook('onRequest', async (request, reply) => {
    const status = gate.statusOf(request);
    if (status !== 200) return refuse(reply, status);
    // Fastify would refuse a malformed content type; the body is discarded anyway.
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
  404: 'Not found.',
  405: 'Only POST is accepted here.',
  413: 'The body is too large.',
  429: 'Too many wrong requests.',
};

function refuse(reply: FastifyReply, status: number): FastifyReply {
  // Closing the connection discards the rest of the request.
  reply.code(status).header('connection', 'close');
  if (status === 405) reply.header('allow', 'POST');
  if (status === 429) reply.header('retry-after', String(refusalEveryMs / 1000));
  return reply.send({ detail: details[status] ?? 'The request was not accepted.' });
}

/** Decides which requests may nudge. */
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

  /** 200, or the status to refuse with. The right secret is never answered with 429, whoever else uses its address. */
  statusOf(request: FastifyRequest): number {
    const { isWebhook, installation, secret } = addressOf(request);
    if (isWebhook && request.method !== 'POST') return 405;
    const isRight = timingSafeEqual(digest(secret ?? ''), this.#secret);
    if (isWebhook && isRight && installation !== null && this.#installations.has(installation)) return 200;
    this.note();
    return this.#refusals.take(request.ip, this.#clock.elapsed()) ? 404 : 429;
  }

  /** Counts a request that was refused, or a connection that was closed for another one. */
  note(): void {
    const now = this.#clock.elapsed();
    this.#refused += 1;
    if (now - this.#reportedAt < reportEveryMs) return;
    this.#report(this.#refused);
    this.#reportedAt = now;
    this.#refused = 0;
  }
}

/** Digests have equal length, as the comparison in constant time needs. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

interface WebhookAddress {
  isWebhook: boolean;
  installation: number | null;
  secret: string | null;
}

/** Installation and secret as a request's path and bearer token name them. */
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
