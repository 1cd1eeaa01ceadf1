import type { Server } from 'node:http';
import { type FastifyReply, fastify } from 'fastify';
import { httpAnswers, listenErrors } from '../texts/errors/listening.ts';
import { headersTimeoutMs, limitConnections } from './connections.ts';
import { listenAt } from './listen.ts';

/** Milliseconds for receiving a whole request. It is also the longest idle time of a connection. */
const requestTimeout = 5_000;
const maxHeaderSize = 8 * 1024;

/** The state of one thing that the daemon needs. `reason` and `since` are present if it is not ok. */
export interface Check {
  ok: boolean;
  reason?: string;
  since?: string;
}

export interface HealthReport {
  ok: boolean;
  checks: Record<string, Check>;
}

export interface ObservationOptions {
  host: string;
  /** The port of the server. 0 means any free port. */
  port: number;
  /** Whether the process runs properly. If not, a supervisor should restart it. */
  live(): HealthReport;
  /** Whether the process can do its work at present. */
  ready(): Promise<HealthReport>;
  metrics(): Promise<{ contentType: string; text: string }>;
}

export interface ObservationServer {
  /** The server's address without a path. */
  url: string;
  close(): Promise<void>;
}

/**
 * Serves `GET /metrics` for Prometheus, and `/healthz` and `/readyz` as JSON. The status is 200 if all checks are ok,
 * otherwise 503. Any answer shows that the event loop runs. Throws UserError if the address cannot be used.
 */
export async function startObservation(options: ObservationOptions): Promise<ObservationServer> {
  const app = fastify({
    bodyLimit: 1024,
    requestTimeout,
    keepAliveTimeout: requestTimeout,
    forceCloseConnections: true,
    http: { maxHeaderSize, headersTimeout: headersTimeoutMs },
  });
  limitConnections(app.server as Server);
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ detail: httpAnswers.notFound }));
  // The answer does not contain the error, which is in the daemon's log.
  app.setErrorHandler((error: { statusCode?: number }, _request, reply) =>
    reply.code(error.statusCode ?? 500).send({ detail: httpAnswers.failed }),
  );
  const send = (reply: FastifyReply, report: HealthReport) =>
    reply
      .code(report.ok ? 200 : 503)
      .header('cache-control', 'no-store')
      .send(report);
  app.get('/healthz', (_request, reply) => send(reply, options.live()));
  app.get('/readyz', async (_request, reply) => send(reply, await options.ready()));
  app.get('/metrics', async (_request, reply) => {
    const { contentType, text } = await options.metrics();
    return reply.header('content-type', contentType).send(text);
  });
  const url = await listenAt(app, options, listenErrors.metrics);
  return { url, close: () => app.close() };
}
