import { pageSizeFor } from './walk/page-size.ts';

/** Weight that counts against a budget, and in how many seconds it is free again. */
export interface BusyWeight {
  weight: number;
  seconds: number;
}

/** One list to be walked, and its rate budget. */
export interface ListLoad {
  /** The budget's name, `invoicerow.list`. */
  action: string;
  /** Still to come. */
  records: number;
  /** Weight per rolling window that is in force now. */
  limit: number;
  /** Those that are free again soonest come first. */
  busy: BusyWeight[];
}

/** What all lists of an installation have in common. */
export interface Pace {
  defaultPageSize: number;
  maxPageSize: number;
  windowSeconds: number;
  /** From a question to its saved answer. */
  latencySeconds: number;
}

export interface ListEstimate {
  action: string;
  weight: number;
  requests: number;
  seconds: number;
}

export interface LoadEstimate {
  /** The lists run side by side: that of the slowest. */
  seconds: number;
  /** The slowest list. */
  limit: ListEstimate;
  lists: ListEstimate[];
}

/**
 * How long a load takes by the rate budgets alone (DESIGN "Rate budget"): each list is walked page after page, the first one
 * without a page size (weight 1), a page waits until its weight has room, and its weight is free again a window after its
 * answer. Posting and live windows beside it are not counted in.
 */
export function estimateLoad(lists: ListLoad[], pace: Pace): LoadEstimate {
  const estimates = lists.map((list) => estimateList(list, pace));
  const limit = estimates.reduce((slowest, each) => (each.seconds > slowest.seconds ? each : slowest));
  return { seconds: limit.seconds, limit, lists: estimates };
}

export function estimateList(list: ListLoad, pace: Pace): ListEstimate {
  const { defaultPageSize, latencySeconds, windowSeconds } = pace;
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
  }
  return done;
}

/** What is left of a list while it is walked, from the pages that came in the last window. */
export class ListProgress {
  private readonly list: Pick<ListLoad, 'action' | 'limit'>;
  private readonly pace: Pace;
  private busy: { weight: number; freeAtMs: number }[];
  private received = 0;

  constructor(list: ListLoad, pace: Pace, nowMs: number) {
    this.list = list;
    this.pace = pace;
    this.busy = list.busy.map(({ weight, seconds }) => ({ weight, freeAtMs: nowMs + seconds * 1000 }));
  }

  /** Notes a page: so many of so many records are here. */
  note(received: number, nowMs: number): void {
    const weight = Math.ceil((received - this.received) / this.pace.defaultPageSize);
    if (weight > 0) this.busy.push({ weight, freeAtMs: nowMs + this.pace.windowSeconds * 1000 });
    this.received = received;
  }

  /** Seconds until `records` more are here. */
  secondsLeft(records: number, nowMs: number): number {
    this.busy = this.busy.filter(({ freeAtMs }) => freeAtMs > nowMs);
    const busy = this.busy.map(({ weight, freeAtMs }) => ({ weight, seconds: (freeAtMs - nowMs) / 1000 }));
    return estimateList({ ...this.list, records, busy }, this.pace).seconds;
  }
}
