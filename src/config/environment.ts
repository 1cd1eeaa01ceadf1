import { dirname, resolve } from 'node:path';
import { ConfigError } from '../domain/errors.ts';
import { keepSecret } from '../domain/redact.ts';
import { type ConfigWarning, readConfiguredSecret } from './secret-files.ts';

/** Values whose variable may be unset under `embedded: true`: the embedded service is used then. */
const serverPaths = ['database_url', 'temporal.address'];
/** Of the owner of the tables, whom `vetledger migrate` alone needs: elsewhere its variable may be unset. */
const ownerPath = 'migrate_database_url';
/** A secret of several lines, PEM. */
const keyPath = 'seal_key';
const secretPath =
  /\.auth\.(token|client_secret)$|\.erp\.(password|api_key)$|^webhooks\.secret$|^temporal\.api_key$|^seal_key$/;
/** `${NAME}`, a variable of the environment, or `${file:PATH}`, the text of a file. */
const variable = /\$\{(?:file:([^}]+)|([A-Za-z_][A-Za-z0-9_]*))\}/g;

/** What was found out while values were inserted. */
export interface Insertions {
  /** The files that make up a whole value, by its key: they can be read anew. */
  files: Map<string, string>;
  /** What is not as it should be, and does not keep anything from working. */
  warnings: ConfigWarning[];
}

export function noInsertions(): Insertions {
  return { files: new Map(), warnings: [] };
}

/**
 * Replaces each `${NAME}` by the environment's value, and each `${file:PATH}` by the text of that file. Throws ConfigError for a variable that is unset or blank, and for a secret
 * in the file itself. Only `embedded: true` lets the servers' variables be unset: books would otherwise be begun anew, in an
 * empty embedded database, where somebody forgot to set one.
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
    if ((path === 'database_url' || path === ownerPath) && holdsPassword(value)) refuseSecret(file, path);
    return value.replace(variable, (whole, named: string | undefined, name: string) => {
      if (named !== undefined) {
        const secretFile = resolve(dirname(file), named.trim());
        const { secret, warning } = readConfiguredSecret(file, path, secretFile);
        if (warning !== null) found.warnings.push(warning);
        if (whole === value) found.files.set(path, secretFile);
        keepGiven(file, path, secret, {
          from: `the file ${secretFile}`,
          todo: 'Write the secret into it again, on one line and with nothing else.',
        });
        return secret;
      }
      const given = env[name];
      if (given?.trim()) {
        keepGiven(file, path, given, {
          from: `the environment variable ${name}`,
          todo: `Set ${name} again without it; a secret read from a file often ends with the file's line end: export ${name}="$(tr -d '\\r\\n' < FILE)".`,
        });
        return given;
      }
      const isServer = serverPaths.includes(path);
      if ((isServer && mayEmbed) || path === ownerPath) return '';
      throw new ConfigError({
        code: 'environment_missing',
        message: `${file}: ${path} needs the environment variable ${name}, which is ${given === undefined ? 'not set' : 'empty'}.`,
        todo: `Set it, for example: export ${name}=…${isServer ? `; or write \`embedded: true\` into ${file}, to use the embedded server where it is not set` : ''}`,
      });
    });
  });
}

/** Where a secret was found, and what to do where it cannot be used. */
interface Origin {
  from: string;
  todo: string;
}

function keepGiven(file: string, path: string, given: string, origin: Origin): void {
  if (path === keyPath) keepKey(given);
  else if (isSecret(path)) keepUsable(file, path, given, origin);
  else if (path === 'database_url' || path === ownerPath) keepPasswords(given);
}

/** Notes a secret, so that no text repeats it. Throws ConfigError for one that no header can carry, naming where it is from. */
function keepUsable(file: string, path: string, secret: string, { from, todo }: Origin): void {
  keepSecret(secret);
  if (!/\p{Cc}/u.test(secret) && (!/\.(token|api_key)$/.test(path) || /^[\x21-\x7e]+$/.test(secret))) return;
  const what = /[\r\n]/.test(secret)
    ? 'a line end'
    : /\p{Cc}/u.test(secret)
      ? 'a control character'
      : 'a blank, or a character that is not ASCII';
  throw new ConfigError({
    code: 'secret_unusable',
    message: `${file}: ${from}, for ${path}, holds ${what}, which no secret of this kind can hold.`,
    todo,
  });
}

/** The lines between the first and the last, whose words are no secret. */
function keepKey(pem: string): void {
  for (const line of pem.split(/\r?\n|\\n/)) if (!line.startsWith('-----')) keepSecret(line.trim());
}

function keepPasswords(url: string): void {
  for (const password of passwordsIn(url)) if (password.length >= shortestOddPassword) keepSecret(password);
}

/** A shorter password may be a word of our own, such as the program's name in a development database. */
const shortestOddPassword = 12;

function isSecret(path: string): boolean {
  return secretPath.test(path);
}

function refuseSecret(file: string, path: string): never {
  throw new ConfigError({
    code: 'secret_in_config',
    message: `${file}: ${path} holds a secret in the file itself.`,
    todo: `Put the secret into an environment variable and write \${NAME} there, or into a file and write \${file:PATH}; change the secret if others could read the file.`,
  });
}

/** Whether a database URL contains a password that is not a `${NAME}`. */
function holdsPassword(url: string): boolean {
  return passwordsIn(url).some((password) => password.replace(variable, '') !== '');
}

function passwordsIn(url: string): string[] {
  const found = [/^[a-z]+:\/\/[^/@]*?:([^/]*)@/i.exec(url)?.[1], /[?&]password=([^&]*)/i.exec(url)?.[1]];
  return found.filter((password) => password !== undefined);
}

function mapTexts(value: unknown, path: string, change: (text: string, path: string) => string): unknown {
  if (typeof value === 'string') return change(value, path);
  // YAML reads a secret of digits only as a number.
  if (typeof value === 'number' && isSecret(path)) return change(String(value), path);
  if (Array.isArray(value)) return value.map((item, index) => mapTexts(item, `${path}[${index}]`, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, mapTexts(item, path ? `${path}.${key}` : key, change)]),
  );
}
