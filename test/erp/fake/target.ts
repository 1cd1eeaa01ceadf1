import { unlessAborted } from '../../../src/domain/concurrency.ts';
import { Money } from '../../../src/domain/money.ts';
import type { ErpEntry, FoundEntry } from '../../../src/erp/erp-entry.ts';
import {
  type CheckPlan,
  type CheckResult,
  type CompanyRef,
  type ErpBooks,
  ErpError,
  type ErpPeriods,
  type ErpTarget,
  type KeyedPage,
  type KeyedQuery,
  type KeyToFind,
  type RequestOptions,
  type WriteOptions,
} from '../../../src/erp/port.ts';
import type { PlayedErp } from './records.ts';
import { type Answer, type FakeServer, type HeldEntry, meaningOf, type Outcome, type ServerRequest } from './server.ts';

/**
 * The failure of one request. `unreachable`: the connection is refused. `request_lost`, `answer_lost`: the connection
 * breaks before the request has arrived, or after. `page`, `page_though_done`: a proxy answers with a page, without and
 * with effect. `strange`, `strange_though_done`: an error that no pattern matches, without and with effect.
 * `truncated`: the answer to a look-up is incomplete and says so. `half`: the answer to a creation has half of the ids.
 * `server_dies`: the server dies during the work.
 */
export type Fault =
  | 'none'
  | 'unreachable'
  | 'request_lost'
  | 'answer_lost'
  | 'page'
  | 'page_though_done'
  | 'throttled'
  | 'busy'
  | 'auth'
  | 'strange'
  | 'strange_though_done'
  | 'truncated'
  | 'half'
  | 'server_dies';

/** The course of one request: its way to the server, the server's work, and the way back. */
export interface Circumstances {
  outMs: number;
  /** The time that the server works on a request. It is at most the time in the record. */
  workMs: number;
  /**
   * The time for which the server works longer than its record says. The delivery does not expect such work. The
   * default is none.
   */
  lateMs?: number;
  backMs: number;
  fault: Fault;
}

export const calm: Circumstances = { outMs: 20, workMs: 200, backMs: 20, fault: 'none' };

export interface RequestInfo {
  kind: ServerRequest['kind'];
  /** The keys of the entries in the request. */
  keys: readonly string[];
}

/** The process that a target belongs to. */
export interface Life {
  readonly isDead: boolean;
  /**
   * Called before each request, during it, and before its answer. In a dead process it never returns. A process can
   * also pause between its last look at the clock and its request.
   */
  step(what: string, mayStand: boolean): Promise<void>;
}

/** Clients that wait for an answer, one per request. */
export type UnderWay = Set<{ life: Life }>;

const immortal: Life = { isDead: false, step: async () => undefined };

export interface FakeTargetOptions {
  server: FakeServer;
  /** The record that the target declares, if the server behaves otherwise. */
  believed?: PlayedErp;
  company?: CompanyRef;
  /** The course of each request; the default has no faults. */
  network?: (request: RequestInfo) => Circumstances;
  /** The client's time limit for an answer. */
  timeoutMs?: number;
  life?: Life;
  /** The target calls this with every error in an answer. */
  onError?: (request: RequestInfo, error: ErpError) => void;
  /** The requests that all clients of this server have under way. */
  underWay?: UnderWay;
}

/** A client of the fake server, with the interface of a target. */
export class FakeTarget implements ErpTarget {
  readonly capabilities: PlayedErp;
  readonly company: CompanyRef;
  readonly matching?: NonNullable<ErpTarget['matching']>;
  readonly books: ErpBooks;
  readonly #server: FakeServer;
  readonly #options: Required<Pick<FakeTargetOptions, 'network' | 'timeoutMs' | 'life' | 'onError'>>;
  readonly #underWay: UnderWay;

  constructor(options: FakeTargetOptions) {
    this.#server = options.server;
    this.capabilities = options.believed ?? options.server.record.capabilities;
    this.company = options.company ?? { kind: 'fake', url: 'memory:', id: '1' };
    this.#options = {
      network: options.network ?? (() => calm),
      timeoutMs: options.timeoutMs ?? 60_000,
      life: options.life ?? immortal,
      onError: options.onError ?? (() => undefined),
    };
    this.#underWay = options.underWay ?? new Set();
    if (this.capabilities.lines.matching) {
      const change = async (
        groups: readonly (readonly string[])[],
        nameOf: (lineIds: readonly string[]) => string | null,
        request: RequestOptions,
      ) => {
        await this.#call({ kind: 'other' }, request);
        for (const [index, lineIds] of groups.entries()) {
          if (this.#server.match(lineIds, nameOf(lineIds))) continue;
          // Matches all groups or none.
          for (const done of groups.slice(0, index)) this.#server.match(done, null);
          throw new ErpError('refused', 'The lines cannot be matched');
        }
      };
      this.matching = {
        match: (groups, request) => change(groups, (lineIds) => `match ${lineIds.join(' ')}`, request),
        unmatch: (groups, request) => change(groups, () => null, request),
      };
    }
    this.books = this.#openBooks();
  }

  async find(keys: readonly KeyToFind[], request: RequestOptions) {
    if (this.capabilities.key.lookup === 'none') return { found: [], isComplete: false };
    const { found, isComplete } = await this.#call({ kind: 'find', keys }, request);
    return { found: found.map(foundOf), isComplete };
  }

  async keyed(which: KeyedQuery, request: RequestOptions): Promise<KeyedPage> {
    const { found, isComplete } = await this.#call({ kind: 'keyed', ...which }, request);
    const entries = found.map(({ id, key, unitId, number, state, date }) => ({
      ...{ id, key: key ?? '', unitId, number, state, date },
    }));
    return { entries, next: found.at(-1)?.id ?? null, isComplete };
  }

  async create(entries: readonly ErpEntry[], request: WriteOptions): Promise<Map<string, string>> {
    const { ids } = await this.#call({ kind: 'create', entries, attemptId: request.attemptId }, request);
    return ids;
  }

  async post(ids: readonly string[], request: WriteOptions): Promise<void> {
    if (this.capabilities.write.steps === 'one') throw new Error('this ERP has no drafts');
    await this.#call({ kind: 'post', ids, attemptId: request.attemptId }, request);
  }

  async withdrawDrafts(ids: readonly string[], request: WriteOptions): Promise<void> {
    if (this.capabilities.write.withdraw === 'none') throw new Error('drafts of this ERP cannot be withdrawn');
    await this.#call({ kind: 'withdrawDrafts', ids }, request);
  }

  async read(ids: readonly string[], request: RequestOptions): Promise<FoundEntry[]> {
    const { found } = await this.#call({ kind: 'read', ids }, request);
    return found.map(foundOf);
  }

  async periods(request: RequestOptions): Promise<ErpPeriods> {
    await this.#call({ kind: 'periods' }, request);
    const { readable, kinds } = this.capabilities.periods;
    const { lockedThrough } = this.#server;
    const isTold = readable && lockedThrough !== '';
    return { periods: null, lockedThrough: isTold ? [{ kind: kinds[0] ?? 'general', date: lockedThrough }] : [] };
  }

  async *check({ accounts }: CheckPlan, request: RequestOptions): AsyncIterable<CheckResult> {
    await this.#call({ kind: 'other' }, request);
    for (const name of ['connection', ...accounts.map(({ account }) => `account ${account}`)])
      yield { name, ok: true, message: '', todo: '' };
  }

  async close(): Promise<void> {}

  #openBooks(): ErpBooks {
    const posted = (from: string, through: string) =>
      this.#server.held().filter(({ state, date }) => state === 'posted' && date >= from && date <= through);
    return {
      balances: async ({ from, through }, request) => {
        await this.#call({ kind: 'other' }, request);
        const entries = posted(from, through);
        const balances = new Map<string, Money>();
        for (const { account, amount } of entries.flatMap(({ lines }) => lines))
          balances.set(account, (balances.get(account) ?? new Money(0)).plus(amount));
        return {
          entries: entries.length,
          balances: new Map([...balances].map(([a, amount]) => [a, amount.toFixed()])),
        };
      },
      entries: (which, request) => this.#entries(posted(which.from, which.through), which.accounts, request),
    };
  }

  async *#entries(held: HeldEntry[], accounts: readonly string[], request: RequestOptions) {
    const pageSize = 50;
    const wanted = held.filter(
      ({ key, lines }) => key !== null || lines.some(({ account }) => accounts.includes(account)),
    );
    for (let at = 0; at < wanted.length; at += pageSize) {
      await this.#call({ kind: 'other' }, request);
      yield wanted.slice(at, at + pageSize).map(foundOf);
    }
  }

  /** Sends a request. Throws if no answer came. */
  async #call(request: ServerRequest, { signal, sent }: RequestOptions): Promise<Answer> {
    sent?.();
    const { life } = this.#options;
    const doing = `${request.kind} of ${keysOf(request, this.#server).length}`;
    await life.step(`before ${doing}`, false);
    signal.throwIfAborted();
    const end = this.#begin(life);
    try {
      const answer = await this.#exchange(request, signal).catch(async (error: unknown) => {
        if (error instanceof ErpError) this.#options.onError(infoOf(request, this.#server), error);
        await life.step(`after ${doing}`, true);
        throw error;
      });
      await life.step(`after ${doing}`, true);
      return answer;
    } finally {
      end();
    }
  }

  #begin(life: Life): () => void {
    const mine = { life };
    this.#underWay.add(mine);
    const alive = [...this.#underWay].filter((other) => !other.life.isDead);
    const atOnce = this.capabilities.pace.in_flight_per_company;
    if (alive.length > atOnce) this.#server.misdeed(`${alive.length} requests at once, where ${atOnce} may be`, 'pace');
    return () => this.#underWay.delete(mine);
  }

  async #exchange(request: ServerRequest, signal: AbortSignal): Promise<Answer> {
    const server = this.#server;
    const { time } = server;
    const { outMs, workMs, lateMs = 0, backMs, fault } = this.#options.network(infoOf(request, server));
    // From here on the server may work on the request for the time in its record, or longer if the test makes it late.
    const mayWorkMs = server.record.capabilities.doubt.server_may_work_seconds * 1000 - outMs - 1;
    const giveUp = new AbortController();
    const cancel = time.at(time.nowMs + this.#options.timeoutMs, () => giveUp.abort(noAnswer('No answer in time')));
    const either = AbortSignal.any([signal, giveUp.signal]);
    if (server.admit() === 'throttled' || fault === 'throttled') {
      await time.sleep(outMs + backMs, either);
      throw this.#errorOf({ kind: 'throttled', ...server.record.says.throttled, keys: [] });
    }
    const atWorkMs = lateMs > 0 ? mayWorkMs + lateMs : Math.min(workMs, mayWorkMs);
    const sent = this.#send(request, fault, outMs, Math.max(0, atWorkMs));
    // The server continues even if the client stops waiting.
    sent.catch(() => undefined);
    try {
      await this.#options.life.step(`during ${request.kind}`, true);
      const answer = await unlessAborted(sent, either);
      await time.sleep(backMs, either);
      if (answer === 'died') throw noAnswer('The connection was closed');
      if (fault === 'page_though_done') throw this.#page();
      if (answer.error !== null) throw this.#errorOf(answer.error);
      if (fault !== 'half') return answer;
      return { ...answer, ids: new Map([...answer.ids].filter((_, n) => n % 2 === 1)) };
    } finally {
      cancel();
    }
  }

  async #send(request: ServerRequest, fault: Fault, outMs: number, workMs: number): Promise<Outcome> {
    const server = this.#server;
    const { time } = server;
    await time.sleep(outMs);
    if (fault === 'unreachable') throw new ErpError('unsent', 'connect ECONNREFUSED');
    if (fault === 'request_lost') throw noAnswer('socket hang up');
    if (fault === 'page') throw this.#page();
    if (fault === 'busy' || fault === 'auth')
      throw this.#errorOf({ kind: fault, ...server.record.says[fault], keys: [] });
    const size = keysOf(request, server).length;
    const work = {
      workMs,
      diesAfter: fault === 'server_dies' ? Math.floor(size / 2) : null,
      strange: fault === 'strange' ? ('not_done' as const) : fault === 'strange_though_done' ? ('done' as const) : null,
      isTruncated: fault === 'truncated',
    };
    const outcome = server.handle(request, work);
    if (fault !== 'answer_lost') return outcome;
    outcome.catch(() => undefined);
    // The connection breaks while the server works.
    await time.sleep(Math.min(50, workMs));
    throw noAnswer('socket hang up');
  }

  /** Converts an error of the server into an ErpError of the port. */
  #errorOf(error: NonNullable<Answer['error']>): ErpError {
    const { means, problem } = meaningOf(this.#server, error);
    const named = problem ?? (means === 'doubt' ? 'erp_refused_unknown' : null);
    return new ErpError(means, `${error.http} ${error.code} ${error.text}`, {
      ...(named === null ? {} : { problem: named }),
      keys: error.keys,
      retryAfterMs: means === 'throttled' ? 5_000 : null,
    });
  }

  #page(): ErpError {
    return noAnswer('502 <html><body>Bad Gateway</body></html>');
  }
}

function noAnswer(text: string): ErpError {
  return new ErpError('doubt', text);
}

function infoOf(request: ServerRequest, server: FakeServer): RequestInfo {
  return { kind: request.kind, keys: keysOf(request, server) };
}

function keysOf(request: ServerRequest, server: FakeServer): string[] {
  switch (request.kind) {
    case 'create':
      return request.entries.map(({ key }) => key);
    case 'find':
      return request.keys.map(({ key }) => key);
    case 'post':
    case 'withdrawDrafts':
    case 'read': {
      const byId = new Map(server.held().map(({ id, key }) => [id, key]));
      return request.ids.map((id) => byId.get(id) ?? id);
    }
    default:
      return [];
  }
}

function foundOf({
  unitId: _,
  createdAtMs: _created,
  visibleAtMs: _at,
  postedAtMs: _posted,
  ...entry
}: HeldEntry): FoundEntry {
  return { ...entry };
}
