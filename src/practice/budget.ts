import { randomUUID } from 'node:crypto';
import { type Db, query } from '../db/pool.ts';
import type { Clock } from '../domain/clock.ts';
import { PracticeError } from '../domain/practice-error.ts';
import { type Dialect, limitOf } from '../records/dialect.ts';
import { type Waiter, WaitingLine } from './waiting-line.ts';

/** Whose request goes first, within a process and between processes. */
export const priorities = { live: 1, backfill: 5 } as const;

/** A wait is cut into steps of at most this, so that budget freed by other processes is seen soon. */
const longestStepMs = 1000;
const shortestStepMs = 20;
/** Answers are told to the database with the next take, or after this. */
const tellAfterMs = 10;
/** The server's clock and the database's may differ in pace by this share: the most that NTP slews. */
const pace = 1.0005;
/** A grant that takes longer to reach us is given back: the slot must outlive its request. */
const grantSeconds = 1;

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
  clock: Pick<Clock, 'elapsed' | 'sleep'>;
}

/** Told while a take waits, about once a second and at its end: milliseconds waited since it was last told. */
export type OnWait = (ms: number, action: string) => void;

/** One granted attempt, to be sent at once. Left alone, it expires after request time-out + window. */
export interface Slot {
  id: number;
  waitedMs: number;
  /**
   * The server answered, whatever it said. `notSent`: it never got the request, which counts nothing then. The database hears of
   * it with the process's next take, or in a moment.
   */
  finish(outcome?: 'answered' | 'notSent'): void;
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
  /** What could be taken now: nothing while it is blocked. */
  free: number;
  /** Processes that wait. */
  waiting: number;
  blockedUntil: Date | null;
}

/** What the client needs of a budget. */
export type RateBudget = Pick<Budget, 'take' | 'requestTimeoutSeconds'>;

/**
 * The rate budget of one installation (DESIGN "Rate budget"): kept in PostgreSQL, so that it holds over processes, crashes
 * and restarts. In the process the requests of each action wait in a line; the first of them asks the database, and no
 * connection is held between two askings.
 */
export class Budget {
  readonly windowSeconds: number;
  readonly requestTimeoutSeconds: number;
  readonly #options: BudgetOptions;
  readonly #clock: Pick<Clock, 'elapsed' | 'sleep'>;
  readonly #claimant = randomUUID();
  readonly #lines = new Map<string, ActionLine>();
  readonly #stepMs: number;
  #isClosed = false;

  constructor(options: BudgetOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.windowSeconds = options.windowSeconds;
    this.requestTimeoutSeconds = options.requestTimeoutSeconds;
    this.#stepMs = Math.min(longestStepMs, Math.max(shortestStepMs, options.windowSeconds * 100));
  }

  /**
   * Waits until a request of `weight` may be sent. Throws the signal's reason when it aborts, PracticeError `throttled`
   * after the longest wait.
   */
  take(action: string, weight: number, priority: number, signal?: AbortSignal, onWait?: OnWait): Promise<Slot> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const { line } = this.#line(action);
      const cameMs = this.#clock.elapsed();
      const leave = () => {
        if (line.leave(waiter)) reject(signal!.reason);
      };
      const waiter: Waiter = {
        weight,
        priority,
        cameMs,
        deadlineMs: cameMs + this.#maxWaitSeconds * 1000,
        waitedMs: 0,
        onWait: (ms) => onWait?.(ms, action),
        granted: (slotId) => {
          signal?.removeEventListener('abort', leave);
          resolve(this.#slot(slotId, action, waiter.waitedMs));
        },
        failed: (reason) => {
          signal?.removeEventListener('abort', leave);
          reject(reason);
        },
      };
      signal?.addEventListener('abort', leave, { once: true });
      line.join(waiter);
    });
  }

  /** Every budget of the installation that was ever used. */
  usage(): Promise<BudgetUsage[]> {
    return query<BudgetUsage>(
      this.#options.db,
      `select *, case when "blockedUntil" is null then greatest(0, "limitNow" - used) else 0 end as free
       from (
         select b.action, b.full_limit as "limit",
           budget_limit(b.full_limit, b.share, b.regains_from, b.window_seconds) as "limitNow",
           (select coalesce(sum(s.weight), 0)::int from budget_slot s
            where s.installation = b.installation and s.action = b.action and s.expires_at > clock_timestamp()) as used,
           (select count(*)::int from budget_claim c
            where c.installation = b.installation and c.action = b.action and c.expires_at > clock_timestamp()) as waiting,
           case when b.blocked_until > clock_timestamp() then b.blocked_until end as "blockedUntil"
         from budget b where b.installation = ?
       ) as usage order by action`,
      [this.#options.installation],
    );
  }

  /**
   * Tells the database what it does not know yet. Requests that wait should have been given up before; those answered later keep
   * their slots until these expire.
   */
  async close(): Promise<void> {
    for (const [action, { line, answers }] of this.#lines) {
      await line.ended();
      await this.#tellAnswers(action, answers);
    }
    this.#isClosed = true;
  }

  get #maxWaitSeconds(): number {
    return this.#options.maxWaitSeconds ?? 1800;
  }

  #line(action: string): ActionLine {
    const found = this.#lines.get(action);
    if (found) return found;
    const { installation } = this.#options;
    const answers: Answer[] = [];
    const made: ActionLine = {
      answers,
      line: new WaitingLine({
        clock: this.#clock,
        longestPauseMs: this.#stepMs,
        ask: (first) => this.#ask(action, answers, first),
        giveBack: (slotId) => this.#finish(action, slotId, 0),
        withdraw: () => this.#call('select budget_withdraw(?, ?, ?::uuid)', [installation, action, this.#claimant]),
        tooLate: () => {
          const waited = `${this.#maxWaitSeconds} s`;
          return new PracticeError('throttled', `the rate budget of ${action} had no room for a request in ${waited}`);
        },
      }),
    };
    this.#lines.set(action, made);
    return made;
  }

  async #ask(action: string, answers: Answer[], first: Waiter): Promise<{ slotId: number } | { waitMs: number }> {
    const { installation, dialect } = this.#options;
    const askedMs = this.#clock.elapsed();
    const [row] = await this.#call<{ slot_id: number | null; wait_ms: number | null }>(
      'select slot_id, wait_ms from budget_take(?, ?, ?, ?, ?, ?, ?, ?, ?::uuid, ?, ?, ?)',
      [
        installation,
        action,
        first.weight,
        first.priority,
        (askedMs - first.cameMs) / 1000,
        limitOf(dialect, action),
        this.windowSeconds,
        (this.requestTimeoutSeconds + this.windowSeconds) * pace + grantSeconds,
        this.#claimant,
        Math.max(2, (this.#stepMs * 5) / 1000),
        ...this.#untold(answers),
      ],
    );
    const slotId = row?.slot_id ?? null;
    if (slotId === null) return { waitMs: row?.wait_ms ?? this.#stepMs };
    if (this.#clock.elapsed() - askedMs < grantSeconds * 1000) return { slotId };
    this.#finish(action, slotId, 0);
    return { waitMs: 0 };
  }

  #slot(id: number, action: string, waitedMs: number): Slot {
    return {
      id,
      waitedMs,
      finish: (outcome = 'answered') =>
        this.#finish(action, id, outcome === 'answered' ? this.windowSeconds * pace : 0),
      throttled: async (retryAfterMs) => {
        const { installation } = this.#options;
        await this.#call('select budget_throttled(?, ?, ?, ?)', [installation, action, id, retryAfterMs / 1000]);
      },
    };
  }

  #finish(action: string, slotId: number, keepSeconds: number): void {
    const { answers } = this.#line(action);
    const answer = { slotId, untilMs: this.#clock.elapsed() + keepSeconds * 1000 };
    answers.push(answer);
    if (answers.length > 1) return;
    void this.#clock.sleep(tellAfterMs).then(async () => {
      // Told with a take meanwhile, it leaves those behind it to theirs.
      if (answers[0] === answer) await this.#tellAnswers(action, answers);
    });
  }

  /** A failure only means that the slots keep their own expiry, which is later. */
  async #tellAnswers(action: string, answers: Answer[]): Promise<void> {
    if (answers.length === 0 || this.#isClosed) return;
    const { installation } = this.#options;
    const untold = this.#untold(answers);
    await this.#call('select budget_finish(?, ?, ?, ?)', [installation, action, ...untold]).catch(() => undefined);
  }

  /** Takes the answers out: the slots, and the seconds that each counts for yet. */
  #untold(answers: Answer[]): [number[], number[]] {
    const now = this.#clock.elapsed();
    const told = answers.splice(0);
    return [told.map(({ slotId }) => slotId), told.map(({ untilMs }) => Math.max(0, untilMs - now) / 1000)];
  }

  #call<Row>(sql: string, bindings: unknown[]): Promise<Row[]> {
    return query<Row>(this.#options.db, sql, bindings);
  }
}

interface ActionLine {
  line: WaitingLine;
  /** Not told to the database yet. */
  answers: Answer[];
}

interface Answer {
  slotId: number;
  /** When it stops counting, by the clock's `elapsed`. */
  untilMs: number;
}
