import { loadConfig } from '../config/load.ts';
import { type App, openApp } from '../runtime/app.ts';
import type { CommandContext } from './context.ts';

interface Needs {
  temporal: boolean;
  logLevel?: 'info';
  /**
   * The work heeds the context's signal and ends in good order by itself; otherwise Ctrl-C ends it where it is.
   */
  endsItself?: true;
}

/** Loads the configuration, opens the services, does the work, and gives the services back whatever happens. */
export async function withApp<T>(context: CommandContext, needs: Needs, work: (app: App) => Promise<T>): Promise<T> {
  const config = await loadConfig(context.configPath, context.env);
  const { temporal, logLevel } = needs;
  const app = await openApp(config, {
    temporal,
    progress: context.note,
    env: context.env,
    ...(logLevel ? { logLevel } : {}),
  });
  try {
    context.signal.throwIfAborted();
    return await (needs.endsItself ? work(app) : untilAborted(work(app), context.signal));
  } finally {
    await app.close();
  }
}

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // Left behind after an abort, it fails once its connections are closed; nobody is told.
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
