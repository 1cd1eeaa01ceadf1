/** The interface for reading time. Tests use a virtual clock. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Milliseconds of a monotonic clock, for durations. */
  elapsed(): number;
  /** Throws the signal's reason when it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
