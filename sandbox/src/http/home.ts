// GET /: an overview of this server, as a web page and as JSON. It shows tokens, so it answers only requests from this
// machine.
import type { FastifyInstance } from 'fastify';
import type { Installation } from '../installation.ts';
import { guard } from './control/index.ts';
import { homePage } from './home-page.ts';
import { overviewOf } from './overview.ts';

export const registerHome = (app: FastifyInstance, installations: readonly Installation[]): void => {
  app.get(
    '/',
    { schema: { hide: true } as never, onRequest: async (request, reply) => guard(request, reply) },
    (request, reply) => {
      const shown = overviewOf(installations, `http://${request.headers.host ?? 'localhost'}`);
      reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', vary: 'accept' });
      if (request.accepts().type(['json', 'html']) !== 'html') return reply.send(shown);
      return reply
        .header(
          'content-security-policy',
          "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
        )
        .type('text/html; charset=utf-8')
        .serializer(String)
        .send(homePage(shown));
    },
  );
};
