// In simulated time, the practice API fails for hours, or its token is revoked for hours. Requests have growing,
// limited pauses, the cause is visible, and windows catch up automatically.

import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { Rng } from '../../sandbox/src/rng.ts';
import type { InstallationConfig } from '../../src/config/load-config.ts';
import type { TimedEvent } from '../../src/domain/events.ts';
import { parseMapping } from '../../src/mapping/parse.ts';
import { staticToken } from '../../src/practice/auth.ts';
import { fileSecret } from '../../src/practice/secret.ts';
import { pacedSignIn } from '../../src/practice/sign-in.ts';
import { signInStore } from '../../src/practice/sign-in-store.ts';
import { readFigures } from '../../src/queries/figures.ts';
import { installationStatuses } from '../../src/queries/status.ts';
import { Events } from '../../src/runtime/events.ts';
import { Metrics } from '../../src/runtime/metrics/metrics.ts';
import { Outages } from '../../src/runtime/outages.ts';
import { noteSourceAndErp } from '../../src/windows/watch-outages.ts';
import { SimulatedTime } from '../erp/fake/time.ts';
import { useDatabase } from '../support/database.ts';
import { demoMapping } from '../support/demo-config.ts';
import { wrongBooks } from '../support/expected-books.ts';
import { SimulatedDatabase } from './database.ts';
import { installationOf } from './delivery/installation.ts';
import { baseUrl, SimulatedPractice, token } from './practice.ts';
import { simulateTimers, WorkerProcess } from './process.ts';
import { SimulatedTemporal } from './temporal.ts';
import { prepareDatabase } from './world.ts';

const { owner, url, truncate } = useDatabase();
const simulated = new SimulatedDatabase(url);
beforeAll(() => prepareDatabase({ owner }));
beforeEach(truncate);
afterAll(() => simulated.close());

const startMs = Date.parse('2026-03-06T06:00:00Z');
const minuteMs = 60_000;
const everyMs = 5 * minuteMs;
const id = 7;
const nothing = () => undefined;

/** A worker that follows a clinic with a window every five minutes. */
class Clinic {
  readonly time = new SimulatedTime(startMs);
  readonly practice: SimulatedPractice;
  readonly events: TimedEvent[] = [];
  /** The content of the token file. */
  secret = token;
  readonly #installation: InstallationConfig;
  readonly #temporal: SimulatedTemporal;
  readonly #worker: WorkerProcess;
  readonly #metrics: Metrics;
  readonly #told: Events;
  readonly #outages: Outages;

  constructor(seed: number) {
    simulateTimers();
    const { time } = this;
    const parsed = parseMapping(parse(readFileSync(demoMapping, 'utf8')));
    if ('errors' in parsed) throw new Error(parsed.errors.join('; '));
    this.#installation = { ...installationOf(id, id), erp: { kind: 'ledger' }, mapping: parsed.mapping, baseUrl };
    this.practice = new SimulatedPractice({
      ...{ seed, installation: id, invoices: 8, time, rng: new Rng(seed, 'practice') },
    });
    const clock = () => new Date(time.nowMs);
    this.#told = new Events(clock);
    this.#outages = new Outages(pino({ enabled: false }), this.#told, clock);
    this.#metrics = new Metrics(() => this.#readings());
    this.#metrics.begin(id);
    this.#told.on((event) => {
      this.events.push(event);
      noteSourceAndErp(this.#outages, event);
      this.#metrics.count(event);
    });
    const secret = fileSecret(token, () => this.secret);
    this.#worker = new WorkerProcess({
      ...{ holder: 'worker', time, rng: new Rng(seed, 'worker'), troubles: { dies: 0, diesSending: 0, stands: 0 } },
      ...{ database: simulated, databaseId: 'db', installation: this.#installation, practice: this.practice },
      ...{ open: null, tell: nothing, requestDelivery: nothing, breaks: () => 0 },
      auth: (ports) =>
        pacedSignIn(staticToken(secret), {
          ...{ secret, markKey: 'db', store: signInStore(ports.db, id), clock: ports.clock, waits: true },
          failed: (error) => expect.fail(String(error)),
        }),
      onEvent: (event) => this.#told.emit(event),
    });
    this.#temporal = new SimulatedTemporal({
      ...{ time, installation: id, rng: new Rng(seed, 'temporal'), tell: nothing },
      ...{ workers: () => [this.#worker], lostCompletions: () => 0 },
    });
  }

  /**
   * Opens a window at each tick for this many minutes, with events in the clinic. A running window delays the next one.
   */
  async follow(minutes: number): Promise<void> {
    await this.time.run(
      (async () => {
        const until = this.time.nowMs + minutes * minuteMs;
        while (this.time.nowMs < until) {
          this.practice.live(1);
          const tick = this.time.nowMs - (this.time.nowMs % everyMs) + everyMs;
          await this.#temporal.window();
          await this.time.sleep(Math.max(0, tick - this.time.nowMs));
        }
      })(),
    );
  }

  async status() {
    const ports = { db: owner, now: new Date(this.time.nowMs), schedule: { everySeconds: everyMs / 1000 } };
    const [one] = await installationStatuses({ ...ports, taskQueue: 'q', seals: false }, [this.#installation]);
    return one!;
  }

  /** The metrics with these names: labels and values. */
  async metrics(...names: string[]): Promise<string[]> {
    const { text } = await this.#metrics.text();
    return text.split('\n').filter((line) => names.some((name) => line.startsWith(`${name}{`)));
  }

  wrongBooks(): Promise<string[]> {
    const { timezone, decimals, startDate } = this.#installation;
    const setting = { installation: id, timezone, decimals, startDate, mapping: demoMapping };
    return wrongBooks(owner, this.practice.clinic, setting);
  }

  told(event: TimedEvent['event']): TimedEvent[] {
    return this.events.filter((one) => one.event === event);
  }

  async end(): Promise<void> {
    this.#worker.die();
    await this.time.run(this.#worker.release());
  }

  async #readings() {
    const values = await readFigures(owner, [id], { backup: false });
    return {
      ...{ installations: [id], version: '0', dependencies: { postgres: true, temporal: true }, watched: [] },
      pool: { used: 0, free: 0, waiting: 0, limit: 1 },
      ...{ requests: new Map(), figures: { values, ageSeconds: 0 }, nowMs: this.time.nowMs },
    };
  }
}

/** The pauses between consecutive requests in seconds. */
const gaps = (times: readonly number[]) => times.slice(1).map((at, n) => Math.round((at - times[n]!) / 1000));

async function inClinic(seed: number, work: (clinic: Clinic) => Promise<void>): Promise<void> {
  const clinic = new Clinic(seed);
  try {
    await clinic.follow(10);
    // In this simulation, no daemon reconciles.
    expect(await clinic.status()).toMatchObject({
      late: false,
      cause: { code: expect.stringMatching(/^(held|never_reconciled)$/) },
    });
    await work(clinic);
    expect(await clinic.wrongBooks()).toEqual([]);
  } finally {
    await clinic.end();
  }
}

describe('for hours', { timeout: 240_000 }, () => {
  test('the practice API is down', () =>
    inClinic(3, async (clinic) => {
      const { practice, time } = clinic;
      const downSince = time.nowMs;
      practice.down = 'refused';
      practice.askedAtMs.splice(0);
      await clinic.follow(6 * 60);
      const notOpened = clinic.told('window_not_opened');
      expect(notOpened.length).toBe(6 * 12);
      // One window sends four requests within seconds, with growing pauses. Only the next window sends more.
      const asked = practice.askedAtMs.filter((at) => at >= downSince);
      expect(asked).toHaveLength(4 * notOpened.length);
      for (let n = 0; n < asked.length; n += 4) {
        const within = asked.slice(n, n + 4);
        expect(within.at(-1)! - within[0]!).toBeLessThan(10_000);
      }
      expect(clinic.told('outage')).toMatchObject([{ dependency: 'practice_api', installation: id }]);
      expect(await clinic.status()).toMatchObject({
        ...{ health: 'failed', late: true },
        cause: { code: 'unreachable', attempts: notOpened.length },
      });
      expect(await clinic.metrics('vetledger_windows_total', 'vetledger_outages_total')).toEqual(
        expect.arrayContaining([
          `vetledger_windows_total{installation="${id}",outcome="not_opened"} ${notOpened.length}`,
          'vetledger_outages_total{dependency="practice_api"} 1',
        ]),
      );
      practice.down = null;
      await clinic.follow(5);
      const status = await clinic.status();
      expect(status).toMatchObject({ late: false, last_window: { outcome: 'closed' } });
      expect(status.lag_seconds).toBeLessThan(2 * 300);
      expect(clinic.told('recovery')).toMatchObject([{ dependency: 'practice_api', installation: id }]);
    }));

  test('the practice API goes down while a window is open: it asks less and less often, until it is given up', () =>
    inClinic(4, async (clinic) => {
      const { practice, time } = clinic;
      // The load is larger than the part that the opening of a window pulls.
      const opened = clinic.told('window_opened').length;
      const goesDown = setDownOnceAsked(clinic);
      await clinic.follow(5);
      goesDown();
      expect(clinic.told('window_opened')).toHaveLength(opened + 1);
      const failed = clinic.told('window_failed');
      expect(failed).toMatchObject([{ report: { outcome: 'failed', error: { code: expect.any(String) } } }]);
      const bursts = attemptsIn(practice.askedAtMs);
      // Pauses begin with a second and grow to a minute, with the attempts of one request in between.
      expect(bursts.length).toBeGreaterThan(10);
      expect(bursts[0]).toBeLessThan(bursts.at(-1)!);
      expect(Math.max(...bursts)).toBeLessThan(75);
      expect(time.nowMs - openedAt(clinic)).toBeLessThan(45 * minuteMs);
      practice.down = null;
      await clinic.follow(10);
      expect(await clinic.status()).toMatchObject({ late: false, last_window: { outcome: 'closed' } });
    }));

  test('the token is revoked, and another one is put into its file', () =>
    inClinic(5, async (clinic) => {
      const { practice, time } = clinic;
      practice.replaceToken('the-next-token');
      practice.askedAtMs.splice(0);
      await clinic.follow(10 * 60);
      // Pauses grow from one minute to at most an hour, and requests come with the windows, every five minutes.
      const pauses = gaps(practice.askedAtMs).map((seconds) => Math.round(seconds / 60));
      expect(pauses.length).toBeLessThan(16);
      // After an hour's pause the next window sends a request: at once, or five minutes later if it opened seconds too
      // early.
      const growing = pauses.map((minutes) => Math.min(minutes, 60));
      expect(growing).toEqual(growing.toSorted((a, b) => a - b));
      expect(Math.max(...pauses)).toBeLessThanOrEqual(65);
      const status = await clinic.status();
      expect(status).toMatchObject({ health: 'failed', late: true, cause: { code: 'sign_in_refused' } });
      expect(status.sign_in!.refusals).toBe(practice.askedAtMs.length);
      expect(clinic.told('outage')).toHaveLength(1);
      clinic.secret = 'the-next-token';
      const before = time.nowMs;
      await clinic.follow(5);
      expect(await clinic.status()).toMatchObject({ late: false, sign_in: null, last_window: { outcome: 'closed' } });
      expect(clinic.told('recovery')).toMatchObject([{ dependency: 'practice_api' }]);
      expect(Date.parse(clinic.told('recovery')[0]!.time) - before).toBeLessThan(everyMs);
    }));
});

/** The practice answers the first request of the next window, and then no more. The returned function cancels that. */
function setDownOnceAsked({ practice }: Clinic): () => void {
  const { askedAtMs } = practice;
  const push = askedAtMs.push.bind(askedAtMs);
  let requests = 0;
  askedAtMs.push = (...times) => {
    requests += 1;
    if (requests === 2) {
      practice.down = '500';
      askedAtMs.splice(0);
    }
    return push(...times);
  };
  return () => {
    askedAtMs.push = push;
  };
}

/** The time at which the failed window opened, in milliseconds. */
const openedAt = (clinic: Clinic) => Date.parse(clinic.told('window_opened').at(-1)!.time);

/** The seconds between the attempts of an activity. The four attempts of one request are seconds apart. */
function attemptsIn(times: readonly number[]): number[] {
  return gaps(times).filter((seconds) => seconds > 6);
}
