import type { Clock } from '../domain/clock.ts';
import { TokenBucket } from '../http/limits.ts';

/** One thing done in the practice software fires several webhooks; they are awaited this long, and nudge once. */
const coalesceMs = 100;
/** Nudges that may follow each other at once; then one for each twelfth of the rate window. */
const burst = 6;
const nudgesPerRateWindow = 12;

export interface NudgerOptions {
  /** Installations, each with its rate window: nudged windows take a share of its budget, not all of it. */
  installations: { id: number; rateWindowSeconds: number }[];
  /** Opens a window of the installation soon; has a time-out of its own. */
  trigger(installation: number, webhooks: number): Promise<void>;
  /** Told of a trigger that failed. The nudge is then lost: the next scheduled window covers it. */
  failed(installation: number, error: unknown): void;
  clock: Clock;
}

export interface Nudger {
  /** Returns at once. Throws RangeError for an installation that was not given. */
  nudge(installation: number): void;
  /** Drops what waits, and resolves when no trigger is under way any more. */
  stop(): Promise<void>;
}

/**
 * Turns webhooks into nudges: any number of them while one waits, or is being passed on, make one more. So a burst opens one
 * window now, and one after it at most; what comes too often waits, and is not lost.
 */
export function createNudger({ installations, trigger, failed, clock }: NudgerOptions): Nudger {
  const stopped = new AbortController();
  const states = new Map(
    installations.map(({ id, rateWindowSeconds }) => [
      id,
      {
        bucket: new TokenBucket(burst, (rateWindowSeconds * 1000) / nudgesPerRateWindow, clock.elapsed()),
        webhooks: 0,
        running: Promise.resolve(),
        isRunning: false,
      },
    ]),
  );

  const run = async (id: number, state: typeof states extends Map<number, infer State> ? State : never) => {
    while (state.webhooks > 0) {
      try {
        await clock.sleep(Math.max(coalesceMs, state.bucket.waitMs(clock.elapsed())), stopped.signal);
      } catch {
        break;
      }
      state.bucket.take(clock.elapsed());
      const webhooks = state.webhooks;
      state.webhooks = 0;
      try {
        await trigger(id, webhooks);
      } catch (error) {
        failed(id, error);
      }
    }
    state.isRunning = false;
  };

  return {
    nudge(installation) {
      const state = states.get(installation);
      if (!state) throw new RangeError(`installation ${installation} is not one of those given`);
      state.webhooks += 1;
      if (state.isRunning || stopped.signal.aborted) return;
      state.isRunning = true;
      state.running = run(installation, state);
    },
    async stop() {
      stopped.abort();
      await Promise.all([...states.values()].map(({ running }) => running));
    },
  };
}
