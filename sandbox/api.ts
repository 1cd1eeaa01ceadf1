// Handles one API request: redirect, authentication, limits, faults, route.
import type { Auth } from './auth.ts';
import { unauthorized } from './auth.ts';
import { BadBody, decodeBody } from './body.ts';
import type { Clinic } from './clinic.ts';
import type { FaultInjector } from './faults.ts';
import { type Answer, type ApiRequest, matchPath, type Route } from './http.ts';
import { pageSize } from './listing.ts';
import type { Quirks } from './quirks.ts';
import type { RateLimits } from './rate.ts';
import { NotFound, ValidationProblem } from './records.ts';
import { invoiceRoutes } from './routes/invoices.ts';
import { paymentRoutes } from './routes/payments.ts';
import { methodNotAllowed, prepaymentRoutes } from './routes/prepayments.ts';
import { registerRoutes } from './routes/registers.ts';
import { settingsRoutes } from './routes/settings.ts';
import type { StatsKeeper } from './stats.ts';
import { Wire } from './wire.ts';

const routes: readonly Route[] = [
  ...invoiceRoutes,
  ...paymentRoutes,
  ...prepaymentRoutes,
  ...registerRoutes,
  ...settingsRoutes,
];

export interface IncomingRequest {
  method: string;
  /** `http://host:port`, as the client addressed it. */
  origin: string;
  /** Path and query. */
  target: string;
  authorization: string | undefined;
  contentType: string;
  body: Buffer | undefined;
}

/** An answer and the faults to apply while sending it. */
export interface Delivery {
  answer: Answer;
  delayMs: number;
  damage: 'reset' | 'truncate' | 'truncateHonestly' | 'html' | null;
}

export interface ApiParts {
  installation: number;
  clinic: Clinic;
  quirks: Quirks;
  auth: Auth;
  limits: RateLimits;
  faults: FaultInjector;
  stats: StatsKeeper;
  latencyMs: number;
}

const notFound: Answer = { status: 404, body: { detail: 'Not found.' } };

export class Api {
  readonly #parts: ApiParts;
  #serial = 0;

  constructor(parts: ApiParts) {
    this.#parts = parts;
  }

  async answer(incoming: IncomingRequest): Promise<Delivery> {
    const [path = '', search = ''] = splitOnce(incoming.target, '?');
    const root = `/${this.#parts.installation}/`;
    if (path === `${root}oauth2/token/`) return this.#issueToken(incoming);
    const api = `${root}api/0.1/`;
    if (!path.startsWith(api)) return whole(notFound);
    const resource = path.slice(api.length);
    const match = matchPath(routes, resource);
    if (!match) {
      const slashed = !resource.endsWith('/') && matchPath(routes, `${resource}/`);
      const location = `${path}/${search && `?${search}`}`;
      return whole(slashed ? { status: 301, headers: { location } } : notFound);
    }
    const refusal = this.#parts.auth.refusal(incoming.authorization, this.#parts.clinic.clock());
    if (refusal) return whole(refusal);
    const route = match.routes.find((candidate) => candidate.method === incoming.method);
    if (!route) return whole(methodNotAllowed(incoming.method));
    const query = new URLSearchParams(search);
    const blocked = this.#blocked(route.action, query);
    if (blocked) return whole(blocked);
    return this.#withFaults(route.action, () => this.#run(route, match.ids, query, incoming, path));
  }

  async #issueToken(incoming: IncomingRequest): Promise<Delivery> {
    const { auth, clinic, quirks } = this.#parts;
    if (incoming.method !== 'POST') return whole(methodNotAllowed(incoming.method));
    return this.#withFaults('oauth2.token', async () => {
      const body = await decodeBody(incoming.body, incoming.contentType);
      return auth.issue(incoming.authorization, body, clinic.clock(), quirks.tokenSeconds);
    });
  }

  /** A refusal before the route runs: an injected 401 or 429, or a limit that is reached. */
  #blocked(action: string, query: URLSearchParams): Answer | null {
    const { clinic, faults, limits, quirks, stats } = this.#parts;
    if (faults.strikes('unauthorizedOnce', action)) return unauthorized('Invalid or expired token.');
    const spurious = faults.strikes('spurious429', action);
    const nowMs = clinic.clock();
    if (spurious) {
      stats.throttled(action);
      const seconds = spurious.seconds ?? 1;
      const date = new Date(nowMs + seconds * 1000).toUTCString();
      const retryAfter = { seconds: String(seconds), date, missing: null }[spurious.retryAfter ?? 'seconds'];
      return throttled(retryAfter);
    }
    const weight = action.endsWith('.list') ? Math.ceil(pageSize(query, quirks) / quirks.defaultPageSize) : 1;
    const taken = limits.take(action, weight, nowMs);
    if (!taken.granted) {
      stats.throttled(action);
      return throttled(String(taken.retryAfterSeconds));
    }
    stats.granted(action, weight);
    return null;
  }

  async #withFaults(action: string, act: () => Promise<Answer>): Promise<Delivery> {
    const { faults, latencyMs } = this.#parts;
    const delivery: Delivery = { answer: notFound, delayMs: latencyMs, damage: null };
    if (this.#strike(action, 'before', delivery)) return delivery;
    delivery.answer = await refusalOf(act);
    if (this.#strike(action, 'after', delivery)) return delivery;
    const hang = faults.strikes('timeoutMs', action);
    if (hang) delivery.delayMs += hang.ms ?? 30_000;
    const cut = faults.strikes('truncatedBody', action);
    if (cut) delivery.damage = cut.honestLength ? 'truncateHonestly' : 'truncate';
    else if (faults.strikes('notJson', action)) return { ...delivery, answer: { status: 200 }, damage: 'html' };
    return delivery;
  }

  /** Replaces the answer by an injected failure, if one strikes now. */
  #strike(action: string, when: 'before' | 'after', delivery: Delivery): boolean {
    const { faults } = this.#parts;
    if (faults.strikes('connectionReset', action, when)) delivery.damage = 'reset';
    else if (faults.strikes('http500', action, when))
      delivery.answer = { status: 500, body: { detail: 'Server error.' } };
    else if (faults.strikes('http503Html', action, when)) {
      delivery.answer = { status: 503 };
      delivery.damage = 'html';
    } else return false;
    return true;
  }

  async #run(
    route: Route,
    ids: number[],
    query: URLSearchParams,
    incoming: IncomingRequest,
    path: string,
  ): Promise<Answer> {
    const { clinic, installation, quirks } = this.#parts;
    const request: ApiRequest = {
      ids,
      query,
      body: route.method === 'GET' ? {} : await decodeBody(incoming.body, incoming.contentType),
      clinic,
      quirks,
      wire: new Wire(`${incoming.origin}/${installation}/api/0.1`, quirks, clinic.zone),
      serial: this.#serial++,
      pageUrl: (page) => {
        const paged = new URLSearchParams(query);
        paged.set('page', String(page));
        return `${incoming.origin}${path}?${paged}`;
      },
    };
    return route.method === 'GET' ? route.handle(request) : clinic.commit(() => route.handle(request), 'request');
  }
}

const whole = (answer: Answer): Delivery => ({ answer, delayMs: 0, damage: null });

const throttled = (retryAfter: string | null): Answer => ({
  status: 429,
  body: { detail: 'Request was throttled.' },
  headers: retryAfter === null ? {} : { 'retry-after': retryAfter },
});

/** Runs a route and turns its ValidationProblem, NotFound or BadBody into an answer. */
const refusalOf = async (act: () => Promise<Answer>): Promise<Answer> => {
  try {
    return await act();
  } catch (error) {
    if (error instanceof ValidationProblem) return { status: 400, body: error.fields };
    if (error instanceof BadBody) return { status: 400, body: { detail: error.message } };
    if (error instanceof NotFound) return notFound;
    throw error;
  }
};

const splitOnce = (text: string, separator: string): [string, string] => {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
};
