import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isMap, isScalar, type ParsedNode, parseDocument, visit } from 'yaml';
import { z } from 'zod';
import { ConfigError } from '../domain/errors.ts';
import { minorUnitDecimals } from '../domain/money.ts';
import { nearest } from '../domain/nearest.ts';
import { type Mapping, parseMapping } from '../mapping/parse.ts';
import type { PostingContext } from '../posting/types.ts';
import { type Dialect, DialectError } from '../records/dialect.ts';
import { canonicalJson } from '../records/json.ts';
import type { CalendarDate, PostingMode } from '../terms.ts';
import { loadDialect } from './dialect.ts';
import { addressOf, type ConfigFile, configSchema, secondsOf } from './schema.ts';

export interface InstallationConfig {
  id: number;
  /** Without a slash at the end. */
  baseUrl: string;
  auth: { token: string } | { clientId: string; clientSecret: string };
  timezone: string;
  currency: string;
  /** Decimals of the currency's minor unit. */
  decimals: number;
  startDate: CalendarDate | null;
  mappingPath: string;
  mapping: Mapping;
  /** Of the mapping's content: layout and comments of the file do not count. */
  mappingHash: string;
  erp: { kind: 'ledger' };
  postingMode: PostingMode;
  rateWindowSeconds: number;
  overlapSeconds: number;
  dialect: Dialect;
}

export interface WebhookConfig {
  host: string;
  /** 0: any free one. */
  port: number;
  secret: string;
}

export interface Config {
  /** The file it was read from. */
  file: string;
  installations: InstallationConfig[];
  dataDir: string;
  schedule: { everySeconds: number };
  /** Null: the embedded PostgreSQL. */
  databaseUrl: string | null;
  /** A null address: the embedded development server. */
  temporal: { address: string | null; namespace: string; taskQueue: string };
  /** Where webhooks are received; null: nowhere. */
  webhooks: WebhookConfig | null;
  windowTimeoutMinutes: number;
}

/** Values that may name an unset variable: the embedded service takes their place. */
const optionalPaths = ['database_url', 'temporal.address'];
const secretPath = /\.auth\.(token|client_secret)$|^webhooks\.secret$/;
const variable = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/**
 * Reads and checks the configuration file, with the mapping files it names (DESIGN "Config"). Relative paths are relative
 * to the file. Throws ConfigError (exit code 2) naming the key and what to do.
 */
export async function loadConfig(
  path: string,
  env: NodeJS.ProcessEnv,
  { mappingMayBeMissing = false }: { mappingMayBeMissing?: boolean } = {},
): Promise<Config> {
  const file = resolve(path);
  const source = await readYaml(
    file,
    'configuration file',
    'Name it with --config, or start from vetledger.yaml of the project; `vetledger dev` needs none.',
  );
  const written = checkFile(file, fillIn(file, source, env));
  const installations: InstallationConfig[] = [];
  for (const [index, entry] of written.installations.entries()) {
    if (installations.some((other) => other.id === entry.id)) {
      throw keyError(file, `installations[${index}].id`, `names installation ${entry.id} a second time`);
    }
    installations.push(await readInstallation(file, index, entry, mappingMayBeMissing));
  }
  return {
    file,
    installations,
    dataDir: env.VETLEDGER_DATA_DIR ? resolve(env.VETLEDGER_DATA_DIR) : resolve(dirname(file), written.data_dir),
    schedule: { everySeconds: secondsOf(written.schedule.every)! },
    databaseUrl: written.database_url || null,
    temporal: {
      address: written.temporal.address || null,
      namespace: written.temporal.namespace,
      taskQueue: written.temporal.task_queue,
    },
    webhooks: written.webhooks ? { ...addressOf(written.webhooks.listen)!, secret: written.webhooks.secret } : null,
    windowTimeoutMinutes: written.window_timeout_minutes,
  };
}

async function readInstallation(
  file: string,
  index: number,
  entry: ConfigFile['installations'][number],
  mappingMayBeMissing: boolean,
): Promise<InstallationConfig> {
  const mappingPath = resolve(dirname(file), entry.mapping);
  const { token, client_id, client_secret } = entry.auth;
  return {
    id: entry.id,
    baseUrl: entry.base_url,
    auth: token === undefined ? { clientId: client_id!, clientSecret: client_secret! } : { token },
    timezone: entry.timezone,
    currency: entry.currency,
    decimals: minorUnitDecimals(entry.currency),
    startDate: entry.start_date ?? null,
    mappingPath,
    ...(await (mappingMayBeMissing ? loadMappingOrNone(mappingPath) : loadMapping(mappingPath))),
    erp: entry.erp,
    postingMode: entry.posting_mode,
    rateWindowSeconds: entry.rate_window_seconds,
    overlapSeconds: entry.overlap_seconds,
    dialect: dialectOf(file, `installations[${index}].practice_api`, entry.practice_api),
  };
}

function dialectOf(file: string, path: string, overrides: unknown): Dialect {
  try {
    return loadDialect(overrides);
  } catch (error) {
    if (!(error instanceof DialectError)) throw error;
    throw new ConfigError('config_invalid', `${file}: ${path}: ${error.message}`, error.todo);
  }
}

/** Reads and checks a mapping file. Throws ConfigError listing everything that is wrong with it. */
export async function loadMapping(path: string): Promise<{ mapping: Mapping; mappingHash: string }> {
  const data = await readYaml(
    path,
    'mapping file',
    'Correct `mapping` in the configuration, or make the file with `vetledger mapping init`; mappings/generic.yaml is one to start from.',
  );
  const result = parseMapping(data);
  if ('errors' in result) {
    throw new ConfigError(
      'mapping_invalid',
      `The mapping file ${path} is not valid: ${result.errors.join('; ')}`,
      'Correct the named lines, and try it with `vetledger mapping check FILE`.',
    );
  }
  return { mapping: result.mapping, mappingHash: createHash('sha256').update(canonicalJson(data)).digest('hex') };
}

/** As loadMapping; where there is no such file, the mapping that holds everything. */
async function loadMappingOrNone(path: string): ReturnType<typeof loadMapping> {
  try {
    return await loadMapping(path);
  } catch (error) {
    const none = parseMapping({});
    if (!(error instanceof ConfigError) || error.code !== 'mapping_missing' || 'errors' in none) throw error;
    return { mapping: none.mapping, mappingHash: '' };
  }
}

/** A YAML file as plain values. Account codes such as 0100 or 1e3 keep the digits they were written with. */
async function readYaml(path: string, what: string, todo: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === 'ENOENT'
        ? 'does not exist'
        : `cannot be read (${(error as NodeJS.ErrnoException).code})`;
    throw new ConfigError(`${what.split(' ')[0]}_missing`, `The ${what} ${path} ${reason}.`, todo);
  }
  const document = parseDocument<ParsedNode>(text, { prettyErrors: true });
  const [problem] = document.errors;
  if (problem) {
    throw new ConfigError(
      `${what.split(' ')[0]}_invalid`,
      `The ${what} ${path} is no readable YAML: ${problem.message.split('\n')[0]}`,
      'Correct that place; texts with special characters belong in quotes.',
    );
  }
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === 'number' && node.source !== undefined && String(node.value) !== node.source) {
        (node as { value: unknown }).value = node.source;
      }
    },
  });
  if (document.contents !== null && !isMap(document.contents) && !isScalar(document.contents)) return [];
  return document.toJS();
}

/** Puts the environment's values in, and refuses secrets that stand in the file itself. */
function fillIn(file: string, source: unknown, env: NodeJS.ProcessEnv): unknown {
  return mapTexts(source, '', (value, path) => {
    if (isSecret(path) && value.replace(variable, '') !== '') refuseSecret(file, path);
    if (path === 'database_url' && holdsPassword(value)) refuseSecret(file, path);
    return value.replace(variable, (_, name: string) => {
      if (env[name]) return env[name];
      if (optionalPaths.includes(path)) return '';
      throw new ConfigError(
        'environment_missing',
        `${file}: ${path} needs the environment variable ${name}, which is not set.`,
        `Set it, for example: export ${name}=…`,
      );
    });
  });
}

function isSecret(path: string): boolean {
  return secretPath.test(path);
}

function refuseSecret(file: string, path: string): never {
  throw new ConfigError(
    'secret_in_config',
    `${file}: ${path} holds a secret in the file itself.`,
    `Put the secret into an environment variable and write \${NAME} there; change the secret if others could read the file.`,
  );
}

/** A password between user and host, or as a parameter, that is not left to the environment. */
function holdsPassword(url: string): boolean {
  const passwords = [/^[a-z]+:\/\/[^/@]*?:([^/]*)@/i.exec(url)?.[1], /[?&]password=([^&]*)/i.exec(url)?.[1]];
  return passwords.some((password) => password !== undefined && password.replace(variable, '') !== '');
}

function mapTexts(value: unknown, path: string, change: (text: string, path: string) => string): unknown {
  if (typeof value === 'string') return change(value, path);
  // A secret of digits only is a number in YAML, and a secret all the same.
  if (typeof value === 'number' && isSecret(path)) return change(String(value), path);
  if (Array.isArray(value)) return value.map((item, index) => mapTexts(item, `${path}[${index}]`, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, mapTexts(item, path ? `${path}.${key}` : key, change)]),
  );
}

function checkFile(file: string, data: unknown): ConfigFile {
  const result = configSchema.safeParse(data ?? {});
  if (result.success) return result.data;
  // An unknown key first: it is often the reason why a known one is missing.
  const issues = result.error.issues;
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]!;
  const path = pathText(issue.path);
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys(issue.path);
    const key = issue.keys[0]!;
    const hint = nearest(key, known);
    throw new ConfigError(
      'config_unknown_key',
      `${file}: ${path ? `${path}.${key}` : key} is not a key of the configuration.`,
      hint ? `Did you mean ${hint}?` : `The keys there are ${known.join(', ')}.`,
    );
  }
  if (path === '')
    throw new ConfigError('config_invalid', `${file}: is not a table of settings.`, 'docs/CLI.md has an example.');
  const missing = valueAt(data, issue.path) === undefined;
  throw keyError(file, path, missing ? 'is missing' : issue.message);
}

function keyError(file: string, path: string, message: string): ConfigError {
  return new ConfigError(
    'config_invalid',
    `${file}: ${path} ${message}.`,
    'Correct it; docs/CLI.md describes every key.',
  );
}

function pathText(path: PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
}

function valueAt(data: unknown, path: PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], data);
}

function knownKeys(path: PropertyKey[]): string[] {
  let schema = configKeys();
  for (const part of path) schema = (typeof part === 'number' ? schema.items : schema.properties?.[String(part)]) ?? {};
  return Object.keys(schema.properties ?? {});
}

/** A key of the configuration, with the keys below it. */
export interface ConfigKey {
  description?: string;
  default?: unknown;
  required?: string[];
  properties?: Record<string, ConfigKey>;
  items?: ConfigKey;
}

/** The keys of the configuration as data, for the documentation and for hints. */
export function configKeys(): ConfigKey {
  return z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' }) as ConfigKey;
}

/** What posting needs of an installation, beside the locks in force. */
export function postingContext(
  installation: InstallationConfig,
  through: CalendarDate | null,
  locks: ReadonlyMap<number, CalendarDate>,
): PostingContext {
  return {
    installation: installation.id,
    timezone: installation.timezone,
    currency: installation.currency,
    decimals: installation.decimals,
    startDate: installation.startDate,
    mapping: installation.mapping,
    closedThrough: through,
    sourceLockDates: locks,
  };
}
