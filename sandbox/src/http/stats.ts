// Statistics: the number and the weight of requests within the limits, and the number of 429 answers.

export interface ActionStats {
  requests: number;
  weight: number;
  throttled: number;
}

export interface Stats extends ActionStats {
  byAction: Record<string, ActionStats>;
}

export class StatsKeeper {
  readonly #byAction = new Map<string, ActionStats>();

  granted(action: string, weight: number): void {
    const counts = this.#of(action);
    counts.requests++;
    counts.weight += weight;
  }

  throttled(action: string): void {
    this.#of(action).throttled++;
  }

  read(): Stats {
    const total: Stats = { requests: 0, weight: 0, throttled: 0, byAction: {} };
    for (const [action, counts] of this.#byAction) {
      total.requests += counts.requests;
      total.weight += counts.weight;
      total.throttled += counts.throttled;
      total.byAction[action] = { ...counts };
    }
    return total;
  }

  #of(action: string): ActionStats {
    const counts = this.#byAction.get(action) ?? { requests: 0, weight: 0, throttled: 0 };
    this.#byAction.set(action, counts);
    return counts;
  }
}
