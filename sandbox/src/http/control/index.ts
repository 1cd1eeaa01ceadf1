// The control endpoints: `/sandbox/` for the first installation and `/<installation>/sandbox/` for each. They answer
// only requests from this machine, and none that a page of another site made.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Installation } from '../../installation.ts';
import { decodeJson } from '../body.ts';
import { behaviourRoutes } from './behaviour.ts';
import { journalRoutes } from './journal.ts';
import { lifeRoutes } from './life.ts';
import { type ControlRoute, name, recordId } from './route.ts';
import { staffRoutes } from './staff.ts';
import { stateRoutes } from './state.ts';

export const controlRoutes: readonly ControlRoute[] = [
  ...stateRoutes,
  ...behaviourRoutes,
  ...lifeRoutes,
  ...journalRoutes,
  ...staffRoutes,
];

export const controlTag = 'Sandbox';

const params: Record<string, z.ZodType> = { id: recordId, name };

export const registerControls = async (
  app: FastifyInstance,
  first: Installation | null,
  installationOf: (id: number) => Installation | null,
): Promise<void> => {
  const scoped = (prefix: string, isShown: boolean, find: (request: FastifyRequest) => Installation | null) =>
    app.register(
      async (scope) => {
        scope.addHook('onRequest', async (request, reply) => {
          if (find(request) === null) return reply.callNotFound();
          return guard(request, reply);
        });
        scope.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
          decodeJson(body),
        );
        for (const route of controlRoutes) add(scope, route, isShown, find);
      },
      { prefix },
    );
  await scoped('/sandbox', true, () => first);
  await scoped('/:installation/sandbox', false, (request) =>
    installationOf(Number((request.params as { installation: string }).installation)),
  );
};

const add = (
  scope: FastifyInstance,
  route: ControlRoute,
  isShown: boolean,
  find: (request: FastifyRequest) => Installation | null,
): void => {
  const names = [...route.path.matchAll(/:([a-z]+)/g)].map((match) => match[1] as string);
  const schema = {
    tags: [controlTag],
    summary: route.summary,
    operationId: `sandbox_${route.method.toLowerCase()}_${route.path.replace(/[^a-z]+/g, '_')}`,
    ...(isShown ? {} : { hide: true }),
    ...(names.length === 0
      ? {}
      : { params: z.looseObject(Object.fromEntries(names.map((one) => [one, params[one]]))) }),
    ...(route.query ? { querystring: route.query } : {}),
    ...(route.body ? { body: route.body } : {}),
    response: { 200: (route.answer ?? z.looseObject({})).describe('Done') },
  };
  scope.route({
    ...{ method: route.method, url: `/${route.path}`, schema: schema as never },
    handler: async (request) => {
      const { id = 0, name = '' } = request.params as { id?: number; name?: string };
      const { query, body } = request;
      const installation = find(request) as Installation;
      const origin = `http://${request.headers.host ?? 'localhost'}`;
      const act = route.handle as (request: object) => unknown;
      return act({ installation, id, name, query, body, origin }) ?? {};
    },
  });
};

/** Refuses a request from another machine, or from a page of another site. */
export const guard = (request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined => {
  if (!isLoopback(request.ip)) {
    reply.callNotFound();
    return reply;
  }
  return isForeign(request) ? reply.code(403).send({ detail: foreign }) : undefined;
};

const isLoopback = (address: string): boolean => /^(127\.|::1$|::ffff:127\.)/.test(address);

const foreign = 'Control endpoints answer requests to 127.0.0.1 or localhost that no page of another site makes.';

/**
 * True if a page of another site may have sent the request through a browser, or if the host name in the request is a
 * foreign DNS name.
 */
const isForeign = ({ headers }: FastifyRequest): boolean => {
  const { host = '', origin } = headers;
  const isOwn = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host);
  return !isOwn || (origin !== undefined && origin !== `http://${host}`);
};
