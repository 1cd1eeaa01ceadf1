// Injected faults. Each fault strikes with a probability or for a given number of times. The random numbers are seeded.
import { z } from 'zod';
import { Rng } from './rng.ts';

/** The settings for when a fault strikes: with a probability, for a number of times, or always. */
const faultSwitch = {
  probability: z.number().min(0).max(1).optional().meta({ description: 'For each eligible request.' }),
  count: z
    .int()
    .min(0)
    .max(1_000_000)
    .optional()
    .meta({ description: 'Strikes so many eligible requests, then no more.' }),
  skip: z.int().min(0).max(1_000_000).optional().meta({ description: 'Eligible requests to let through first.' }),
  action: z.string().max(100).optional().meta({
    description: 'Only this endpoint action, such as `invoice.list` or `oauth2.token`. Default: every API action.',
  }),
};
const when = z.enum(['before', 'after']).optional().meta({
  description: '`after`: the request takes effect and only its answer is lost. Default `before`.',
});
const plain = z.strictObject(faultSwitch);
const timed = z.strictObject({ ...faultSwitch, when });

export const faultsSchema = z.strictObject({
  http500: timed.nullable().meta({ description: 'Answers 500.' }),
  http503Html: timed.nullable().meta({ description: 'Answers 503 with an HTML page.' }),
  timeoutMs: z
    .strictObject({ ...faultSwitch, ms: z.int().min(0).max(600_000).optional() })
    .nullable()
    .meta({ description: 'Delays the answer by `ms` (default 30,000).' }),
  truncatedBody: z
    .strictObject({ ...faultSwitch, honestLength: z.boolean().optional() })
    .nullable()
    .meta({
      description:
        'Sends half of the body and closes the connection. With `honestLength`, Content-Length matches: valid HTTP with truncated JSON.',
    }),
  notJson: plain.nullable().meta({ description: 'Answers 200 with an HTML page.' }),
  connectionReset: timed.nullable().meta({ description: 'Resets the connection instead of answering.' }),
  spurious429: z
    .strictObject({
      ...faultSwitch,
      retryAfter: z.enum(['seconds', 'date', 'missing']).optional(),
      seconds: z.number().min(0).max(86_400).optional(),
    })
    .nullable()
    .meta({
      description:
        'Answers 429 although the limit is not reached, with `Retry-After` in seconds, as a date, or missing. Counts towards no limit.',
    }),
  unauthorizedOnce: plain.nullable().meta({ description: 'Refuses a valid token once (or `count` times).' }),
  catalogUrl503: plain
    .nullable()
    .meta({ description: 'Answers a request for a catalog upload URL with 503, because it cannot be generated.' }),
});

export type FaultSwitch = z.output<typeof plain> & { when?: z.output<typeof when> };
export type Faults = z.output<typeof faultsSchema>;

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

  /**
   * Sets the named faults and leaves the others; null switches a fault off. It copies the settings, because each strike
   * lowers a fault's count.
   */
  set(faults: Partial<Faults>): void {
    const copies = Object.entries(faults).map(([name, fault]) => [name, fault ? { ...fault } : null]);
    this.#faults = { ...this.#faults, ...Object.fromEntries(copies) };
  }

  /** The active faults, with their remaining counts. */
  read(): Faults {
    return this.#faults;
  }

  /** Returns the fault's settings if it strikes this action now; null if it does not. */
  strikes<N extends keyof Faults>(name: N, action: string, when?: 'before' | 'after'): NonNullable<Faults[N]> | null {
    const fault = this.#faults[name] as (NonNullable<Faults[N]> & FaultSwitch) | null;
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
