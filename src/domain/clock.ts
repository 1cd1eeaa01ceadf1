import { setTimeout as wait } from 'node:timers/promises';

/** Time as the client sees it; tests bring their own. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Milliseconds of a clock that never jumps, for durations. */
  elapsed(): number;
  /** Throws the signal's reason when it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: async (ms, signal) => {
    try {
      await wait(ms, undefined, signal ? { signal } : {});
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  },
};
