import { isIP } from 'node:net';
import { ConfigError } from '../domain/errors.ts';
import { configErrors, insecureParts } from '../texts/errors/config.ts';
import type { ConfigFile } from './schema.ts';

/**
 * Throws ConfigError `insecure_connection` for an unencrypted connection to another machine, because tokens, passwords and the
 * books are sent over it. `allow_insecure: true` permits such connections, and so does the environment variable
 * VETLEDGER_PRIVATE_HOSTS, a comma-separated list of hosts on a private network.
 */
export function refuseInsecure(file: string, config: ConfigFile, env: NodeJS.ProcessEnv): void {
  if (config.allow_insecure) return;
  const ownNetwork = (env.VETLEDGER_PRIVATE_HOSTS ?? '').split(',').map((host) => host.trim());
  const isNear = (host: string) => isLoopback(host) || ownNetwork.includes(host);
  for (const [index, { base_url, allow_insecure }] of config.installations.entries()) {
    const { protocol, hostname } = new URL(base_url);
    if (protocol === 'https:' || allow_insecure || isNear(hostname)) continue;
    const path = `installations[${index}]`;
    refuse(file, `${path}.base_url`, insecureParts.http, `${path}.allow_insecure`);
  }
  for (const [index, { erp }] of config.installations.entries()) {
    if (erp.url === undefined) continue;
    const { protocol, hostname } = new URL(erp.url);
    if (protocol !== 'https:' && !isNear(hostname))
      refuse(file, `installations[${index}].erp.url`, insecureParts.http, 'allow_insecure');
  }
  const { address, tls, api_key, allow_insecure } = config.temporal;
  const isProtected = tls || (api_key !== undefined && tls === undefined);
  if (address && !isProtected && !allow_insecure && !isNear(hostOf(address))) {
    refuse(file, 'temporal.address', insecureParts.temporal, 'temporal.allow_insecure');
  }
  const issuer = config.console?.oidc && new URL(config.console.oidc.issuer);
  if (issuer && issuer.protocol !== 'https:' && !isNear(issuer.hostname)) {
    refuse(file, 'console.oidc.issuer', insecureParts.http, 'allow_insecure');
  }
  const { smtp } = config.mail ?? {};
  if (smtp?.tls === 'none' && !smtp.allow_insecure && !isNear(smtp.host)) {
    refuse(file, 'mail.smtp.host', insecureParts.smtp, 'mail.smtp.allow_insecure');
  }
  const urls = {
    database_url: config.database_url,
    migrate_database_url: config.migrate_database_url,
    'console.database_url': config.console?.database_url,
  };
  for (const [path, url] of Object.entries(urls)) {
    if (!url || isPrivateDatabase(url, env, isNear)) continue;
    refuse(file, path, insecureParts.database, 'allow_insecure');
  }
}

function refuse(file: string, key: string, parts: { what: string; remedy: string }, permission: string): never {
  throw new ConfigError(configErrors.insecureConnection({ file, key, ...parts, permission }));
}

function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(':'));
}

/** Whether a host is this machine: `localhost` or a loopback address. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (isIP(name) === 4) return name.startsWith('127.');
  if (isIP(name) === 6) return name === '::1' || /^::ffff:(127\.|7f)/.test(name);
  return name === 'localhost' || name.endsWith('.localhost');
}

/** The values of `sslmode` with which the driver checks the server's certificate. */
const verifiedModes = ['require', 'verify-ca', 'verify-full'];

/** Whether the PostgreSQL server is on this machine, or its certificate is checked. The URL has priority over PGHOST and PGSSLMODE. */
function isPrivateDatabase(text: string, env: NodeJS.ProcessEnv, isNear: (host: string) => boolean): boolean {
  if (!URL.canParse(text)) return true;
  const url = new URL(text);
  const query = url.searchParams;
  const host = query.get('host') ?? (decodeURIComponent(url.hostname) || env.PGHOST || 'localhost');
  // A host that begins with a slash is the folder of a local socket.
  if (host.startsWith('/') || isNear(host)) return true;
  const mode = query.get('sslmode') ?? (['true', '1'].includes(query.get('ssl') ?? '') ? 'require' : env.PGSSLMODE);
  // With `uselibpqcompat`, `require` accepts any certificate, as in libpq. Without it, the driver checks the certificate.
  if (query.get('uselibpqcompat') === 'true' && mode === 'require') return query.has('sslrootcert');
  return verifiedModes.includes(mode ?? '');
}
