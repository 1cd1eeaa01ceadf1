// Injected faults at one request: which strike, and the answer that becomes of it.
import type { FaultInjector, Faults } from '../faults.ts';
import { type Answer, throttled, unauthorized } from './answer.ts';

/** The faults that a request meets, and those that struck. */
export class RequestFaults {
  readonly #injector: FaultInjector;
  readonly #action: string;
  readonly struck: (keyof Faults)[] = [];

  constructor(injector: FaultInjector, action: string) {
    this.#injector = injector;
    this.#action = action;
  }

  /** The fault's settings if it strikes now, otherwise null. */
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

/** The refusal by a fault of a request that would be granted; null if none strikes. */
export const refusedByFault = (faults: RequestFaults, nowMs: number): Answer | null => {
  if (faults.strikes('unauthorizedOnce')) return unauthorized('Invalid or expired token.');
  const spurious = faults.strikes('spurious429');
  if (!spurious) return null;
  const seconds = spurious.seconds ?? 1;
  const date = new Date(nowMs + seconds * 1000).toUTCString();
  return throttled({ seconds: String(seconds), date, missing: null }[spurious.retryAfter ?? 'seconds']);
};

/** Runs what answers a request, and says what is sent of its answer. */
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
