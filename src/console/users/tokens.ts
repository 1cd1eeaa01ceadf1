import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** A token of 256 random bits, for a session or a link. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** The hash under which the database knows a token. A token is random, so that its hash needs no salt. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/**
 * The text that a form of this session carries, so that another site cannot send it. It differs in each page, so that the
 * compressed length of a page does not reveal it.
 */
export function formToken(session: string): string {
  const mask = randomBytes(32);
  return Buffer.concat([mask, masked(secretOf(session), mask)]).toString('base64url');
}

export function isFormToken(session: string, given: string): boolean {
  const bytes = Buffer.from(given, 'base64url');
  if (bytes.length !== 64) return false;
  return timingSafeEqual(masked(bytes.subarray(32), bytes.subarray(0, 32)), secretOf(session));
}

function secretOf(session: string): Buffer {
  return createHmac('sha256', session).update('form').digest();
}

function masked(bytes: Buffer, mask: Buffer): Buffer {
  return Buffer.from(bytes.map((byte, at) => byte ^ (mask[at] ?? 0)));
}
