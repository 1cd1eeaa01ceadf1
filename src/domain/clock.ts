/** The port through which time is read; tests bring a virtual one. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Milliseconds of a clock that never jumps, for durations. */
  elapsed(): number;
  /** Throws the signal's reason when it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
