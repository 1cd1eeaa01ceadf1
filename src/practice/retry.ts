import { backoffMs } from '../domain/backoff.ts';

/** Attempts of a request that may be repeated. */
export const maxAttempts = 4;

/** If a server requires a longer pause, the request fails and the caller decides when to retry. */
export const longestPauseMs = 60_000;

/**
 * The pause after failed attempt number `attempt`, from 1. It grows exponentially, with jitter, so that many clients do
 * not retry at the same moment.
 */
export function retryPauseMs(attempt: number, random: () => number): number {
  return backoffMs(attempt, { firstMs: 500, longestMs: longestPauseMs }) * (0.5 + random() / 2);
}
