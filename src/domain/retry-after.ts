/**
 * The longest pause that a server can request; a longer one may be a mistake, so the request is tried after this time.
 * `budget_longest_block` (src/db, schema.sql) has the same length.
 */
const retryAfterCapMs = 15 * 60 * 1000;

/**
 * A `Retry-After` header, seconds or a date, in milliseconds; 15 minutes at most. `now` is the server's time, epoch milliseconds.
 * Null when the header is missing or unreadable, 0 or in the past.
 */
export function retryAfterMs(header: string | string[] | undefined, now: number): number | null {
  const text = (Array.isArray(header) ? header[0] : header)?.trim();
  if (!text) return null;
  const ms = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return ms > 0 ? Math.min(ms, retryAfterCapMs) : null;
}
