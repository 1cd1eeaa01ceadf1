// The OpenAPI 3.1 description, generated from the schemas that the server validates with, and the pages that show it.
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { type FastifyInstance, type FastifyRequest, type FastifySchema, fastify } from 'fastify';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { answer } from './fields.ts';
import type { Forms } from './forms.ts';
import { paramsOf, type RouteSpec } from './route.ts';

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

const pathId = z.int().min(0).max(999_999_999_999_999);

/**
 * Formats, patterns and descriptions (`meta`), which the package takes from the registry of the components only; and that an answer without
 * a body has none.
 */
const override = ({ zodSchema, jsonSchema }: { zodSchema: unknown; jsonSchema: object }): void => {
  if (zodSchema instanceof z.ZodUndefined) Object.assign(jsonSchema, { type: 'null' });
  Object.assign(jsonSchema, z.globalRegistry.get(zodSchema as z.ZodType));
};

type Responses = Record<number, { headers?: object }>;
const retryAfter = { 'Retry-After': { type: 'integer', description: 'Seconds to wait' } };

/** What the description tells of a route, for one installation. */
const described = (route: RouteSpec, forms: Forms): FastifySchema => {
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
    params: z.object(Object.fromEntries(paramsOf(route.path).map((name) => [name, pathId]))),
    ...(route.query ? { querystring: forms.of(route.query) } : {}),
    ...(route.body ? { body: forms.of(route.body) } : {}),
    response: Object.fromEntries([...refusals, ...answers]),
  } as unknown as FastifySchema;
};

const notes = (route: RouteSpec): string =>
  route.permission === undefined ? '' : `Needs the permission '${route.permission}'.`;

const server = 'http://127.0.0.1:8090';

/** What generates a description. */
const generator = (info: { title: string; description: string }, more: object) => {
  const withComponents = createJsonSchemaTransformObject({ schemaRegistry: components as never });
  const toJson = createJsonSchemaTransform({ schemaRegistry: components as never, zodToJsonConfig: { override } });
  return {
    openapi: { openapi: '3.1.0', info: { version: '0.1', ...info }, ...more },
    transform: ((document: Parameters<typeof toJson>[0]) => {
      const { schema, url } = toJson(document) as { schema: FastifySchema & { response?: Responses }; url: string };
      if (schema.response?.[429]) schema.response[429].headers = retryAfter;
      return { schema, url: url.startsWith(apiPath) ? url.slice(apiPath.length - 1) : url };
    }) as never,
    transformObject: ((document: never) => withoutInputs(withComponents(document))) as never,
  };
};

/** The description of the routes, for the installation that the forms are of. */
export const documentOf = async (routes: readonly RouteSpec[], forms: Forms): Promise<object> => {
  const app = fastify();
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => String);
  const info = {
    title: 'Veterinary practice management API (sandbox)',
    description: 'Generated from the schemas that the sandbox validates with.',
  };
  const scopes = { 'read write': 'the Open API', wholesaler: 'the wholesaler integration' };
  const clientCredentials = { tokenUrl: `/${forms.reading.installation}/oauth2/token/`, scopes };
  const installation_id = { default: String(forms.reading.installation) };
  await app.register(
    swagger,
    generator(info, {
      servers: [
        {
          url: '{base_url}/{installation_id}/api/0.1',
          variables: { base_url: { default: server }, installation_id },
        },
      ],
      components: { securitySchemes: { oauth2: { type: 'oauth2', flows: { clientCredentials } } } },
    }),
  );
  for (const route of routes) {
    const url = `${apiPath}${route.path}`;
    app.route({ method: route.method, url, schema: described(route, forms), handler: () => {} });
  }
  await app.ready();
  return app.swagger();
};

/**
 * The descriptions, as they are in force: of the API at /schema/ for the first installation and /<installation>/schema/ for each, of the
 * control endpoints at /sandbox/schema/, and the pages at /docs/ that show them.
 */
export const registerDocs = async (
  app: FastifyInstance,
  routes: readonly RouteSpec[],
  formsOf: (installation: string | undefined) => Forms | null,
): Promise<void> => {
  // Of the routes of the app, only the control endpoints are shown.
  const info = { title: 'Control of the sandbox', description: 'These endpoints answer this machine only.' };
  await app.register(swagger, generator(info, {}));
  const urls = [
    { url: '/schema/', name: 'The practice API' },
    { url: '/sandbox/schema/', name: 'Control of the sandbox' },
  ];
  await app.register(swaggerUi, { routePrefix: '/docs', uiConfig: { urls } });
  const originOf = (request: FastifyRequest) => `http://${request.headers.host ?? 'localhost'}`;
  const documents = new WeakMap<Forms, Promise<object>>();
  for (const url of ['/schema/', '/:installation/schema/']) {
    app.get(url, { schema: { hide: true } as never }, async (request, reply) => {
      const forms = formsOf((request.params as { installation?: string }).installation);
      if (forms === null) return reply.callNotFound();
      const document = documents.get(forms) ?? documentOf(routes, forms);
      documents.set(forms, document);
      const servers = [{ url: `${originOf(request)}/${forms.reading.installation}/api/0.1` }];
      return reply.send({ ...(await document), servers });
    });
  }
  app.get('/sandbox/schema/', { schema: { hide: true } as never }, async (request, reply) => {
    const { components: _ofTheApi, ...document } = app.swagger() as { components: object };
    return reply.send({ ...document, servers: [{ url: originOf(request) }] });
  });
};

/** Components are answers; their variants as input, which the package adds, are used by nothing. */
const withoutInputs = (document: object): object => {
  const { components: parts, ...rest } = document as { components: { schemas: Record<string, unknown> } };
  const schemas = Object.entries(parts.schemas).filter(([name]) => !name.endsWith('Input'));
  return { ...rest, components: { ...parts, schemas: Object.fromEntries(schemas) } };
};
