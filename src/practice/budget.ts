/**
 * The rate budget of an installation (DESIGN "Rate budget"), as this process takes from it. The rules are functions of the database, in
 * `src/db/schema.sql`, since processes share them: `budget_take` grants slots or says when to ask again, `budget_throttled` halves the
 * limit after a 429, and `budget_limit` gives back a tenth in each clean window.
 */
import { randomUUID } from 'node:crypto';
import type { Connection } from '../db/rows.ts';
import type { Clock } from '../domain/clock.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { type Dialect, limitOf } from '../records/dialect.ts';
import { BudgetStore, type BudgetUsage, type FinishedSlots } from './budget-store.ts';
import { type DatedGrant, RequestQueue, type Waiter } from './request-queue.ts';

/**
 * Priorities of requests, within a process and between processes: lower goes first. Requests of the priority `scrub` are
 * background requests: nobody waits for them.
 */
export const priorities = { live: 1, replay: 4, backfill: 5, scrub: 9 } as const;

/** Longest pause between two requests for a slot, so that slots freed by other processes are noticed soon. */
const longestStepMs = 1000;
const shortestStepMs = 20;
/** How many of these pauses a background request makes in one. */
const backgroundSteps = 2;
/**
 * Finished slots are reported with the action's next take, or after this time, or a step where that is shorter: those of all actions in
 * one statement, since a window asks several lists and most windows ask each of them once. Until then they count for other processes
 * as requests under way.
 */
const reportAfterMs = 250;
/** How much faster the database's clock may run than the server's: NTP slews by 0.05 % at most. */
const clockDrift = 1.0005;
/** A slot that takes longer than this to reach us is given back: it might expire before its request is answered. */
const grantSeconds = 1;

export interface BudgetOptions {
  db: Connection;
  installation: number;
  dialect: Dialect;
  /** The service's rolling window (practice-api: Limits); 60, or what a sandbox runs with. */
  windowSeconds: number;
  /** Time-out of a whole request. Until then an unanswered request may still reach the server and be counted there. */
  requestTimeoutSeconds: number;
  /** Longest wait of one `take`; then PracticeError `throttled`. Default 30 minutes. */
  maxWaitSeconds?: number;
  /** The share of each limit that background requests take even while others wait; 0 unless given. */
  backgroundShare?: number;
  clock: Pick<Clock, 'elapsed' | 'sleep'>;
}

/** Called about once a second while a take waits, and at its end, with the milliseconds waited since the last call. */
export type OnWait = (ms: number, action: string) => void;

/** Permission to send one request at once. It expires after request time-out + window unless `finish` shortens it. */
export interface Slot {
  id: number;
  /** The database's clock at the grant: the request is sent after it. */
  askedAt: Date;
  /** By the clock's `elapsed`, not later than `askedAt`: what has passed since then has passed since `askedAt` at most. */
  askedMs: number;
  waitedMs: number;
  /**
   * The request is over: `answered`, with whatever status, or `notSent` when it never reached the server, which frees the slot.
   * Reported to the database with the process's next take, or shortly after.
   */
  finish(outcome?: 'answered' | 'notSent'): void;
  /** The server answered 429: no request is sent before `retryAfterMs` from now, and the limit is halved. */
  throttled(retryAfterMs: number): Promise<void>;
}

/** The part of a budget that the client uses. */
export type RateBudget = Pick<Budget, 'take' | 'roomInMs' | 'requestTimeoutSeconds'>;

/**
 * The rate budget of one installation (DESIGN "Rate budget"). Its state is in PostgreSQL, so that it holds across processes,
 * crashes and restarts. Within the process the requests of each action queue; one statement asks for the first of them, and no
 * connection is held during a pause.
 */
export class Budget {
  readonly windowSeconds: number;
  readonly requestTimeoutSeconds: number;
  readonly #options: BudgetOptions;
  readonly #clock: Pick<Clock, 'elapsed' | 'sleep'>;
  readonly #claimants = { ordinary: randomUUID(), background: randomUUID() };
  readonly #store: BudgetStore;
  readonly #actions = new Map<string, ActionQueue>();
  readonly #stepMs: number;
  #isClosed = false;
  #willReport = false;

  constructor(options: BudgetOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#store = new BudgetStore(options.db, options.installation);
    this.windowSeconds = options.windowSeconds;
    this.requestTimeoutSeconds = options.requestTimeoutSeconds;
    this.#stepMs = Math.min(longestStepMs, Math.max(shortestStepMs, options.windowSeconds * 100));
  }

  /**
   * Waits until a request of `weight` may be sent, at most until `untilMs` by the clock's `elapsed`. Throws the signal's reason when
   * it aborts, PracticeError `throttled` after the longest wait.
   */
  take(
    action: string,
    weight: number,
    priority: number,
    signal?: AbortSignal,
    onWait?: OnWait,
    untilMs = Number.POSITIVE_INFINITY,
  ): Promise<Slot> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const { ordinary, background } = this.#action(action);
      const queue = priority === priorities.scrub ? background : ordinary;
      const arrivedMs = this.#clock.elapsed();
      const leave = () => {
        if (queue.remove(waiter)) reject(signal?.reason);
      };
      const waiter: Waiter = {
        weight,
        priority,
        arrivedMs,
        deadlineMs: Math.min(arrivedMs + this.#maxWaitSeconds * 1000, untilMs),
        waitedMs: 0,
        onWait: (ms) => onWait?.(ms, action),
        granted: (grant) => {
          signal?.removeEventListener('abort', leave);
          resolve(this.#slot(grant, action, waiter.waitedMs));
        },
        failed: (reason) => {
          signal?.removeEventListener('abort', leave);
          reject(reason);
        },
      };
      signal?.addEventListener('abort', leave, { once: true });
      queue.add(waiter);
    });
  }

  /** Milliseconds until requests of so much weight may be sent at once, if nobody else takes any; 0: now. */
  roomInMs(action: string, weight: number): Promise<number> {
    return this.#store.roomInMs(action, weight, limitOf(this.#options.dialect, action), this.windowSeconds);
  }

  /** The state of every budget of the installation that was ever used. */
  usage(): Promise<BudgetUsage[]> {
    return this.#store.usage();
  }

  /** Forgets what 429s have done to one budget: its block and its lowered limit. */
  forget(action: string): Promise<void> {
    return this.#store.forget(action);
  }

  /**
   * Reports what the database does not know yet. Requests that wait should have been aborted before; slots of requests that are
   * answered later expire by themselves.
   */
  async close(): Promise<void> {
    for (const { ordinary, background } of this.#actions.values()) {
      await Promise.all([ordinary.idle(), background.idle()]);
    }
    await this.#report();
    this.#isClosed = true;
  }

  get #maxWaitSeconds(): number {
    return this.#options.maxWaitSeconds ?? 1800;
  }

  #action(action: string): ActionQueue {
    const found = this.#actions.get(action);
    if (found) return found;
    const finished: FinishedSlot[] = [];
    // Two lines, so that no other request waits while the database is asked for a background request.
    const made = {
      finished,
      ordinary: this.#queue(action, finished, this.#claimants.ordinary, this.#stepMs),
      background: this.#queue(action, finished, this.#claimants.background, this.#stepMs * backgroundSteps),
    };
    this.#actions.set(action, made);
    return made;
  }

  #queue(action: string, finished: FinishedSlot[], claimant: string, longestPauseMs: number): RequestQueue {
    return new RequestQueue({
      clock: this.#clock,
      longestPauseMs,
      ask: (alike) => this.#ask(action, finished, alike, claimant),
      giveBack: (slotId) => this.#finish(action, slotId, 0),
      withdraw: () => this.#store.withdraw(action, claimant),
      deadlineError: ({ arrivedMs, deadlineMs }) => {
        const waited = `${Math.round((deadlineMs - arrivedMs) / 100) / 10} s`;
        return new PracticeError('throttled', `the rate budget of ${action} had no room for a request in ${waited}`);
      },
    });
  }

  async #ask(
    action: string,
    finished: FinishedSlot[],
    alike: readonly [Waiter, ...Waiter[]],
    claimant: string,
  ): Promise<DatedGrant[] | { waitMs: number }> {
    const [first] = alike;
    const askedMs = this.#clock.elapsed();
    const isBackground = first.priority === priorities.scrub;
    const request = {
      weight: first.weight,
      priority: first.priority,
      agesSeconds: alike.map(({ arrivedMs }) => (askedMs - arrivedMs) / 1000),
      limit: limitOf(this.#options.dialect, action),
      windowSeconds: this.windowSeconds,
      holdSeconds: (this.requestTimeoutSeconds + this.windowSeconds) * clockDrift + grantSeconds,
      claimant,
      claimSeconds: Math.max(2, (this.#stepMs * 5) / 1000),
      background: isBackground
        ? { keptFree: keptFree(this.#options.dialect, action), share: this.#options.backgroundShare ?? 0 }
        : null,
    };
    const answer = await this.#store.take(action, request, this.#drain(finished));
    if ('waitMs' in answer) return { waitMs: answer.waitMs ?? this.#stepMs * (isBackground ? backgroundSteps : 1) };
    if (this.#clock.elapsed() - askedMs < grantSeconds * 1000) return answer.map((grant) => ({ ...grant, askedMs }));
    for (const { slotId } of answer) this.#finish(action, slotId, 0);
    return { waitMs: 0 };
  }

  #slot({ slotId: id, askedAt, askedMs }: DatedGrant, action: string, waitedMs: number): Slot {
    return {
      id,
      askedAt,
      askedMs,
      waitedMs,
      finish: (outcome = 'answered') =>
        this.#finish(action, id, outcome === 'answered' ? this.windowSeconds * clockDrift : 0),
      throttled: (retryAfterMs) => this.#store.throttled(action, id, retryAfterMs / 1000),
    };
  }

  #finish(action: string, slotId: number, keepSeconds: number): void {
    const { finished } = this.#action(action);
    finished.push({ slotId, untilMs: this.#clock.elapsed() + keepSeconds * 1000 });
    if (this.#willReport) return;
    this.#willReport = true;
    void this.#clock.sleep(Math.min(reportAfterMs, this.#stepMs)).then(async () => {
      this.#willReport = false;
      await this.#report();
    });
  }

  /** Reports what no take has reported. A failure is ignored: the slots then expire by themselves, which is later. */
  async #report(): Promise<void> {
    if (this.#isClosed) return;
    const finished = [...this.#actions]
      .filter(([, of]) => of.finished.length > 0)
      .map(([action, of]) => ({ action, ...this.#drain(of.finished) }));
    if (finished.length > 0) await this.#store.finish(finished).catch(() => undefined);
  }

  /** Empties the list. */
  #drain(finished: FinishedSlot[]): FinishedSlots {
    const now = this.#clock.elapsed();
    const slots = finished.splice(0);
    return {
      slotIds: slots.map(({ slotId }) => slotId),
      keepSeconds: slots.map(({ untilMs }) => Math.max(0, untilMs - now) / 1000),
    };
  }
}

/**
 * What background requests leave free beside themselves, and the most that they take in a rolling window: the weight of the
 * largest page, and no more than half the limit.
 */
export function keptFree(dialect: Dialect, action: string): number {
  const largestPage = Math.ceil(dialect.max_page_size / dialect.default_page_size);
  return Math.min(largestPage, Math.floor(limitOf(dialect, action) / 2));
}

interface ActionQueue {
  ordinary: RequestQueue;
  background: RequestQueue;
  /** Not reported to the database yet. */
  finished: FinishedSlot[];
}

interface FinishedSlot {
  slotId: number;
  /** When it stops counting, by the clock's `elapsed`. */
  untilMs: number;
}
