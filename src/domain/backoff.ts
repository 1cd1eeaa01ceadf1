/** How long to wait after a failure: the first time, and at most. */
export interface Backoff {
  firstMs: number;
  longestMs: number;
}

/** The pause after so many failures in a row, from 1: twice as long each time, up to the longest. */
export function backoffMs(failures: number, { firstMs, longestMs }: Backoff): number {
  return Math.min(longestMs, firstMs * 2 ** Math.min(20, Math.max(0, failures - 1)));
}
