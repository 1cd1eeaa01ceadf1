// The OpenAPI 3.1 description, generated from the schemas that the server validates with, and the pages that show it.
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { answer } from './fields.ts';
import type { RouteSpec } from './route.ts';

const apiPath = '/:installation/api/0.1/';
/** Schemas of answers by name: the description has each of them once, among its components. */
const components = z.registry<{ id: string }>();
const named = <S extends z.ZodType>(schema: S, id: string): S => {
  if (!components.has(schema)) components.add(schema, { id });
  return schema;
};
const detail = named(answer({ detail: z.string() }), 'Refusal');
/** `{"<field>": ["message"]}`, or `{"detail": "message"}` where no field is at fault. */
const problems = named(z.record(z.string(), z.unknown()), 'Problems');

/** The schema of a route as fastify takes it: what is validated, and what is told in the description. */
export const described = (route: RouteSpec, params: z.ZodObject): FastifySchema => {
  const both = (schema: z.ZodType) => ({
    content: { 'application/json': { schema }, 'text/html': { schema } },
  });
  const told = (status: number, description: string, schema: z.ZodType) => [status, { description, ...both(schema) }];
  const answers = Object.entries(route.answers).map(([status, schema]) =>
    schema === null
      ? [status, z.undefined().describe('Done; the answer has no body')]
      : told(Number(status), route.summary, named(schema, `${route.action}.${status}`)),
  );
  const hasInput = route.body !== undefined || route.query !== undefined;
  const refusals = [
    ...(hasInput || route.path.includes(':') || route.method !== 'GET' ? [told(400, 'Refused', problems)] : []),
    told(401, 'No valid token', detail),
    told(403, 'The permission group or the scope of the application does not allow it', detail),
    ...(route.path.includes(':') || route.query ? [told(404, 'No such record or page', detail)] : []),
    ...(route.method === 'GET' ? [] : [told(405, 'Not allowed on this installation', detail)]),
    ...(route.body ? [told(415, 'Unsupported media type', detail)] : []),
    told(429, 'A limit is reached; Retry-After says how many seconds to wait', detail),
  ];
  return {
    tags: [route.section],
    summary: route.summary,
    operationId: route.action.replaceAll('.', '_'),
    description: notes(route),
    security: [{ oauth2: [route.scope ?? 'read write'] }],
    ...(route.form
      ? { consumes: ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'] }
      : {}),
    params,
    ...(route.query ? { querystring: route.query } : {}),
    ...(route.body ? { body: route.body } : {}),
    response: Object.fromEntries([...refusals, ...answers]),
  } as unknown as FastifySchema;
};

const notes = (route: RouteSpec): string =>
  route.permission === undefined ? '' : `Needs the permission '${route.permission}'.`;

export const registerDocs = async (app: FastifyInstance): Promise<void> => {
  const withComponents = createJsonSchemaTransformObject({ schemaRegistry: components as never });
  const toJson = createJsonSchemaTransform({ schemaRegistry: components as never });
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Veterinary practice management API (sandbox)',
        version: '0.1',
        description: 'Generated from the schemas that the sandbox validates with.',
      },
      servers: [
        {
          url: '{base_url}/{installation_id}/api/0.1',
          variables: { base_url: { default: 'http://127.0.0.1:8090' }, installation_id: { default: '4711' } },
        },
      ],
      components: {
        securitySchemes: {
          oauth2: {
            type: 'oauth2',
            flows: {
              clientCredentials: {
                tokenUrl: '/4711/oauth2/token/',
                scopes: { 'read write': 'the Open API', wholesaler: 'the wholesaler integration' },
              },
            },
          },
        },
      },
    },
    transform: ((document: Parameters<typeof toJson>[0]) => {
      const { schema, url } = toJson(document) as { schema: FastifySchema; url: string };
      return { schema, url: url.startsWith(apiPath) ? url.slice(apiPath.length - 1) : url };
    }) as never,
    transformObject: ((document: never) => withoutInputs(withComponents(document))) as never,
  });
  const urls = [
    { url: '/schema/', name: 'The practice API' },
    { url: '/sandbox/schema/', name: 'Control of the sandbox' },
  ];
  await app.register(swaggerUi, { routePrefix: '/docs', uiConfig: { urls } });
  for (const [url, part] of [
    ['/schema/', 'api'],
    ['/sandbox/schema/', 'control'],
  ] as const) {
    app.get(url, { schema: { hide: true } as never }, async (request, reply) =>
      reply.send(documentOf(app, part, `http://${request.headers.host ?? 'localhost'}`)),
    );
  }
};

/** Components are answers; their variants as input, which the package adds, are used by nothing. */
const withoutInputs = (document: object): object => {
  const { components: parts, ...rest } = document as { components: { schemas: Record<string, unknown> } };
  const schemas = Object.entries(parts.schemas).filter(([name]) => !name.endsWith('Input'));
  return { ...rest, components: { ...parts, schemas: Object.fromEntries(schemas) } };
};

/** Where control endpoints are; what else has a description is the API. */
const controlPath = '/sandbox/';

/** The description of the API, or of the control endpoints; with an origin, for the server there. */
export const documentOf = (app: FastifyInstance, part: 'api' | 'control', origin?: string): object => {
  const document = app.swagger() as { info: object; paths: object; components: object };
  const isControl = part === 'control';
  const own = Object.entries(document.paths).filter(([path]) => path.startsWith(controlPath) === isControl);
  const paths = Object.fromEntries(own);
  if (isControl) {
    const info = { ...document.info, title: 'Control of the sandbox' };
    return { openapi: '3.1.0', info, servers: [{ url: origin ?? 'http://127.0.0.1:8090' }], paths };
  }
  return { ...document, paths, ...(origin === undefined ? {} : { servers: [{ url: `${origin}/4711/api/0.1` }] }) };
};
