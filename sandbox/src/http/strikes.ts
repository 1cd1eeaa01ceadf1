// Injected faults of one request: which of them strike, and how they change the answer. By default the installation's
// faults apply. A request with the header `X-Sandbox-Fault` has only the faults that it names, so that parallel tests
// do not disturb each other.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { FaultInjector, type Faults, faultsSchema } from '../faults.ts';
import { ValidationProblem } from '../records.ts';
import { type Answer, throttled } from './answer.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The server sets these faults for each request to an installation. */
    faults: RequestFaults;
  }
}

const header = 'X-Sandbox-Fault';
const someFaults = faultsSchema.partial();
const names = Object.keys(faultsSchema.shape).join(', ');

/**
 * Registers the hook that determines a request's faults. It must be called after the hooks that set the installation
 * and the recording.
 */
export const registerFaults = (app: FastifyInstance): void => {
  app.decorateRequest('faults');
  app.addHook('onRequest', async (request) => {
    const { installation, recording, headers } = request;
    if (installation === null) return;
    const { action } = request.routeOptions.config;
    const named = action === undefined ? undefined : headers[header.toLowerCase()];
    const injector =
      named === undefined
        ? installation.faults
        : // The number of the request makes each draw another one.
          new FaultInjector(recording?.exchange.id ?? 0, headerFaults(String(named), action as string));
    request.faults = new RequestFaults(injector, action ?? '');
    if (recording) recording.exchange.faults = request.faults.struck;
  });
};

/** The faults that the header names, for the action of the request. Throws ValidationProblem. */
const headerFaults = (text: string, action: string): Partial<Faults> => {
  const problem = (what: string) =>
    new ValidationProblem(header, `Send a fault (${names}), or JSON such as {"timeoutMs":{"ms":500}}. ${what}`);
  let json: unknown;
  try {
    json = /^\w+$/.test(text) ? { [text]: {} } : JSON.parse(text);
  } catch {
    throw problem('This is neither.');
  }
  const read = someFaults.safeParse(json);
  if (!read.success) throw problem(z.prettifyError(read.error));
  const given = Object.entries(read.data).filter(([, fault]) => fault);
  return Object.fromEntries(given.map(([name, fault]) => [name, { action, ...fault }]));
};

/** The faults that apply to a request, and those that struck. */
export class RequestFaults {
  readonly #injector: FaultInjector;
  readonly #action: string;
  readonly struck: (keyof Faults)[] = [];

  constructor(injector: FaultInjector, action: string) {
    this.#injector = injector;
    this.#action = action;
  }

  /** Returns the settings of the fault if the fault strikes now, otherwise null. */
  strikes<N extends keyof Faults>(name: N, when?: 'before' | 'after'): NonNullable<Faults[N]> | null {
    const fault = this.#injector.strikes(name, this.#action, when);
    if (fault) this.struck.push(name);
    return fault;
  }
}

export type Damage = 'reset' | 'truncate' | 'truncateHonestly' | 'html';

/** An answer and the faults to apply while sending it. */
export interface Delivery {
  answer: Answer;
  delayMs: number;
  damage: Damage | null;
}

/**
 * The refusal of a valid request by a fault; null if no such fault strikes. `unauthorized` is the answer of the fault
 * `unauthorizedOnce`.
 */
export const refusedByFault = (faults: RequestFaults, nowMs: number, unauthorized: Answer): Answer | null => {
  if (faults.strikes('unauthorizedOnce')) return unauthorized;
  const spurious = faults.strikes('spurious429');
  if (!spurious) return null;
  const seconds = spurious.seconds ?? 1;
  const date = new Date(nowMs + seconds * 1000).toUTCString();
  return throttled({ seconds: String(seconds), date, missing: null }[spurious.retryAfter ?? 'seconds']);
};

/** Runs the handler of a request and applies the faults to its answer. */
export const withFaults = (faults: RequestFaults, latencyMs: number, act: () => Answer): Delivery => {
  const delivery: Delivery = { answer: { status: 500 }, delayMs: latencyMs, damage: null };
  if (strike(faults, 'before', delivery)) return delivery;
  delivery.answer = act();
  if (strike(faults, 'after', delivery)) return delivery;
  const hang = faults.strikes('timeoutMs');
  if (hang) delivery.delayMs += hang.ms ?? 30_000;
  const cut = faults.strikes('truncatedBody');
  if (cut) delivery.damage = cut.honestLength ? 'truncateHonestly' : 'truncate';
  else if (faults.strikes('notJson')) return { ...delivery, answer: { status: 200 }, damage: 'html' };
  return delivery;
};

/** Replaces the answer by an injected failure, if one strikes now. */
const strike = (faults: RequestFaults, when: 'before' | 'after', delivery: Delivery): boolean => {
  if (faults.strikes('connectionReset', when)) delivery.damage = 'reset';
  else if (faults.strikes('http500', when)) delivery.answer = { status: 500, body: { detail: 'Server error.' } };
  else if (faults.strikes('http503Html', when)) {
    delivery.answer = { status: 503 };
    delivery.damage = 'html';
  } else return false;
  return true;
};
