import { type Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { type Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { HttpAnswer, HttpRequest } from './http.ts';
import type { Timeouts } from './transport.ts';

/** A phase of a request took longer than it may. */
export class PhaseTimeout extends Error {
  readonly phase: 'connect' | 'response' | 'request';

  constructor(phase: PhaseTimeout['phase']) {
    super(`${phase} time-out`);
    this.phase = phase;
  }
}

/** The decompressed body is longer than allowed. */
export class TooLarge extends Error {}

export interface SendOptions {
  agents: { http: HttpAgent; https: HttpsAgent };
  timeouts: Timeouts;
  /** Of the decompressed body. */
  maxBytes: number;
}

export type Answered = Pick<HttpAnswer, 'status' | 'headers' | 'body'>;

/**
 * Sends one request with Node.js itself: a library's wrapping of it costs several times what it does. Rejects with the signal's reason,
 * PhaseTimeout, TooLarge, or the error of the connection, which has a `code`.
 */
export function sendOnce(
  { method, url, headers, body, signal }: HttpRequest,
  { agents, timeouts, maxBytes }: SendOptions,
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const isSecure = url.startsWith('https:');
    const send = isSecure ? httpsRequest : httpRequest;
    const request = send(url, {
      method,
      agent: isSecure ? agents.https : agents.http,
      headers: {
        'user-agent': 'vetledger',
        accept: 'application/json',
        'accept-encoding': 'gzip, deflate, br',
        ...headers,
        ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
      },
    });
    let phase: NodeJS.Timeout | undefined;
    const limited = (name: PhaseTimeout['phase'], ms: number) => setTimeout(() => fail(new PhaseTimeout(name)), ms);
    const whole = limited('request', timeouts.requestMs);
    const onAbort = () => fail(signal?.reason);
    const end = () => {
      clearTimeout(phase);
      clearTimeout(whole);
      signal?.removeEventListener('abort', onAbort);
    };
    const fail = (error: unknown) => {
      end();
      reject(error);
      request.destroy();
    };
    const begin = (name: PhaseTimeout['phase'], ms: number) => {
      clearTimeout(phase);
      phase = limited(name, ms);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    request.on('error', fail);
    request.on('socket', (socket) => {
      if (!socket.connecting) return begin('response', timeouts.responseMs);
      begin('connect', timeouts.connectMs);
      socket.once(isSecure ? 'secureConnect' : 'connect', () => begin('response', timeouts.responseMs));
    });
    request.on('response', (answer) => {
      clearTimeout(phase);
      textOf(answer, maxBytes, fail, (text) => {
        end();
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text });
      });
    });
    request.end(body);
    if (signal?.aborted) onAbort();
  });
}

const decoder = new TextDecoder();

function textOf(
  answer: IncomingMessage,
  maxBytes: number,
  fail: (error: unknown) => void,
  done: (text: string) => void,
): void {
  const plain = decompressed(answer, fail);
  const chunks: Buffer[] = [];
  let bytes = 0;
  plain.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) fail(new TooLarge());
    else chunks.push(chunk);
  });
  plain.on('error', fail);
  plain.on('end', () => {
    if (bytes <= maxBytes) done(decoder.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
  });
}

function decompressed(answer: IncomingMessage, fail: (error: unknown) => void): Readable {
  const encoding = answer.headers['content-encoding']?.toLowerCase();
  const made =
    encoding === 'gzip' || encoding === 'x-gzip'
      ? createGunzip()
      : encoding === 'deflate'
        ? createInflate()
        : encoding === 'br'
          ? createBrotliDecompress()
          : null;
  if (made === null) return answer;
  answer.on('error', fail);
  return answer.pipe(made);
}
