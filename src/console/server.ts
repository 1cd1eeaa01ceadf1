import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { Readable } from 'node:stream';
import compress from '@fastify/compress';
import cookies from '@fastify/cookie';
import forms from '@fastify/formbody';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { mappingsInForce } from '../bookkeeping/mapping-versions.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import { showInstallations, showUserActions } from '../db/console-role.ts';
import type { Connection } from '../db/rows.ts';
import { dateIn } from '../domain/dates.ts';
import { headersTimeoutMs, limitConnections } from '../http/connections.ts';
import { listenAt } from '../http/listen.ts';
import { inLanguage, languageOf, loadLanguage } from '../languages/language.ts';
import { lastClose } from '../ledger/close.ts';
import { type Language, languages } from '../texts/catalogue.ts';
import { consoleTexts } from '../texts/console/console.ts';
import { listenErrors } from '../texts/errors/listening.ts';
import type { ConsoleContext } from './context.ts';
import { pageText } from './html.ts';
import { errorPage, type Frame, framed } from './layout.ts';
import {
  type Answer,
  type CookieChange,
  checkRoutes,
  type InstallationRoute,
  type OpenRequest,
  type OpenRoute,
  type PageContent,
  type Route,
  type SignedInRoute,
} from './route.ts';
import { routes } from './routes.ts';
import { fromOurPage, hostAllowed, securityHeaders } from './security.ts';
import { staticFiles } from './static-files.ts';
import { Rights } from './users/rights.ts';
import { findSession, recordRefusal, type Session } from './users/sessions.ts';
import { rolesOf } from './users/subjects.ts';
import { isFormToken } from './users/tokens.ts';

/** `__Host-` binds the cookie to this host and to TLS. Browsers count a loopback address as TLS. */
export const cookieName = '__Host-vetledger';
const attemptCookie = '__Host-vetledger-attempt';
const cookieOptions = { path: '/', secure: true, httpOnly: true, sameSite: 'lax' } as const;

/** Limits of a request: the body in bytes, and its time in milliseconds. */
const limits = { bodyLimit: 262_144, requestTimeout: 15_000 } as const;

/** The users for whom a heavy page is being made. */
const busy = new Set<number>();

export interface ConsoleServer {
  url: string;
  close(): Promise<void>;
}

/** Serves the console (DESIGN "Actions and the console"). Throws RouteFault or UserError if it cannot start. */
export async function startConsole(
  context: ConsoleContext,
  address: { host: string; port: number },
): Promise<ConsoleServer> {
  const app = await consoleApp(context);
  const url = await listenAt(app, address, listenErrors.console);
  return { url, close: () => app.close() };
}

/** The fastify instance with all routes, for tests without a port. */
export async function consoleApp(context: ConsoleContext): Promise<FastifyInstance> {
  checkRoutes(routes);
  for (const language of languages) await loadLanguage(language);
  const trusted = context.config.console?.trustedProxies ?? [];
  const app = fastify({
    bodyLimit: limits.bodyLimit,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.requestTimeout,
    forceCloseConnections: true,
    trustProxy: trusted.length === 0 ? false : trusted,
    routerOptions: { maxParamLength: 200, ignoreTrailingSlash: true },
    http: { maxHeaderSize: 16_384, headersTimeout: headersTimeoutMs },
  });
  limitConnections(app.server as Server);
  await app.register(cookies);
  await app.register(forms, { bodyLimit: limits.bodyLimit });
  await app.register(compress, { global: true, encodings: ['br', 'gzip'], threshold: 1024 });
  const hosts = context.config.console?.hosts ?? [];
  let isWarned = false;
  app.addHook('onRequest', async (request, reply) => {
    for (const [name, value] of Object.entries(securityHeaders)) reply.header(name, value);
    // All users behind a proxy that is not trusted count as one address, so that one of them locks out the others.
    if (!isWarned && request.ips === undefined && request.headers['x-forwarded-for'] !== undefined) {
      isWarned = true;
      context.log.warn({ address: request.ip }, 'a request has X-Forwarded-For, but console.trusted_proxies is empty');
    }
    if (!hostAllowed(request.hostname, hosts)) {
      await reply.code(421).type('text/plain').send(consoleTexts.hostRefused);
    }
  });
  staticFiles(app);
  for (const route of routes) {
    app.route({
      method: route.method,
      url: route.path,
      handler: (request, reply) => handle(context, route, request, reply),
    });
  }
  app.setNotFoundHandler(async (request, reply) =>
    sendMissing(context, request, reply, await sessionOf(context, request)),
  );
  app.setErrorHandler((error: { statusCode?: number }, request, reply) => sendFault(context, request, reply, error));
  return app;
}

async function handle(
  context: ConsoleContext,
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const session = await sessionOf(context, request);
  const refuse = (reason: string, installation: number | null) =>
    recordRefusal(context.db, {
      subjectId: session?.subjectId ?? null,
      route: `${route.method} ${route.path}`,
      ...{ installation, reason, address: request.ip },
    });
  if (route.method === 'POST') {
    const { csrf } = fieldsOf(request.body);
    const isOurs = fromOurPage(request) && (session === null || isFormToken(session.token, csrf ?? ''));
    if (!isOurs) {
      await refuse('form', null);
      return send(context, request, reply, session, null, errorPage.form(), 403);
    }
  }
  const now = context.clock();
  const common = {
    ...{ context, now, session, address: request.ip, origin: `${request.protocol}://${request.host}` },
    attempt: request.cookies[attemptCookie] ?? null,
    ...{ params: fieldsOf(request.params), query: fieldsOf(request.query), form: fieldsOf(request.body) },
    language: languageFor(session, request),
  };
  if (route.access.who === 'anyone') {
    const open = route as OpenRoute;
    const answer = open.isRemote
      ? await open.answer({ ...common, db: context.db })
      : await inTransaction(context, [], (db) => open.answer({ ...common, db }));
    return sendAnswer(context, request, reply, common, answer, null);
  }
  if (session === null) {
    if (route.method === 'GET') return reply.redirect(signInAddress(request.url), 303);
    return send(context, request, reply, null, null, errorPage.signedOut(), 401);
  }
  const granted = await rolesOf(context.db, session.subjectId);
  const id = installationOf(common.params);
  const configured = context.config.installations.find((each) => each.id === id) ?? null;
  const rights = new Rights(granted, dateIn(configured?.timezone ?? 'UTC', now));
  if (!permits(route, rights, configured)) {
    await refuse('right', configured?.id ?? null);
    return sendMissing(context, request, reply, session);
  }
  const isHeavy = 'isHeavy' in route;
  if (isHeavy && busy.has(session.subjectId)) {
    reply.header('retry-after', '5');
    return send(context, request, reply, session, null, errorPage.busy(), 429);
  }
  const visible = configured === null ? visibleTo(route, rights) : [configured.id];
  const work = async (db: Connection) => {
    const asked = { ...common, db, session, rights };
    if ('in' in route.access && route.access.in === 'database') await showUserActions(db);
    if (configured === null) return { answer: await (route as SignedInRoute).answer(asked), closed: null };
    const installation = await inForce(context, db, configured);
    return {
      answer: await (route as InstallationRoute).answer({ ...asked, installation }),
      closed: await lastClose(db, installation.id),
    };
  };
  // A page has the figures of one snapshot. What changes something sees what others have just committed.
  if (isHeavy) busy.add(session.subjectId);
  const { answer, closed } = await inTransaction(context, visible, work, route.method === 'GET').finally(() => {
    if (isHeavy) busy.delete(session.subjectId);
  });
  const frame: Frame = { rights, installation: configured, lastClose: closed, path: request.url };
  return sendAnswer(context, request, reply, common, answer, frame);
}

async function sessionOf({ db }: ConsoleContext, request: FastifyRequest): Promise<Session | null> {
  const token = request.cookies[cookieName];
  return token === undefined ? null : findSession(db, token);
}

/** Whether the rights permit the route. An installation that does not exist is the same as one without rights. */
function permits({ access }: Route, rights: Rights, installation: InstallationConfig | null): boolean {
  if (!('in' in access)) return true;
  if (access.in === 'database') return rights.may(access.who, null);
  if (access.in === 'any_installation') return rights.where(access.who).length > 0;
  return installation !== null && rights.may(access.who, installation.id);
}

function visibleTo({ access }: Route, rights: Rights): number[] {
  return 'in' in access && access.in === 'any_installation' ? rights.where(access.who) : [];
}

/** The installation with its mapping in force. */
async function inForce(
  { config }: ConsoleContext,
  db: Connection,
  installation: InstallationConfig,
): Promise<InstallationConfig> {
  const [found] = await mappingsInForce(db, [installation], { followFile: config.followMappingFile });
  return found?.installation ?? installation;
}

function inTransaction<T>(
  { db }: ConsoleContext,
  installations: readonly number[],
  work: (trx: Connection) => Promise<T>,
  isSnapshot = false,
): Promise<T> {
  const seeing = async (trx: Connection): Promise<T> => {
    await showInstallations(trx, installations);
    return work(trx);
  };
  return isSnapshot ? db.transaction(seeing, { isolationLevel: 'repeatable read' }) : db.transaction(seeing);
}

function installationOf({ installation = '' }: Record<string, string>): number | null {
  return /^[1-9]\d{0,14}$/.test(installation) ? Number(installation) : null;
}

/** Text fields of a query, a path or a form. Repeated fields count once, with their last value. */
function fieldsOf(given: unknown): Record<string, string> {
  if (typeof given !== 'object' || given === null) return {};
  const fields: [string, string][] = [];
  for (const [name, value] of Object.entries(given)) {
    const last: unknown = Array.isArray(value) ? value.at(-1) : value;
    if (typeof last === 'string') fields.push([name, last]);
  }
  return Object.fromEntries(fields);
}

function languageFor(session: Session | null, request: FastifyRequest): Language {
  if (session !== null) return session.language;
  const asked = (request.headers['accept-language'] ?? '').slice(0, 100).toLowerCase();
  for (const part of asked.split(',')) {
    const found = languageOf(part.trim().slice(0, 2));
    if (found !== undefined) return found;
  }
  return 'en';
}

function signInAddress(url: string): string {
  return url === '/' ? '/sign-in' : `/sign-in?${new URLSearchParams({ next: url })}`;
}

async function sendAnswer(
  context: ConsoleContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { session, language }: Pick<OpenRequest, 'session' | 'language'>,
  answer: Answer,
  frame: Frame | null,
): Promise<FastifyReply> {
  if ('missing' in answer) return sendMissing(context, request, reply, session);
  if ('attempt' in answer) changeCookie(reply, attemptCookie, answer.attempt);
  if ('redirect' in answer) {
    changeCookie(reply, cookieName, answer.session);
    return reply.redirect(answer.redirect, 303);
  }
  if ('file' in answer) {
    const { name, type, pieces } = answer.file;
    const file = Readable.from(pieces, { objectMode: false });
    return reply.header('content-disposition', `attachment; filename="${name}"`).type(type).send(file);
  }
  return send(context, request, reply, session, frame, answer.page, answer.status ?? 200, language);
}

function changeCookie(reply: FastifyReply, name: string, change: CookieChange | undefined): void {
  if (change && 'begin' in change) reply.setCookie(name, change.begin, cookieOptions);
  if (change && 'end' in change) reply.clearCookie(name, cookieOptions);
}

function sendMissing(
  context: ConsoleContext,
  request: FastifyRequest,
  reply: FastifyReply,
  session: Session | null,
): FastifyReply {
  return send(context, request, reply, session, null, errorPage.missing(), 404);
}

function send(
  context: ConsoleContext,
  request: FastifyRequest,
  reply: FastifyReply,
  session: Session | null,
  frame: Frame | null,
  page: PageContent,
  status: number,
  language: Language = languageFor(session, request),
): FastifyReply {
  const text = inLanguage(language, () => pageText(framed(page, { context, session, language, frame })));
  return reply.code(status).type('text/html; charset=utf-8').send(text);
}

/** The answer has an id that the log has, too. It contains no stack and no text of the error, which may name another tenant. */
function sendFault(
  context: ConsoleContext,
  request: FastifyRequest,
  reply: FastifyReply,
  error: { statusCode?: number },
): FastifyReply {
  const status = error.statusCode ?? 500;
  if (status < 500) return send(context, request, reply, null, null, errorPage.malformed(), status);
  const id = randomUUID();
  context.log.error({ err: error, id, route: request.routeOptions.url }, 'a request to the console failed');
  return send(context, request, reply, null, null, errorPage.failed(id), status);
}
