import { poolState } from '../db/pool.ts';
import { type Check, type HealthReport, type ObservationServer, startObservation } from '../http/health.ts';
import { readFigures } from '../queries/figures.ts';
import type { App } from '../runtime/app.ts';
import { Collector } from '../runtime/metrics/collector.ts';
import { Metrics, type Readings } from '../runtime/metrics/metrics.ts';
import { ownVersion } from '../runtime/version.ts';
import type { Engine } from '../runtime/worker.ts';
import { readinessTexts } from '../texts/findings/health.ts';
import { probePostgres, probeTemporal } from './probes.ts';
import type { Watch } from './watch.ts';

/** Limit of the wait for PostgreSQL and Temporal in a readiness check. */
const readyWithinMs = 3_000;

/** The daemon's endpoints for Prometheus and for its supervisor. */
export interface Observation {
  url: string;
  /** Reports that the engine works. Until then the daemon is live but not ready. */
  started(engine: Engine): void;
  /** Reports that the watch over the windows has started. */
  watching(watch: Pick<Watch, 'watched'>): void;
  /** Reports that the daemon is ending: it is live but not ready. */
  ending(): void;
  close(): Promise<void>;
}

/** Serves metrics and health if they are configured; otherwise returns null. */
export async function startObserving(app: App): Promise<Observation | null> {
  const { metrics: configured } = app.config;
  if (configured === null) return null;
  let engine: Engine | null = null;
  let watch: Pick<Watch, 'watched'> | null = null;
  let isEnding = false;
  // backup.sh backs up an external PostgreSQL; an embedded one is copied with its folder.
  const backup = configured.backup && app.config.databaseUrl !== null;
  const collector = new Collector(() => readFigures(app.db, installationsOf(app), { backup }), {
    failed: (err) => app.log.warn({ err }, 'the figures for the metrics could not be read; the last ones are shown'),
    elapsed: () => performance.now(),
  });
  const metrics = new Metrics(() => readings(app, collector, watch));
  for (const id of installationsOf(app)) metrics.begin(id);
  const unsubscribe = app.events.on((event) => metrics.count(event));
  let server: ObservationServer;
  try {
    server = await startObservation({
      ...configured.listen,
      live: () => livenessOf(engine),
      ready: () => (isEnding ? Promise.resolve(notReady('ending')) : readinessOf(app, engine)),
      metrics: () => metrics.text(),
    });
  } catch (error) {
    unsubscribe();
    throw error;
  }
  return {
    url: server.url,
    started: (running) => {
      engine = running;
    },
    watching: (begun) => {
      watch = begun;
    },
    ending: () => {
      isEnding = true;
    },
    close: async () => {
      unsubscribe();
      await server.close();
    },
  };
}

const installationsOf = ({ config }: App) => config.installations.map(({ id }) => id);

/** The process is live while its workers are: a failed worker does not recover. */
function livenessOf(engine: Engine | null): HealthReport {
  if (engine === null) return { ok: true, checks: { workers: { ok: true, reason: 'starting' } } };
  return report({ workers: workersCheck(engine.workers().filter(({ runState }) => deadStates.has(runState))) });
}

const deadStates = new Set(['STOPPED', 'FAILED']);

async function readinessOf(app: App, engine: Engine | null): Promise<HealthReport> {
  if (engine === null) return notReady('starting');
  const [postgres, temporal] = await Promise.all([
    probePostgres(app, readyWithinMs),
    probeTemporal(engine.client, readyWithinMs),
  ]);
  const since = (dependency: 'postgres' | 'temporal') => app.outages.of(dependency)?.since.toISOString();
  const check = (dependency: 'postgres' | 'temporal', reason: string | undefined): Check => {
    const from = since(dependency);
    return reason === undefined ? { ok: true } : { ok: false, reason, ...(from === undefined ? {} : { since: from }) };
  };
  return report({
    // Only heartbeats notice a full disk, since they write.
    postgres: check('postgres', (postgres ?? app.outages.of('postgres')?.error)?.message),
    // The outage watch also finds a namespace that the database is not bound to.
    temporal: check('temporal', (temporal ?? app.outages.of('temporal')?.error)?.message),
    workers: workersCheck(engine.workers().filter(({ isPolling }) => !isPolling)),
  });
}

function workersCheck(wrong: readonly { queue: string; runState: string }[]): Check {
  if (wrong.length === 0) return { ok: true };
  const queues = wrong.map(({ queue, runState }) => `${queue} (${runState.toLowerCase()})`).join(', ');
  return { ok: false, reason: readinessTexts.workersIdle({ queues }) };
}

const notReady = (reason: string) => report({ daemon: { ok: false, reason } });

function report(checks: Record<string, Check>): HealthReport {
  return { ok: Object.values(checks).every(({ ok }) => ok), checks };
}

async function readings(app: App, collector: Collector, watch: Pick<Watch, 'watched'> | null): Promise<Readings> {
  const installations = installationsOf(app);
  const figures = await collector.figures();
  return {
    installations,
    version: ownVersion(),
    dependencies: { postgres: app.outages.of('postgres') === null, temporal: app.outages.of('temporal') === null },
    pool: poolState(app.db),
    requests: new Map(
      installations.map((id) => {
        const { requests, weight, throttled, waitedMs } = app.practice(id).counters();
        return [id, { requests, weight, throttled, waitedSeconds: waitedMs / 1000 }];
      }),
    ),
    figures,
    watched: watch?.watched() ?? [],
    nowMs: app.clock().getTime(),
  };
}
