import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Clock } from '../../src/domain/clock.ts';
import type { RateBudget } from '../../src/practice/budget.ts';
import type { Log } from '../../src/practice/log.ts';

export interface SeenRequest {
  method: string;
  url: URL;
  /** Path and query exactly as received. */
  target: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export type Handler = (request: SeenRequest, response: ServerResponse) => void | Promise<void>;

export interface FakeServer {
  url: string;
  requests: SeenRequest[];
  /** The number of accepted connections. */
  connections: number;
  close(): Promise<void>;
}

/** A real HTTP server with these handlers: each answers one request, and the last one all further requests. */
export async function startServer(...handlers: Handler[]): Promise<FakeServer> {
  const sockets = new Set<Socket>();
  const http = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const target = incoming.url ?? '';
    const seen = {
      method: incoming.method ?? '',
      url: new URL(target, server.url),
      target,
      headers: incoming.headers,
      body: Buffer.concat(chunks).toString('utf8'),
    };
    const handler = handlers[Math.min(server.requests.length, handlers.length - 1)]!;
    server.requests.push(seen);
    await handler(seen, response);
  });
  http.on('connection', (socket) => {
    server.connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const server: FakeServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    requests: [],
    connections: 0,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return server;
}

/** Answers with this JSON text. */
export function json(text: string, status = 200, headers: Record<string, string> = {}): Handler {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(text);
  };
}

export const emptyList = json('{"count":0,"num_pages":1,"next":null,"previous":null,"results":[]}');

export interface FakeBudget extends RateBudget {
  takes: { action: string; weight: number; priority: number }[];
  finished: string[];
  throttled: number[];
}

/** A rate budget with unlimited room that records its calls. Each take reports a wait of `waitMs` without waiting. */
export function roomyBudget(waitMs = 0): FakeBudget {
  const budget: FakeBudget = {
    requestTimeoutSeconds: 90,
    takes: [],
    finished: [],
    throttled: [],
    roomInMs: async () => 0,
    take: async (action, weight, priority, signal, onWait) => {
      signal?.throwIfAborted();
      budget.takes.push({ action, weight, priority });
      if (waitMs > 0) onWait?.(waitMs, action);
      return {
        id: budget.takes.length,
        ...{ askedAt: new Date(), askedMs: performance.now() },
        waitedMs: waitMs,
        finish: async (outcome = 'answered') => {
          budget.finished.push(outcome);
        },
        throttled: async (retryAfterMs) => {
          budget.throttled.push(retryAfterMs);
        },
      };
    },
  };
  return budget;
}

/** A clock with real durations that records pauses instead of waiting. */
export function hastyClock(): Clock & { pauses: number[] } {
  const pauses: number[] = [];
  return {
    pauses,
    now: () => Date.now(),
    elapsed: () => performance.now(),
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      pauses.push(ms);
    },
  };
}

/** A log that keeps its lines, to search them for secrets. */
export function keptLog(): Log & { lines: string[] } {
  const lines: string[] = [];
  const keep = (fields: object, message: string) => {
    lines.push(`${JSON.stringify(fields)} ${message}`);
  };
  return { lines, debug: keep, warn: keep };
}
