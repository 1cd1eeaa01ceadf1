import type { Clock } from '../../../domain/clock.ts';
import type { JsonObject } from '../../../records/json.ts';
import type { RequestOptions } from '../../port.ts';
import { readAs } from './form.ts';

/** What is kept of the ERP's names: for a minute, so that what somebody corrects there counts soon. */
const namesKeptMs = 60_000;
export const partiesKeptMs = 600_000;
const mostNames = 10_000;

/** The records under each of the names; names without any have an empty list. */
export type LookUp<Value> = (names: Iterable<string>, request: RequestOptions) => Promise<Map<string, Value[]>>;

/** What an ERP has under its names, kept for a while and forgotten together. */
export class KeptNames {
  readonly #clock: Clock;
  readonly #forget: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A look-up that asks for those names only that it does not hold. */
  byName<Value>(
    load: (missing: string[], request: RequestOptions) => Promise<Map<string, Value[]>>,
    keptMs = namesKeptMs,
  ): LookUp<Value> {
    const cache = new NameCache<Value>(this.#clock, { maxAgeMs: keptMs, most: mostNames });
    this.#forget.push(() => cache.clear());
    return (names, request) => cache.get(names, (missing) => load(missing, request));
  }

  /** One value that is read as a whole. */
  whole<Value>(load: (request: RequestOptions) => Promise<Value>): (request: RequestOptions) => Promise<Value> {
    let held: { value: Value; until: number } | null = null;
    this.#forget.push(() => {
      held = null;
    });
    return async (request) => {
      const now = this.#clock.elapsed();
      if (held !== null && held.until > now) return held.value;
      const value = await load(request);
      held = { value, until: now + namesKeptMs };
      return value;
    };
  }

  /** Forgets everything: what was looked up may have changed. */
  clear(): void {
    for (const forget of this.#forget) forget();
  }
}

/**
 * What the ERP has under a name: all records, because a name that two have is a problem and no guess. What it lacks is asked for
 * each time, what it has for so long at most.
 */
export class NameCache<Value> {
  readonly #clock: Clock;
  readonly #options: { maxAgeMs: number; most: number };
  readonly #held = new Map<string, { values: Value[]; until: number }>();

  constructor(clock: Clock, options: { maxAgeMs: number; most: number }) {
    this.#clock = clock;
    this.#options = options;
  }

  /** The values by name; names without any have an empty list. */
  async get(
    names: Iterable<string>,
    load: (missing: string[]) => Promise<Map<string, Value[]>>,
  ): Promise<Map<string, Value[]>> {
    const now = this.#clock.elapsed();
    const answer = new Map<string, Value[]>();
    for (const name of names) answer.set(name, this.#fresh(name, now) ?? []);
    const missing = [...answer.keys()].filter((name) => this.#fresh(name, now) === null);
    if (missing.length === 0) return answer;
    // Meanwhile somebody else may clear what is held: the answer has it already.
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

/** Records by a name of theirs, for a cache. Throws ErpError `unsent` where one has not the form of the ERP's. */
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
