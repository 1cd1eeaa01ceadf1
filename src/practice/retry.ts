/** A request is tried this often where trying again can help and harms nothing. */
export const maxAttempts = 4;

/** A server that asks for a longer pause than this is left to the caller's own retry. */
export const longestPauseMs = 60_000;

const firstPauseMs = 500;
const retryAfterCapMs = 24 * 3600 * 1000;

/** Pause after failed attempt number `attempt` (from 1): doubling, half of it random, so that clients do not march in step. */
export function backoffMs(attempt: number, random: () => number): number {
  const full = Math.min(longestPauseMs, firstPauseMs * 2 ** (attempt - 1));
  return full * (0.5 + random() / 2);
}

/**
 * A `Retry-After` header, in seconds or as a date by the server's own clock (`now`, epoch milliseconds), as milliseconds
 * of at most a day; null when it is missing or says nothing, 0 or the past.
 */
export function retryAfterMs(header: string | string[] | undefined, now: number): number | null {
  const text = (Array.isArray(header) ? header[0] : header)?.trim();
  if (!text) return null;
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return ms > 0 ? Math.min(ms, retryAfterCapMs) : null;
}
