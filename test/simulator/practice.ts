// The sandbox without a network, in simulated time: each process has a transport on which requests and answers are lost
// or changed.

import { gunzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { permissions } from '../../sandbox/src/auth.ts';
import type { Clinic } from '../../sandbox/src/clinic.ts';
import { SandboxClock } from '../../sandbox/src/clock.ts';
import { createApp } from '../../sandbox/src/http/app.ts';
import { Installation } from '../../sandbox/src/installation.ts';
import { type LiveEvent, live } from '../../sandbox/src/live.ts';
import type { Quirks } from '../../sandbox/src/quirks.ts';
import { routes } from '../../sandbox/src/resources/index.ts';
import { Rng } from '../../sandbox/src/rng.ts';
import { PracticeError, type PracticeErrorCode } from '../../src/domain/practice-error.ts';
import type { HttpAnswer, HttpRequest, NoAnswer, Transport } from '../../src/practice/http.ts';
import { pageLimits } from '../../src/records/limits.ts';
import type { SimulatedTime } from '../erp/fake/time.ts';
import { hiding } from '../support/hiding.ts';
import type { SourceAnswer } from '../support/tampering.ts';
import type { Strike } from './answers.ts';
import type { Mortal } from './mortal.ts';

export const token = 'sandbox-token';
const credentials = { clientId: 'client', clientSecret: 'secret' };
export const baseUrl = 'http://practice.invalid';

/** The failure of a request. `lost`: it does not arrive. `answer lost`: it takes effect without an answer. */
export type ConnectionFault = 'none' | 'refused' | 'lost' | 'answer lost' | '500' | '500 though done' | 'cut';
const connectionFaults: readonly ConnectionFault[] = [
  'refused',
  'lost',
  'answer lost',
  '500',
  '500 though done',
  'cut',
];

/** An active fault of answers. */
export interface ActiveFault {
  name: string;
  strike: Strike;
  /** The share of answers that the fault affects. */
  share: number;
  /** The maximum number of affected answers. */
  most: number;
}

export interface PracticeOptions {
  seed: number;
  installation: number;
  invoices: number;
  time: SimulatedTime;
  rng: Rng;
  quirks?: Partial<Quirks>;
  /** True if times in records have whole seconds. */
  inSeconds?: boolean;
  /** The clock of the `Date` header less the clock of `modified`. */
  dateSkewMs?: number;
  /** Most requests take about `usual`, and some take up to `longest`. */
  latencyMs?: { usual: number; longest: number };
}

export class SimulatedPractice {
  readonly clinic: Clinic;
  /** Makes lists and look-ups hide records. */
  readonly hide: ReturnType<typeof hiding>;
  readonly #options: PracticeOptions;
  readonly #installation: Installation;
  readonly #app: Promise<FastifyInstance>;
  readonly #asked = new Map<string, number>();
  #faults: (ActiveFault & { strikes: number })[] = [];
  /** The times of all requests in simulated milliseconds, even of those that did not arrive. */
  readonly askedAtMs: number[] = [];
  /** The failure of every request; null if `connectionFaults` decides at random. */
  down: ConnectionFault | null = null;
  /** The share of requests whose connection fails. */
  connectionFaults = 0;
  /** The number of affected answers by fault. */
  readonly struck = new Map<string, number>();
  /** Records that every answer shows wrongly: `<list>/<id>` with a function that changes their JSON. */
  readonly records = new Map<string, (record: Record<string, unknown>) => string>();
  /** The practice API calls this before and after it answers a request. */
  onRequest: (path: string) => void = () => undefined;
  onAnswer: (path: string, body: string) => void = () => undefined;

  constructor(options: PracticeOptions) {
    const { seed, installation, invoices, time, quirks = {} } = options;
    const clock = () => time.nowMs;
    this.#options = options;
    const only = new Installation(
      { ...credentials, token, installation, seed, invoices, historyDays: 20, rateWindowSeconds: 0, quirks },
      new SandboxClock(clock),
    );
    this.#installation = only;
    this.clinic = only.clinic;
    this.hide = hiding(only);
    this.#app = createApp({ routes, installations: new Map([[installation, only]]), machine: clock });
  }

  get quirks(): Quirks {
    return this.#installation.quirks;
  }

  /** The error of the clinic's clock; negative if it is behind. */
  set clockAheadMs(ms: number) {
    this.#installation.clock.set({ nowMs: this.#options.time.nowMs + ms, runs: true });
  }

  /** Accepts another token and revokes the one before. */
  replaceToken(next: string): void {
    const application = { ...credentials, name: 'accounting', permissions, scopes: ['read write'] } as const;
    this.#installation.auth.put({ ...application, token: next });
  }

  live(events: number): LiveEvent[] {
    return live(this.clinic, events);
  }

  /** Replaces the faults in force. */
  setFaults(faults: readonly ActiveFault[]): void {
    this.#faults = faults.map((fault) => ({ ...fault, strikes: 0 }));
  }

  /** A record's text as its lists show it without a fault. */
  shown(text: string): string {
    if (!this.#options.inSeconds) return text;
    return text.replace(/("(?:modified|created|date_added)":"[^"]*?)\.\d+/g, '$1');
  }

  /** The connection of a process to it. */
  transportOf(process: Mortal): Transport {
    let latest: { dateMs: number; atMs: number } | null = null;
    const { time } = this.#options;
    return {
      send: async (request) => {
        const what = `${request.method} ${new URL(request.url).pathname.split('/').slice(4).join('/')}`;
        await process.step(`before ${what}`, true);
        request.signal?.throwIfAborted();
        const startedMs = time.nowMs;
        const dateBefore = latest?.dateMs ?? null;
        const answer = await this.#exchange(request, process, what);
        request.signal?.throwIfAborted();
        await process.step(`after ${what}`, true);
        if ('error' in answer) return answer;
        const dateMs = Date.parse(String(answer.headers.date));
        if (!Number.isNaN(dateMs)) latest = { dateMs, atMs: time.nowMs };
        return { ...answer, durationMs: time.nowMs - startedMs, dateBefore };
      },
      serverNow: () => latest && latest.dateMs + (time.nowMs - latest.atMs),
      close: () => undefined,
    };
  }

  async #exchange(
    { method, url, headers, body }: HttpRequest,
    process: Mortal,
    what: string,
  ): Promise<Omit<HttpAnswer, 'durationMs' | 'dateBefore'> | NoAnswer> {
    const { time, rng, latencyMs = { usual: 40, longest: 40 } } = this.#options;
    this.askedAtMs.push(time.nowMs);
    const fault = this.down ?? (rng.chance(this.connectionFaults) ? rng.pick(connectionFaults) : 'none');
    if (fault !== 'none') this.#count(fault);
    const tripMs = () => rng.int(1, rng.chance(0.05) ? latencyMs.longest : latencyMs.usual);
    const [outMs, backMs] = [tripMs(), tripMs()];
    const path = url.slice(baseUrl.length);
    const noAnswer = (code: PracticeErrorCode, message: string, sent = true): NoAnswer => ({
      error: new PracticeError(code, message, { method, path: new URL(url).pathname }),
      sent,
    });
    await time.sleep(outMs);
    if (fault === 'refused') return noAnswer('unreachable', 'no connection (ECONNREFUSED)', false);
    const broken = noAnswer('unreachable', 'the connection broke off (ECONNRESET)');
    if (fault === 'lost') return broken;
    this.onRequest(path);
    const date = this.quirks.dateHeader
      ? { date: new Date(this.clinic.clock() + (this.#options.dateSkewMs ?? 0)).toUTCString() }
      : {};
    const failed: SourceAnswer = { status: 500, headers: date, body: '{"detail": "Server error."}' };
    const answered = fault === '500' ? failed : await this.#answer({ method, path, headers, body }, date);
    await process.step(`during ${what}`, false);
    await time.sleep(backMs);
    if (fault === '500 though done') return failed;
    if (fault === 'answer lost') return broken;
    const answer = await this.#tampered(answered, { method, path, body: body ?? '' });
    if (answer === null || answer.cutAfter !== undefined) return broken;
    const text = textOf(answer);
    if (text === null) return broken;
    if (text.length > pageLimits.bytes) return noAnswer('answer_too_large', 'the answer is too large and was refused');
    if (fault === 'none' && answered.status === 200) this.onAnswer(path, text);
    return {
      status: answer.status,
      headers: answer.headers,
      body: fault === 'cut' ? text.slice(0, text.length / 2) : text,
    };
  }

  async #answer(
    { method, path, headers, body }: { method: string; path: string; headers: object; body: string | undefined },
    date: { date?: string },
  ): Promise<SourceAnswer> {
    const end = this.#options.time.begin();
    try {
      const app = await this.#app;
      const answer = await app.inject({
        ...{ method: method as 'GET', url: path, headers: { ...headers, host: new URL(baseUrl).host } },
        ...(body === undefined ? {} : { payload: body }),
      });
      const { date: _, ...texts } = Object.fromEntries(
        Object.entries(answer.headers).map(([name, value]) => [name, String(value)]),
      );
      return { status: answer.statusCode, headers: { ...texts, ...date }, body: this.shown(answer.payload) };
    } finally {
      end();
    }
  }

  /** The answer after the active faults are applied; null breaks the connection. */
  async #tampered(
    answer: SourceAnswer,
    request: { method: string; path: string; body: string },
  ): Promise<SourceAnswer | null> {
    const list = request.path.split('?')[0] ?? '';
    const n = (this.#asked.get(list) ?? 0) + 1;
    this.#asked.set(list, n);
    let current = answer;
    for (const fault of this.#faults) {
      // By list and number, because lists are requested in parallel.
      const rng = new Rng(this.#options.seed, `${fault.name} ${list} ${n}`);
      if (fault.strikes >= fault.most || !rng.chance(fault.share)) continue;
      const struck = await fault.strike(current, request, rng);
      if (struck === current) continue;
      fault.strikes += 1;
      this.#count(fault.name);
      if (struck === null) return null;
      current = struck;
    }
    return this.#withRecords(current, request);
  }

  #withRecords(answer: SourceAnswer, { method, path }: { method: string; path: string }): SourceAnswer {
    const list = /\/(\w+)\/(?:\?|$)/.exec(path)?.[1] ?? '';
    const isConcerned = [...this.records.keys()].some((key) => key.startsWith(`${list}/`));
    if (!isConcerned || method !== 'GET' || answer.status !== 200) return answer;
    let page: { results?: unknown };
    try {
      page = JSON.parse(answer.body);
    } catch {
      return answer;
    }
    const { results, ...rest } = page ?? {};
    if (!Array.isArray(results)) return answer;
    const texts = results.map((record) => {
      const change = this.records.get(`${list}/${record?.id}`);
      return change ? change(record) : JSON.stringify(record);
    });
    return { ...answer, body: `${JSON.stringify(rest).slice(0, -1)},"results":[${texts.join(',')}]}` };
  }

  #count(name: string): void {
    this.struck.set(name, (this.struck.get(name) ?? 0) + 1);
  }
}

const unpacked = new Map<Buffer, string>();

/** The body that a client receives; null if it cannot be decompressed. */
function textOf({ body, bytes, headers }: SourceAnswer): string | null {
  if (bytes === undefined) return headers['content-encoding'] === 'gzip' ? null : body;
  const text = unpacked.get(bytes) ?? gunzipSync(bytes).toString();
  unpacked.set(bytes, text);
  return text;
}
