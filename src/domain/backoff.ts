/** The pause after the first failure, and the longest pause. */
export interface Backoff {
  firstMs: number;
  longestMs: number;
}

/** The pause after `failures` failures in a row, from 1. It doubles each time, up to the longest pause. */
export function backoffMs(failures: number, { firstMs, longestMs }: Backoff): number {
  return Math.min(longestMs, firstMs * 2 ** Math.min(20, Math.max(0, failures - 1)));
}
