// One installation of the sandbox: its clinic, clock, faults, tokens and journals. The server has one or several
// installations.
import { type Application, Auth, type IssuedToken } from './auth.ts';
import { Clinic } from './clinic.ts';
import type { ClockState, KeptClock, SandboxClock } from './clock.ts';
import { FaultInjector, type Faults, noFaults } from './faults.ts';
import { applyFixtures, type Fixtures } from './fixtures.ts';
import { generate, reportDays } from './generator.ts';
import { RateLimits } from './http/rate.ts';
import { StatsKeeper } from './http/stats.ts';
import { WebhookAttempts } from './journal/attempts.ts';
import type { Exchange } from './journal/exchange.ts';
import { Newest } from './journal/newest.ts';
import { type LiveEvent, live } from './live.ts';
import { sendDueReminders } from './online/bookings.ts';
import { liveOnline } from './online/live.ts';
import { realWorld } from './outgoing.ts';
import { fillClinic, StateFile, wholeText } from './persist.ts';
import { defaultQuirks, type Quirks } from './quirks.ts';
import { NotFound, ValidationProblem } from './records.ts';
import { Courier } from './supply/delivery.ts';
import { supplyHappening } from './supply/live.ts';
import { WebhookSender, type WebhookTarget } from './webhooks.ts';
import { Zone } from './zone.ts';

export interface InstallationOptions {
  seed?: number;
  /** The number of final invoices in the history, credit notes included. */
  invoices?: number;
  historyDays?: number;
  installation?: number;
  /** A bearer token that never expires. */
  token?: string;
  clientId?: string;
  clientSecret?: string;
  /** OAuth2 applications besides the built-in ones, each with its credentials, permissions and scopes. */
  applications?: readonly Application[];
  /** The clinic's legacy API key, sent as `Authorization: Token <key>`. Without it, the clinic has no such key. */
  legacyKey?: string;
  timezone?: string;
  /** The number of decimals of the currency. */
  decimals?: number;
  /** The rolling window of the rate limits. It may be a fraction; 0 turns the limits off. */
  rateWindowSeconds?: number;
  latencyMs?: number;
  /** The state file. If it exists, it is loaded, and `seed` and `invoices` are not used. Changes are saved to it. */
  stateFile?: string;
  /** True if each change is written to disk before its answer. Otherwise it is written within 100 ms. */
  durable?: boolean;
  quirks?: Partial<Quirks>;
  faults?: Partial<Faults>;
  /** The receivers of webhooks for record changes. Without them, no webhooks are sent. */
  webhooks?: WebhookTarget | readonly WebhookTarget[] | null;
  /**
   * The clinic's time at the start and after a reset; a time without an offset is local. The default is the machine's
   * time.
   */
  startsAt?: string;
  /** False stops the clock at its start. The default is true. */
  clockRuns?: boolean;
  /** Records to add to the generated clinic. */
  fixtures?: Fixtures;
  /**
   * True if live events include payment links, online bookings, prescriptions and orders of medicine. The default is
   * false.
   */
  wholeLife?: boolean;
}

export const defaults = {
  ...{ seed: 1, installation: 4711, invoices: 2600, historyDays: 200 },
  ...{ token: 'sandbox-token', clientId: 'sandbox-client', clientSecret: 'sandbox-secret' },
};

/** One in this many live events is followed by online and purchasing events. */
const eventsPerOther = 5;
const maxSnapshots = 20;

interface Snapshot {
  /** The clinic in the form of a state file. */
  bytes: Buffer;
  clock: ClockState;
  tokens: ReadonlyMap<string, IssuedToken>;
}

const startOf = (text: string, zone: Zone): number => {
  const instant = zone.parse(text);
  if (instant === null) throw new RangeError(`'${text}' is no time: give one such as 2026-03-31T18:00:00.`);
  return instant;
};

export class Installation {
  readonly installation: number;
  readonly clinic: Clinic;
  readonly clock: SandboxClock;
  readonly quirks: Quirks;
  readonly faults: FaultInjector;
  readonly latencyMs: number;
  readonly state: StateFile | null;
  /** The journal of requests and answers. */
  readonly requests = new Newest<Exchange>(1000, 8_000_000);
  /** Sends webhooks and keeps the journal of the attempts. */
  readonly attempts: WebhookAttempts;
  readonly #options: InstallationOptions;
  readonly #startedAt: KeptClock;
  readonly #snapshots = new Map<string, Snapshot>();
  auth: Auth;
  limits: RateLimits;
  webhooks: WebhookSender;
  stats = new StatsKeeper();
  #courier: Courier;
  /** The day of the last check for days that have ended. */
  #dayOfReports = '';

  constructor(options: InstallationOptions, clock: SandboxClock) {
    this.#options = options;
    this.clock = clock;
    this.installation = options.installation ?? defaults.installation;
    this.latencyMs = options.latencyMs ?? 0;
    const { seed = defaults.seed, timezone = 'Europe/Helsinki', decimals = 2, stateFile } = options;
    const zone = new Zone(timezone);
    const { startsAt, clockRuns = true } = options;
    const startMs = startsAt === undefined ? clock.now() : startOf(startsAt, zone);
    if (startsAt !== undefined || !clockRuns) clock.set({ nowMs: startMs, runs: clockRuns });
    this.#startedAt = clock.kept;
    this.quirks = { ...defaultQuirks, ...options.quirks };
    this.faults = new FaultInjector(seed, options.faults ?? {});
    this.clinic = new Clinic({ seed, zone, decimals, quirks: this.quirks, clock: clock.now });
    this.state =
      stateFile === undefined ? null : new StateFile(this.clinic, clock, stateFile, options.durable ?? false);
    this.attempts = new WebhookAttempts(this.clinic, clock.machine, realWorld);
    this.auth = this.#newAuth();
    this.limits = this.#newLimits();
    this.webhooks = this.#newWebhooks();
    try {
      if (!this.state?.load()) {
        this.#generate();
        this.state?.rewrite();
      }
    } catch (error) {
      this.state?.release();
      throw error;
    }
    this.#courier = new Courier(this.clinic, this.attempts);
    this.clinic.onChange = (changed) => {
      this.state?.changed();
      this.webhooks.send(changed);
      this.#courier.changed(changed);
    };
  }

  /** Makes this number of events happen in the clinic now. */
  live(events = 1): LiveEvent[] {
    this.#endDays();
    return [...live(this.clinic, events), ...(this.#options.wholeLife ? this.#beside(events) : [])];
  }

  /** Sets the clock and runs what is due by then. Throws ValidationProblem for an instant in the clinic's past. */
  setClock(nowMs: number, runs: boolean): void {
    if (nowMs < this.clock.now() - 1)
      throw new ValidationProblem('now', 'The clock only goes forward. Send a later time, or reset the sandbox.');
    this.clock.set({ nowMs, runs });
    sendDueReminders(this.clinic);
    this.#endDays();
    this.state?.changed();
  }

  /** Sets these quirks and faults, and all others to their defaults. */
  behave({ quirks, faults }: Pick<InstallationOptions, 'quirks' | 'faults'>): void {
    Object.assign(this.quirks, defaultQuirks, quirks);
    this.faults.set({ ...noFaults, ...faults });
  }

  /**
   * Restores the state of the start: a clinic generated from the seed, quirks, faults, limits, tokens, receivers and
   * clock.
   */
  reset(): void {
    this.clock.resume(this.#startedAt);
    this.#refill(() => this.#generate());
    this.behave(this.#options);
    this.auth = this.#newAuth();
    this.limits = this.#newLimits();
    this.stats = new StatsKeeper();
    this.requests.clear();
    this.webhooks.stop();
    this.attempts.clear();
    this.webhooks = this.#newWebhooks();
  }

  /** Runs a change of the clinic. If it throws, the clinic is restored to its state before the change. */
  attempt<T>(change: () => T): T {
    const before = this.#text();
    try {
      return change();
    } catch (error) {
      this.#refill(() => void fillClinic(this.clinic, before, 'the clinic'));
      throw error;
    }
  }

  /**
   * Keeps the clinic and its clock in memory under a name. Throws ValidationProblem if there are too many snapshots.
   */
  takeSnapshot(name: string): void {
    if (!this.#snapshots.has(name) && this.#snapshots.size >= maxSnapshots)
      throw new ValidationProblem('name', `There are ${maxSnapshots} snapshots. Delete one first.`);
    this.#snapshots.set(name, { bytes: this.#text(), clock: this.clock.state, tokens: this.auth.issuedTokens() });
  }

  /** Restores the clinic and its clock from a snapshot. Throws NotFound. */
  restoreSnapshot(name: string): void {
    const { bytes, clock, tokens } = this.#snapshot(name);
    this.clock.set(clock);
    this.auth.restoreTokens(tokens);
    this.#refill(() => void fillClinic(this.clinic, bytes, `the snapshot ${name}`));
  }

  /** Throws NotFound. */
  deleteSnapshot(name: string): void {
    this.#snapshot(name);
    this.#snapshots.delete(name);
  }

  /** Names, times and sizes of the snapshots. */
  get snapshots(): { name: string; at: string; bytes: number }[] {
    return [...this.#snapshots].map(([name, { clock, bytes }]) => ({
      name,
      at: new Date(clock.nowMs).toISOString(),
      bytes: bytes.length,
    }));
  }

  /** Stops the installation's timers and saves its clinic. */
  stop(): void {
    this.webhooks.stop();
    this.#courier.stop();
    this.attempts.stop();
    this.clinic.onChange = () => {};
    this.state?.close();
  }

  #snapshot(name: string): Snapshot {
    const snapshot = this.#snapshots.get(name);
    if (!snapshot) throw new NotFound();
    return snapshot;
  }

  /** The whole clinic in the form of a state file. */
  #text(): Buffer {
    return Buffer.concat([...wholeText(this.clinic, this.clock)].map((text) => Buffer.from(text)));
  }

  #generate(): void {
    const { seed = defaults.seed, invoices = defaults.invoices, historyDays = defaults.historyDays } = this.#options;
    generate(this.clinic, { seed, invoices, historyDays, endMs: this.clock.now() });
    const { fixtures } = this.#options;
    if (fixtures) applyFixtures(this.clinic, fixtures, `http://127.0.0.1/${this.installation}/api/0.1`);
  }

  /** Makes the end-of-day reports of the days that have ended. It checks once a day. */
  #endDays(): void {
    const today = this.clinic.today();
    if (today === this.#dayOfReports) return;
    this.#dayOfReports = today;
    this.clinic.commit(() => reportDays(this.clinic), 'request');
  }

  /**
   * Replaces the contents of the clinic. Pending events for wholesalers are dropped, because they belong to the old
   * clinic.
   */
  #refill(fill: () => void): void {
    this.#courier.stop();
    this.clinic.clear();
    fill();
    this.#dayOfReports = '';
    this.#courier = new Courier(this.clinic, this.attempts);
    this.state?.rewrite();
  }

  /**
   * Makes the additional online and purchasing events. They use separate random streams, so that the ordinary events of
   * a seed do not change.
   */
  #beside(events: number): LiveEvent[] {
    const { clinic } = this;
    return Array.from({ length: events }, () => clinic.supplyRng.chance(1 / eventsPerOther)).flatMap((isTime) => {
      if (!isTime) return [];
      const at = new Date(clinic.clock()).toISOString();
      const happened = [liveOnline(clinic), supplyHappening(clinic, clinic.supplyRng)];
      return happened.filter((one) => one !== null).map((one) => ({ at, ...one }));
    });
  }

  #newAuth(): Auth {
    const {
      token = defaults.token,
      clientId = defaults.clientId,
      clientSecret = defaults.clientSecret,
    } = this.#options;
    return new Auth({ token, clientId, clientSecret }, this.#options.applications, this.#options.legacyKey ?? null);
  }

  #newWebhooks(): WebhookSender {
    const sender = new WebhookSender(this.clinic, this.installation, this.attempts);
    sender.subscribe(this.#options.webhooks ?? null);
    return sender;
  }

  #newLimits(): RateLimits {
    return new RateLimits(this.#options.rateWindowSeconds ?? 60);
  }
}
