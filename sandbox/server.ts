// The HTTP server: fastify reads requests, the API answers them, and faults of the transport are applied here.
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Api, Delivery, IncomingRequest } from './api.ts';
import { type Controls, control, isLoopback } from './control.ts';
import type { Quirks } from './quirks.ts';
import { encode } from './wire.ts';

const htmlPage = '<!DOCTYPE html><html><head><title>Please wait</title></head><body><h1>Maintenance</h1></body></html>';

export interface ServerParts {
  api: Api;
  controls: Controls;
  quirks: Quirks;
  clock: () => number;
}

export const createServer = ({ api, controls, quirks, clock }: ServerParts): FastifyInstance => {
  const app = fastify({ forceCloseConnections: true, bodyLimit: 5_000_000 });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.route({
    method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    url: '/*',
    handler: async (request, reply) => {
      // From the clinic's clock, which tests can inject, and not from this machine's.
      reply.raw.sendDate = false;
      if (quirks.dateHeader) reply.header('date', new Date(clock()).toUTCString());
      const incoming = incomingOf(request);
      if (incoming.target.startsWith('/sandbox/')) {
        const answer = isLoopback(request.ip) ? await control(incoming, controls) : null;
        return send(reply, { answer: answer ?? { status: 404, body: {} }, delayMs: 0, damage: null });
      }
      const delivery = await api.answer(incoming);
      if (delivery.delayMs > 0) await delay(delivery.delayMs);
      return send(reply, delivery);
    },
  });
  return app;
};

const incomingOf = (request: FastifyRequest): IncomingRequest => ({
  method: request.method,
  origin: `http://${request.headers.host ?? 'localhost'}`,
  target: request.raw.url ?? '/',
  authorization: request.headers.authorization,
  contentType: request.headers['content-type'] ?? 'application/json',
  body: request.body as Buffer | undefined,
});

const send = (reply: FastifyReply, { answer, damage }: Delivery): FastifyReply => {
  reply.code(answer.status).headers(answer.headers ?? {});
  if (damage === 'html') return reply.type('text/html; charset=utf-8').send(htmlPage);
  if (damage === 'reset') {
    reply.hijack();
    reply.raw.socket?.resetAndDestroy();
    return reply;
  }
  if (answer.body === undefined) return reply.send();
  const text = encode(answer.body);
  reply.type('application/json');
  if (damage === 'truncateHonestly') return reply.send(text.slice(0, text.length / 2));
  if (damage === 'truncate') {
    const bytes = Buffer.from(text);
    reply.hijack();
    reply.raw.writeHead(answer.status, { 'content-type': 'application/json', 'content-length': bytes.length });
    reply.raw.write(bytes.subarray(0, bytes.length / 2), () => reply.raw.socket?.destroy());
    return reply;
  }
  return reply.send(text);
};

/** Waits without keeping the process alive. */
const delay = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref());
