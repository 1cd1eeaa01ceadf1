/** The speed and the cost of a pass of the scrub. Pure. */
import type { RecordKind } from '../../terms.ts';
import { recordKinds } from '../../terms.ts';
import type { ScrubPass } from './passes.ts';

const dayMs = 86_400_000;
/** A pass aims to end after this share of its days, so that a short outage does not make it late. */
const aimedShare = 0.9;
/** Before this share of its days, the rate of a pass gives no reliable forecast. */
const forecastFrom = 0.05;

/** The finished share of a pass, 0 to 1. A finished list counts with its expected number of records. */
export function shareDone({ lists }: Pick<ScrubPass, 'lists'>): number {
  let done = 0;
  let all = 0;
  for (const { expected, records, finishedAt } of lists) {
    all += expected;
    done += finishedAt === null ? Math.min(records, expected) : expected;
  }
  if (all > 0) return done / all;
  return lists.every(({ finishedAt }) => finishedAt !== null) ? 1 : 0;
}

/** Milliseconds until the next step of a pass is due; 0 if it is due. */
export function dueInMs(pass: ScrubPass, days: number, now: Date): number {
  const due = pass.beganAt.getTime() + shareDone(pass) * days * dayMs * aimedShare;
  return Math.max(0, due - now.getTime());
}

/** When the pass after this one begins. */
export function nextBeginsAt({ beganAt }: Pick<ScrubPass, 'beganAt'>, days: number): Date {
  return new Date(beganAt.getTime() + days * dayMs);
}

export interface Forecast {
  /** When the pass will end, by its rate so far. Null if nothing was read yet. */
  endsAt: Date | null;
  /** Whether the pass will take longer than `scrub_days`. */
  isLate: boolean;
}

export function forecastOf(pass: ScrubPass, days: number, now: Date): Forecast {
  if (pass.finishedAt !== null) return { endsAt: pass.finishedAt, isLate: false };
  const done = shareDone(pass);
  const elapsedMs = now.getTime() - pass.beganAt.getTime();
  const isEarly = elapsedMs < days * dayMs * forecastFrom;
  if (done === 0) return { endsAt: null, isLate: !isEarly };
  const paced = days * dayMs * aimedShare;
  // A pass never ends before its aimed share of the days.
  const endsAt = new Date(pass.beganAt.getTime() + Math.max(elapsedMs / done, paced));
  return { endsAt, isLate: !isEarly && endsAt > nextBeginsAt(pass, days) };
}

export interface ScrubCost {
  requests: number;
  weight: number;
}

/** How a list is read: records per page, and how many of them have weight 1 together. */
export interface PageCost {
  records: number;
  recordsPerWeight: number;
}

/**
 * The cost of a pass over lists with these numbers of records. `invoiceBatches` is the number of requests for all row
 * sets.
 */
export function passCost(
  counts: Record<RecordKind, number>,
  pageOf: (list: RecordKind) => PageCost,
  invoiceBatches: number,
): ScrubCost {
  const cost = { requests: 0, weight: 0 };
  for (const list of recordKinds) {
    const { records, recordsPerWeight } = pageOf(list);
    const pages = Math.ceil(counts[list] / records);
    // If the last page of a list is full, one more request finds the end. Rows do not need it.
    const requests = list === 'row' ? Math.max(pages, invoiceBatches) : pages + (counts[list] % records === 0 ? 1 : 0);
    cost.requests += requests;
    cost.weight += Math.max(requests, Math.ceil(counts[list] / recordsPerWeight));
  }
  return cost;
}
