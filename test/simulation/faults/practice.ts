// The sandbox without a network, in simulated time: a transport for each process, on which requests and answers are lost.

import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { permissions } from '../../../sandbox/src/auth.ts';
import type { Clinic } from '../../../sandbox/src/clinic.ts';
import { SandboxClock } from '../../../sandbox/src/clock.ts';
import { createApp } from '../../../sandbox/src/http/app.ts';
import { Installation } from '../../../sandbox/src/installation.ts';
import { type LiveEvent, live } from '../../../sandbox/src/live.ts';
import { routes } from '../../../sandbox/src/resources/index.ts';
import type { Rng } from '../../../sandbox/src/rng.ts';
import { PracticeError } from '../../../src/domain/practice-error.ts';
import type { HttpAnswer, HttpRequest, NoAnswer, Transport } from '../../../src/practice/http.ts';
import type { SimulatedTime } from '../../erp/fake/time.ts';
import type { Mortal } from '../../erp/rounds/mortal.ts';

export const token = 'sandbox-token';
const credentials = { clientId: 'client', clientSecret: 'secret' };
export const baseUrl = 'http://practice.invalid';

/** What goes wrong with a request. `lost`: it never arrives. `answer lost`: it has taken effect. */
export type PracticeFault = 'none' | 'refused' | 'lost' | 'answer lost' | '500' | '500 though done' | 'cut';
const faultsAtAll: readonly PracticeFault[] = ['refused', 'lost', 'answer lost', '500', '500 though done', 'cut'];

export class SimulatedPractice {
  readonly clinic: Clinic;
  readonly #installation: Installation;
  /** When it was asked, in simulated milliseconds; also where nothing arrived. */
  readonly askedAtMs: number[] = [];
  /** What becomes of every request; null: what chance brings (`faults`). */
  down: PracticeFault | null = null;
  readonly #app: Promise<FastifyInstance>;
  readonly #time: SimulatedTime;
  readonly #rng: Rng;
  /** Share of requests that go wrong. */
  faults = 0;
  struck = 0;

  constructor({
    seed,
    installation,
    invoices,
    time,
    rng,
  }: {
    seed: number;
    installation: number;
    invoices: number;
    time: SimulatedTime;
    rng: Rng;
  }) {
    const clock = () => time.nowMs;
    this.#time = time;
    this.#rng = rng;
    const only = new Installation(
      { ...credentials, token, installation, seed, invoices, historyDays: 20, rateWindowSeconds: 0 },
      new SandboxClock(clock),
    );
    this.#installation = only;
    this.clinic = only.clinic;
    this.#app = createApp({ routes, installations: new Map([[installation, only]]), machine: clock });
  }

  /** Lets another token in; the one of before is revoked. */
  replaceToken(next: string): void {
    const application = { ...credentials, name: 'accounting', permissions, scopes: ['read write'] } as const;
    this.#installation.auth.put({ ...application, token: next });
  }

  live(events: number): LiveEvent[] {
    return live(this.clinic, events);
  }

  /** How a process reaches it. */
  transportOf(process: Mortal): Transport {
    let latest: { dateMs: number; atMs: number } | null = null;
    const time = this.#time;
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
        const date = Date.parse(String(answer.headers.date));
        latest = { dateMs: date, atMs: time.nowMs };
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
    this.askedAtMs.push(this.#time.nowMs);
    const fault: PracticeFault = this.down ?? (this.#rng.chance(this.faults) ? this.#rng.pick(faultsAtAll) : 'none');
    if (fault !== 'none') this.struck += 1;
    const [outMs, backMs] = [this.#rng.int(1, 40), this.#rng.int(1, 40)];
    const details = { method, path: new URL(url).pathname };
    await this.#time.sleep(outMs);
    if (fault === 'refused')
      return { error: new PracticeError('unreachable', 'no connection (ECONNREFUSED)', details), sent: false };
    const broken = {
      error: new PracticeError('unreachable', 'the connection broke off (ECONNRESET)', details),
      sent: true,
    };
    if (fault === 'lost') return broken;
    const target = url.slice(baseUrl.length);
    const end = this.#time.begin();
    const date = new Date(this.#time.nowMs).toUTCString();
    const failed = { status: 500, headers: { date }, body: '{"detail": "Server error."}' };
    let answer: LightMyRequestResponse | null = null;
    try {
      if (fault !== '500') {
        const app = await this.#app;
        answer = await app.inject({
          ...{ method: method as 'GET', url: target, headers: { ...headers, host: new URL(baseUrl).host } },
          ...(body === undefined ? {} : { payload: body }),
        });
      }
    } finally {
      end();
    }
    await process.step(`during ${what}`, false);
    await this.#time.sleep(backMs);
    if (answer === null || fault === '500 though done') return failed;
    if (fault === 'answer lost') return broken;
    const { statusCode: status, headers: told, payload: text } = answer;
    const texts = Object.fromEntries(Object.entries(told).map(([name, value]) => [name, String(value)]));
    return { status, headers: { ...texts, date }, body: fault === 'cut' ? text.slice(0, text.length / 2) : text };
  }
}
