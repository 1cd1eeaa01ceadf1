/**
 * How a webhook becomes a window: the receiver (src/http/webhooks.ts) nudges, the nudger coalesces nudges into triggers, and
 * a trigger opens a window through the installation's schedule (schedules.ts, triggerSchedule).
 */
import type { Clock } from '../domain/clock.ts';
import { TokenBucket } from '../http/token-buckets.ts';

/** One action in the practice software sends several webhooks within a moment; wait this long for the others. */
const coalesceMs = 100;
/** Triggers that may follow one another at once; after these, one per twelfth of the rate window. */
const burst = 6;
const triggersPerRateWindow = 12;

export interface NudgerOptions {
  /** The rate window limits how much of an installation's rate budget nudged windows may take. */
  installations: readonly { id: number; rateWindowSeconds: number }[];
  /** Opens a window of the installation soon. It must end by itself: the nudger sets no time-out. */
  trigger(installation: number, webhooks: number): Promise<void>;
  /** Called when a trigger failed. The nudge is dropped; the next scheduled window covers it. */
  failed(installation: number, error: unknown): void;
  clock: Clock;
}

export interface Nudger {
  /** Returns at once. Throws RangeError for an installation that was not given. */
  nudge(installation: number): void;
  /** Takes nudges of these installations, too, from now on. */
  serve(installations: NudgerOptions['installations']): void;
  /** Drops waiting nudges, and resolves when no trigger is in flight. */
  stop(): Promise<void>;
}

interface InstallationState {
  bucket: TokenBucket;
  /** Webhooks since the last trigger began. */
  webhooks: number;
  running: Promise<void>;
  isRunning: boolean;
}

/**
 * Webhooks that arrive while a trigger is queued or in flight coalesce into one more trigger. A burst therefore opens one
 * window at once and at most one after it. Triggers beyond the rate wait; none is lost.
 */
export function createNudger({ installations, trigger, failed, clock }: NudgerOptions): Nudger {
  const stopped = new AbortController();
  const states = new Map<number, InstallationState>();
  const serve: Nudger['serve'] = (served) => {
    for (const { id, rateWindowSeconds } of served) {
      if (states.has(id)) continue;
      states.set(id, {
        bucket: new TokenBucket(burst, (rateWindowSeconds * 1000) / triggersPerRateWindow, clock.elapsed()),
        webhooks: 0,
        running: Promise.resolve(),
        isRunning: false,
      });
    }
  };
  serve(installations);

  const run = async (id: number, state: InstallationState) => {
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
    serve,
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
