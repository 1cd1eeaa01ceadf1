import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import Bottleneck from 'bottleneck';
import type { Db } from '../db/pool.ts';
import { type Dialect, limitOf } from './dialect.ts';
import { PracticeError } from './errors.ts';

/** Whose request goes first, within a process and between processes. */
export const priorities = { live: 1, backfill: 5 } as const;

/** A wait is cut into steps of at most this, so that freed budget and more urgent work are seen soon. */
const longestStepMs = 1000;
const shortestStepMs = 20;

export interface BudgetOptions {
  db: Db;
  installation: number;
  dialect: Dialect;
  /** The service's rolling window (practice-api: Limits); 60, or what a sandbox runs with. */
  windowSeconds: number;
  /** Time-out of a whole request: until then an unanswered one may still reach the server and be counted. */
  requestTimeoutSeconds: number;
  /** Longest wait of one `take`; then PracticeError `throttled`. Default 30 minutes. */
  maxWaitSeconds?: number;
}

/** Told while a take waits, about once a second and at its end: milliseconds waited since it was last told. */
export type OnWait = (ms: number, action: string) => void;

/** One granted attempt. Left alone, it expires after request time-out + window. */
export interface Slot {
  id: number;
  waitedMs: number;
  /** The server answered, whatever it said. `notSent`: it never got the request, which counts nothing then. */
  finish(outcome?: 'answered' | 'notSent'): Promise<void>;
  /** The server answered 429: nobody asks before `retryAfterMs` from now, and the limit is halved. */
  throttled(retryAfterMs: number): Promise<void>;
}

/** One budget as it stands, for `status`. */
export interface BudgetUsage {
  action: string;
  limit: number;
  /** The limit in force after 429s. */
  limitNow: number;
  used: number;
  /** Processes that wait. */
  waiting: number;
  blockedUntil: Date | null;
}

/** What the client needs of a budget. */
export type RateBudget = Pick<Budget, 'take' | 'requestTimeoutSeconds'>;

/**
 * The rate budget of one installation (DESIGN "Rate budget"): kept in PostgreSQL, so that it holds over processes, crashes
 * and restarts. In the process, bottleneck orders the waiting by priority; the first of them asks the database, and
 * no connection is held between two askings.
 */
export class Budget {
  readonly windowSeconds: number;
  readonly requestTimeoutSeconds: number;
  readonly #options: BudgetOptions;
  readonly #claimant = randomUUID();
  readonly #queues = new Map<string, Bottleneck>();
  readonly #stepMs: number;

  constructor(options: BudgetOptions) {
    this.#options = options;
    this.windowSeconds = options.windowSeconds;
    this.requestTimeoutSeconds = options.requestTimeoutSeconds;
    this.#stepMs = Math.min(longestStepMs, Math.max(shortestStepMs, options.windowSeconds * 100));
  }

  /**
   * Waits until a request of `weight` may be sent. Throws the signal's reason when it aborts, PracticeError `throttled`
   * after the longest wait.
   */
  async take(action: string, weight: number, priority: number, signal?: AbortSignal, onWait?: OnWait): Promise<Slot> {
    const maxWaitSeconds = this.#options.maxWaitSeconds ?? 1800;
    const given = new AbortController();
    const giveUp = () => given.abort(signal?.reason);
    if (signal?.aborted) giveUp();
    signal?.addEventListener('abort', giveUp, { once: true });
    const deadline = setTimeout(() => {
      given.abort(
        new PracticeError('throttled', `the rate budget of ${action} had no room for a request in ${maxWaitSeconds} s`),
      );
    }, maxWaitSeconds * 1000);
    const request = { action, weight, priority, signal: given.signal, startedMs: performance.now(), askingMs: 0 };
    let toldMs = 0;
    const waitedMs = () => Math.max(0, performance.now() - request.startedMs - request.askingMs);
    const tell = () => {
      const waited = waitedMs();
      // Less is the event loop's own pace.
      if (waited - toldMs < 1) return;
      onWait?.(waited - toldMs, action);
      toldMs = waited;
    };
    const ticking = setInterval(tell, this.#stepMs);
    try {
      const id = await this.#granted(request);
      return this.#slot(id, action, waitedMs());
    } finally {
      clearInterval(ticking);
      clearTimeout(deadline);
      signal?.removeEventListener('abort', giveUp);
      tell();
    }
  }

  /** Every budget of the installation that was ever used. */
  async usage(): Promise<BudgetUsage[]> {
    const { rows } = await this.#options.db.raw<{ rows: BudgetUsage[] }>(
      `select b.action, b.full_limit as "limit",
         budget_limit(b.full_limit, b.share, b.regains_from, b.window_seconds) as "limitNow",
         (select coalesce(sum(s.weight), 0)::int from budget_slot s
          where s.installation = b.installation and s.action = b.action and s.expires_at > clock_timestamp()) as used,
         (select count(*)::int from budget_claim c
          where c.installation = b.installation and c.action = b.action and c.expires_at > clock_timestamp()) as waiting,
         case when b.blocked_until > clock_timestamp() then b.blocked_until end as "blockedUntil"
       from budget b where b.installation = ? order by b.action`,
      [this.#options.installation],
    );
    return rows;
  }

  #granted(request: Request): Promise<number> {
    return new Promise((resolve, reject) => {
      const abort = () => reject(request.signal.reason);
      if (request.signal.aborted) abort();
      request.signal.addEventListener('abort', abort, { once: true });
      // One that has asked before goes before its equals, or a heavy request would fall behind with each asking.
      const enqueue = (rank: number) => {
        this.#queue(request.action)
          .schedule({ priority: rank }, () => this.#askOnce(request, resolve, () => enqueue(request.priority - 1)))
          .catch(reject);
      };
      enqueue(request.priority);
    });
  }

  /** Asks once, and waits a step where there is no room; so one of the process asks at a time, chosen anew each time. */
  async #askOnce(request: Request, grant: (slotId: number) => void, askAgain: () => void): Promise<void> {
    const { action, signal } = request;
    if (signal.aborted) return;
    const { slotId, waitMs } = await this.#ask(request);
    if (slotId !== null) {
      if (signal.aborted) await this.#finish(slotId, 0);
      else grant(slotId);
      return;
    }
    // In the queue before this asking ends, so that its turn is weighed against the others'.
    askAgain();
    const pauseMs = Math.min(Math.max(waitMs, this.#stepMs / 10), this.#stepMs);
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) await this.#withdraw(action);
  }

  async #ask(request: Request): Promise<{ slotId: number | null; waitMs: number }> {
    const { db, installation, dialect } = this.#options;
    const startedMs = performance.now();
    const { rows } = await db.raw<{ rows: { slot_id: number | null; wait_ms: number | null }[] }>(
      'select slot_id, wait_ms from budget_take(?, ?, ?, ?, ?, ?, ?, ?::uuid, ?)',
      [
        installation,
        request.action,
        request.weight,
        limitOf(dialect, request.action),
        this.windowSeconds,
        this.requestTimeoutSeconds,
        request.priority,
        this.#claimant,
        Math.max(2, (this.#stepMs * 5) / 1000),
      ],
    );
    request.askingMs += performance.now() - startedMs;
    return { slotId: rows[0]?.slot_id ?? null, waitMs: rows[0]?.wait_ms ?? this.#stepMs };
  }

  #slot(id: number, action: string, waitedMs: number): Slot {
    return {
      id,
      waitedMs,
      finish: (outcome = 'answered') => this.#finish(id, outcome === 'answered' ? this.windowSeconds : 0),
      throttled: async (retryAfterMs) => {
        const { db, installation } = this.#options;
        await db.raw('select budget_throttled(?, ?, ?, ?)', [installation, action, id, retryAfterMs / 1000]);
      },
    };
  }

  async #finish(slotId: number, keepSeconds: number): Promise<void> {
    await this.#options.db.raw('select budget_finish(?, ?)', [slotId, keepSeconds]);
  }

  async #withdraw(action: string): Promise<void> {
    const { db, installation } = this.#options;
    await db.raw('select budget_withdraw(?, ?, ?::uuid)', [installation, action, this.#claimant]);
  }

  #queue(action: string): Bottleneck {
    let queue = this.#queues.get(action);
    if (!queue) {
      queue = new Bottleneck({ maxConcurrent: 1 });
      this.#queues.set(action, queue);
    }
    return queue;
  }
}

interface Request {
  action: string;
  weight: number;
  priority: number;
  signal: AbortSignal;
  startedMs: number;
  /** Time spent asking the database, which is no waiting. */
  askingMs: number;
}
