/** Cost of requests, for `api` in `sync --json` and for the log. */
export interface Count {
  requests: number;
  weight: number;
  /** Number of answers with status 429. */
  throttled: number;
  waitedMs: number;
  /** Number of repeated requests by PracticeError code. */
  retries: Record<string, number>;
}

export interface Counters extends Count {
  byAction: Record<string, Count>;
}

const emptyCount = (): Count => ({ requests: 0, weight: 0, throttled: 0, waitedMs: 0, retries: {} });

/** Counts requests per action. A child's counts are also added to its parent. */
export class CounterSet {
  readonly #parent: CounterSet | null;
  readonly #byAction = new Map<string, Count>();

  constructor(parent: CounterSet | null = null) {
    this.#parent = parent;
  }

  add(action: string, change: Partial<Omit<Count, 'retries'>> & { retry?: string }): void {
    const count = this.#byAction.get(action) ?? emptyCount();
    this.#byAction.set(action, count);
    accumulate(count, { ...emptyCount(), ...change, retries: change.retry ? { [change.retry]: 1 } : {} });
    this.#parent?.add(action, change);
  }

  read(): Counters {
    const total = emptyCount();
    for (const count of this.#byAction.values()) accumulate(total, count);
    return { ...total, byAction: structuredClone(Object.fromEntries(this.#byAction)) };
  }
}

function accumulate(into: Count, more: Count): void {
  into.requests += more.requests;
  into.weight += more.weight;
  into.throttled += more.throttled;
  into.waitedMs += more.waitedMs;
  for (const [reason, times] of Object.entries(more.retries))
    into.retries[reason] = (into.retries[reason] ?? 0) + times;
}
