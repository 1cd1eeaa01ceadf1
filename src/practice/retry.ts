/** Attempts of a request that may be repeated. */
export const maxAttempts = 4;

/** When a server asks for a longer pause, the request fails and the caller's retry applies. */
export const longestPauseMs = 60_000;

const firstPauseMs = 500;
/** Exponential backoff with jitter: the pause after failed attempt number `attempt`, from 1. */
export function backoffMs(attempt: number, random: () => number): number {
  const full = Math.min(longestPauseMs, firstPauseMs * 2 ** (attempt - 1));
  return full * (0.5 + random() / 2);
}
