// GET /health for the health checks of containers. It answers every machine and needs no token.
import type { FastifyInstance } from 'fastify';
import type { Installation } from '../installation.ts';

/** Answers 503 if a clinic cannot be saved. `saved` is null for a clinic that is only in memory. */
export const registerHealth = (app: FastifyInstance, installations: readonly Installation[]): void => {
  app.get('/health', { schema: { hide: true } as never }, async (_request, reply) => {
    const shown = installations.map(({ installation, state }) => ({
      installation,
      saved: state === null ? null : state.error === null,
    }));
    const isWell = shown.every(({ saved }) => saved !== false);
    reply.code(isWell ? 200 : 503).header('cache-control', 'no-store');
    return { status: isWell ? 'ok' : 'the state cannot be saved', installations: shown };
  });
};
