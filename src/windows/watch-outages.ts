/**
 * Watches the services that the daemon needs. It finds outages of Temporal and a namespace that the database is not
 * bound to, restarts embedded servers that died, and records outages of practice APIs and ERPs that windows and
 * deliveries meet. The heartbeats watch PostgreSQL (src/runtime/presence.ts).
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
  /** Interval of requests to Temporal. */
  everyMs: number;
  /** Limit of the wait for Temporal's answer. */
  answerWithinMs: number;
}

const usualTimes: OutageWatchTimes = { everyMs: 5_000, answerWithinMs: 10_000 };
/** After this many failed restarts of an embedded server, the daemon ends, and its supervisor restarts it. */
const revivalsAtMost = 5;

export interface OutageWatch {
  /** Rejects with a ServiceError if an embedded server cannot be restarted; never resolves. */
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
      // PostgreSQL does not answer, so the last known state of Temporal's namespace counts.
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

/** Restarts an embedded server whose process has ended. Throws the last ServiceError after some attempts. */
async function revive(
  app: App,
  dependency: 'postgres' | 'temporal',
  revivals: Record<typeof dependency, number>,
): Promise<void> {
  try {
    if (await app.revive[dependency]()) {
      app.log.info({ dependency }, 'the embedded server had died, and was restarted');
    }
  } catch (error) {
    revivals[dependency] += 1;
    app.log.warn({ err: error, dependency }, 'the embedded server has died, and could not be restarted');
    if (
      revivals[dependency] >= revivalsAtMost ||
      (error instanceof ServiceError && error.code === 'temporal_unreachable')
    )
      throw error;
  }
}

/** Error codes of an ERP that cannot be used at all, or does not answer. */
const erpGone: ReadonlySet<string> = new Set([
  'erp_unreachable',
  'erp_no_answer',
  'erp_login_refused',
  'erp_error_unknown',
]);

/** Records outages of the practice API and the ERP from events of windows and deliveries. */
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
