import { loadConfig } from '../config/load.ts';
import { type App, openApp } from '../runtime/app.ts';
import type { CommandContext } from './context.ts';

interface Needs {
  temporal: boolean;
  logLevel?: 'info';
  upgradesEmbedded?: true;
  /** The work watches the context's signal and ends by itself; otherwise Ctrl-C abandons it at once. */
  handlesSignal?: true;
}

/** Loads the configuration, opens the services, does the work, and releases the services even if it fails. */
export async function withApp<T>(context: CommandContext, needs: Needs, work: (app: App) => Promise<T>): Promise<T> {
  const config = await loadConfig(context.configPath, context.env);
  const { temporal, logLevel, upgradesEmbedded = false } = needs;
  const app = await openApp(config, {
    temporal,
    upgradesEmbedded,
    progress: context.note,
    env: context.env,
    ...(logLevel ? { logLevel } : {}),
  });
  try {
    context.signal.throwIfAborted();
    return await (needs.handlesSignal ? work(app) : untilAborted(work(app), context.signal));
  } finally {
    await app.close();
  }
}

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // After an abort, the abandoned work fails when its connections are closed; that error is ignored.
  work.catch(() => {});
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
