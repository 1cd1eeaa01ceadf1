// The HTTP server of one or many installations. Fastify finds the route and validates the request with the route's
// schemas. Hooks apply the rules of all endpoints: redirect, authentication, permission, limits. This file also applies
// faults of the transport.
import accepts from '@fastify/accepts';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify, type HTTPMethods } from 'fastify';
import { z } from 'zod';
import { type Application, invalidClient, type Permission } from '../auth.ts';
import type { Installation } from '../installation.ts';
import type { Quirks } from '../quirks.ts';
import { NotFound, ValidationProblem } from '../records.ts';
import { encode, Wire } from '../wire.ts';
import { type Answer, forbidden, methodNotAllowed, throttled, unauthorized } from './answer.ts';
import { BadBody, bodyLimit, decodeForm, decodeJson, formTypes, isForm } from './body.ts';
import { registerControls } from './control/index.ts';
import { deliver, whole } from './deliver.ts';
import type { Examples } from './examples.ts';
import { registerHealth } from './health.ts';
import { registerHome } from './home.ts';
import { registerJournal } from './journal.ts';
import { pageSize } from './listing.ts';
import { methods, type OtherMethods, otherMethods } from './methods.ts';
import { registerDocs } from './openapi.ts';
import { registerPayPages } from './pay.ts';
import { type ApiRequest, paramsOf, type RouteSpec } from './route.ts';
import { registerStorage } from './storage.ts';
import { refusedByFault, registerFaults, withFaults } from './strikes.ts';
import { formsOf, Invalid, inputOf, validatorOf } from './validate.ts';

export interface AppParts {
  routes: readonly RouteSpec[];
  /**
   * Installations by id. `/sandbox/` controls the first one. Without installations, the server only describes the API.
   */
  installations: ReadonlyMap<number, Installation>;
  /** The machine's clock, in epoch milliseconds. */
  machine: () => number;
  /** The examples of the OpenAPI descriptions; without it they have none. */
  examples?: () => Promise<Examples>;
  /** Tests set this: the server answers 500 if an answer does not match its schema. */
  checkAnswers?: boolean;
  /** Called with each answer. A test uses it to record which tests cover which endpoint. */
  onAnswer?: (answered: Answered) => void;
}

export interface Answered {
  method: string;
  /** The path of the route, relative to the API if it is part of it, for example `/invoice/:id/full_refund/`. */
  path: string;
  status: number;
}

interface RouteConfig {
  action: string;
  permission: Permission | null;
  scope: 'read write' | 'wholesaler';
}

declare module 'fastify' {
  interface FastifyContextConfig extends Partial<RouteConfig> {}
  interface FastifyRequest {
    installation: Installation | null;
    application: Application | null;
  }
}

const apiPath = '/:installation/api/0.1/';
const notFound: Answer = { status: 404, body: { detail: 'Not found.' } };

export const createApp = async (parts: AppParts): Promise<FastifyInstance> => {
  const app = fastify({
    forceCloseConnections: true,
    bodyLimit,
    exposeHeadRoutes: false,
    // The time limit for receiving a whole request; a catalog has up to 100 MB.
    requestTimeout: 300_000,
    // A path with invalid percent-encoding is answered like any unknown path.
    frameworkErrors: (_error, _request, reply) => {
      const { status, body } = notFound;
      (reply as FastifyReply).code(status).type('application/json').serializer(String).send(encode(body));
    },
    routerOptions: { maxParamLength: 200 },
  });
  app.setValidatorCompiler(validatorOf as never);
  app.setSerializerCompiler(() => encode);
  app.setReplySerializer((payload) => encode(payload));
  const installationOf = (id: number): Installation | null => parts.installations.get(id) ?? null;
  const [first] = parts.installations.values();
  app.decorateRequest('installation', null);
  app.decorateRequest('application', null);
  addParsers(app);
  await app.register(accepts);
  await registerDocs(
    app,
    parts.routes,
    (id) => {
      const found = id === undefined ? first : installationOf(Number(id));
      return found ? formsOf(found) : null;
    },
    parts.examples,
  );
  app.addHook('onRequest', async (request, reply) => {
    const id = /^\/(\d{1,15})\//.exec(request.url)?.[1];
    request.installation = id === undefined ? null : installationOf(Number(id));
    // The Date header follows the clinic's clock, not the machine's.
    reply.raw.sendDate = false;
    const { quirks, clock } = request.installation ?? first ?? {};
    if (quirks?.dateHeader !== false) reply.header('date', new Date(clock?.now() ?? parts.machine()).toUTCString());
  });
  registerJournal(app, first ?? null, installationOf);
  registerFaults(app);
  app.addHook('onRequest', async ({ url }) => {
    if (!isDecodable(splitOnce(url, '?')[1])) throw new BadBody('The query is not percent-encoded UTF-8.');
  });
  if (parts.onAnswer) {
    const told = parts.onAnswer;
    app.addHook('onResponse', async (request, reply) => {
      const path = (request.routeOptions.url ?? '').replace(apiPath, '/');
      told({ method: request.method, path, status: reply.statusCode });
    });
  }
  const others = otherMethods(parts.routes);
  // A request to an unknown path gets 404, even if its body is invalid too.
  app.setErrorHandler((error, request, reply) =>
    deliver(
      request,
      reply,
      whole(request.is404 || error instanceof UnknownPath ? unknown(request, others) : refusalOf(error)),
    ),
  );
  app.setNotFoundHandler((request, reply) => deliver(request, reply, whole(unknown(request, others))));
  let serial = 0;
  for (const route of parts.routes) addRoute(app, route, parts, () => serial++);
  addOptions(app, others);
  addTokenEndpoint(app);
  registerPayPages(app);
  await registerStorage(app, installationOf);
  registerHome(app, [...parts.installations.values()]);
  registerHealth(app, [...parts.installations.values()]);
  await registerControls(app, first ?? null, installationOf);
  // Without this handler, Node.js closes the connection of a CONNECT request without an answer.
  app.server.on('connect', (_request, socket) => {
    socket.end('HTTP/1.1 405 Method Not Allowed\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
  });
  await app.ready();
  return app;
};

const addParsers = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
    decodeJson(body),
  );
  app.addContentTypeParser(formTypes, { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) =>
    decodeForm(body, request.headers['content-type'] ?? ''),
  );
};

const addRoute = (app: FastifyInstance, route: RouteSpec, parts: AppParts, serialOf: () => number): void => {
  const names = paramsOf(route.path);
  app.route({
    method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
    url: `${apiPath}${route.path}`,
    config: { action: route.action, permission: route.permission ?? null, scope: route.scope ?? 'read write' },
    schema: { hide: true } as never,
    preParsing: async (request) => admit(request),
    handler: async (request, reply) => {
      const { clinic, latencyMs, installation, quirks } = request.installation as Installation;
      const [path = '', search = ''] = splitOnce(request.url, '?');
      checkPath(request);
      if (route.body && isForm(request) && !route.form)
        throw new UnsupportedMediaType(request.headers['content-type'] ?? '');
      const origin = `http://${request.headers.host ?? 'localhost'}`;
      const asked: ApiRequest = {
        ids: names.map((name) => pathIdOf((request.params as Record<string, string>)[name])),
        ...inputOf(request, route, request.installation as Installation),
        search: new URLSearchParams(search),
        clinic,
        quirks,
        wire: new Wire(`${origin}/${installation}/api/0.1`, quirks, clinic.zone),
        application: request.application as Application,
        strikes: (fault) => request.faults.strikes(fault) !== null,
        serial: serialOf(),
        origin,
        installation,
        pageUrl: (page) => {
          const paged = new URLSearchParams(search);
          paged.set('page', String(page));
          return `${origin}${path}?${paged}`;
        },
      };
      const handle = route.handle as (asked: ApiRequest) => Answer;
      const run = (): Answer =>
        answerOf(() => (route.method === 'GET' ? handle(asked) : clinic.commit(() => handle(asked), 'request')));
      const delivery = withFaults(request.faults, latencyMs, () => checked(route, run(), parts, quirks));
      return deliver(request, reply, delivery);
    },
  });
};

/** Throws for percent-encoding, because no path of the API needs it. */
const checkPath = ({ url }: FastifyRequest): void => {
  if (splitOnce(url, '?')[0].includes('%')) throw new UnknownPath();
};

/** Reads an id in a path, which has only digits. */
const pathIdOf = (text = ''): number => {
  if (!/^\d+$/.test(text)) throw new UnknownPath();
  if (text.length > 15) throw new NotFound();
  return Number(text);
};

/** Checks a request before its endpoint runs: authentication, permission and limits. Throws a Refusal. */
const admit = (request: FastifyRequest): void => {
  const { action, permission, scope } = request.routeOptions.config as RouteConfig;
  if (request.installation === null) throw new Refusal(notFound);
  const { auth, clinic, clock, limits, quirks, stats } = request.installation;
  const nowMs = clinic.clock();
  const who = auth.identify(request.headers.authorization, nowMs);
  if ('status' in who) throw new Refusal(who);
  request.application = who;
  if (scope === 'wholesaler' && who.isLegacyKey)
    throw new Refusal(unauthorized('An OAuth 2.0 access token is required.'));
  if (!who.scopes.includes(scope)) throw new Refusal(forbidden());
  if (permission !== null && !who.permissions.includes(permission)) throw new Refusal(forbidden());
  const fault = refusedByFault(request.faults, nowMs, unauthorized('Invalid or expired token.'));
  if (fault?.status === 429) stats.throttled(action);
  if (fault) throw new Refusal(fault);
  const search = new URLSearchParams(splitOnce(request.url, '?')[1]);
  const weight = action.endsWith('.list') ? Math.ceil(pageSize(search, quirks) / quirks.defaultPageSize) : 1;
  const taken = limits.take(action, weight, clock.machine());
  if (!taken.granted) {
    stats.throttled(action);
    throw new Refusal(throttled(String(taken.retryAfterSeconds)));
  }
  stats.granted(action, weight);
};

/** Adds OPTIONS to each path. */
const addOptions = (app: FastifyInstance, others: readonly OtherMethods[]): void => {
  for (const { path, route, metadata } of others) {
    const { action, permission = null, scope = 'read write' } = route;
    app.route({
      ...{ method: 'OPTIONS', url: `${apiPath}${path}`, schema: { hide: true } as never },
      config: { action: `${action.split('.')[0]}.metadata`, permission, scope },
      preParsing: async (request) => admit(request),
      handler: (request, reply) => {
        checkPath(request);
        return deliver(request, reply, whole(metadata));
      },
    });
  }
};

/**
 * Answers a request that matches no endpoint: 301 for a path without its slash, 405 for a known path if the caller is
 * authenticated, and otherwise 404.
 */
const unknown = (request: FastifyRequest, others: readonly OtherMethods[]): Answer => {
  const { installation, method, url, headers } = request;
  const [path, search] = splitOnce(url, '?');
  const other = installation && others.find(({ pattern }) => pattern.test(path.endsWith('/') ? path : `${path}/`));
  if (!other) return notFound;
  if (!path.endsWith('/'))
    return { status: 301, headers: { location: `${path}/${search === '' ? '' : `?${search}`}` } };
  const who = installation.auth.identify(headers.authorization, installation.clinic.clock());
  return 'status' in who ? who : { ...methodNotAllowed(method), headers: { allow: other.allow } };
};

/** Adds the token endpoint for client credentials (field notes: OAuth2). */
const addTokenEndpoint = (app: FastifyInstance): void => {
  const url = '/:installation/oauth2/token/';
  const schema = { hide: true } as never;
  app.route({
    ...{ method: [...methods.filter((method) => method !== 'POST'), 'HEAD', 'OPTIONS'] as HTTPMethods[], url, schema },
    handler: (request, reply) => {
      if (request.installation === null) return deliver(request, reply, whole(notFound));
      const headers = { allow: 'POST, OPTIONS' };
      const answer = request.method === 'OPTIONS' ? { status: 200 } : methodNotAllowed(request.method);
      return deliver(request, reply, whole({ ...answer, headers }));
    },
  });
  app.route({
    ...{ method: 'POST', url, schema, config: { action: 'oauth2.token' } },
    handler: (request, reply) => {
      if (request.installation === null) return deliver(request, reply, whole(notFound));
      const { auth, clinic, quirks, latencyMs } = request.installation;
      const body = (request.body ?? {}) as Record<string, unknown>;
      request.application = auth.client(request.headers.authorization);
      const refused = refusedByFault(request.faults, clinic.clock(), invalidClient);
      if (refused) return deliver(request, reply, whole(refused));
      const issue = (): Answer => auth.issue(request.headers.authorization, body, clinic.clock(), quirks.tokenSeconds);
      return deliver(request, reply, withFaults(request.faults, latencyMs, issue));
    },
  });
};

/**
 * Returns the answer. With `checkAnswers`, an answer that does not match its schema becomes a 500 that describes the
 * difference.
 */
const checked = (route: RouteSpec, answer: Answer, { checkAnswers }: AppParts, { extraFields }: Quirks): Answer => {
  if (!checkAnswers || extraFields || answer.status >= 400) return answer;
  const schema = route.answers[answer.status];
  if (schema === undefined)
    return { status: 500, body: { detail: `${route.action} does not declare ${answer.status}` } };
  if (schema === null) return answer;
  const result = schema.safeParse(JSON.parse(encode(answer.body)));
  if (result.success) return answer;
  return { status: 500, body: { detail: `${route.action}: ${z.prettifyError(result.error)}` } };
};

/** Ends a request with this answer, before its handler runs. */
class Refusal extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super(`refused with ${answer.status}`);
    this.answer = answer;
  }
}

class UnsupportedMediaType extends Error {}

/** A path that matches a route's pattern but is not a valid path of the API. */
class UnknownPath extends Error {}

/** Runs a handler and converts its errors into answers. */
const answerOf = (act: () => Answer): Answer => {
  try {
    return act();
  } catch (error) {
    return refusalOf(error);
  }
};

/** Converts an error into an answer. An unexpected error is a plain 500 and is printed on stderr. */
const refusalOf = (error: unknown): Answer => {
  if (error instanceof Refusal) return error.answer;
  if (error instanceof ValidationProblem) return { status: 400, body: error.fields };
  if (error instanceof BadBody) return { status: 400, body: { detail: error.message } };
  if (error instanceof NotFound) return notFound;
  if (error instanceof UnsupportedMediaType) {
    return { status: 415, body: { detail: `Unsupported media type "${error.message}" in request.` } };
  }
  if (error instanceof Invalid) return error.answer;
  const { statusCode, message } = error as { statusCode?: number; message?: string };
  if (statusCode !== undefined && statusCode < 500) return { status: statusCode, body: { detail: message } };
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : error}\n`);
  return { status: 500, body: { detail: 'Server error.' } };
};

const isDecodable = (text: string): boolean => {
  try {
    decodeURIComponent(text.replaceAll('+', ' '));
    return true;
  } catch {
    return false;
  }
};

const splitOnce = (text: string, separator: string): [string, string] => {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
};
