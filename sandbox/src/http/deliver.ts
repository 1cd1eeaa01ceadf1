// Sends an answer, and applies the damage of a fault to it.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { encode } from '../wire.ts';
import type { Answer } from './answer.ts';
import type { Delivery } from './strikes.ts';

const htmlPage = '<!DOCTYPE html><html><head><title>Please wait</title></head><body><h1>Maintenance</h1></body></html>';

/** An answer without faults. */
export const whole = (answer: Answer): Delivery => ({ answer, delayMs: 0, damage: null });

export const deliver = async (
  request: FastifyRequest,
  reply: FastifyReply,
  delivery: Delivery,
): Promise<FastifyReply> => {
  const { answer, damage, delayMs } = delivery;
  if (delayMs > 0) await delay(delayMs);
  reply.code(answer.status).headers(answer.headers ?? {});
  if (damage === 'html') return reply.type('text/html; charset=utf-8').serializer(String).send(htmlPage);
  if (damage === 'reset') {
    reply.hijack();
    reply.raw.socket?.resetAndDestroy();
    return reply;
  }
  if (answer.body === undefined) return reply.send();
  const text = encode(answer.body);
  if (damage === null && request.accepts().type(['json', 'html']) === 'html') {
    return reply.type('text/html; charset=utf-8').serializer(String).send(htmlOf(text));
  }
  reply.type('application/json').serializer(String);
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

/** Renders the answer as a web page for browsers, which request text/html (practice-api: Conventions 3). */
const htmlOf = (json: string): string => {
  const escaped = JSON.stringify(JSON.parse(json), null, 2).replace(/&/g, '&amp;').replace(/</g, '&lt;');
  return `<!DOCTYPE html><html><head><title>Practice API</title></head><body><pre>${escaped}</pre></body></html>`;
};

/** Waits without keeping the process alive. */
const delay = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref());
