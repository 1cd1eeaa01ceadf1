import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { DaySpan } from '../domain/daily-turn.ts';
import { ConfigError, codeOf } from '../domain/errors.ts';
import type { Schedule } from '../domain/intervals.ts';
import { minorUnitDecimals } from '../domain/money.ts';
import { type SecretKey, secretKeyOf } from '../domain/secret-key.ts';
import { type Ed25519Key, privateKeyOf } from '../domain/signature.ts';
import type { TemporalSecurity } from '../domain/temporal-security.ts';
import type { Mapping } from '../mapping/schema.ts';
import type { Dialect } from '../records/dialect.ts';
import type { CalendarDate, PostingMode, RawKeeping } from '../terms.ts';
import { configErrors, secretErrors } from '../texts/errors/config.ts';
import { fileTexts } from '../texts/errors/files.ts';
import { checkConfig, keyError } from './check-config.ts';
import { loadInstallationDialect } from './dialect.ts';
import { type Insertions, insertEnvironment, noInsertions } from './environment.ts';
import { type ErpConfig, erpKinds, isApiKind } from './erp.ts';
import { readFileOptions } from './file-options.ts';
import { refuseInsecure } from './insecure.ts';
import { type MailConfig, readMail } from './mail.ts';
import { loadMapping, loadMappingIfPresent, type MappingFile } from './mapping-files.ts';
import { readMeasured } from './read-measured.ts';
import type { ConfigFile } from './schema.ts';
import { type ConfigWarning, openToOthers } from './secret-files.ts';
import { readYaml } from './yaml.ts';

export interface InstallationConfig {
  id: number;
  /** The name for people. Null if the configuration has no name. */
  name: string | null;
  /** The URL of the practice API, without a trailing slash. */
  baseUrl: string;
  /** `secretFile` is the file of the token or client secret. It is read again after the source has refused the secret. */
  auth: ({ token: string } | { clientId: string; clientSecret: string }) & { secretFile?: string };
  timezone: string;
  currency: string;
  /** Decimals of the currency's minor unit. */
  decimals: number;
  startDate: CalendarDate | null;
  mappingPath: string;
  mappingFile: MappingFile;
  /** Until the database is open, the mapping of the file; then the mapping in force (src/bookkeeping/mapping-versions.ts). */
  mapping: Mapping;
  /** SHA-256 of the content of `mapping`, in hex. */
  mappingHash: string;
  erp: ErpConfig;
  postingMode: PostingMode;
  /** The first month of the fiscal year, from 1 to 12. */
  fiscalYearStart: number;
  rateWindowSeconds: number;
  overlapSeconds: number;
  /** Days in which the scrub reads every record once; 0 turns the scrub off. */
  scrubDays: number;
  scrubMinShare: number;
  clockSkewLimitSeconds: number;
  keepRaw: RawKeeping;
  dialect: Dialect;
}

export interface ListenAddress {
  host: string;
  /** The port of the server. 0 means any free port. */
  port: number;
}

export interface WebhookConfig extends ListenAddress {
  secret: string;
}

export interface ConsoleConfig extends ListenAddress {
  /** Null for the embedded PostgreSQL. */
  databaseUrl: string | null;
  /** Accepted names of hosts, in lower case. */
  hosts: string[];
  trustedProxies: string[];
  /** Address of the Temporal UI for links, without a slash at its end. Null for no links. */
  temporalUi: string | null;
  /** The OpenID provider. Null if users sign in with passwords only. */
  oidc: OpenIdConfig | null;
  /** Whether users sign in with passwords. */
  passwords: boolean;
}

export interface OpenIdConfig {
  issuer: string;
  clientId: string;
  /** Only the console has it. */
  clientSecret: string;
}

export interface Config {
  /** Absolute path of the configuration file. */
  file: string;
  installations: InstallationConfig[];
  dataDir: string;
  /** Whether the next start puts a changed mapping file in force. If false, the file is only a proposal. */
  followMappingFile: boolean;
  schedule: Schedule;
  /** The span of the day in which the daemon reconciles. Null if the daemon does not reconcile. */
  reconcileBetween: DaySpan | null;
  /** The URL of the database. Null for the embedded PostgreSQL. */
  databaseUrl: string | null;
  /** The URL of the tables' owner. Empty if its variable is unset. Null if the role of `databaseUrl` owns the tables. */
  migrateDatabaseUrl: string | null;
  /** Whether a promoted standby of the same PostgreSQL server may take over without `vetledger adopt`. */
  trustsFailover: boolean;
  /** `address` is null for the embedded development server. */
  temporal: { address: string | null; namespace: string; taskQueue: string; security: TemporalSecurity };
  /** On which lines exports contain the names of private persons. */
  export: { names: 'receivables' | 'all' };
  /** The key that seals the books. Null if they are not sealed. */
  sealKey: Ed25519Key | null;
  /** The keys of stored logins. The first one encrypts. */
  secretKeys: SecretKey[];
  /** Whether a second person must confirm a close and a reopening of the books. */
  twoPersons: boolean;
  /** The settings of the webhook receiver. Null if the daemon receives no webhooks. */
  webhooks: WebhookConfig | null;
  /** The settings of mails. Null if the daemon sends no mail. */
  mail: MailConfig | null;
  /** Null if the configuration has no console. */
  console: ConsoleConfig | null;
  /** Addresses of our metrics and of those of the Temporal SDK. `backup`: whether the age of the last backup is shown. Null if off. */
  metrics: { listen: ListenAddress; temporalListen: ListenAddress | null; backup: boolean } | null;
  windowTimeoutMinutes: number;
  /** Retention in days; 0 keeps everything. */
  retention: { windowDays: number; versionDays: number; walkDays: number; daemonDays: number };
  warnings: ConfigWarning[];
}

/**
 * Reads and checks the configuration file and the mapping files that it names (DESIGN "Config"). Relative paths start at the
 * folder of the file. Throws a ConfigError (exit code 2) that names the key and the next step. With `secrets: false`, no secret
 * is read except those of the console.
 */
export async function loadConfig(
  path: string,
  env: NodeJS.ProcessEnv,
  { mappingMayBeMissing = false, secrets = true }: { mappingMayBeMissing?: boolean; secrets?: boolean } = {},
): Promise<Config> {
  const file = resolve(path);
  const source = await readYaml(file, 'configuration', fileTexts.noConfiguration);
  const inserted = noInsertions(secrets);
  const written = checkConfig(file, insertEnvironment(file, source, env, inserted));
  refuseInsecure(file, written, env);
  if (!secrets && written.database_url && written.console?.database_url === undefined)
    throw keyError(file, 'console.database_url', 'is missing. The console does not use `database_url`');
  const dataDir = env.VETLEDGER_DATA_DIR ? resolve(env.VETLEDGER_DATA_DIR) : resolve(dirname(file), written.data_dir);
  const installations: InstallationConfig[] = [];
  for (const [index, entry] of written.installations.entries()) {
    if (installations.some((other) => other.id === entry.id)) {
      throw keyError(file, `installations[${index}].id`, `names installation ${entry.id} a second time`);
    }
    installations.push(await readInstallation(file, index, entry, { mappingMayBeMissing, dataDir, inserted }));
  }
  const loggedIn = installations.findIndex(({ erp }) => erp.kind === 'xero' && erp.redirectUrl !== null);
  if (loggedIn >= 0 && written.secret_key === undefined)
    throw keyError(file, 'secret_key', `is required, because installations[${loggedIn}].erp has a redirect_url`);
  return {
    file,
    installations,
    dataDir,
    followMappingFile: written.mapping.follow_file,
    schedule: written.schedule,
    reconcileBetween: written.reconcile,
    databaseUrl: written.database_url || null,
    migrateDatabaseUrl: written.migrate_database_url ?? null,
    trustsFailover: written.database_failover === 'trusted',
    temporal: {
      address: written.temporal.address || null,
      namespace: written.temporal.namespace,
      taskQueue: written.temporal.task_queue,
      security: await readSecurity(file, written.temporal, inserted.warnings),
    },
    export: written.export,
    sealKey: written.seal_key === undefined || !secrets ? null : readSealKey(file, written.seal_key),
    secretKeys: secrets ? readSecretKeys(file, written) : [],
    twoPersons: written.two_persons,
    webhooks: written.webhooks ? { ...written.webhooks.listen, secret: written.webhooks.secret } : null,
    metrics: written.metrics
      ? {
          listen: written.metrics.listen,
          temporalListen: written.metrics.temporal_listen ?? null,
          backup: written.metrics.backup,
        }
      : null,
    console: written.console
      ? {
          ...written.console.listen,
          databaseUrl: written.console.database_url || null,
          hosts: written.console.hosts.map((host) => host.toLowerCase()),
          trustedProxies: written.console.trusted_proxies,
          temporalUi: written.console.temporal_ui ?? null,
          oidc: written.console.oidc
            ? {
                issuer: written.console.oidc.issuer,
                clientId: written.console.oidc.client_id,
                clientSecret: written.console.oidc.client_secret,
              }
            : null,
          passwords: written.console.passwords,
        }
      : null,
    mail: readMail(file, written.mail, installations),
    windowTimeoutMinutes: written.window_timeout_minutes,
    retention: {
      windowDays: written.retention.window_days,
      versionDays: written.retention.version_days,
      walkDays: written.retention.walk_days,
      daemonDays: written.retention.daemon_days,
    },
    warnings: inserted.warnings,
  };
}

async function readInstallation(
  file: string,
  index: number,
  entry: ConfigFile['installations'][number],
  { mappingMayBeMissing, dataDir, inserted }: { mappingMayBeMissing: boolean; dataDir: string; inserted: Insertions },
): Promise<InstallationConfig> {
  const auth = `installations[${index}].auth`;
  const secretFile = inserted.files.get(`${auth}.token`) ?? inserted.files.get(`${auth}.client_secret`);
  const mappingPath = resolve(dirname(file), entry.mapping);
  return {
    id: entry.id,
    name: entry.name ?? null,
    baseUrl: entry.base_url,
    auth: { ...entry.auth, ...(secretFile === undefined ? {} : { secretFile }) },
    timezone: entry.timezone,
    currency: entry.currency,
    decimals: minorUnitDecimals(entry.currency),
    startDate: entry.start_date ?? null,
    mappingPath,
    ...(await (mappingMayBeMissing ? loadMappingIfPresent(mappingPath) : loadMapping(mappingPath))),
    erp: readErp(file, dataDir, index, entry),
    postingMode: entry.posting_mode,
    fiscalYearStart: entry.fiscal_year_start_month,
    rateWindowSeconds: entry.rate_window_seconds,
    overlapSeconds: entry.overlap_seconds,
    scrubDays: entry.scrub_days,
    scrubMinShare: entry.scrub_min_share,
    clockSkewLimitSeconds: entry.clock_skew_limit_seconds,
    keepRaw: entry.keep_raw,
    dialect: loadInstallationDialect(file, `installations[${index}].practice_api`, entry.practice_api, entry.id),
  };
}

function readErp(
  file: string,
  dataDir: string,
  index: number,
  { id, erp, currency }: ConfigFile['installations'][number],
): ErpConfig {
  const { kind, from = null, auto } = erp;
  if (kind === 'ledger') return { kind };
  if (!isApiKind(kind)) {
    const folder = erp.folder === undefined ? join(dataDir, 'erp', String(id)) : resolve(dirname(file), erp.folder);
    const options = readFileOptions(kind, erp.options ?? {}, minorUnitDecimals(currency));
    if ('read' in options) return { ...options.read, from, auto, folder };
    const { option, message } = options.fault;
    throw keyError(file, `installations[${index}].erp.options${option && `.${option}`}`, message);
  }
  const common = {
    ...{ from, auto, url: erp.url ?? erpKinds[kind].url ?? '', database: erp.database ?? '' },
    ...{ company: erp.company ?? null, user: erp.user ?? erp.client_id ?? '' },
    ...{ password: erp.api_key ?? erp.password ?? '', post: erp.post ?? 'posted' },
    ...{ ownedAccounts: erp.owned_accounts ?? [], closeSourcePeriods: erp.close_source_periods },
    timeoutSeconds: erp.timeout_seconds ?? 120,
    ...(erp.measured && {
      measured: readMeasured(file, `installations[${index}].erp`, { ...erp, measured: erp.measured }),
    }),
  };
  const client = { company: erp.company ?? '', clientSecret: erp.client_secret ?? '' };
  switch (kind) {
    case 'tryton':
      return { kind, ...common };
    case 'odoo':
      return { kind, ...common, protocol: erp.protocol ?? (erp.api_key === undefined ? 'jsonrpc' : 'json2') };
    case 'procountor':
    case 'fortnox':
      return { kind, ...common, ...client };
    case 'xero':
      return { kind, ...common, ...client, redirectUrl: erp.redirect_url ?? null };
    case 'netvisor':
      return { kind, ...common, ...client, clientId: erp.client_id ?? '' };
  }
}

function readSealKey(file: string, pem: string): Ed25519Key {
  const key = privateKeyOf(pem);
  if (key !== null) return key;
  throw new ConfigError(secretErrors.sealKeyUnusable({ file }));
}

function readSecretKeys(file: string, written: ConfigFile): SecretKey[] {
  return (['secret_key', 'old_secret_key'] as const).flatMap((name) => {
    const text = written[name];
    if (text === undefined) return [];
    const key = secretKeyOf(text);
    if (key === null) throw new ConfigError(secretErrors.secretKeyUnusable({ file, key: name }));
    return [key];
  });
}

/** Reads the TLS files of the connection to Temporal. The embedded server uses no TLS. */
async function readSecurity(
  file: string,
  temporal: ConfigFile['temporal'],
  warnings: ConfigWarning[],
): Promise<TemporalSecurity> {
  const { address, api_key: apiKey, tls } = temporal;
  if (!address) return { tls: false };
  const key = apiKey === undefined ? {} : { apiKey };
  if (typeof tls !== 'object') return { ...key, tls: tls ?? apiKey !== undefined };
  const read = (name: 'server_ca_cert_path' | 'client_cert_path' | 'client_key_path') =>
    readNamed(file, `temporal.tls.${name}`, tls[name]);
  const serverRootCACertificate = await read('server_ca_cert_path');
  const [crt, certKey] = [await read('client_cert_path'), await read('client_key_path')];
  if ((crt === null) !== (certKey === null)) {
    throw keyError(file, 'temporal.tls', 'needs both client_cert_path and client_key_path, or neither');
  }
  const warning = tls.client_key_path === undefined ? null : openToOthers(resolve(dirname(file), tls.client_key_path));
  if (warning !== null) warnings.push(warning);
  return {
    ...key,
    tls: {
      ...(tls.server_name === undefined ? {} : { serverNameOverride: tls.server_name }),
      ...(serverRootCACertificate === null ? {} : { serverRootCACertificate }),
      ...(crt === null || certKey === null ? {} : { clientCertPair: { crt, key: certKey } }),
    },
  };
}

async function readNamed(file: string, key: string, path: string | undefined): Promise<Buffer | null> {
  if (path === undefined) return null;
  const found = resolve(dirname(file), path);
  try {
    return await readFile(found);
  } catch (error) {
    const reason = String(codeOf(error));
    throw new ConfigError(configErrors.namedFileUnreadable({ file, key, path: found, reason }));
  }
}
