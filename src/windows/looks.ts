import { sleep } from '../domain/concurrency.ts';
import type { App } from '../runtime/app.ts';

/** Interval between looks, and delay before the first look, because a starting daemon opens windows first. */
const lookEveryMs = 60_000;

/** Shortest interval after a failure, so that a loop with a short interval does not fill the log. */
const afterFailureMs = 10_000;

/**
 * Calls `look` at an interval until it is stopped: a loop of the daemon that depends only on PostgreSQL. An error is
 * logged with `failure` and does not prevent the next look.
 */
export function startLooks(
  app: Pick<App, 'log' | 'outages'>,
  looking: { look(signal: AbortSignal): Promise<void> },
  failure: string,
  everyMs = lookEveryMs,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = (async () => {
    let waitMs = everyMs;
    for (;;) {
      await sleep(waitMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      try {
        await looking.look(signal);
        waitMs = everyMs;
      } catch (err) {
        if (signal.aborted) return;
        waitMs = Math.max(everyMs, afterFailureMs);
        app.log[app.outages.of('postgres') === null ? 'warn' : 'debug']({ err }, failure);
      }
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
