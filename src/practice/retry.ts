import { backoffMs } from '../domain/backoff.ts';

/** Attempts of a request that may be repeated. */
export const maxAttempts = 4;

/** When a server asks for a longer pause, the request fails and the caller's retry applies. */
export const longestPauseMs = 60_000;

/** The pause after failed attempt number `attempt`, from 1: exponential, with jitter, so that many do not ask at one moment. */
export function retryPauseMs(attempt: number, random: () => number): number {
  return backoffMs(attempt, { firstMs: 500, longestMs: longestPauseMs }) * (0.5 + random() / 2);
}
