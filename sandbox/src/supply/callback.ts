// Checks the callback addresses of wholesalers (practice-api: `webhook_callback_url` is HTTPS only, and its host
// publicly reachable). The host name is checked as text; the sandbox looks up no name, so that its answers do not
// depend on a network.
import { BlockList, isIP } from 'node:net';
import type { Quirks } from '../quirks.ts';
import { ValidationProblem } from '../records.ts';

/**
 * Addresses that are not public: private, loopback, link-local, shared, documentation, benchmarks, multicast, reserved.
 */
const notPublic = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  notPublic.addSubnet(network, prefix, 'ipv4');
}
/**
 * Public IPv6 addresses are those in 2000::/3, without documentation addresses and those that contain an IPv4 address.
 */
const publicIpv6 = new BlockList();
publicIpv6.addSubnet('2000::', 3, 'ipv6');
for (const [network, prefix] of [
  ['2001:db8::', 32],
  ['2001::', 32],
  ['2002::', 16],
] as const) {
  notPublic.addSubnet(network, prefix, 'ipv6');
}

/**
 * Host names that are not on the internet (RFC 6761, RFC 6762, RFC 9476, RFC 8375, and names that ICANN reserves for
 * private use).
 */
const privateNames = /(^|\.)(localhost|local|localdomain|internal|intranet|lan|home|corp|home\.arpa|alt|onion)$/;

const isPublic = (host: string): boolean => {
  const address = host.replace(/^\[|\]$/g, '');
  const version = isIP(address);
  if (version === 4) return !notPublic.check(address, 'ipv4');
  if (version === 6) return publicIpv6.check(address, 'ipv6') && !notPublic.check(address, 'ipv6');
  const name = host.replace(/\.$/, '');
  return name.includes('.') && !privateNames.test(name);
};

const isLoopback = (host: string): boolean => host === 'localhost' || host === '[::1]' || host.startsWith('127.');

/**
 * Throws ValidationProblem for a callback address to which webhooks may not be sent. The quirk `loopbackCallbacks` also
 * allows http and https to this machine.
 */
export const checkCallback = (text: string, quirks: Quirks): void => {
  const problem = (message: string) => new ValidationProblem('webhook_callback_url', message);
  if (!URL.canParse(text)) throw problem('Enter a valid URL.');
  const { protocol, hostname } = new URL(text);
  if (quirks.loopbackCallbacks && isLoopback(hostname) && /^https?:$/.test(protocol)) return;
  const hint = isLoopback(hostname) ? " (The sandbox accepts it for tests with its quirk 'loopbackCallbacks'.)" : '';
  if (protocol !== 'https:') throw problem(`Only HTTPS is accepted.${hint}`);
  if (isPublic(hostname)) return;
  throw problem(`The host must be publicly reachable.${hint}`);
};
