// The sandbox: the practice API as a stateful HTTP server on a clinic generated from a seed.
import { type Application, Auth } from './auth.ts';
import { Clinic } from './clinic.ts';
import { FaultInjector, type Faults } from './faults.ts';
import { generate, openParts } from './generator.ts';
import { type AppParts, createApp } from './http/app.ts';
import { documentOf } from './http/openapi.ts';
import { RateLimits } from './http/rate.ts';
import { type Stats, StatsKeeper } from './http/stats.ts';
import { type LiveEvent, live } from './live.ts';
import { sendDueReminders } from './online/bookings.ts';
import { liveOnline } from './online/live.ts';
import { shownMessages } from './online/messages.ts';
import { loadClinic, Saver, saveClinic } from './persist.ts';
import { defaultQuirks, type Quirks } from './quirks.ts';
import { routes } from './resources/index.ts';
import { Rng } from './rng.ts';
import { Courier } from './supply/delivery.ts';
import { supplyHappening } from './supply/live.ts';
import { type WebhookCounts, WebhookSender, type WebhookTarget } from './webhooks.ts';
import { Zone } from './zone.ts';

const saveEveryMs = 2000;

export interface SandboxOptions {
  /** Default 0: any free port. */
  port?: number;
  host?: string;
  seed?: number;
  /** Number of final invoices in the history, including credit notes. */
  invoices?: number;
  historyDays?: number;
  installation?: number;
  /** A bearer token that never expires. */
  token?: string;
  clientId?: string;
  clientSecret?: string;
  /** OAuth2 applications besides the built-in ones, with client credentials, permissions and scopes of their own. */
  applications?: Application[];
  /** The clinic's legacy API key, sent as `Authorization: Token <key>`. Default: none. */
  legacyKey?: string;
  timezone?: string;
  /** Decimals of the currency. */
  decimals?: number;
  /** May be a fraction; 0 turns the limits off. */
  rateWindowSeconds?: number;
  latencyMs?: number;
  now?: () => Date;
  /** Loaded if it exists, in place of generating a clinic from `seed` and `invoices`; saved after changes. */
  stateFile?: string;
  quirks?: Partial<Quirks>;
  faults?: Partial<Faults>;
  /** Receivers of webhooks for record changes. Default: none. */
  webhooks?: WebhookTarget | readonly WebhookTarget[] | null;
  /** Whether clients also pay by link, book online and get prescriptions, and staff order medicine, as the clinic lives. Default: no. */
  wholeLife?: boolean;
  /** Answer 500 where an answer does not fit its schema: for tests. */
  checkAnswers?: boolean;
  /** Told of every answer, for tests that look for what no test asks. */
  onAnswer?: AppParts['onAnswer'];
}

export interface Sandbox {
  /** The `base_url`, for example `http://127.0.0.1:8090`. */
  url: string;
  port: number;
  installation: number;
  token: string;
  clientId: string;
  clientSecret: string;
  /** The clinic's state, with operations for building a situation. */
  clinic: Clinic;
  /** Makes that many events happen in the clinic now (default 1). */
  live(events?: number): LiveEvent[];
  stats(): Stats;
  /** Sets the named faults and leaves the others; null switches one off. */
  setFaults(faults: Partial<Faults>): void;
  setQuirks(quirks: Partial<Quirks>): void;
  /** Replaces all receivers of webhooks for record changes. */
  setWebhooks(targets: WebhookTarget | readonly WebhookTarget[] | null): void;
  webhookCounts(): WebhookCounts;
  /** Saves the state and closes the server with all connections. */
  stop(): Promise<void>;
}

/** One event in so many has others beside it: over the net, and of purchasing. */
const eventsPerOther = 5;

/** What happens beside the ordinary events, drawn from streams of its own: those of a seed stay what they are. */
const beside = (clinic: Clinic, events: number, supplyRng: Rng): LiveEvent[] =>
  Array.from({ length: events }, () => supplyRng.chance(1 / eventsPerOther)).flatMap((isTime) => {
    if (!isTime) return [];
    const at = new Date(clinic.clock()).toISOString();
    const happened = [liveOnline(clinic), supplyHappening(clinic, supplyRng)];
    return happened.filter((one) => one !== null).map((one) => ({ at, ...one }));
  });

export const startSandbox = async (options: SandboxOptions = {}): Promise<Sandbox> => {
  const { host = '127.0.0.1', seed = 1, installation = 4711, token = 'sandbox-token', stateFile } = options;
  const { clientId = 'sandbox-client', clientSecret = 'sandbox-secret', decimals = 2 } = options;
  const clock = (): number => (options.now ? options.now().getTime() : Date.now());
  const quirks: Quirks = { ...defaultQuirks, ...options.quirks };
  const clinic = new Clinic({ seed, zone: new Zone(options.timezone ?? 'Europe/Helsinki'), decimals, quirks, clock });
  const isLoaded = stateFile !== undefined && loadClinic(clinic, stateFile);
  if (!isLoaded) {
    const { invoices = 2600, historyDays = 200 } = options;
    generate(clinic, { seed, invoices, historyDays, endMs: clock() });
  }
  if (clinic.registers.users.size === 0) clinic.commit(() => openParts(clinic, seed), 'request');
  const saver = stateFile === undefined ? null : new Saver(() => saveClinic(clinic, stateFile), saveEveryMs);
  if (!isLoaded) saver?.finish();
  const webhooks = new WebhookSender(clinic, installation);
  webhooks.subscribe(options.webhooks ?? null);
  const courier = new Courier(clinic);
  clinic.onChange = (changed) => {
    saver?.changed();
    webhooks.send(changed);
    courier.changed(changed);
  };

  const faults = new FaultInjector(seed, options.faults ?? {});
  const stats = new StatsKeeper();
  const limits = new RateLimits(options.rateWindowSeconds ?? 60);
  const auth = new Auth({ token, clientId, clientSecret }, options.applications, options.legacyKey ?? null);
  const latencyMs = options.latencyMs ?? 0;
  const supplyRng = new Rng(seed, 'supply live');
  const controls = {
    clinic,
    live: (events = 1) => [...live(clinic, events), ...(options.wholeLife ? beside(clinic, events, supplyRng) : [])],
    stats: () => stats.read(),
    setFaults: (changes: Partial<Faults>) => faults.set(changes),
    setQuirks: (changes: Partial<Quirks>) => void Object.assign(quirks, changes),
    setWebhooks: (targets: WebhookTarget | readonly WebhookTarget[] | null) => webhooks.subscribe(targets),
    webhookCounts: () => webhooks.counts(),
    messages: (origin: string, after: number) => {
      sendDueReminders(clinic);
      return shownMessages(clinic, `${origin}/${installation}/pay`, after);
    },
  };
  const only = { installation, clinic, quirks, auth, limits, faults, stats, latencyMs };
  const installationOf = (id: number) => (id === installation ? only : null);
  const { checkAnswers = false } = options;
  const told = options.onAnswer ? { onAnswer: options.onAnswer } : {};
  const app = await createApp({ routes, installationOf, controls, quirks, clock, checkAnswers, ...told });
  await app.listen({ port: options.port ?? 0, host });
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    installation,
    token,
    clientId,
    clientSecret,
    ...controls,
    stop: async () => {
      webhooks.stop();
      courier.stop();
      await app.close();
      clinic.onChange = () => {};
      saver?.finish();
    },
  };
};

/** The OpenAPI 3.1 description of the API, as `/schema/` serves it, for no server in particular. */
export const describeApi = async (): Promise<object> => {
  const app = await createApp({ routes, installationOf: () => null, quirks: defaultQuirks, clock: Date.now });
  const description = documentOf(app);
  await app.close();
  return description;
};
