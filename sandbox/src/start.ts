// The sandbox: the practice API as an HTTP server with state, for clinics that are generated from seeds.

import type { Clinic } from './clinic.ts';
import { SandboxClock } from './clock.ts';
import { recordedExamples } from './examples/record.ts';
import type { Faults } from './faults.ts';
import { type AppParts, createApp } from './http/app.ts';
import { Forms } from './http/forms.ts';
import { documentOf } from './http/openapi.ts';
import type { Stats } from './http/stats.ts';
import { defaults, Installation, type InstallationOptions } from './installation.ts';
import type { LiveEvent } from './live.ts';
import type { Quirks } from './quirks.ts';
import { routes } from './resources/index.ts';
import type { WebhookCounts, WebhookTarget } from './webhooks.ts';
import { Zone } from './zone.ts';

/** The first installation, and the options of the server. */
export interface SandboxOptions extends InstallationOptions {
  /** The default 0 takes any free port. */
  port?: number;
  host?: string;
  /** Further installations of the same server. Each has separate limits, tokens and clocks. */
  others?: readonly InstallationOptions[];
  /** The machine's clock; tests replace it. */
  now?: () => Date;
  /** Tests set this: the server answers 500 if an answer does not match its schema. */
  checkAnswers?: boolean;
  /** Called with each answer. A test uses it to find endpoints that no test covers. */
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
  /** The clinic's state, with operations that build a situation for a test. */
  clinic: Clinic;
  /** Makes this number of events happen in the clinic now; the default is 1. */
  live(events?: number): LiveEvent[];
  stats(): Stats;
  /** Sets the named faults and leaves the others; null switches a fault off. */
  setFaults(faults: Partial<Faults>): void;
  setQuirks(quirks: Partial<Quirks>): void;
  /** Replaces all receivers of webhooks for record changes. */
  setWebhooks(targets: WebhookTarget | readonly WebhookTarget[] | null): void;
  webhookCounts(): WebhookCounts;
  /** Sets the clinic's clock to a later instant (epoch milliseconds). The clock stops there unless `runs` is true. */
  setClock(nowMs: number, runs?: boolean): void;
  /** All installations in order; the first is the one of the options. */
  installations: readonly Installation[];
  /** Saves the state and closes the server with all connections. */
  stop(): Promise<void>;
}

export const startSandbox = async (options: SandboxOptions = {}): Promise<Sandbox> => {
  const { host = '127.0.0.1', token = defaults.token, checkAnswers = false } = options;
  const machine = (): number => (options.now ? options.now().getTime() : Date.now());
  const installations = new Map<number, Installation>();
  const stopAll = (): void => {
    for (const installation of installations.values()) installation.stop();
  };
  const { clientId = defaults.clientId, clientSecret = defaults.clientSecret } = options;
  try {
    for (const one of [options, ...(options.others ?? [])]) {
      const clock = new SandboxClock(machine);
      const opened = new Installation(one, clock);
      if (installations.has(opened.installation)) throw new RangeError(`Two installations are ${opened.installation}.`);
      installations.set(opened.installation, opened);
    }
    const [first] = installations.values() as Iterable<Installation> as [Installation];
    const noted = options.onAnswer ? { onAnswer: options.onAnswer } : {};
    const app = await createApp({
      ...{ routes, installations, machine, checkAnswers, ...noted },
      examples: recordedExamples,
    });
    await app.listen({ port: options.port ?? 0, host });
    const address = app.server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    return {
      url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
      port,
      installation: first.installation,
      token,
      clientId,
      clientSecret,
      clinic: first.clinic,
      installations: [...installations.values()],
      live: (events) => first.live(events),
      stats: () => first.stats.read(),
      setFaults: (faults) => first.faults.set(faults),
      setQuirks: (quirks) => void Object.assign(first.quirks, quirks),
      setWebhooks: (targets) => first.webhooks.subscribe(targets),
      setClock: (nowMs, runs = false) => first.setClock(nowMs, runs),
      webhookCounts: () => first.webhooks.counts(),
      stop: async () => {
        await app.close();
        stopAll();
      },
    };
  } catch (error) {
    stopAll();
    throw error;
  }
};

/** The OpenAPI 3.1 description of the API, as `/schema/` serves it, without a server address. */
export const describeApi = async (): Promise<object> =>
  documentOf(
    routes,
    new Forms({
      ...{ installation: defaults.installation, exists: () => true, zone: new Zone('UTC'), decimals: 2 },
      ...{ bareIds: false, strict: false, isText: false },
    }),
    await recordedExamples(),
  );
