import { isIP } from 'node:net';
import { ConfigError } from '../domain/errors.ts';
import type { ConfigFile } from './schema.ts';

/**
 * Refuses connections that others on the network could read, except to this machine itself and where `allow_insecure: true`
 * permits them, or the environment's VETLEDGER_PRIVATE_HOSTS, a list of hosts on a network of our own: tokens, passwords and the books go over them. Throws ConfigError `insecure_connection`.
 */
export function refuseInsecure(file: string, config: ConfigFile, env: NodeJS.ProcessEnv): void {
  if (config.allow_insecure) return;
  const ownNetwork = (env.VETLEDGER_PRIVATE_HOSTS ?? '').split(',').map((host) => host.trim());
  const isNear = (host: string) => isLoopback(host) || ownNetwork.includes(host);
  for (const [index, { base_url, allow_insecure }] of config.installations.entries()) {
    const { protocol, hostname } = new URL(base_url);
    if (protocol === 'https:' || allow_insecure || isNear(hostname)) continue;
    const path = `installations[${index}]`;
    refuse(file, `${path}.base_url`, 'begins with http://', 'Write https://', `${path}.allow_insecure`);
  }
  const { address, tls, api_key, allow_insecure } = config.temporal;
  const isProtected = tls || (api_key !== undefined && tls === undefined);
  if (address && !isProtected && !allow_insecure && !isNear(hostOf(address))) {
    refuse(
      file,
      'temporal.address',
      'is not on this machine, and temporal.tls is not set',
      'Set temporal.tls',
      'temporal.allow_insecure',
    );
  }
  for (const path of ['database_url', 'migrate_database_url'] as const) {
    const url = config[path];
    if (!url || isPrivateDatabase(url, env, isNear)) continue;
    refuse(
      file,
      path,
      'is not on this machine, and its sslmode lets the connection be without TLS, or with any certificate',
      'Add sslmode=verify-full to it (and sslrootcert=FILE for a certificate authority of your own)',
      'allow_insecure',
    );
  }
}

function refuse(file: string, path: string, what: string, todo: string, permission: string): never {
  throw new ConfigError({
    code: 'insecure_connection',
    message: `${file}: ${path} ${what}: whoever is on the network between could read and change what goes over it.`,
    todo: `${todo}; or, on a network that is yours alone, write ${permission}: true.`,
  });
}

function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(':'));
}

/** Whether a host is this machine: `localhost` and the addresses that never leave it. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (isIP(name) === 4) return name.startsWith('127.');
  if (isIP(name) === 6) return name === '::1' || /^::ffff:(127\.|7f)/.test(name);
  return name === 'localhost' || name.endsWith('.localhost');
}

/** Modes in which the server proves by its certificate who it is. */
const provenModes = ['require', 'verify-ca', 'verify-full'];

/** Whether a PostgreSQL is on this machine, or reached by TLS with its certificate checked. The parts of an URL win over PG…. */
function isPrivateDatabase(text: string, env: NodeJS.ProcessEnv, isNear: (host: string) => boolean): boolean {
  if (!URL.canParse(text)) return true;
  const url = new URL(text);
  const query = url.searchParams;
  const host = query.get('host') ?? (decodeURIComponent(url.hostname) || env.PGHOST || 'localhost');
  // A folder of sockets.
  if (host.startsWith('/') || isNear(host)) return true;
  const mode = query.get('sslmode') ?? (['true', '1'].includes(query.get('ssl') ?? '') ? 'require' : env.PGSSLMODE);
  // As libpq has it, `require` takes any certificate; as the driver has it otherwise, it does not.
  if (query.get('uselibpqcompat') === 'true' && mode === 'require') return query.has('sslrootcert');
  return provenModes.includes(mode ?? '');
}
