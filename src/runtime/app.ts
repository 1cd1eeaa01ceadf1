import type { Logger } from 'pino';
import { mappingsInForce } from '../bookkeeping/mapping-versions.ts';
import type { Config, InstallationConfig } from '../config/load-config.ts';
import { readSecretFile } from '../config/secret-files.ts';
import { text } from '../db/columns.ts';
import { type Db, openDatabase, poolSizes } from '../db/pool.ts';
import { type Connection, row } from '../db/rows.ts';
import { ConfigError } from '../domain/errors.ts';
import type { ServicesOptions } from '../embedded/options.ts';
import { acquirePostgres } from '../embedded/postgres.ts';
import { postgresPackage } from '../embedded/postgres-binaries.ts';
import { ServiceError } from '../embedded/service-error.ts';
import type { TemporalHandle } from '../embedded/temporal.ts';
import { type Delivery, openDelivery } from '../erp/delivery.ts';
import { type Auth, clientCredentials, staticToken } from '../practice/auth.ts';
import { Budget } from '../practice/budget.ts';
import { createPracticeClient, type PracticeClient } from '../practice/client.ts';
import type { Transport } from '../practice/http.ts';
import type { Log } from '../practice/log.ts';
import { fileSecret, fixedSecret, type Secret } from '../practice/secret.ts';
import { pacedSignIn } from '../practice/sign-in.ts';
import { signInStore } from '../practice/sign-in-store.ts';
import { createTransport, defaultTimeouts } from '../practice/transport.ts';
import { serviceErrors } from '../texts/errors/services.ts';
import { temporalName } from './binding/noted.ts';
import { prepareSchema } from './database.ts';
import { Events } from './events.ts';
import { createLog } from './log.ts';
import { Outages } from './outages.ts';
import { systemClock } from './system-clock.ts';

/** The open services and clients of a command. `close` releases them all. */
export interface App {
  config: Config;
  db: Db;
  /**
   * A small second pool for short statements that must not wait behind long ones: renewals of leases, and the rate
   * budget.
   */
  promptDb: Db;
  /** A separate connection for this process's heartbeats, so that they do not wait for the pools. */
  presenceDb: Db;
  /** A connection that is closed after a moment, so that each probe tests a new connection. */
  probeDb: Db;
  /** Part of the keys of entries in ERPs. A database that replaces another one keeps its id. */
  databaseId: string;
  /**
   * Part of workflow ids and task queues, so that several databases can share a Temporal cluster. A copy gets another
   * name.
   */
  temporalName: string;
  /** The Temporal server. Null if the command needs none (`AppOptions.temporal`). */
  temporal: { address: string; namespace: string; uiUrl: string | null } | null;
  log: Logger;
  clock: () => Date;
  /** The events of this process, for listeners that print or count them. */
  events: Events;
  /** The services that do not answer. */
  outages: Outages;
  /**
   * Restarts an embedded server that has died; false if the server is not embedded, or is running. Throws ServiceError
   * if the restart fails.
   */
  revive: Record<'postgres' | 'temporal', () => Promise<boolean>>;
  /** The practice API client of an installation, one per App. Throws ConfigError for an unknown installation. */
  practice(installation: number): PracticeClient;
  /** The rate budget that `practice(installation)` uses. */
  budget(installation: number): Budget;
  /**
   * Makes the next `practice(installation)` call create a client from the current configuration. Running work keeps the
   * old client.
   */
  retirePractice(installation: number): void;
  delivery: Delivery;
  close(): Promise<void>;
}

export interface AppOptions {
  /** `if_reachable`: without Temporal, the command does what it can, and reports that to `progress`. */
  temporal: boolean | 'if_reachable';
  /** The start calls this with one line for each slow step. */
  progress: (line: string) => void;
  env: NodeJS.ProcessEnv;
  /** Log level, unless VETLEDGER_LOG sets one. Default: `warn`. */
  logLevel?: 'error' | 'warn' | 'info';
  /** Whether an embedded database gets the migrations that it lacks. Otherwise the command refuses to start. */
  upgradesEmbedded?: boolean;
  /** Whether to wait before signing in again after the source refused the credentials. The daemon does. */
  pacesSignIn?: boolean;
  /** Whether an embedded Temporal server that this command starts serves its web UI, for the demo. */
  ui?: boolean;
}

/**
 * Connects to the services, or starts embedded ones, and checks that the database has the schema of this version. An
 * empty embedded database gets the schema. Throws ServiceError if a service is missing, and UserError if the schema
 * does not fit; everything opened by then is released.
 */
export async function openApp(config: Config, options: AppOptions): Promise<App> {
  const opened: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const release of opened.splice(0).reverse()) await release();
  };
  const names = new Map(config.installations.flatMap(({ id, name }) => (name === null ? [] : [[id, name] as const])));
  const log = createLog(options.env.VETLEDGER_LOG ?? options.logLevel ?? 'warn', undefined, names);
  for (const { message, todo } of config.warnings) log.warn({ todo }, message);
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
    // Temporal may be built for minutes, so a missing package is an error before that.
    if (services.databaseUrl === undefined) postgresPackage();
    const starting = options.temporal ? startTemporal(services).catch(whereNeeded(options)) : Promise.resolve(null);
    // Both servers start at the same time. If one fails, the catch block below releases the other.
    const [postgres, temporal] = await Promise.allSettled([acquirePostgres(services), starting]);
    for (const service of [postgres, temporal]) {
      if (service.status === 'fulfilled' && service.value) opened.push(service.value.release);
    }
    if (postgres.status === 'rejected') throw postgres.reason;
    if (temporal.status === 'rejected') throw temporal.reason;

    const clock = () => new Date();
    const events = new Events(clock);
    const outages = new Outages(log, events, clock);
    const { currentUrl } = postgres.value;
    // Reports each failed connection. During a known outage it is only a debug line, since the outage itself was
    // reported.
    const report = (line: string) => log[outages.of('postgres') === null ? 'warn' : 'debug']({ database: true }, line);
    const sizes = poolSizes(config.installations.length);
    const db = openDatabase(currentUrl, { max: sizes.work, report });
    opened.push(() => db.destroy());
    const promptDb = openDatabase(currentUrl, { max: sizes.prompt, report });
    opened.push(() => promptDb.destroy());
    const presenceDb = openDatabase(currentUrl, { max: 1, acquireTimeoutMs: 10_000, report });
    opened.push(() => presenceDb.destroy());
    const probeDb = openDatabase(currentUrl, {
      max: 1,
      connectionLifetimeMs: 500,
      report: (line) => log.debug({ database: true }, line),
    });
    opened.push(() => probeDb.destroy());
    await prepareSchema(postgres.value, db, options.upgradesEmbedded === true);
    const databaseId = await readDatabaseId(db);
    const inForce = await mappingsInForce(db, config.installations, { followFile: config.followMappingFile });
    config.installations.splice(0, Number.POSITIVE_INFINITY, ...inForce.map(({ installation }) => installation));
    const practices = practicesOf(config, { db, promptDb, log, databaseId, pacesSignIn: options.pacesSignIn === true });
    opened.push(() => practices.close());
    const delivery = openDelivery({ db, databaseId, clock: systemClock, log, secretKeys: config.secretKeys });
    opened.push(() => delivery.close());
    return {
      config,
      db,
      promptDb,
      presenceDb,
      probeDb,
      databaseId,
      temporalName: await temporalName(db, databaseId),
      delivery,
      temporal: temporal.value && {
        address: temporal.value.address,
        namespace: config.temporal.namespace,
        uiUrl: temporal.value.uiUrl,
      },
      log,
      clock,
      events,
      outages,
      revive: {
        postgres: postgres.value.revive,
        temporal: temporal.value?.revive ?? (async () => false),
      },
      practice: (installation) => practices.of(installation).client,
      budget: (installation) => practices.of(installation).budget,
      retirePractice: (installation) => practices.retire(installation),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * This module is imported only when needed. Most commands do not use Temporal, and its client takes longer to load than
 * most commands take to run.
 */
async function startTemporal(services: ServicesOptions): Promise<TemporalHandle> {
  const { acquireTemporal } = await import('../embedded/temporal.ts');
  return acquireTemporal(services);
}

/** Handles an unreachable Temporal: an error, or a progress line for a command that can do without it. */
function whereNeeded({ temporal, progress }: AppOptions): (error: unknown) => null {
  return (error) => {
    if (temporal !== 'if_reachable' || !(error instanceof ServiceError)) throw error;
    progress(`${error.message} ${error.todo}`);
    return null;
  };
}

export async function readDatabaseId(db: Connection): Promise<string> {
  const { value } = await row(db, { value: text }, `select value from meta where key = 'database_id'`);
  return value;
}

interface Practice {
  client: PracticeClient;
  budget: Budget;
}

interface PracticePorts {
  db: Db;
  promptDb: Db;
  log: Logger;
  /** Key under which refused secrets are stored. */
  databaseId: string;
  /** Whether to wait before signing in again after a refusal. */
  pacesSignIn: boolean;
}

function practicesOf(config: Config, ports: PracticePorts) {
  const made = new Map<number, Practice>();
  /** Clients of installations whose configuration has changed or is gone. Running work may still use them. */
  const retired: Practice[] = [];
  return {
    of(id: number): Practice {
      const practice = made.get(id) ?? makePractice(installationOf(config, id), ports);
      made.set(id, practice);
      return practice;
    },
    retire(id: number) {
      const practice = made.get(id);
      if (practice) retired.push(practice);
      made.delete(id);
    },
    async close() {
      const all = [...made.values(), ...retired];
      for (const { client } of all) client.close();
      await Promise.all(all.map(({ budget }) => budget.close()));
    },
  };
}

function makePractice(installation: InstallationConfig, ports: PracticePorts): Practice {
  const { db, log } = ports;
  const { id, baseUrl, dialect, rateWindowSeconds } = installation;
  const budget = new Budget({
    db: ports.promptDb,
    installation: id,
    dialect,
    windowSeconds: rateWindowSeconds,
    requestTimeoutSeconds: defaultTimeouts.requestMs / 1000,
    backgroundShare: installation.scrubMinShare,
    clock: systemClock,
  });
  const transport = createTransport({ timeouts: defaultTimeouts, clock: systemClock });
  const secret = secretOf(installation);
  const auth = pacedSignIn(authOf(installation, { transport, secret, log: logOf(log, id) }), {
    secret,
    markKey: ports.databaseId,
    store: signInStore(db, id),
    clock: systemClock,
    waits: ports.pacesSignIn,
    failed: (err) => log.warn({ err, installation: id }, 'a refused sign-in could not be stored'),
  });
  const client = createPracticeClient({
    ...{ installation: id, baseUrl, auth, dialect, budget, transport },
    log: logOf(log, id),
    clock: systemClock,
  });
  return { budget, client };
}

/** The token or client secret of an installation. */
function secretOf({ auth }: InstallationConfig): Secret {
  const value = 'token' in auth ? auth.token : auth.clientSecret;
  const { secretFile } = auth;
  return secretFile === undefined ? fixedSecret(value) : fileSecret(value, () => readSecretFile(secretFile).secret);
}

/**
 * Adds the installation to each log line. Inside an activity, its ids are added automatically (activities/log-ids.ts).
 */
function logOf(log: Logger, installation: number): Log {
  return {
    debug: (fields: object, message: string) => log.debug({ installation, ...fields }, message),
    warn: (fields: object, message: string) => log.warn({ installation, ...fields }, message),
  };
}

function authOf(
  installation: InstallationConfig,
  { transport, secret, log }: { transport: Transport; secret: Secret; log: Log },
): Auth {
  const { auth, id, baseUrl, dialect } = installation;
  if ('token' in auth) return staticToken(secret);
  const { clientId } = auth;
  return clientCredentials({
    ...{ clientId, clientSecret: secret, installation: id, baseUrl, dialect, transport, log },
    clock: systemClock,
  });
}

/** The configuration of an installation. Throws ConfigError if it is unknown. */
export function installationOf(config: Config, id: number): InstallationConfig {
  const found = config.installations.find((installation) => installation.id === id);
  if (found) return found;
  const known = config.installations.map((installation) => installation.id).join(', ');
  throw new ConfigError(serviceErrors.installationUnknown({ installation: id, file: config.file, known }));
}

/** The installations of a command's --installation option: the named one, or all. */
export function chosenInstallations(config: Config, id: number | undefined): InstallationConfig[] {
  return id === undefined ? config.installations : [installationOf(config, id)];
}
