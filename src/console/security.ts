import type { FastifyRequest } from 'fastify';
import { isLoopback } from '../config/insecure.ts';

/** Nothing is loaded from elsewhere, no script or style is inline, and no page is framed or cached. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'cache-control': 'no-store',
};

/** Whether the console answers to this host name. Others are refused, so that no other name can be pointed at it. */
export function hostAllowed(hostname: string, hosts: readonly string[]): boolean {
  const name = hostname.toLowerCase();
  return isLoopback(name) || hosts.includes(name);
}

/**
 * Whether a form comes from a page of this console. Browsers send `Sec-Fetch-Site`, which no page can change. Because our pages
 * have the policy `no-referrer`, they send `Origin: null` with our own forms. Older browsers send only the origin. A request
 * without both headers does not come from a browser that another site could use.
 */
export function fromOurPage({ headers, host, protocol }: FastifyRequest): boolean {
  const { origin, 'sec-fetch-site': site } = headers;
  const isOurs = origin === undefined || origin === `${protocol}://${host}`;
  if (site === undefined) return isOurs;
  return site === 'same-origin' && (isOurs || origin === 'null');
}

/** The path of this console that a sign-in continues with. Any other text leads to the first page. */
export function localPath(next: string | undefined): string {
  return next !== undefined && /^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : '/';
}
