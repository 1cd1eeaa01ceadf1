// Keeps the requests and answers of each installation in its journal, and names the nearest endpoint to those that matched none. Control requests
// are left out. What is of no installation is kept by the first one.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Installation } from '../installation.ts';
import { type Exchange, KeptBody } from '../journal/exchange.ts';
import type { Newest } from '../journal/newest.ts';
import { type Endpoint, nearest } from './nearest.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null or absent for what the journal leaves out. */
    recording?: Recording | null;
  }
}

/** An exchange that is going on, and the journal that has it. */
interface Recording {
  exchange: Exchange;
  log: Newest<Exchange>;
}

/** Whether a path is about the sandbox, and of no installation. */
const isAside = (path: string): boolean =>
  /^\/(\d+\/)?sandbox(\/|$)|^\/$|^\/(docs|schema|health|favicon\.ico)(\/|$)/.test(path);

/** Registers the hooks: before the routes, and after `request.installation` is set. */
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
      // The hook onResponse does not see a connection that is reset.
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
      // Paused, so that nothing is lost before the body is parsed.
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
      // The body of a request that is refused is still to be read.
      if (request.raw.readableFlowing === false) request.raw.resume();
    }
    done();
  });
};

const splitUrl = (url: string): [string, string] => {
  const at = url.indexOf('?');
  return at === -1 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)];
};

/** What an exchange takes besides its bodies and the text that came. */
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

/** The connection has sent the answer, or is lost. */
const end = (
  request: FastifyRequest,
  exchange: Exchange,
  answer: { headersSent: boolean; statusCode: number },
  elapsedMs: number,
): void => {
  exchange.durationMs = Math.round(elapsedMs * 10) / 10;
  exchange.application = request.application?.name ?? null;
  // An answer that is cut off passes no hook.
  if (answer.headersSent) exchange.status ??= answer.statusCode;
};
