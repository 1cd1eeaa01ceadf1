import { createHash, timingSafeEqual } from 'node:crypto';
import type { Server } from 'node:http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Clock } from '../domain/clock.ts';
import { ConfigError } from '../domain/errors.ts';
import { KeyedBuckets, TokenBucket } from './limits.ts';

/** A webhook carries the id of one record (field-notes: Webhooks for record changes). */
const bodyLimit = 16 * 1024;
const maxHeaderSize = 8 * 1024;
/** A sender has this long for its request, headers and body; a connection may stay idle for as long. */
const requestTimeout = 5_000;
const checkEveryMs = 500;
const maxConnections = 100;
/** Wrong secrets from one address: so many at once, then one each six seconds; the others are told to go slower. */
const wrongAtOnce = 10;
const wrongEveryMs = 6_000;
const maxAddresses = 1_000;
const reportEveryMs = 60_000;

export interface ReceiverOptions {
  host: string;
  /** 0: any free one. */
  port: number;
  secret: string;
  installations: number[];
  /** Returns at once. */
  nudge(installation: number): void;
  clock: Clock;
  /** Told how many requests were refused lately, once a minute at most; of the requests themselves nothing is logged. */
  refused(count: number): void;
}

export interface Receiver {
  /** Where it listens, without installation and secret. */
  url: string;
  close(): Promise<void>;
}

/**
 * Receives webhooks for record changes: `POST /webhooks/<installation>/<secret>`, or with the secret as a bearer token
 * `POST /webhooks/<installation>`. A right one is answered with 200 at once and nudges; its body is not looked at, since a
 * window asks for everything that changed. So a forged or senseless one can open a window and nothing else. A wrong secret and
 * an unknown installation are the same 404. Throws ConfigError where it cannot listen there.
 */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const app = createServer(options);
  const { host, port } = options;
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    throw cannotListen(host, port, error);
  }
  const address = app.server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}/webhooks`, close: () => app.close() };
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
    http: { maxHeaderSize, headersTimeout: requestTimeout, connectionsCheckingInterval: checkEveryMs },
    // An address that is no address is told as little as any other.
    frameworkErrors: (_error, _request, reply) => void say(reply as FastifyReply, 404),
  });
  (app.server as Server).maxConnections = maxConnections;
  // Form, JSON or anything else: read up to the limit and dropped.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => done(null));
  app.setNotFoundHandler((_request, reply) => say(reply, 404));
  app.setErrorHandler((error: { statusCode?: number }, _request, reply) => say(reply, error.statusCode ?? 500));
  // Before the body is read: strangers have none read.
  app.addHook('onRequest', async (request, reply) => {
    const status = gate.judge(request);
    if (status !== 200) return say(reply, status);
    // A content type that cannot be read is as good as any.
    request.raw.headers['content-type'] = 'application/octet-stream';
  });
  app.post('/*', async (request, reply) => {
    options.nudge(addressed(request).installation!);
    return reply.code(200).send({ ok: true });
  });
  return app;
}

const sentences: Record<number, string> = {
  404: 'Not found.',
  405: 'Only POST is accepted here.',
  413: 'The body is too large.',
  429: 'Too many wrong requests.',
};

function say(reply: FastifyReply, status: number): FastifyReply {
  // What is left of its request is not waited for.
  reply.code(status).header('connection', 'close');
  if (status === 405) reply.header('allow', 'POST');
  if (status === 429) reply.header('retry-after', String(wrongEveryMs / 1000));
  return reply.send({ detail: sentences[status] ?? 'The request was not accepted.' });
}

/** Who may nudge. */
class Gate {
  readonly #secret: Buffer;
  readonly #installations: ReadonlySet<number>;
  readonly #wrong: KeyedBuckets;
  readonly #clock: Clock;
  readonly #report: (count: number) => void;
  #refused = 0;
  #reportedAt = Number.NEGATIVE_INFINITY;

  constructor({ secret, installations, clock, refused }: ReceiverOptions) {
    this.#secret = digest(secret);
    this.#installations = new Set(installations);
    this.#wrong = new KeyedBuckets((nowMs) => new TokenBucket(wrongAtOnce, wrongEveryMs, nowMs), maxAddresses);
    this.#clock = clock;
    this.#report = refused;
  }

  /** 200, or the status to refuse with. A right secret is never told to go slower, whoever else uses its address. */
  judge(request: FastifyRequest): number {
    const { isWebhook, installation, secret } = addressed(request);
    if (isWebhook && request.method !== 'POST') return 405;
    const isRight = timingSafeEqual(digest(secret ?? ''), this.#secret);
    if (isWebhook && isRight && installation !== null && this.#installations.has(installation)) return 200;
    const now = this.#clock.elapsed();
    this.#refused += 1;
    if (now - this.#reportedAt >= reportEveryMs) {
      this.#report(this.#refused);
      this.#reportedAt = now;
      this.#refused = 0;
    }
    return this.#wrong.take(request.ip, now) ? 404 : 429;
  }
}

/** Of equal length whatever the text, as the comparison in constant time needs. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

interface Addressed {
  isWebhook: boolean;
  installation: number | null;
  secret: string | null;
}

/** What a request's path and bearer token name. */
function addressed(request: FastifyRequest): Addressed {
  const path = (request.raw.url ?? '').split('?', 1)[0]!;
  const parts = /^\/webhooks\/(\d{1,15})(?:\/([^/]*))?\/?$/.exec(path);
  const bearer = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  return {
    isWebhook: /^\/webhooks(\/|$)/.test(path),
    installation: parts ? Number(parts[1]) : null,
    secret: parts?.[2] || bearer || null,
  };
}

function cannotListen(host: string, port: number, error: unknown): unknown {
  const reasons: Record<string, string> = {
    EADDRINUSE: 'is taken by another process',
    EACCES: 'needs more rights',
    EADDRNOTAVAIL: 'is not an address of this machine',
    ENOTFOUND: 'is not an address of this machine',
  };
  const reason = reasons[(error as NodeJS.ErrnoException).code ?? ''];
  if (!reason) return error;
  return new ConfigError(
    'webhooks_cannot_listen',
    `Webhooks cannot be received: ${host}:${port} ${reason}.`,
    'Name another address in webhooks.listen; another `vetledger run` with this configuration may be there already.',
  );
}
