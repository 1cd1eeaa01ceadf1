import { pageSizeFor } from './walk/page-size.ts';

/** Seconds that it takes to save a page, beside the wait for its answer. */
export const savingSeconds = 0.05;

/** The used weight of a rate budget, and the seconds until this weight is free again. */
export interface BusyWeight {
  weight: number;
  seconds: number;
}

/** A list to read, and its rate budget. */
export interface ListLoad {
  /** The budget's name, for example `invoicerow.list`. */
  action: string;
  /** Records in a page without a page size. */
  defaultPageSize: number;
  /** Records left to read. */
  records: number;
  /** The limit in force: weight per rolling window. */
  limit: number;
  /** Weight in use, in the order in which it becomes free. */
  busy: BusyWeight[];
}

/** Parameters that all lists of an installation share. */
export interface Pace {
  maxPageSize: number;
  windowSeconds: number;
  /** Seconds from a request to its saved answer. */
  latencySeconds: number;
}

export interface ListEstimate {
  action: string;
  weight: number;
  requests: number;
  seconds: number;
}

export interface LoadEstimate {
  /** The seconds of the slowest list, because the lists are read at the same time. */
  seconds: number;
  /** The slowest list. */
  limit: ListEstimate;
  lists: ListEstimate[];
}

/**
 * Estimates the duration of a load from its rate budgets alone (DESIGN "Rate budget"), without posting and live
 * windows. Each list is read page by page; the first page has no page size and weight 1. A page waits until the budget
 * has room for its weight, which is free again one rate window after the answer.
 */
export function estimateLoad(lists: ListLoad[], pace: Pace): LoadEstimate {
  const estimates = lists.map((list) => estimateList(list, pace));
  const limit = estimates.reduce((slowest, each) => (each.seconds > slowest.seconds ? each : slowest));
  return { seconds: limit.seconds, limit, lists: estimates };
}

/**
 * The estimate of one list. After the beginning, only full pages are under way, and they come in cycles. A cycle has as
 * many pages as the budget allows. It takes a rate window plus one answer, or the sum of its answers if that is longer.
 * All cycles but the last are added in one step, so that the estimate for 10^13 records takes no longer than for a
 * million.
 */
export function estimateList(list: ListLoad, pace: Pace): ListEstimate {
  const { latencySeconds, windowSeconds } = pace;
  const { defaultPageSize } = list;
  const fullPage = pageSizeFor(Number.MAX_SAFE_INTEGER, defaultPageSize, pace.maxPageSize);
  const fullWeight = Math.ceil(fullPage / defaultPageSize);
  const pagesPerCycle = Math.max(1, Math.floor(list.limit / fullWeight));
  const cycleSeconds = Math.max(pagesPerCycle * latencySeconds, windowSeconds + latencySeconds);
  let pagesUntilCycles = 2 * pagesPerCycle + 2;
  const busy = list.busy.map(({ weight, seconds }) => ({ weight, freeAt: seconds }));
  let first = 0;
  let used = busy.reduce((weights, { weight }) => weights + weight, 0);
  const done: ListEstimate = { action: list.action, weight: 0, requests: 0, seconds: 0 };
  for (let records = list.records; records > 0; ) {
    const size = done.requests === 0 ? defaultPageSize : pageSizeFor(records, defaultPageSize, pace.maxPageSize);
    const weight = Math.ceil(size / defaultPageSize);
    for (let next = busy[first]; next; next = busy[first]) {
      if (next.freeAt > done.seconds && used + weight <= list.limit) break;
      done.seconds = Math.max(done.seconds, next.freeAt);
      used -= next.weight;
      first += 1;
    }
    done.seconds += latencySeconds;
    busy.push({ weight, freeAt: done.seconds + windowSeconds });
    used += weight;
    done.weight += weight;
    done.requests += 1;
    records -= size;
    // The weight in use at the beginning, and the small first page, no longer count.
    if (first > list.busy.length) pagesUntilCycles -= 1;
    if (pagesUntilCycles !== 0) continue;
    const cycles = Math.max(0, Math.floor(records / (pagesPerCycle * fullPage)) - 1);
    done.seconds += cycles * cycleSeconds;
    for (const page of busy) page.freeAt += cycles * cycleSeconds;
    done.requests += cycles * pagesPerCycle;
    done.weight += cycles * pagesPerCycle * fullWeight;
    records -= cycles * pagesPerCycle * fullPage;
  }
  return done;
}

/** Estimates the rest of a list while it is read, from the pages of the last rate window. */
export class ListProgress {
  private readonly list: Pick<ListLoad, 'action' | 'limit' | 'defaultPageSize'>;
  private readonly pace: Pace;
  private busy: { weight: number; freeAtMs: number }[];
  private received = 0;

  constructor(list: ListLoad, pace: Pace, nowMs: number) {
    this.list = list;
    this.pace = pace;
    this.busy = list.busy.map(({ weight, seconds }) => ({ weight, freeAtMs: nowMs + seconds * 1000 }));
  }

  /** Adds a page. `received` is the total number of records received so far. */
  note(received: number, nowMs: number): void {
    const weight = Math.ceil((received - this.received) / this.list.defaultPageSize);
    if (weight > 0) this.busy.push({ weight, freeAtMs: nowMs + this.pace.windowSeconds * 1000 });
    this.received = received;
  }

  /** Estimated seconds until `records` more records have been received. */
  secondsLeft(records: number, nowMs: number): number {
    this.busy = this.busy.filter(({ freeAtMs }) => freeAtMs > nowMs);
    const busy = this.busy.map(({ weight, freeAtMs }) => ({ weight, seconds: (freeAtMs - nowMs) / 1000 }));
    return estimateList({ ...this.list, records, busy }, this.pace).seconds;
  }
}
