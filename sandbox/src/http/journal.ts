// Records the requests and answers of each installation in its journal. For a request that matched no endpoint, it
// records the most similar endpoint. Control requests are not recorded. The first installation records requests that
// belong to no installation.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Installation } from '../installation.ts';
import { type Exchange, KeptBody } from '../journal/exchange.ts';
import type { Newest } from '../journal/newest.ts';
import { type Endpoint, nearest } from './nearest.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The recording of the request. Null or absent if the request is not recorded. */
    recording?: Recording | null;
  }
}

/** An exchange that is under way, and its journal. */
interface Recording {
  exchange: Exchange;
  log: Newest<Exchange>;
}

/** True for paths of the sandbox itself, which belong to no installation. */
const isAside = (path: string): boolean =>
  /^\/(\d+\/)?sandbox(\/|$)|^\/$|^\/(docs|schema|health|favicon\.ico)(\/|$)/.test(path);

/** Registers the hooks. It must be called before the routes, and after the hook that sets `request.installation`. */
export const registerJournal = (
  app: FastifyInstance,
  first: Installation | null,
  installationOf: (id: number) => Installation | null,
): void => {
  const known: Endpoint[] = [];
  app.addHook('onRoute', ({ method, url, config }) => {
    const methods = [method].flat().filter((one) => one !== 'HEAD' && one !== 'OPTIONS');
    if (config?.action !== undefined) known.push(...methods.map((one) => ({ method: one, url })));
  });

  const ownerOf = (request: FastifyRequest, path: string): Installation | null =>
    request.installation ?? installationOf(Number(/^\/storage\/(\d+)\//.exec(path)?.[1])) ?? first;

  app.decorateRequest('recording', null);
  app.addHook('onRequest', (request, reply, done) => {
    const [path, query] = splitUrl(request.url);
    const owner = isAside(path) ? null : ownerOf(request, path);
    if (owner !== null) {
      const recording = begin(request, owner, path, query);
      request.recording = recording;
      // `close` is used because the hook onResponse does not run for a connection that is reset.
      const startMs = performance.now();
      reply.raw.once('close', () => end(request, recording.exchange, reply.raw, performance.now() - startMs));
    }
    done();
  });

  app.addHook('preParsing', (request, _reply, payload, done) => {
    const { recording, headers } = request;
    const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0;
    if (recording && hasBody) {
      const { exchange, log } = recording;
      // The stream is paused, so that no chunk is lost before the body is parsed.
      payload.pause();
      payload.on('data', (chunk) => log.grow(exchange, exchange.request.add(chunk)));
    }
    done(null, payload);
  });

  app.addHook('onSend', (request, reply, payload, done) => {
    const { recording, is404, method, url, installation } = request;
    const [path] = splitUrl(url);
    const isUnmatched = reply.statusCode === 405 || (reply.statusCode === 404 && is404);
    const like =
      isUnmatched && !isAside(path) ? nearest(known, method, path, (installation ?? first)?.installation ?? 0) : null;
    if (like !== null) reply.header('x-sandbox-nearest', like);
    if (recording) {
      const { exchange, log } = recording;
      exchange.status = reply.statusCode;
      exchange.nearest = like;
      exchange.application = request.application?.name ?? null;
      if (typeof payload === 'string' || Buffer.isBuffer(payload)) log.grow(exchange, exchange.response.add(payload));
      // The body of a refused request must still be read.
      if (request.raw.readableFlowing === false) request.raw.resume();
    }
    done();
  });
};

const splitUrl = (url: string): [string, string] => {
  const at = url.indexOf('?');
  return at === -1 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)];
};

/** The assumed size of an exchange without its bodies and texts. */
const ownBytes = 500;

const begin = (request: FastifyRequest, owner: Installation, path: string, query: string): Recording => {
  const { headers, rawHeaders } = request.raw;
  const bytes = rawHeaders.reduce((before, text) => before + text.length, ownBytes + request.url.length);
  const fields: Omit<Exchange, 'id'> = {
    ...{ atMs: owner.clock.now(), method: request.method, path, query, headers },
    ...{
      action: request.routeOptions.config.action ?? null,
      application: null,
      faults: request.faults?.struck ?? [],
      nearest: null,
    },
    ...{ request: new KeptBody(), response: new KeptBody(), status: null, durationMs: null },
  };
  return { exchange: owner.requests.add(fields, bytes), log: owner.requests };
};

/** Completes the exchange, when the connection has sent the answer or was lost. */
const end = (
  request: FastifyRequest,
  exchange: Exchange,
  answer: { headersSent: boolean; statusCode: number },
  elapsedMs: number,
): void => {
  exchange.durationMs = Math.round(elapsedMs * 10) / 10;
  exchange.application = request.application?.name ?? null;
  // No hook has set the status of an answer that was cut off.
  if (answer.headersSent) exchange.status ??= answer.statusCode;
};
