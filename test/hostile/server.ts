// A sandbox clinic behind a server that does on demand whatever such servers were seen to do. What the clinic holds stays true;
// what is told of it is not.

import type { Quirks } from '../../sandbox/src/index.ts';
import { type Sandbox, startSandbox } from '../../sandbox/src/index.ts';
import { Rng } from '../../sandbox/src/rng.ts';
import {
  type SourceAnswer,
  type SourceRequest,
  startTamperingProxy,
  type TamperingProxy,
} from '../support/tampering.ts';

/** One strike of a fault on an answer; null: the connection breaks off. Gives the answer back where it does not apply. */
export type Strike = (
  answer: SourceAnswer,
  request: SourceRequest,
  rng: Rng,
) => SourceAnswer | null | Promise<SourceAnswer | null>;

export interface ActiveFault {
  name: string;
  strike: Strike;
  /** Share of the answers that it strikes. */
  share: number;
  /** Strikes at most; then it is over. */
  most: number;
}

/** When a round begins at the clinic, whenever it is played: its minutes pass in seconds. */
const beginsAt = Date.parse('2026-05-04T08:00:00Z');

export class HostileServer {
  readonly sandbox: Sandbox;
  /** Faults by kind that have struck. */
  readonly struck = new Map<string, number>();
  readonly #proxy: TamperingProxy;
  readonly #seed: number;
  readonly #clock: { passedMs: number; wrongByMs: number };
  #faults: (ActiveFault & { strikes: number })[] = [];
  readonly #asked = new Map<string, number>();
  /** Records that are told wrongly, whatever question brings them: `<list>/<id>` to what becomes of their text. */
  readonly records = new Map<string, (record: Record<string, unknown>) => string>();

  static async start(
    installation: number,
    seed: number,
    invoices: number,
    quirks: Partial<Quirks>,
  ): Promise<HostileServer> {
    const clock = { passedMs: beginsAt - Date.now(), wrongByMs: 0 };
    const sandbox = await startSandbox({
      ...{ installation, seed, invoices, historyDays: 20, rateWindowSeconds: 0, quirks },
      now: () => new Date(Date.now() + clock.passedMs + clock.wrongByMs),
    });
    const proxy = await startTamperingProxy();
    proxy.target = sandbox.url;
    return new HostileServer(sandbox, proxy, seed, clock);
  }

  private constructor(
    sandbox: Sandbox,
    proxy: TamperingProxy,
    seed: number,
    clock: { passedMs: number; wrongByMs: number },
  ) {
    this.sandbox = sandbox;
    this.#proxy = proxy;
    this.#seed = seed;
    this.#clock = clock;
    proxy.tamper = (answer, request) => this.#tamper(answer, request);
  }

  get url(): string {
    return this.#proxy.url;
  }

  get requests(): number {
    return this.#proxy.requests.length;
  }

  /** How far the clinic's time is from this machine's, its clock's own errors aside. */
  get passedMs(): number {
    return this.#clock.passedMs;
  }

  /** Time passes at the clinic. */
  pass(ms: number): void {
    this.#clock.passedMs += ms;
  }

  /** The clinic's clock is so far ahead of the time, or (negative) behind it, for what it stamps and what it tells. */
  set wrongByMs(ms: number) {
    this.#clock.wrongByMs = ms;
  }

  /** Replaces the faults in force. */
  setFaults(faults: readonly ActiveFault[]): void {
    this.#faults = faults.map((fault) => ({ ...fault, strikes: 0 }));
  }

  async stop(): Promise<void> {
    await this.#proxy.stop();
    await this.sandbox.stop();
  }

  async #tamper(answer: SourceAnswer, request: SourceRequest): Promise<SourceAnswer | null> {
    const list = request.path.split('?')[0] ?? '';
    const n = (this.#asked.get(list) ?? 0) + 1;
    this.#asked.set(list, n);
    let current: SourceAnswer | null = answer;
    for (const fault of this.#faults) {
      // By list and number, since the order of lists that are asked at once differs from run to run.
      const rng = new Rng(this.#seed, `${fault.name} ${list} ${n}`);
      if (fault.strikes >= fault.most || !rng.chance(fault.share)) continue;
      const struck: SourceAnswer | null = await fault.strike(current, request, rng);
      if (struck === current) continue;
      fault.strikes += 1;
      this.struck.set(fault.name, (this.struck.get(fault.name) ?? 0) + 1);
      if (struck === null) return null;
      current = struck;
    }
    return this.#withRecords(current, request);
  }

  #withRecords(answer: SourceAnswer, { method, path }: SourceRequest): SourceAnswer {
    const list = /\/(\w+)\/(?:\?|$)/.exec(path)?.[1] ?? '';
    const isAsked = [...this.records.keys()].some((key) => key.startsWith(`${list}/`));
    if (!isAsked || method !== 'GET' || answer.status !== 200) return answer;
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
}
