import type { Clock } from '../../../domain/clock.ts';
import type { JsonObject } from '../../../records/json.ts';
import type { CalendarDate } from '../../../terms.ts';
import type { RequestOptions } from '../../port.ts';
import { readAs } from './form.ts';

/** How long records are cached. It is short, so that a correction in the ERP takes effect soon. */
const namesKeptMs = 60_000;
export const partiesKeptMs = 600_000;
const mostNames = 10_000;

/** Looks up records by name. A name without records has an empty list. */
export type LookUp<Value> = (names: Iterable<string>, request: RequestOptions) => Promise<Map<string, Value[]>>;

/** Looks up records that an ERP keeps for each financial year: those of the years of these days, or of the newest one. */
export type YearlyLookUp<Value> = (
  names: Iterable<string>,
  request: RequestOptions,
  days?: Iterable<CalendarDate>,
) => Promise<Map<string, Value[]>>;

/** The caches of an ERP's records, which are cleared together. */
export class KeptNames {
  readonly #clock: Clock;
  readonly #forget: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A look-up that requests only names that are not in its cache. */
  byName<Value>(
    load: (missing: string[], request: RequestOptions) => Promise<Map<string, Value[]>>,
    keptMs = namesKeptMs,
  ): LookUp<Value> {
    const cache = new NameCache<Value>(this.#clock, { maxAgeMs: keptMs, most: mostNames });
    this.#forget.push(() => cache.clear());
    return (names, request) => cache.get(names, (missing) => load(missing, request));
  }

  /** Caches one value that is read as a whole. */
  whole<Value>(
    load: (request: RequestOptions) => Promise<Value>,
    keptMs = namesKeptMs,
  ): (request: RequestOptions) => Promise<Value> {
    let held: { value: Value; until: number } | null = null;
    this.#forget.push(() => {
      held = null;
    });
    return async (request) => {
      const now = this.#clock.elapsed();
      if (held !== null && held.until > now) return held.value;
      const value = await load(request);
      held = { value, until: now + keptMs };
      return value;
    };
  }

  clear(): void {
    for (const forget of this.#forget) forget();
  }
}

/**
 * Caches all records of each name. A name with several records is a problem that the caller reports. Names without
 * records are requested again each time.
 */
export class NameCache<Value> {
  readonly #clock: Clock;
  readonly #options: { maxAgeMs: number; most: number };
  readonly #held = new Map<string, { values: Value[]; until: number }>();

  constructor(clock: Clock, options: { maxAgeMs: number; most: number }) {
    this.#clock = clock;
    this.#options = options;
  }

  /** The records by name. A name without records has an empty list. */
  async get(
    names: Iterable<string>,
    load: (missing: string[]) => Promise<Map<string, Value[]>>,
  ): Promise<Map<string, Value[]>> {
    const now = this.#clock.elapsed();
    const answer = new Map<string, Value[]>();
    for (const name of names) answer.set(name, this.#fresh(name, now) ?? []);
    const missing = [...answer.keys()].filter((name) => this.#fresh(name, now) === null);
    if (missing.length === 0) return answer;
    // Another call may clear the cache during this request, so the cached records are already in the answer.
    const loaded = await load(missing);
    if (this.#held.size + loaded.size > this.#options.most) this.#held.clear();
    for (const [name, values] of loaded) {
      if (answer.has(name)) answer.set(name, values);
      if (values.length > 0) this.#held.set(name, { values, until: now + this.#options.maxAgeMs });
    }
    return answer;
  }

  #fresh(name: string, now: number): Value[] | null {
    const held = this.#held.get(name);
    return held === undefined || held.until <= now ? null : held.values;
  }

  clear(): void {
    this.#held.clear();
  }
}

/** The records with these names, from a whole list. */
export function named<Value>(
  names: Iterable<string>,
  all: readonly Value[],
  nameOf: (value: Value) => string,
): Map<string, Value[]> {
  const known = Map.groupBy(all, nameOf);
  return new Map([...names].map((name) => [name, known.get(name) ?? []]));
}

/** Groups records by name. Throws ErpError `unsent` if a record does not have the ERP's form. */
export function byName<Value>(
  records: JsonObject[],
  nameOf: (record: JsonObject) => string,
  readRecord: (record: JsonObject) => Value,
): Map<string, Value[]> {
  const found = new Map<string, Value[]>();
  for (const record of records) {
    const [name, value] = readAs(record, () => [nameOf(record), readRecord(record)] as const);
    found.set(name, [...(found.get(name) ?? []), value]);
  }
  return found;
}
