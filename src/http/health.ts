import type { Server } from 'node:http';
import { type FastifyReply, fastify } from 'fastify';
import { headersTimeoutMs, limitConnections } from './connections.ts';
import { listenAt } from './listen.ts';

/** Milliseconds for receiving a whole request; also the longest idle time of a connection. */
const requestTimeout = 5_000;
const maxHeaderSize = 8 * 1024;

/** One thing that a daemon needs: why it is not as it should be, and since when. */
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
  /** 0 takes any free port. */
  port: number;
  /** Whether the process lives; a supervisor starts it anew where it does not. */
  live(): HealthReport;
  /** Whether it can work now. */
  ready(): Promise<HealthReport>;
  metrics(): Promise<{ contentType: string; text: string }>;
}

export interface ObservationServer {
  /** The address without a path. */
  url: string;
  close(): Promise<void>;
}

/**
 * Serves `GET /metrics` for Prometheus, and `/healthz` and `/readyz` as JSON, with 200 where all is well and 503 where it is not.
 * That it answers at all shows that the event loop runs. Throws ConfigError when it cannot listen there.
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
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ detail: 'Not found.' }));
  // What went wrong is in the log of whoever failed; an answer tells nothing of it.
  app.setErrorHandler((error: { statusCode?: number }, _request, reply) =>
    reply.code(error.statusCode ?? 500).send({ detail: 'The request could not be answered.' }),
  );
  const tell = (reply: FastifyReply, report: HealthReport) =>
    reply
      .code(report.ok ? 200 : 503)
      .header('cache-control', 'no-store')
      .send(report);
  app.get('/healthz', (_request, reply) => tell(reply, options.live()));
  app.get('/readyz', async (_request, reply) => tell(reply, await options.ready()));
  app.get('/metrics', async (_request, reply) => {
    const { contentType, text } = await options.metrics();
    return reply.header('content-type', contentType).send(text);
  });
  const url = await listenAt(app, options, {
    code: 'metrics_cannot_listen',
    what: 'Metrics and health cannot be served',
    key: 'metrics.listen',
  });
  return { url, close: () => app.close() };
}
