import type { Logger } from 'pino';
import type { Config, InstallationConfig } from '../config/load.ts';
import { text } from '../db/columns.ts';
import { type Db, openDatabase, poolSize } from '../db/pool.ts';
import { row } from '../db/rows.ts';
import { ConfigError } from '../domain/errors.ts';
import { acquirePostgres, acquireTemporal, type ServicesOptions } from '../embedded/index.ts';
import { type Delivery, openDelivery } from '../erp/delivery.ts';
import { type Auth, clientCredentials, staticToken } from '../practice/auth.ts';
import { Budget } from '../practice/budget.ts';
import { createPracticeClient, type PracticeClient } from '../practice/client.ts';
import type { Transport } from '../practice/http.ts';
import { createTransport, defaultTimeouts } from '../practice/transport.ts';
import { prepareSchema } from './database.ts';
import { createLog } from './log.ts';
import { systemClock } from './system-clock.ts';

/** The open services and clients of a command; `close` releases them all. */
export interface App {
  config: Config;
  db: Db;
  /** One connection beside the pool: heartbeats do not wait for it. */
  presenceDb: Db;
  /** Part of workflow ids and task queues, so that several databases can share a Temporal cluster. */
  databaseId: string;
  /** Null when the command needs no Temporal (`AppOptions.temporal`). */
  temporal: { address: string; namespace: string; uiUrl: string | null } | null;
  /** Writes to stderr. */
  log: Logger;
  clock: () => Date;
  /** The practice API client of an installation, one per App. Throws ConfigError for an unknown installation. */
  practice(installation: number): PracticeClient;
  /** The rate budget that `practice(installation)` takes from. */
  budget(installation: number): Budget;
  /** Delivery to the installations' ERPs. */
  delivery: Delivery;
  close(): Promise<void>;
}

export interface AppOptions {
  temporal: boolean;
  /** Called with one line for each slow step. */
  progress: (line: string) => void;
  env: NodeJS.ProcessEnv;
  /** Log level unless VETLEDGER_LOG sets one. Default: `warn`. */
  logLevel?: 'error' | 'warn' | 'info';
  /** Whether an embedded database of an older version is brought up to date; without it the command refuses to start. */
  upgradesEmbedded?: boolean;
  /** Whether an embedded Temporal server serves its web UI. */
  ui?: boolean;
}

/**
 * Connects to the services, or starts embedded ones, and checks that the database has the schema that this version needs; an
 * empty embedded database gets it. Throws ServiceError when a service is missing, UserError where the schema does not fit;
 * whatever was opened by then is released.
 */
export async function openApp(config: Config, options: AppOptions): Promise<App> {
  const opened: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const release of opened.splice(0).reverse()) await release();
  };
  const log = createLog(options.env.VETLEDGER_LOG ?? options.logLevel ?? 'warn');
  const services: ServicesOptions = {
    dataDir: config.dataDir,
    databaseUrl: config.databaseUrl ?? undefined,
    temporalAddress: config.temporal.address ?? undefined,
    temporalSecurity: config.temporal.security,
    ui: options.ui,
    progress: options.progress,
    env: options.env,
  };
  try {
    const starting = options.temporal ? acquireTemporal(services) : Promise.resolve(null);
    // Both start at the same time. When one fails, the other is released by the catch block below.
    const [postgres, temporal] = await Promise.allSettled([acquirePostgres(services), starting]);
    for (const service of [postgres, temporal]) {
      if (service.status === 'fulfilled' && service.value) opened.push(service.value.release);
    }
    if (postgres.status === 'rejected') throw postgres.reason;
    if (temporal.status === 'rejected') throw temporal.reason;

    const { currentUrl } = postgres.value;
    const report = (line: string) => log.warn({ database: true }, line);
    const db = openDatabase(currentUrl, { max: poolSize(config.installations.length), report });
    opened.push(() => db.destroy());
    const presenceDb = openDatabase(currentUrl, { max: 1, acquireTimeoutMs: 10_000, report });
    opened.push(() => presenceDb.destroy());
    await prepareSchema(postgres.value, db, options.upgradesEmbedded === true);
    const practices = practicesOf(config, db, log);
    opened.push(() => practices.close());
    const databaseId = await readDatabaseId(db);
    const delivery = openDelivery({ db, databaseId, clock: systemClock, log });
    opened.push(() => delivery.close());
    return {
      config,
      db,
      presenceDb,
      databaseId,
      delivery,
      temporal: temporal.value && {
        address: temporal.value.address,
        namespace: config.temporal.namespace,
        uiUrl: temporal.value.uiUrl,
      },
      log,
      clock: () => new Date(),
      practice: (installation) => practices.of(installation).client,
      budget: (installation) => practices.of(installation).budget,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function readDatabaseId(db: Db): Promise<string> {
  const { value } = await row(db, { value: text }, `select value from meta where key = 'database_id'`);
  return value;
}

interface Practice {
  client: PracticeClient;
  budget: Budget;
}

function practicesOf(config: Config, db: Db, log: Logger) {
  const made = new Map<number, Practice>();
  return {
    of(id: number): Practice {
      const practice = made.get(id) ?? makePractice(installationOf(config, id), db, log);
      made.set(id, practice);
      return practice;
    },
    async close() {
      for (const { client } of made.values()) client.close();
      await Promise.all([...made.values()].map(({ budget }) => budget.close()));
    },
  };
}

function makePractice(installation: InstallationConfig, db: Db, log: Logger): Practice {
  const { id, baseUrl, dialect, rateWindowSeconds } = installation;
  const budget = new Budget({
    db,
    installation: id,
    dialect,
    windowSeconds: rateWindowSeconds,
    requestTimeoutSeconds: defaultTimeouts.requestMs / 1000,
    backgroundShare: installation.scrubMinShare,
    clock: systemClock,
  });
  const transport = createTransport({ timeouts: defaultTimeouts, clock: systemClock });
  const auth = authOf(installation, transport);
  const client = createPracticeClient({
    ...{ installation: id, baseUrl, auth, dialect, budget, log, transport },
    clock: systemClock,
  });
  return { budget, client };
}

/** The configured authentication of an installation: a fixed token, or client credentials. */
export function authOf(installation: InstallationConfig, transport: Transport): Auth {
  const { auth, id, baseUrl, dialect } = installation;
  if ('token' in auth) return staticToken(auth.token);
  return clientCredentials({ ...auth, installation: id, baseUrl, dialect, transport, clock: systemClock });
}

/** The configuration of an installation. Throws ConfigError for an unknown one. */
export function installationOf(config: Config, id: number): InstallationConfig {
  const found = config.installations.find((installation) => installation.id === id);
  if (found) return found;
  const known = config.installations.map((installation) => installation.id).join(', ');
  throw new ConfigError(
    'installation_unknown',
    `Installation ${id} is not in ${config.file}.`,
    `Use one of its installations: ${known}.`,
  );
}

/** The installations of a command's --installation option: the named one, or all. */
export function chosenInstallations(config: Config, id: number | undefined): InstallationConfig[] {
  return id === undefined ? config.installations : [installationOf(config, id)];
}
