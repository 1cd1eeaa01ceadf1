import Bottleneck from 'bottleneck';
import type { Db } from '../db/pool.ts';
import { execute } from '../db/rows.ts';
import type { Clock } from '../domain/clock.ts';
import { unlessAborted } from '../domain/concurrency.ts';
import { paceTexts } from '../texts/errors/deliveries.ts';
import type { Capabilities } from './capabilities.ts';
import { companyKey } from './entry-key.ts';
import { type Allowance, noteStated, type Refused, refusedBy, takeRequest } from './pace-count.ts';
import { ErpError, type ErpTarget, type LimitLeft, type RequestOptions } from './port.ts';

/**
 * Limits the pace of requests to a company. In the process, bottleneck orders the requests: a maximum number in flight,
 * then by priority. Limits per minute or day, and the number of errors that an ERP allows, are counted in PostgreSQL.
 * So neither a restart nor a second process resets them.
 */

/** Priorities of requests in bottleneck: 0 comes first, 9 last. `books`: reading the ERP's entries back. */
export const erpPriorities = { check: 2, live: 4, backlog: 6, review: 7, books: 8 } as const;

/** Reading back may use only half of a limit per day or longer; deliveries can use the rest. */
const booksShare = 0.5;
/** The rest of such a limit is for look-ups. Without them, the outcome of a request without an answer stays unknown. */
const writesShare = 0.9;
const daySeconds = 86_400;
/** The requests of a batch up to its last writing one: company, search, look-up, periods, names, create, read, post. */
const batchRequests = 12;

/** A request would wait for a limit longer than a request may wait. */
export class PaceExceeded extends ErpError {
  constructor(waitMs: number, which: 'requests' | 'errors') {
    const problem = which === 'requests' ? 'erp_limit_spent' : 'erp_errors_spent';
    super('unsent', paceTexts[which], { problem, retryAfterMs: waitMs });
  }
}

/**
 * A request waits at most this time for a limit. If the wait is longer, the delivery ends and is started again later.
 */
const longestWaitMs = 5_000;

/** The queues of this process, by database pool and company. */
const limiters = new WeakMap<Db, Map<string, Bottleneck>>();

function limiterOf(db: Db, company: string, maxConcurrent: number): Bottleneck {
  const ofProcess = limiters.get(db) ?? new Map<string, Bottleneck>();
  limiters.set(db, ofProcess);
  const limiter = ofProcess.get(company) ?? new Bottleneck({ maxConcurrent });
  ofProcess.set(company, limiter);
  return limiter;
}

export interface PacePorts {
  db: Db;
  clock: Clock;
}

export class Pace {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #company: string;
  readonly #limiter: Bottleneck;
  readonly #allowance: Allowance;
  readonly #limitsLeft: () => LimitLeft[];

  constructor(
    { db, clock }: PacePorts,
    company: string,
    target: Pick<ErpTarget, 'limitsLeft'> & { capabilities: Pick<Capabilities, 'pace'> },
  ) {
    const { pace } = target.capabilities;
    this.#db = db;
    this.#clock = clock;
    this.#company = company;
    this.#limiter = limiterOf(db, company, Math.max(1, pace.in_flight_per_company));
    this.#allowance = allowanceOf(pace);
    this.#limitsLeft = target.limitsLeft?.bind(target) ?? (() => []);
  }

  /**
   * Runs a request when its turn comes; `send` may send several, which it counts. If the signal aborts, the request
   * leaves the queue or is aborted. Throws PaceExceeded if a limit would make the request wait for longer than
   * `longestWaitMs`.
   */
  run<Options extends RequestOptions, Result>(
    request: Options,
    send: (counted: Options) => Promise<Result>,
  ): Promise<Result> {
    return this.#run(request, request.priority === erpPriorities.books ? booksShare : 1, send);
  }

  /** Like `run`, for a request that writes: it leaves a part of a day's limit to look-ups. */
  write<Options extends RequestOptions, Result>(
    request: Options,
    send: (counted: Options) => Promise<Result>,
  ): Promise<Result> {
    return this.#run(request, writesShare, send);
  }

  /**
   * Throws PaceExceeded if the look-ups and writes of a batch do not fit into a limit per day. Its look-ups would use up
   * what the writes then lack.
   */
  async roomForBatch(): Promise<void> {
    const { limits } = partOf(this.#allowance, writesShare);
    const daily = limits.filter(({ perSeconds }) => perSeconds >= daySeconds);
    if (daily.length === 0) return;
    const least = daily.map((limit) => ({ ...limit, n: Math.max(1, limit.n - batchRequests + 1) }));
    const refused = await refusedBy(this.#db, this.#company, { limits: least, errors: null });
    if (refused !== null && refused.waitMs > longestWaitMs) throw new PaceExceeded(refused.waitMs, refused.which);
  }

  async #run<Options extends RequestOptions, Result>(
    request: Options,
    share: number,
    send: (counted: Options) => Promise<Result>,
  ): Promise<Result> {
    for (;;) {
      const turn = await this.#turn(request, share, send);
      if ('result' in turn) return turn.result;
      if (turn.waitMs > longestWaitMs) throw new PaceExceeded(turn.waitMs, turn.which);
      // The request waits outside the queue, so that more urgent requests can overtake it.
      await this.#clock.sleep(turn.waitMs, request.signal);
    }
  }

  /** Number of waiting requests in this process. */
  get waiting(): number {
    return this.#limiter.counts().QUEUED ?? 0;
  }

  async #turn<Options extends RequestOptions, Result>(
    request: Options,
    share: number,
    send: (counted: Options) => Promise<Result>,
  ): Promise<{ result: Result } | Refused> {
    const { signal, priority } = request;
    signal.throwIfAborted();
    const job = this.#limiter.schedule({ priority, id: nextJobId() }, async () => {
      // A request that was aborted while it waited gives its turn to the next one.
      signal.throwIfAborted();
      const taken = await this.#take(share);
      if (!('requestId' in taken)) return taken;
      let requests = 0;
      const sent = () => {
        requests += 1;
      };
      let isError = false;
      try {
        return { result: await send({ ...request, sent }) };
      } catch (error) {
        isError = isAnsweredError(error);
        throw error;
      } finally {
        await this.#noteEnd(taken.requestId, requests, isError);
      }
    });
    return unlessAborted(job, signal);
  }

  #take(share: number): Promise<{ requestId: number | null } | Refused> {
    if (this.#allowance.limits.length === 0 && this.#allowance.errors === null)
      return Promise.resolve({ requestId: null });
    const allowance = partOf(this.#allowance, share);
    return this.#db.transaction((trx) => takeRequest(trx, this.#company, allowance));
  }

  /**
   * The ERP counts a request when it arrives, and at the latest when it answers. So this limit counts the requests of a
   * call from its end. If the update fails, one request counts from when the call was taken.
   */
  async #noteEnd(requestId: number | null, requests: number, isError: boolean): Promise<void> {
    if (requestId === null) return;
    const ended = 'update erp_request set sent_at = clock_timestamp(), weight = ?, is_error = ? where id = ?';
    await execute(this.#db, ended, [requests, isError, requestId]).catch(() => undefined);
    const stated = this.#limitsLeft();
    if (stated.length === 0) return;
    const { limits } = this.#allowance;
    await this.#db.transaction((trx) => noteStated(trx, this.#company, limits, stated)).catch(() => undefined);
  }
}

/** bottleneck's ids are short random texts, which may repeat in a long-running process. */
let lastJobId = 0;
function nextJobId(): string {
  lastJobId += 1;
  return String(lastJobId);
}

function allowanceOf({ limits, errors_allowed: errors }: Capabilities['pace']): Allowance {
  return {
    limits: limits.map(({ n, weight, per_seconds: perSeconds }) => ({
      ...{ n: Math.max(1, Math.floor(n / Math.max(1, weight))), perSeconds, weight: Math.max(1, weight) },
    })),
    // One less than the ERP allows, since the last one allowed would block the account.
    errors: errors && { n: Math.max(1, errors.n - 1), perSeconds: errors.per_seconds, weight: 1 },
  };
}

/** A share of the limits per day. All requests count, so nothing of a share is left once other requests have used it. */
function partOf({ limits, errors }: Allowance, share: number): Allowance {
  const partly = (n: number) => Math.ceil(n * share);
  return {
    limits: limits.map((limit) => (limit.perSeconds < daySeconds ? limit : { ...limit, n: partly(limit.n) })),
    errors,
  };
}

/** Whether the ERP answered the request with an error. */
function isAnsweredError(error: unknown): boolean {
  if (!(error instanceof ErpError)) return false;
  return error.means === 'doubt' ? error.problem !== null : !['unsent', 'locked', 'throttled'].includes(error.means);
}

/** The same target, with each request at the pace of its company. */
export function pacedTarget(target: ErpTarget, ports: PacePorts): ErpTarget {
  const pace = new Pace(ports, companyKey(target.company), target);
  const { matching, books } = target;
  const identify = target.identify?.bind(target);
  const describe = target.describe?.bind(target);
  const copies = books?.copies?.bind(books);
  const unmatchable = matching?.unmatchable?.bind(matching);
  return {
    capabilities: target.capabilities,
    company: target.company,
    ...(identify && { identify: (request) => pace.run(request, identify) }),
    find: (keys, request) => pace.run(request, (counted) => target.find(keys, counted)),
    keyed: (which, request) => pace.run(request, (counted) => target.keyed(which, counted)),
    create: (entries, request) => pace.write(request, (counted) => target.create(entries, counted)),
    post: (ids, request) => pace.write(request, (counted) => target.post(ids, counted)),
    withdrawDrafts: (ids, request) => pace.run(request, (counted) => target.withdrawDrafts(ids, counted)),
    read: (ids, request, only) => pace.run(request, (counted) => target.read(ids, counted, only)),
    periods: (request) => pace.run(request, (counted) => target.periods(counted)),
    ...(matching && {
      matching: {
        match: (groups, request) => pace.write(request, (counted) => matching.match(groups, counted)),
        unmatch: (groups, request) => pace.write(request, (counted) => matching.unmatch(groups, counted)),
        ...(unmatchable && {
          unmatchable: (codes, request) => pace.run(request, (counted) => unmatchable(codes, counted)),
        }),
      },
    }),
    ...(describe && { describe }),
    ...(books && {
      books: {
        balances: (range, request) => pace.run(request, (counted) => books.balances(range, counted)),
        entries: (which, request) => pacedPages(pace, (counted) => books.entries(which, counted), request),
        ...(copies && { copies: (which, request) => pacedPages(pace, (counted) => copies(which, counted), request) }),
      },
    }),
    check: (plan, request) => target.check(plan, request),
    close: () => target.close(),
  };
}

/** Requests the pages one at a time, each at the company's pace. */
async function* pacedPages<Page>(
  pace: Pace,
  pages: (counted: RequestOptions) => AsyncIterable<Page>,
  request: RequestOptions,
): AsyncGenerator<Page> {
  let counting: RequestOptions = request;
  const reading = pages({ ...request, sent: () => counting.sent?.() })[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await pace.run(request, (counted) => {
        counting = counted;
        return reading.next();
      });
      if (next.done) return;
      yield next.value;
    }
  } finally {
    await reading.return?.();
  }
}
