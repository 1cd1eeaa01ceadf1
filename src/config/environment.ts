import { ConfigError } from '../domain/errors.ts';
import { keepSecret } from '../domain/redact.ts';

/** Values whose variable may be unset under `embedded: true`: the embedded service is used then. */
const serverPaths = ['database_url', 'temporal.address'];
/** Of the owner of the tables, whom `vetledger migrate` alone needs: elsewhere its variable may be unset. */
const ownerPath = 'migrate_database_url';
/** A secret of several lines, PEM. */
const keyPath = 'seal_key';
const secretPath = /\.auth\.(token|client_secret)$|^webhooks\.secret$|^temporal\.api_key$|^seal_key$/;
const variable = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/**
 * Replaces each `${NAME}` by the environment's value. Throws ConfigError for a variable that is unset or blank, and for a secret
 * in the file itself. Only `embedded: true` lets the servers' variables be unset: books would otherwise be begun anew, in an
 * empty embedded database, where somebody forgot to set one.
 */
export function insertEnvironment(file: string, source: unknown, env: NodeJS.ProcessEnv): unknown {
  const mayEmbed = typeof source === 'object' && source !== null && 'embedded' in source && source.embedded === true;
  return mapTexts(source, '', (value, path) => {
    if (isSecret(path) && value.replace(variable, '') !== '') refuseSecret(file, path);
    if ((path === 'database_url' || path === ownerPath) && holdsPassword(value)) refuseSecret(file, path);
    return value.replace(variable, (_, name: string) => {
      const given = env[name];
      if (given?.trim()) {
        if (path === keyPath) keepKey(given);
        else if (isSecret(path)) keepUsable(file, path, name, given);
        else if (path === 'database_url' || path === ownerPath) keepPasswords(given);
        return given;
      }
      const isServer = serverPaths.includes(path);
      if ((isServer && mayEmbed) || path === ownerPath) return '';
      throw new ConfigError(
        'environment_missing',
        `${file}: ${path} needs the environment variable ${name}, which is ${given === undefined ? 'not set' : 'empty'}.`,
        `Set it, for example: export ${name}=…${isServer ? `; or write \`embedded: true\` into ${file}, to use the embedded server where it is not set` : ''}`,
      );
    });
  });
}

/** Notes a secret, so that no text repeats it. Throws ConfigError for one that no header can carry, naming its variable. */
function keepUsable(file: string, path: string, name: string, secret: string): void {
  keepSecret(secret);
  if (!/\p{Cc}/u.test(secret) && (!/\.(token|api_key)$/.test(path) || /^[\x21-\x7e]+$/.test(secret))) return;
  const what = /[\r\n]/.test(secret)
    ? 'a line end'
    : /\p{Cc}/u.test(secret)
      ? 'a control character'
      : 'a blank, or a character that is not ASCII';
  throw new ConfigError(
    'secret_unusable',
    `${file}: the environment variable ${name}, for ${path}, holds ${what}, which no secret of this kind can hold.`,
    `Set ${name} again without it; a secret read from a file often ends with the file's line end: export ${name}="$(tr -d '\\r\\n' < FILE)".`,
  );
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
  throw new ConfigError(
    'secret_in_config',
    `${file}: ${path} holds a secret in the file itself.`,
    `Put the secret into an environment variable and write \${NAME} there; change the secret if others could read the file.`,
  );
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
