/** How fast a pass of the scrub goes, and what it costs. Pure. */
import type { RecordKind } from '../../terms.ts';
import { recordKinds } from '../../terms.ts';
import type { ScrubPass } from './passes.ts';

const dayMs = 86_400_000;
/** A pass aims to end after this share of its days, so that a short outage does not make it late. */
const aimedShare = 0.9;
/** Until this share of its days has passed, the rate of a pass says little. */
const forecastFrom = 0.05;

/** The share of a pass that is done, 0 to 1. A list that is read to its end counts as what it was expected to hold. */
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

/** Milliseconds until the next step of a pass is due; 0 when it is. */
export function dueInMs(pass: ScrubPass, days: number, now: Date): number {
  const due = pass.beganAt.getTime() + shareDone(pass) * days * dayMs * aimedShare;
  return Math.max(0, due - now.getTime());
}

/** When the pass after this one begins. */
export function nextBeginsAt({ beganAt }: Pick<ScrubPass, 'beganAt'>, days: number): Date {
  return new Date(beganAt.getTime() + days * dayMs);
}

export interface Forecast {
  /** When the pass ends, by its rate so far; null where nothing was read yet. */
  endsAt: Date | null;
  /** Whether that is later than its days. */
  isLate: boolean;
}

export function forecastOf(pass: ScrubPass, days: number, now: Date): Forecast {
  if (pass.finishedAt !== null) return { endsAt: pass.finishedAt, isLate: false };
  const done = shareDone(pass);
  const elapsedMs = now.getTime() - pass.beganAt.getTime();
  const isEarly = elapsedMs < days * dayMs * forecastFrom;
  if (done === 0) return { endsAt: null, isLate: !isEarly };
  const paced = days * dayMs * aimedShare;
  // A pass goes no faster than it aims to.
  const endsAt = new Date(pass.beganAt.getTime() + Math.max(elapsedMs / done, paced));
  return { endsAt, isLate: !isEarly && endsAt > nextBeginsAt(pass, days) };
}

export interface ScrubCost {
  requests: number;
  weight: number;
}

/** How a list is read: records of a page, and how many of them weigh 1. */
export interface PageCost {
  records: number;
  recordsPerWeight: number;
}

/** What a pass over lists of so many records costs; `invoiceBatches` are the requests that all row sets take. */
export function passCost(
  counts: Record<RecordKind, number>,
  pageOf: (list: RecordKind) => PageCost,
  invoiceBatches: number,
): ScrubCost {
  const cost = { requests: 0, weight: 0 };
  for (const list of recordKinds) {
    const { records, recordsPerWeight } = pageOf(list);
    const pages = Math.ceil(counts[list] / records);
    // The end of a list is one more request, that of the rows aside.
    const requests = list === 'row' ? Math.max(pages, invoiceBatches) : pages + (counts[list] % records === 0 ? 1 : 0);
    cost.requests += requests;
    cost.weight += Math.max(requests, Math.ceil(counts[list] / recordsPerWeight));
  }
  return cost;
}
