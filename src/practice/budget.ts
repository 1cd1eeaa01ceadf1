/**
 * The rate budget of an installation (DESIGN "Rate budget"), as this process uses it. Processes share it, so its rules
 * are functions of the database (`src/db/schema.sql`). `budget_take` grants slots or returns when to try again.
 * `budget_throttled` halves the limit after a 429. `budget_limit` restores a tenth of it in each window without a 429.
 */
import { randomUUID } from 'node:crypto';
import type { Connection } from '../db/rows.ts';
import type { Clock } from '../domain/clock.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { type Dialect, limitOf } from '../records/dialect.ts';
import { practiceTexts } from '../texts/errors/practice.ts';
import { BudgetStore, type BudgetUsage, type FinishedSlots } from './budget-store.ts';
import { type DatedGrant, RequestQueue, type Waiter } from './request-queue.ts';

/**
 * Priorities of requests, within a process and between processes. The lowest number goes first. Requests of the
 * priority `scrub` are background requests, which may wait for a long time.
 */
export const priorities = { live: 1, replay: 4, backfill: 5, scrub: 9 } as const;

/**
 * Longest pause between two requests for a slot. It is short, so that slots that other processes free are noticed soon.
 */
const longestStepMs = 1000;
const shortestStepMs = 20;
/** A background request multiplies its pauses by this number. */
const backgroundSteps = 2;
/**
 * Finished slots are reported with the next take of their action, or after this time (or one step, if that is shorter).
 * One statement reports those of all actions, since most windows request each list only once. Until the report, other
 * processes count the slots as requests under way.
 */
const reportAfterMs = 250;
/** How much faster the database's clock may run than the server's. NTP slews by at most 0.05 %. */
const clockDrift = 1.0005;
/**
 * A grant that takes longer than this to arrive is returned, because the slot might expire before its request is
 * answered.
 */
const grantSeconds = 1;

export interface BudgetOptions {
  db: Connection;
  installation: number;
  dialect: Dialect;
  /** The service's rolling window (practice-api: Limits). It is 60 s; a sandbox may have another one. */
  windowSeconds: number;
  /**
   * Time-out of a whole request. Until it ends, an unanswered request may still reach the server and be counted there.
   */
  requestTimeoutSeconds: number;
  /** Longest wait of one `take`, by default 30 minutes. Then it throws PracticeError `throttled`. */
  maxWaitSeconds?: number;
  /** The share of each limit that background requests may take while others wait. Default 0. */
  backgroundShare?: number;
  clock: Pick<Clock, 'elapsed' | 'sleep'>;
}

/** Called about once a second while a take waits, and at its end, with the milliseconds waited since the last call. */
export type OnWait = (ms: number, action: string) => void;

/**
 * Permission to send one request at once. It expires after request time-out plus window, unless `finish` shortens it.
 */
export interface Slot {
  id: number;
  /** The database's clock at the grant, before the request is sent. */
  askedAt: Date;
  /**
   * The clock's `elapsed` when the slot was requested, so never later than `askedAt`. Time that is measured from it is
   * an upper bound of the time since `askedAt`.
   */
  askedMs: number;
  waitedMs: number;
  /**
   * Marks the request as finished: `answered` with any status, or `notSent` if it never reached the server, which frees
   * the slot at once. The database receives it with the process's next take, or shortly after.
   */
  finish(outcome?: 'answered' | 'notSent'): void;
  /** The server answered 429. No request is sent for `retryAfterMs`, and the limit is halved. */
  throttled(retryAfterMs: number): Promise<void>;
}

/** The part of a budget that the client uses. */
export type RateBudget = Pick<Budget, 'take' | 'roomInMs' | 'requestTimeoutSeconds'>;

/**
 * The rate budget of one installation (DESIGN "Rate budget"). Its state is in PostgreSQL, so that it is valid across
 * processes, crashes and restarts. Within the process, the requests of each action wait in a queue. One statement
 * requests slots for the first of them, and no database connection is held during a pause.
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
   * Waits until a request of `weight` may be sent, at most until `untilMs` by the clock's `elapsed`. Throws the
   * signal's reason if it aborts, and PracticeError `throttled` after the longest wait.
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

  /**
   * Milliseconds until requests of this weight may be sent at once, if no other process takes any. 0 if they may be
   * sent now.
   */
  roomInMs(action: string, weight: number): Promise<number> {
    return this.#store.roomInMs(action, weight, limitOf(this.#options.dialect, action), this.windowSeconds);
  }

  /** The state of every budget of the installation that was ever used. */
  usage(): Promise<BudgetUsage[]> {
    return this.#store.usage();
  }

  /** Removes the block and the lowered limit that 429s caused for one budget. */
  forget(action: string): Promise<void> {
    return this.#store.forget(action);
  }

  /**
   * Reports the finished slots that the database does not have yet. Waiting requests should have been aborted before.
   * The slots of requests that are answered later expire automatically.
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
    // Two queues, so that a background request's query does not delay other requests.
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
        const seconds = Math.round((deadlineMs - arrivedMs) / 100) / 10;
        return new PracticeError('throttled', practiceTexts.budgetFull({ action, seconds }));
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

  /**
   * Reports finished slots that no take has reported. A failure is ignored, because the slots also expire
   * automatically, only later.
   */
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
 * The weight that background requests leave free for others, which is also the most that they take in a rolling window.
 * It is the weight of the largest page, and at most half the limit.
 */
export function keptFree(dialect: Dialect, action: string): number {
  const largestPage = Math.ceil(dialect.max_page_size / dialect.default_page_size);
  return Math.min(largestPage, Math.floor(limitOf(dialect, action) / 2));
}

interface ActionQueue {
  ordinary: RequestQueue;
  background: RequestQueue;
  /** Slots that the database does not know as finished yet. */
  finished: FinishedSlot[];
}

interface FinishedSlot {
  slotId: number;
  /** The clock's `elapsed` at which the slot stops counting. */
  untilMs: number;
}
