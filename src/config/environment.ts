import { dirname, resolve } from 'node:path';
import { ConfigError } from '../domain/errors.ts';
import { keepSecret } from '../domain/redact.ts';
import { configErrors, secretErrors, secretTexts } from '../texts/errors/config.ts';
import { type ConfigWarning, readConfiguredSecret } from './secret-files.ts';

/** The URL of the owner of the tables. Only `vetledger migrate` needs it, so its variable may be unset. */
const ownerPath = 'migrate_database_url';
/** The URL of the console's role. Only `vetledger console` and `vetledger migrate` need it. */
const consolePath = 'console.database_url';
/** The secret of the console at its OpenID provider. No other process reads it. */
const consoleSecretPath = 'console.oidc.client_secret';
/** With `embedded: true`, the variables of these keys may be unset: vetledger then uses the embedded server. */
const serverPaths = ['database_url', 'temporal.address', consolePath];
/** Keys with the URL of a database, which may contain a password. */
const databasePaths = ['database_url', ownerPath, consolePath];
/** This secret has several lines (PEM). */
const keyPath = 'seal_key';
const secretPath =
  /\.auth\.(token|client_secret)$|\.erp\.(password|api_key|client_secret)$|^webhooks\.secret$|^temporal\.api_key$|^console\.oidc\.client_secret$|^mail\.smtp\.password$|^seal_key$|^(old_)?secret_key$/;
/** Finds `${NAME}`, a variable of the environment, and `${file:PATH}`, the text of a file. */
const variable = /\$\{(?:file:([^}]+)|([A-Za-z_][A-Za-z0-9_]*))\}/g;

/** Stands for a secret that this process does not need. */
const unreadSecret = 'not-read-by-this-process';
const unreadUrl = 'postgresql://localhost/not-read-by-this-process';

/** Facts that were found while values were inserted. */
export interface Insertions {
  /** Whether secrets are read. The console reads only its own. */
  secrets: boolean;
  /** Per key, the file whose text is the whole value. Such a file can be read again when the secret changes. */
  files: Map<string, string>;
  warnings: ConfigWarning[];
}

export function noInsertions(secrets = true): Insertions {
  return { secrets, files: new Map(), warnings: [] };
}

/**
 * Replaces each `${NAME}` by the environment's value, and each `${file:PATH}` by the text of that file. Throws ConfigError for
 * a variable that is unset or blank, and for a secret in the configuration file. The servers' variables may be unset only with
 * `embedded: true`. Otherwise a forgotten variable would start new books in an empty embedded database.
 */
export function insertEnvironment(
  file: string,
  source: unknown,
  env: NodeJS.ProcessEnv,
  found: Insertions = noInsertions(),
): unknown {
  const mayEmbed = typeof source === 'object' && source !== null && 'embedded' in source && source.embedded === true;
  return mapTexts(source, '', (value, path) => {
    if (isSecret(path) && value.replace(variable, '') !== '') refuseSecret(file, path);
    if (databasePaths.includes(path) && holdsPassword(value)) refuseSecret(file, path);
    const isOwn = found.secrets === (path !== consoleSecretPath);
    if (!isOwn && isSecret(path)) return unreadSecret;
    if (!found.secrets && (path === 'database_url' || path === ownerPath)) return unreadUrl;
    return value.replace(variable, (whole, named: string | undefined, name: string) => {
      if (named !== undefined) {
        const secretFile = resolve(dirname(file), named.trim());
        const { secret, warning } = readConfiguredSecret(file, path, secretFile);
        if (warning !== null) found.warnings.push(warning);
        if (whole === value) found.files.set(path, secretFile);
        registerSecret(file, path, secret, secretTexts.fromFile({ path: secretFile }));
        return secret;
      }
      const given = env[name];
      if (given?.trim()) {
        registerSecret(file, path, given, secretTexts.fromVariable({ name }));
        return given;
      }
      const isServer = serverPaths.includes(path);
      const isForOthers = found.secrets ? [ownerPath, consolePath].includes(path) : path === 'temporal.address';
      if ((isServer && mayEmbed) || isForOthers) return '';
      throw new ConfigError(
        configErrors.environmentMissing({ file, key: path, name, isSet: given !== undefined, isServer }),
      );
    });
  });
}

/** Where a secret was found, and what to do if it is unusable. */
interface Origin {
  from: string;
  todo: string;
}

function registerSecret(file: string, path: string, given: string, origin: Origin): void {
  if (path === keyPath) registerKey(given);
  else if (isSecret(path)) registerUsable(file, path, given, origin);
  else if (databasePaths.includes(path)) registerPasswords(given);
}

/** Registers a secret, so that it is removed from all output. Throws ConfigError if an HTTP header cannot contain it. */
function registerUsable(file: string, path: string, secret: string, { from, todo }: Origin): void {
  keepSecret(secret);
  if (!/\p{Cc}/u.test(secret) && (!/\.(token|api_key)$/.test(path) || /^[\x21-\x7e]+$/.test(secret))) return;
  const contains = /[\r\n]/.test(secret)
    ? secretTexts.lineEnd
    : /\p{Cc}/u.test(secret)
      ? secretTexts.controlCharacter
      : secretTexts.notAscii;
  throw new ConfigError(secretErrors.unusable({ file, key: path, from, contains, todo }));
}

/** Registers each line of a PEM key except the `-----BEGIN…` and `-----END…` lines, which are not secret. */
function registerKey(pem: string): void {
  for (const line of pem.split(/\r?\n|\\n/)) if (!line.startsWith('-----')) keepSecret(line.trim());
}

function registerPasswords(url: string): void {
  for (const password of passwordsIn(url)) if (password.length >= shortestDistinctPassword) keepSecret(password);
}

/** A shorter password may be an ordinary word of our output, such as the program's name in a development database. */
const shortestDistinctPassword = 12;

function isSecret(path: string): boolean {
  return secretPath.test(path);
}

function refuseSecret(file: string, path: string): never {
  throw new ConfigError(secretErrors.inConfig({ file, key: path }));
}

/** Whether a database URL contains a password in clear text, that is, not as `${NAME}`. */
function holdsPassword(url: string): boolean {
  return passwordsIn(url).some((password) => password.replace(variable, '') !== '');
}

function passwordsIn(url: string): string[] {
  const found = [/^[a-z]+:\/\/[^/@]*?:([^/]*)@/i.exec(url)?.[1], /[?&]password=([^&]*)/i.exec(url)?.[1]];
  return found.filter((password) => password !== undefined);
}

function mapTexts(value: unknown, path: string, change: (text: string, path: string) => string): unknown {
  if (typeof value === 'string') return change(value, path);
  // YAML reads a secret that consists of digits as a number.
  if (typeof value === 'number' && isSecret(path)) return change(String(value), path);
  if (Array.isArray(value)) return value.map((item, index) => mapTexts(item, `${path}[${index}]`, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, mapTexts(item, path ? `${path}.${key}` : key, change)]),
  );
}
