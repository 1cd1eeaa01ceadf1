// A sandbox clinic behind a server that can show every observed fault. The clinic's data stays correct; only the
// answers are wrong.

import type { Quirks } from '../../sandbox/src/index.ts';
import { type Sandbox, startSandbox } from '../../sandbox/src/index.ts';
import { Rng } from '../../sandbox/src/rng.ts';
import {
  type SourceAnswer,
  type SourceRequest,
  startTamperingProxy,
  type TamperingProxy,
} from '../support/tampering.ts';

/**
 * Applies a fault to an answer. Null breaks the connection. Returns the answer unchanged if the fault does not apply.
 */
export type Strike = (
  answer: SourceAnswer,
  request: SourceRequest,
  rng: Rng,
) => SourceAnswer | null | Promise<SourceAnswer | null>;

export interface ActiveFault {
  name: string;
  strike: Strike;
  /** The share of answers that the fault affects. */
  share: number;
  /** The maximum number of affected answers. */
  most: number;
}

/** The clinic's time at the start of a round, at any real time. Its minutes pass in seconds. */
const beginsAt = Date.parse('2026-05-04T08:00:00Z');

export class HostileServer {
  readonly sandbox: Sandbox;
  /** The number of affected answers by kind of fault. */
  readonly struck = new Map<string, number>();
  readonly #proxy: TamperingProxy;
  readonly #seed: number;
  readonly #clock: { passedMs: number; wrongByMs: number };
  #faults: (ActiveFault & { strikes: number })[] = [];
  readonly #asked = new Map<string, number>();
  /** Records that every answer shows wrongly: `<list>/<id>` with a function that changes their JSON. */
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

  /** The difference of the clinic's time from the machine's, without the error of its clock. */
  get passedMs(): number {
    return this.#clock.passedMs;
  }

  /** Advances the clinic's time. */
  pass(ms: number): void {
    this.#clock.passedMs += ms;
  }

  /** The error of the clinic's clock in timestamps and headers; negative if it is behind. */
  set wrongByMs(ms: number) {
    this.#clock.wrongByMs = ms;
  }

  /** Replaces the active faults. */
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
      // The random numbers depend on list and number, because the order of parallel lists varies between runs.
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
