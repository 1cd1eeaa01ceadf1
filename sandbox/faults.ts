// What goes wrong on purpose. Each fault strikes by probability or by countdown; the dice are seeded.
import { Rng } from './rng.ts';

export interface FaultSwitch {
  /** Chance from 0 to 1 for each request it could strike. */
  probability?: number;
  /** It strikes the next `count` requests it could strike, then no more. */
  count?: number;
  /** Requests let through first. */
  skip?: number;
  /** Only this endpoint action, for example `invoice.list` or `oauth2.token`; every API action unless given. */
  action?: string;
  /** `after`: the request has taken effect and its answer is lost. http500, http503Html and connectionReset strike `before` unless told. */
  when?: 'before' | 'after';
}

export interface Faults {
  http500: FaultSwitch | null;
  http503Html: FaultSwitch | null;
  /** The answer comes after `ms` (30,000 unless given). */
  timeoutMs: (FaultSwitch & { ms?: number }) | null;
  /** The body stops half way and the connection closes; with `honestLength` the answer is whole HTTP, of half a JSON. */
  truncatedBody: (FaultSwitch & { honestLength?: boolean }) | null;
  /** 200 with a page of HTML. */
  notJson: FaultSwitch | null;
  connectionReset: FaultSwitch | null;
  /** 429 although there is room; `Retry-After` in seconds, as a date, or missing. Takes no slot. */
  spurious429: (FaultSwitch & { retryAfter?: 'seconds' | 'date' | 'missing'; seconds?: number }) | null;
  /** A valid token is refused once (or `count` times). */
  unauthorizedOnce: FaultSwitch | null;
}

export const noFaults: Faults = {
  http500: null,
  http503Html: null,
  timeoutMs: null,
  truncatedBody: null,
  notJson: null,
  connectionReset: null,
  spurious429: null,
  unauthorizedOnce: null,
};

export class FaultInjector {
  #faults: Faults = noFaults;
  readonly #rng: Rng;

  constructor(seed: number, faults: Partial<Faults>) {
    this.#rng = new Rng(seed, 'faults');
    this.set(faults);
  }

  /** Sets the named faults and leaves the others; null switches one off. Countdowns are counted in copies. */
  set(faults: Partial<Faults>): void {
    const copies = Object.entries(faults).map(([name, fault]) => [name, fault ? { ...fault } : null]);
    this.#faults = { ...this.#faults, ...Object.fromEntries(copies) };
  }

  /** The fault's settings when it strikes this action now, else null. */
  strikes<N extends keyof Faults>(name: N, action: string, when?: 'before' | 'after'): NonNullable<Faults[N]> | null {
    const fault = this.#faults[name] as NonNullable<Faults[N]> | null;
    if (!fault || (when && (fault.when ?? 'before') !== when)) return null;
    // The token endpoint is struck only when it is named.
    if (fault.action ? fault.action !== action : action === 'oauth2.token') return null;
    if (fault.skip !== undefined && fault.skip > 0) {
      fault.skip--;
      return null;
    }
    if (fault.count !== undefined) {
      if (fault.count <= 0) return null;
      fault.count--;
      return fault;
    }
    // A fault with neither strikes always, except the one that is named after striking once.
    if (fault.probability === undefined && name === 'unauthorizedOnce') fault.count = 0;
    return this.#rng.chance(fault.probability ?? 1) ? fault : null;
  }
}
