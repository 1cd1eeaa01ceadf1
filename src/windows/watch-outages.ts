/**
 * Watches the services that the daemon needs: finds an outage of Temporal, and a namespace that the database is not bound to, starts embedded servers again that have died, and notes
 * outages of practice APIs and ERPs from what windows and deliveries meet. PostgreSQL is watched by the heartbeats (src/runtime/presence.ts).
 */
import { sleep, within } from '../domain/concurrency.ts';
import type { TimedEvent } from '../domain/events.ts';
import { practiceErrorCodes } from '../domain/practice-error.ts';
import { ServiceError } from '../embedded/service-error.ts';
import type { App } from '../runtime/app.ts';
import { replacedTemporal } from '../runtime/binding/bind.ts';
import type { Outages } from '../runtime/outages.ts';
import type { Engine } from '../runtime/worker.ts';
import { probeTemporal } from './probes.ts';

export interface OutageWatchTimes {
  /** Between two questions to Temporal. */
  everyMs: number;
  /** Longest wait for its answer. */
  answerWithinMs: number;
}

const usualTimes: OutageWatchTimes = { everyMs: 5_000, answerWithinMs: 10_000 };
/** An embedded server that could not be started again so often is given up: the daemon ends, and its supervisor starts it anew. */
const revivalsAtMost = 5;

export interface OutageWatch {
  /** Rejects with a ServiceError when an embedded server has died for good; never resolves. */
  failed: Promise<never>;
  stop(): Promise<void>;
}

export function startOutageWatch(app: App, engine: Engine, times: OutageWatchTimes = usualTimes): OutageWatch {
  const stopping = new AbortController();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  const unsubscribe = app.events.on((event) => noteSourceAndErp(app.outages, event));
  const revivals = { postgres: 0, temporal: 0 };
  const replaced = async () => {
    try {
      return await within(times.answerWithinMs, replacedTemporal(app.presenceDb, app.config.temporal, engine.client));
    } catch {
      // PostgreSQL does not answer: what was known of Temporal's namespace still counts.
      return app.outages.of('temporal')?.error ?? null;
    }
  };
  const look = async () => {
    const temporal = (await probeTemporal(engine.client, times.answerWithinMs)) ?? (await replaced());
    if (stopping.signal.aborted) return;
    if (temporal === null) app.outages.up('temporal');
    else app.outages.down('temporal', temporal);
    for (const dependency of ['postgres', 'temporal'] as const) {
      if (app.outages.of(dependency) === null) revivals[dependency] = 0;
      else await revive(app, dependency, revivals);
    }
  };
  const running = (async () => {
    while (!stopping.signal.aborted) {
      try {
        await look();
      } catch (error) {
        failed.reject(error);
        return;
      }
      await sleep(times.everyMs, stopping.signal).catch(() => undefined);
    }
  })();
  return {
    failed: failed.promise,
    stop: async () => {
      stopping.abort();
      unsubscribe();
      await running;
    },
  };
}

/** Starts an embedded server again whose process has ended. Throws the ServiceError of the last of some attempts. */
async function revive(
  app: App,
  dependency: 'postgres' | 'temporal',
  revivals: Record<typeof dependency, number>,
): Promise<void> {
  try {
    if (await app.revive[dependency]()) {
      app.log.info({ dependency }, 'the embedded server had died and was started again');
    }
  } catch (error) {
    revivals[dependency] += 1;
    app.log.warn({ err: error, dependency }, 'the embedded server has died and cannot be started again');
    if (
      revivals[dependency] >= revivalsAtMost ||
      (error instanceof ServiceError && error.code === 'temporal_unreachable')
    )
      throw error;
  }
}

/** Codes of an ERP that cannot be worked with at all, or does not say. */
const erpGone: ReadonlySet<string> = new Set([
  'erp_unreachable',
  'erp_no_answer',
  'erp_login_refused',
  'erp_error_unknown',
]);

/** Notes what windows and deliveries tell of the practice API and the ERP. */
export function noteSourceAndErp(outages: Outages, event: TimedEvent): void {
  switch (event.event) {
    case 'window_opened':
    case 'window_closed':
      outages.up('practice_api', event.installation);
      break;
    case 'window_not_opened':
      if (practiceErrorCodes.has(event.error.code)) outages.down('practice_api', event.error, event.installation);
      break;
    case 'delivery':
      if (event.error === null) outages.up('erp', event.installation);
      else if (erpGone.has(event.error.code)) outages.down('erp', event.error, event.installation);
      break;
    default:
  }
}
