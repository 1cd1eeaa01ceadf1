/**
 * How a webhook starts a window. The receiver (src/http/webhooks.ts) nudges. The nudger combines nudges into triggers.
 * A trigger starts a window through the installation's schedule (schedules.ts, triggerSchedule).
 */
import type { Clock } from '../domain/clock.ts';
import { TokenBucket } from '../http/token-buckets.ts';

/** A user's change in the practice software sends several webhooks. After the first one, vetledger waits this time for the others. */
const coalesceMs = 100;
/** Number of triggers that may follow each other immediately. Later triggers are at least a twelfth of the rate window apart. */
const burst = 6;
const triggersPerRateWindow = 12;

export interface NudgerOptions {
  /** The rate window limits the share of an installation's rate budget that nudged windows may use. */
  installations: readonly { id: number; rateWindowSeconds: number }[];
  /** Starts a window of the installation soon. It must end on its own: the nudger sets no time-out. */
  trigger(installation: number, webhooks: number): Promise<void>;
  /** Called when a trigger failed. The nudge is dropped; the next scheduled window covers it. */
  failed(installation: number, error: unknown): void;
  clock: Clock;
}

export interface Nudger {
  /** Returns at once. Throws RangeError for an unknown installation. */
  nudge(installation: number): void;
  /** Accepts nudges of these installations from now on. */
  serve(installations: NudgerOptions['installations']): void;
  /** Drops waiting nudges, and resolves when no trigger is running. */
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
 * Combines webhooks that arrive while a trigger is queued or running into one further trigger. A burst therefore starts
 * one window at once and at most one after it. Triggers beyond the rate wait; none is lost.
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
      if (!state) throw new RangeError(`installation ${installation} was not given to the nudger`);
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
