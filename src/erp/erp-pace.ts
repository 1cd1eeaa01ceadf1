import Bottleneck from 'bottleneck';
import { integer, nullable } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { type Connection, execute, maybeRow, row } from '../db/rows.ts';
import type { Clock } from '../domain/clock.ts';
import { unlessAborted } from '../domain/concurrency.ts';
import type { Capabilities } from './capabilities.ts';
import { companyKey } from './entry-key.ts';
import { ErpError, type ErpTarget, type RequestOptions } from './port.ts';

/**
 * The pace of requests to a company. bottleneck orders them in the process: so many in flight, and of those that wait the most
 * urgent first. Limits per minute or day, and the errors that an ERP allows, are counted in PostgreSQL as requests are sent, so
 * that neither a restart nor a second process refills them.
 */

/** Priorities of requests, as bottleneck has them: 0 first, 9 last. `books`: reading back what the ERP holds. */
export const erpPriorities = { check: 2, live: 4, backlog: 6, review: 7, books: 8 } as const;

/** Of a limit for a day or longer, reading back leaves half to deliveries. */
const booksLimit = { perSeconds: 86_400, share: 0.5 };

/** A limit leaves nothing to send for longer than anybody waits in a request. */
export class PaceExceeded extends ErpError {
  constructor(waitMs: number, which: 'requests' | 'errors') {
    super(
      'unsent',
      which === 'requests'
        ? 'The limit of requests to the ERP is spent'
        : 'The ERP has refused so much lately that one more refusal might block the account of the API user',
      { problem: which === 'requests' ? 'erp_limit_spent' : 'erp_errors_spent', retryAfterMs: waitMs },
    );
  }
}

/** A request waits for its limit so long itself; for longer ones the delivery ends and comes again. */
const longestWaitMs = 5_000;

/** The requests in the process by its pool and the company: whoever shares the pool is the same process. */
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

/** Sends requests to a company at the pace that it allows. */
export class Pace {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #company: string;
  readonly #limiter: Bottleneck;
  readonly #allowance: Allowance;

  constructor({ db, clock }: PacePorts, company: string, pace: Capabilities['pace']) {
    this.#db = db;
    this.#clock = clock;
    this.#company = company;
    this.#limiter = limiterOf(db, company, Math.max(1, pace.in_flight_per_company));
    this.#allowance = allowanceOf(pace);
  }

  /**
   * Runs a request when its turn has come. A request whose signal aborts leaves the queue, or is aborted. Throws PaceExceeded
   * where a limit stays spent for longer than a request waits.
   */
  async run<Result>({ signal, priority }: RequestOptions, send: () => Promise<Result>): Promise<Result> {
    for (;;) {
      const turn = await this.#turn(priority, signal, send);
      if ('result' in turn) return turn.result;
      if (turn.waitMs > longestWaitMs) throw new PaceExceeded(turn.waitMs, turn.which);
      // Outside of the queue, so that what is more urgent passes.
      await this.#clock.sleep(turn.waitMs, signal);
    }
  }

  /** Jobs that wait in this process. */
  get waiting(): number {
    return this.#limiter.counts().QUEUED ?? 0;
  }

  async #turn<Result>(
    priority: number,
    signal: AbortSignal,
    send: () => Promise<Result>,
  ): Promise<{ result: Result } | Refused> {
    signal.throwIfAborted();
    const job = this.#limiter.schedule({ priority, id: nextJobId() }, async () => {
      // One that has left the queue gives its turn on at once.
      signal.throwIfAborted();
      const taken = await this.#take(priority);
      if (!('requestId' in taken)) return taken;
      let isError = false;
      try {
        return { result: await send() };
      } catch (error) {
        isError = isAnsweredError(error);
        throw error;
      } finally {
        await this.#noteEnd(taken.requestId, isError);
      }
    });
    return unlessAborted(job, signal);
  }

  #take(priority: number): Promise<{ requestId: number | null } | Refused> {
    if (this.#allowance.limits.length === 0 && this.#allowance.errors === null)
      return Promise.resolve({ requestId: null });
    const allowance = priority === erpPriorities.books ? booksAllowance(this.#allowance) : this.#allowance;
    return this.#db.transaction((trx) => takeRequest(trx, this.#company, allowance));
  }

  /**
   * The ERP counts a request when it arrives, at the latest when it has answered: from then on the limit counts it, too. Where this
   * cannot be stored, it is counted from when it was taken.
   */
  async #noteEnd(requestId: number | null, isError: boolean): Promise<void> {
    if (requestId === null) return;
    const ended = 'update erp_request set sent_at = clock_timestamp(), is_error = ? where id = ?';
    await execute(this.#db, ended, [isError, requestId]).catch(() => undefined);
  }
}

/** bottleneck's own ids are random texts of a length that may repeat in a long life. */
let lastJobId = 0;
function nextJobId(): string {
  lastJobId += 1;
  return String(lastJobId);
}

interface Refused {
  waitMs: number;
  which: 'requests' | 'errors';
}

/** So many requests, or errors, in so many seconds. */
interface Count {
  n: number;
  perSeconds: number;
}

interface Allowance {
  limits: Count[];
  errors: Count | null;
}

function allowanceOf({ limits, errors_allowed: errors }: Capabilities['pace']): Allowance {
  return {
    limits: limits.map(({ n, weight, per_seconds: perSeconds }) => ({
      n: Math.max(1, Math.floor(n / Math.max(1, weight))),
      perSeconds,
    })),
    // The last one allowed is the one that would block.
    errors: errors && { n: Math.max(1, errors.n - 1), perSeconds: errors.per_seconds },
  };
}

/** What others have sent counts, too: nothing is read back once they have used that share. */
function booksAllowance({ limits, errors }: Allowance): Allowance {
  const { perSeconds: day, share } = booksLimit;
  return {
    limits: limits.map(({ n, perSeconds }) => ({ n: perSeconds < day ? n : Math.ceil(n * share), perSeconds })),
    errors,
  };
}

/** Counts a request as sent, or says how long none may be sent; takers of one company take turns. */
async function takeRequest(
  trx: Connection,
  company: string,
  { limits, errors }: Allowance,
): Promise<{ requestId: number } | Refused> {
  await execute(trx, 'select pg_advisory_xact_lock(hashtextextended(?, 0))', [`vetledger pace ${company}`]);
  for (const { n, perSeconds } of limits) {
    const waitMs = await waitFor(trx, company, n, perSeconds, false);
    if (waitMs !== null) return { waitMs, which: 'requests' };
  }
  if (errors !== null) {
    const waitMs = await waitFor(trx, company, errors.n, errors.perSeconds, true);
    if (waitMs !== null) return { waitMs, which: 'errors' };
  }
  const longest = Math.max(...limits.map(({ perSeconds }) => perSeconds), errors?.perSeconds ?? 0);
  const { id } = await row(
    trx,
    { id: integer },
    `insert into erp_request (company, weight, sent_at) values (?, 1, clock_timestamp()) returning id`,
    [company],
  );
  // Two for each that is new, so that what no limit counts any more goes.
  await execute(
    trx,
    `delete from erp_request where id in (
       select id from erp_request where company = ? and sent_at < clock_timestamp() - make_interval(secs => ?)
       order by sent_at limit 2)`,
    [company, longest],
  );
  return { requestId: id };
}

/** Until fewer than n of the requests, or errors, are within the time; null where they are. */
async function waitFor(
  trx: Connection,
  company: string,
  n: number,
  perSeconds: number,
  isError: boolean,
): Promise<number | null> {
  const nth = await maybeRow(
    trx,
    { wait_ms: nullable(integer) },
    `select ceil(extract(epoch from sent_at + make_interval(secs => ?) - clock_timestamp()) * 1000)::bigint as wait_ms
     from erp_request where company = ? ${isError ? 'and is_error' : ''} order by sent_at desc offset ? limit 1`,
    [perSeconds, company, n - 1],
  );
  const waitMs = nth?.wait_ms ?? 0;
  return waitMs > 0 ? waitMs : null;
}

/** Whether the ERP itself said no. */
function isAnsweredError(error: unknown): boolean {
  if (!(error instanceof ErpError)) return false;
  return error.means === 'doubt' ? error.problem !== null : !['unsent', 'locked', 'throttled'].includes(error.means);
}

/** The same target, with every request at the pace of its company. */
export function pacedTarget(target: ErpTarget, ports: PacePorts): ErpTarget {
  const pace = new Pace(ports, companyKey(target.company), target.capabilities.pace);
  const { matching, books } = target;
  const identify = target.identify?.bind(target);
  const describe = target.describe?.bind(target);
  const copies = books?.copies?.bind(books);
  return {
    capabilities: target.capabilities,
    company: target.company,
    ...(identify && { identify: (request) => pace.run(request, () => identify(request)) }),
    find: (keys, request) => pace.run(request, () => target.find(keys, request)),
    keyed: (which, request) => pace.run(request, () => target.keyed(which, request)),
    create: (entries, request) => pace.run(request, () => target.create(entries, request)),
    post: (ids, request) => pace.run(request, () => target.post(ids, request)),
    deleteDrafts: (ids, request) => pace.run(request, () => target.deleteDrafts(ids, request)),
    read: (ids, request, only) => pace.run(request, () => target.read(ids, request, only)),
    periods: (request) => pace.run(request, () => target.periods(request)),
    ...(matching && {
      matching: {
        match: (groups, request) => pace.run(request, () => matching.match(groups, request)),
        unmatch: (groups, request) => pace.run(request, () => matching.unmatch(groups, request)),
      },
    }),
    ...(describe && { describe }),
    ...(books && {
      books: {
        balances: (range, request) => pace.run(request, () => books.balances(range, request)),
        entries: (which, request) => pacedPages(pace, books.entries(which, request), request),
        ...(copies && { copies: (which, request) => pacedPages(pace, copies(which, request), request) }),
      },
    }),
    check: (plan, request) => target.check(plan, request),
    close: () => target.close(),
  };
}

/** Pages, each of which is a request. */
async function* pacedPages<Page>(
  pace: Pace,
  pages: AsyncIterable<Page>,
  request: RequestOptions,
): AsyncGenerator<Page> {
  const reading = pages[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await pace.run(request, () => reading.next());
      if (next.done) return;
      yield next.value;
    }
  } finally {
    await reading.return?.();
  }
}
