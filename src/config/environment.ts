import { ConfigError } from '../domain/errors.ts';

/** Values whose variable may be unset under `embedded: true`: the embedded service is used then. */
const serverPaths = ['database_url', 'temporal.address'];
const secretPath = /\.auth\.(token|client_secret)$|^webhooks\.secret$/;
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
    if (path === 'database_url' && holdsPassword(value)) refuseSecret(file, path);
    return value.replace(variable, (_, name: string) => {
      const given = env[name];
      if (given?.trim()) return given;
      const isServer = serverPaths.includes(path);
      if (isServer && mayEmbed) return '';
      throw new ConfigError(
        'environment_missing',
        `${file}: ${path} needs the environment variable ${name}, which is ${given === undefined ? 'not set' : 'empty'}.`,
        `Set it, for example: export ${name}=…${isServer ? `; or write \`embedded: true\` into ${file}, to use the embedded server where it is not set` : ''}`,
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

/** Whether a database URL contains a password that is not a `${NAME}`. */
function holdsPassword(url: string): boolean {
  const passwords = [/^[a-z]+:\/\/[^/@]*?:([^/]*)@/i.exec(url)?.[1], /[?&]password=([^&]*)/i.exec(url)?.[1]];
  return passwords.some((password) => password !== undefined && password.replace(variable, '') !== '');
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
