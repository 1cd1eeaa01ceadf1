// Injected faults. Each strikes with a probability or a given number of times; the random numbers are seeded.
import { Rng } from './rng.ts';

export interface FaultSwitch {
  /** Probability (0 to 1) for each eligible request. */
  probability?: number;
  /** Strikes the next `count` eligible requests, then no more. */
  count?: number;
  /** Eligible requests to let through first. */
  skip?: number;
  /** Limits the fault to one endpoint action, such as `invoice.list` or `oauth2.token`. Default: every API action. */
  action?: string;
  /** `after`: the request takes effect and only its answer is lost. For http500, http503Html and connectionReset; default `before`. */
  when?: 'before' | 'after';
}

export interface Faults {
  http500: FaultSwitch | null;
  http503Html: FaultSwitch | null;
  /** Delays the answer by `ms` (default 30,000). */
  timeoutMs: (FaultSwitch & { ms?: number }) | null;
  /** Sends half of the body and closes the connection. With `honestLength`, Content-Length matches: valid HTTP with truncated JSON. */
  truncatedBody: (FaultSwitch & { honestLength?: boolean }) | null;
  /** Answers 200 with an HTML page. */
  notJson: FaultSwitch | null;
  connectionReset: FaultSwitch | null;
  /** Answers 429 although the limit is not reached, with `Retry-After` in seconds, as a date, or missing. Counts towards no limit. */
  spurious429: (FaultSwitch & { retryAfter?: 'seconds' | 'date' | 'missing'; seconds?: number }) | null;
  /** Refuses a valid token once (or `count` times). */
  unauthorizedOnce: FaultSwitch | null;
  /** Answers a request for a catalog upload URL with 503, because it cannot be generated. */
  catalogUrl503: FaultSwitch | null;
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
  catalogUrl503: null,
};

export class FaultInjector {
  #faults: Faults = noFaults;
  readonly #rng: Rng;

  constructor(seed: number, faults: Partial<Faults>) {
    this.#rng = new Rng(seed, 'faults');
    this.set(faults);
  }

  /** Sets the named faults and leaves the others; null switches one off. The arguments are copied, because counts are changed. */
  set(faults: Partial<Faults>): void {
    const copies = Object.entries(faults).map(([name, fault]) => [name, fault ? { ...fault } : null]);
    this.#faults = { ...this.#faults, ...Object.fromEntries(copies) };
  }

  /** The fault's settings if it strikes this action now, otherwise null. */
  strikes<N extends keyof Faults>(name: N, action: string, when?: 'before' | 'after'): NonNullable<Faults[N]> | null {
    const fault = this.#faults[name] as NonNullable<Faults[N]> | null;
    if (!fault || (when && (fault.when ?? 'before') !== when)) return null;
    // A fault strikes the token endpoint only if it names that action.
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
    // A fault with neither probability nor count always strikes, except unauthorizedOnce, which strikes once.
    if (fault.probability === undefined && name === 'unauthorizedOnce') fault.count = 0;
    return this.#rng.chance(fault.probability ?? 1) ? fault : null;
  }
}
