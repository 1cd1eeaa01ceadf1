// The OpenAPI 3.1 description, generated from the schemas that validate requests, and the web pages that show it.
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { type FastifyInstance, type FastifyRequest, type FastifySchema, fastify } from 'fastify';
import { z } from 'zod';
import { Components, jsonSchemaOf } from './components.ts';
import { describedWebhooks, webhookSchemas } from './events.ts';
import { addExamples, type Examples, type Paths } from './examples.ts';
import { answer } from './fields.ts';
import type { Forms } from './forms.ts';
import { paramsOf, type RouteSpec } from './route.ts';

const apiPath = '/:installation/api/0.1/';
const refusal = answer({ detail: z.string() });
/** The body of an error: `{"<field>": ["message"]}`, or `{"detail": "message"}` if no field is wrong. */
const problems = z.record(z.string(), z.unknown());
const pathId = z.int().min(0).max(999_999_999_999_999);

const retryAfter = { 'Retry-After': { type: 'integer', description: 'Seconds to wait' } };

/** The description of a route for one installation. */
const described = (route: RouteSpec, forms: Forms, components: Components): FastifySchema => {
  const answered = (status: number, description: string, schema: z.ZodType, more: object = {}) => {
    const content = { schema: components.refTo(schema) };
    return [status, { description, content: { 'application/json': content, 'text/html': content }, ...more }];
  };
  const answers = Object.entries(route.answers).map(([status, schema]) =>
    schema === null
      ? [status, { type: 'null', description: 'Done; the answer has no body' }]
      : answered(Number(status), route.summary, Number(status) < 300 ? schema : refusal),
  );
  const hasInput = route.body !== undefined || route.query !== undefined;
  const refusals = [
    ...(hasInput || route.path.includes(':') || route.method !== 'GET' ? [answered(400, 'Refused', problems)] : []),
    answered(401, 'No valid token', refusal),
    answered(403, 'The permission group or the scope of the application does not allow it', refusal),
    ...(route.path.includes(':') || route.query ? [answered(404, 'No such record or page', refusal)] : []),
    ...(route.method === 'GET' ? [] : [answered(405, 'Not allowed on this installation', refusal)]),
    ...(route.body ? [answered(415, 'Unsupported media type', refusal)] : []),
    answered(429, 'A limit is reached; Retry-After says how many seconds to wait', refusal, { headers: retryAfter }),
  ];
  const params = z.object(Object.fromEntries(paramsOf(route.path).map((name) => [name, pathId])));
  return {
    tags: [route.section],
    summary: route.summary,
    operationId: route.action.replaceAll('.', '_'),
    description: notes(route),
    security: [{ oauth2: [route.scope ?? 'read write'] }],
    ...(route.form
      ? { consumes: ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'] }
      : {}),
    params: jsonSchemaOf(params, 'input'),
    ...(route.query ? { querystring: jsonSchemaOf(forms.of(route.query), 'input') } : {}),
    ...(route.body ? { body: components.refTo(forms.of(route.body)) } : {}),
    response: Object.fromEntries([...refusals, ...answers]),
  } as FastifySchema;
};

const notes = (route: RouteSpec): string =>
  route.permission === undefined ? '' : `Needs the permission '${route.permission}'.`;

const server = 'http://127.0.0.1:8090';
const versions = { openapi: '3.1.0', version: '0.1' };

/** The OpenAPI document of the routes. Its addresses and references are those of the installation of `forms`. */
export const documentOf = async (routes: readonly RouteSpec[], forms: Forms, examples?: Examples): Promise<object> => {
  const app = fastify();
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => String);
  const { openapi, version } = versions;
  const scopes = { 'read write': 'the Open API', wholesaler: 'the wholesaler integration' };
  const clientCredentials = { tokenUrl: `/${forms.reading.installation}/oauth2/token/`, scopes };
  const variables = {
    base_url: { default: server },
    installation_id: { default: String(forms.reading.installation) },
  };
  const components = new Components(routes, forms, {
    ...{ Refusal: refusal, Problems: problems },
    ...webhookSchemas,
  });
  await app.register(swagger, {
    openapi: {
      openapi,
      info: {
        ...{ version, title: 'Veterinary practice management API (sandbox)' },
        description:
          'Generated from the schemas that the sandbox validates with. The examples are of a sandbox that is started with --now 2026-05-20T12:00:00.',
      },
      servers: [{ url: '{base_url}/{installation_id}/api/0.1', variables }],
      components: { securitySchemes: { oauth2: { type: 'oauth2', flows: { clientCredentials } } } },
    },
    transform: ({ schema, url }) => ({ schema, url: url.slice(apiPath.length - 1) }),
  });
  for (const route of routes) {
    const url = `${apiPath}${route.path}`;
    app.route({ method: route.method, url, schema: described(route, forms, components), handler: () => {} });
  }
  await app.ready();
  const { components: more, ...document } = app.swagger() as unknown as { components: object; paths: Paths };
  if (examples) addExamples(document.paths, examples, forms.reading.installation);
  return {
    ...document,
    webhooks: describedWebhooks(components),
    components: { ...more, schemas: components.schemas() },
  };
};

/** Converts the schemas of a control endpoint into JSON Schemas. */
const inJsonSchema = ({ response = {}, ...rest }: FastifySchema): FastifySchema => {
  const converted = (parts: object, io: 'input' | 'output') =>
    Object.fromEntries(
      Object.entries(parts).map(([name, part]) => [name, part instanceof z.ZodType ? jsonSchemaOf(part, io) : part]),
    );
  return { ...converted(rest, 'input'), response: converted(response as object, 'output') };
};

/**
 * Registers the descriptions with their current settings. The API's is at /schema/ for the first installation and at
 * /<installation>/schema/ for each. The control endpoints' is at /sandbox/schema/. The pages at /docs/ show all of
 * them.
 */
export const registerDocs = async (
  app: FastifyInstance,
  routes: readonly RouteSpec[],
  formsOf: (installation: string | undefined) => Forms | null,
  examples?: () => Promise<Examples>,
): Promise<void> => {
  await app.register(swagger, {
    openapi: {
      openapi: versions.openapi,
      info: {
        ...{ version: versions.version, title: 'Control of the sandbox' },
        description: 'These endpoints answer this machine only.',
      },
    },
    // The document of this app shows only the control endpoints.
    transform: ({ schema, url }) => ({ schema: schema.hide ? schema : inJsonSchema(schema), url }),
  });
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
      const document = documents.get(forms) ?? documentOf(routes, forms, await examples?.());
      documents.set(forms, document);
      const servers = [{ url: `${originOf(request)}/${forms.reading.installation}/api/0.1` }];
      return reply.send({ ...(await document), servers });
    });
  }
  app.get('/sandbox/schema/', { schema: { hide: true } as never }, async (request, reply) => {
    return reply.send({ ...app.swagger(), servers: [{ url: originOf(request) }] });
  });
};
