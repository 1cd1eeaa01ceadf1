/**
 * Reads the configuration again while the daemon runs. The whole file is read and checked first: a wrong file changes
 * nothing.
 */

import { isDeepStrictEqual } from 'node:util';
import { isDelivered } from '../config/erp.ts';
import { type Config, type InstallationConfig, loadConfig } from '../config/load-config.ts';
import { sleep } from '../domain/concurrency.ts';
import { UserError } from '../domain/errors.ts';
import type { App } from '../runtime/app.ts';
import { ensureBound } from '../runtime/binding/bind.ts';
import { servedInstallations } from '../runtime/presence.ts';
import type { Engine } from '../runtime/worker.ts';
import { cancelRunning } from './cancelling.ts';
import { pauseUnserved } from './schedules.ts';
import { startScrubs } from './scrubs.ts';
import { type Intervals, startSchedules } from './start.ts';

/** Keys that take effect at once. All other keys of the whole configuration are read only at the start. */
const liveKeys = [
  'schedule',
  'reconcileBetween',
  'mail',
  'retention',
  'windowTimeoutMinutes',
  'warnings',
  'followMappingFile',
] as const;
/** The names of the other keys in the file. */
const restartKeys: Partial<Record<keyof Config, string>> = {
  dataDir: 'data_dir',
  databaseUrl: 'database_url',
  migrateDatabaseUrl: 'migrate_database_url',
  trustsFailover: 'database_failover',
  temporal: 'temporal',
  sealKey: 'seal_key',
  secretKeys: 'secret_key',
  webhooks: 'webhooks',
};

/** The effects of a changed configuration. */
export interface ReloadPlan {
  installations: InstallationConfig[];
  added: number[];
  removed: number[];
  changed: number[];
  /** Keys whose change takes effect after a restart. */
  restart: string[];
}

/** Compares the running configuration with the file. */
export function reloadPlan(now: Config, next: Config): ReloadPlan {
  const before = new Map(now.installations.map((installation) => [installation.id, installation]));
  const restart = Object.entries(restartKeys)
    .filter(([key]) => !isDeepStrictEqual(now[key as keyof Config], next[key as keyof Config]))
    .map(([, name]) => name);
  const installations = next.installations.map((installation) => {
    const known = before.get(installation.id);
    if (!known) {
      // The worker for deliveries starts with the daemon, and only if there are deliveries.
      const isFirst = isDelivered(installation.erp) && !now.installations.some(({ erp }) => isDelivered(erp));
      if (isFirst) restart.push(`installations[${installation.id}].erp`);
      return installation;
    }
    // The mapping in force changes only when the file is followed.
    const { mapping, mappingHash } = known;
    const reread = { ...installation, mapping, mappingHash };
    if (isDeepStrictEqual(known.erp, installation.erp)) return reread;
    // Running deliveries, and their worker, belong to the ERP of the daemon's start.
    restart.push(`installations[${installation.id}].erp`);
    return { ...reread, erp: known.erp };
  });
  const wanted = new Set(installations.map(({ id }) => id));
  return {
    installations,
    added: installations.filter(({ id }) => !before.has(id)).map(({ id }) => id),
    removed: [...before.keys()].filter((id) => !wanted.has(id)),
    changed: installations
      .filter((one) => before.has(one.id) && !isDeepStrictEqual(before.get(one.id), one))
      .map(({ id }) => id),
    restart,
  };
}

export interface ReloadPorts {
  env: NodeJS.ProcessEnv;
  /** The intervals of the Schedules, which the watch updates. */
  intervals: Intervals;
  /** A reload calls this with the installations that are served from now on. */
  onInstallations(installations: readonly InstallationConfig[]): void;
  /** Starts a window of each of these installations, one after another. */
  open(installations: readonly number[]): void;
}

/**
 * Reads the configuration and applies the changes. A wrong file is logged and changes nothing. Throws if Temporal could
 * not be updated: the new configuration is in use then, and a repeated call updates Temporal.
 */
export async function reload(app: App, engine: Engine, ports: ReloadPorts): Promise<ReloadPlan | null> {
  let next: Config;
  let plan: ReloadPlan;
  try {
    next = await loadConfig(app.config.file, ports.env);
    plan = reloadPlan(app.config, next);
    plan = { ...plan, installations: await engine.serve({ ...next, installations: plan.installations }) };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { code, message, todo } = error;
    app.log.error({ code, todo }, `the configuration was not reloaded, and nothing has changed: ${message}`);
    return null;
  }
  const { installations, added, removed, changed, restart } = plan;
  app.config.installations.splice(0, app.config.installations.length, ...installations);
  for (const key of liveKeys) Object.assign(app.config, { [key]: next[key] });
  for (const { message, todo } of next.warnings) app.log.warn({ todo }, message);
  for (const id of [...changed, ...removed]) app.retirePractice(id);
  ports.onInstallations(installations);
  // Temporal may have lost its data since the start. No Schedule is created in a namespace that the database is not
  // bound to.
  await ensureBound(app, engine.client, { renews: false });
  await startSchedules(app, engine).then(({ intervals, due }) => {
    for (const [id, every] of intervals) ports.intervals.set(id, every);
    ports.open(due.filter((id) => added.includes(id)));
  });
  await pauseUnserved(app, engine);
  const served = await servedInstallations(app.db, app.config.temporal.taskQueue);
  for (const id of removed) {
    ports.intervals.delete(id);
    if (!served.has(id)) await cancelRunning(app, engine.client, id, { delivery: false, waitMs: 0 });
  }
  await startScrubs(app, engine);
  app.log.info({ added, removed, changed }, 'the configuration was reloaded');
  if (restart.length > 0) {
    app.log.warn({ keys: restart }, 'these keys have also changed; they take effect at the next start of the daemon');
  }
  return plan;
}

/** Pause before Temporal is updated again after a failure. */
const retryMs = 15_000;

/** Reloads the configuration each time that `subscribe` calls its listener. Reloads run one after another. */
export function startReloads(
  app: App,
  engine: Engine,
  ports: ReloadPorts & { subscribe(reload: () => void): () => void },
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let running = Promise.resolve();
  const once = async () => {
    while (!stopping.signal.aborted) {
      try {
        await reload(app, engine, ports);
        return;
      } catch (err) {
        app.log.warn({ err }, 'the reload is not complete; it is retried');
        await sleep(retryMs, stopping.signal).catch(() => undefined);
      }
    }
  };
  const unsubscribe = ports.subscribe(() => {
    running = running.then(once);
  });
  return {
    stop: async () => {
      unsubscribe();
      stopping.abort();
      await running;
    },
  };
}
