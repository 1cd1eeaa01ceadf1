/** Attempts of a request that may be repeated. */
export const maxAttempts = 4;

/** When a server asks for a longer pause, the request fails and the caller's retry applies. */
export const longestPauseMs = 60_000;

const firstPauseMs = 500;
/**
 * The longest pause that a source can impose: what it asks for may be a mistake, and is asked about again then. The budget's
 * `budget_longest_block` (src/db, schema.sql) has the same length.
 */
const retryAfterCapMs = 15 * 60 * 1000;

/** Exponential backoff with jitter: the pause after failed attempt number `attempt`, from 1. */
export function backoffMs(attempt: number, random: () => number): number {
  const full = Math.min(longestPauseMs, firstPauseMs * 2 ** (attempt - 1));
  return full * (0.5 + random() / 2);
}

/**
 * A `Retry-After` header, seconds or a date, in milliseconds; 15 minutes at most. `now` is the server's time, epoch milliseconds.
 * Null when the header is missing or unreadable, 0 or in the past.
 */
export function retryAfterMs(header: string | string[] | undefined, now: number): number | null {
  const text = (Array.isArray(header) ? header[0] : header)?.trim();
  if (!text) return null;
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return ms > 0 ? Math.min(ms, retryAfterCapMs) : null;
}
