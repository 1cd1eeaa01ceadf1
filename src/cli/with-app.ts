import { loadConfig } from '../config/load-config.ts';
import { unlessAborted } from '../domain/concurrency.ts';
import { type App, openApp } from '../runtime/app.ts';
import { judgeBinding, refusalOf } from '../runtime/binding/judge.ts';
import { notedBinding, whereDatabaseIs } from '../runtime/binding/noted.ts';
import type { CommandContext } from './context.ts';

interface Needs {
  temporal: boolean | 'if reachable';
  logLevel?: 'info';
  upgradesEmbedded?: true;
  /** For the daemon: a source that has refused to let us in is left alone for a time. */
  pacesSignIn?: true;
  /** The work watches the context's signal and ends by itself; otherwise Ctrl-C abandons it at once. */
  handlesSignal?: true;
}

/** Loads the configuration, opens the services, does the work, and releases the services even if it fails. */
export async function withApp<T>(context: CommandContext, needs: Needs, work: (app: App) => Promise<T>): Promise<T> {
  const config = await loadConfig(context.configPath, context.env);
  const { temporal, logLevel, upgradesEmbedded = false, pacesSignIn = false } = needs;
  const app = await openApp(config, {
    temporal,
    upgradesEmbedded,
    pacesSignIn,
    progress: context.note,
    env: context.env,
    ...(logLevel ? { logLevel } : {}),
  });
  try {
    context.signal.throwIfAborted();
    if (temporal !== true) await warnOfCopy(context, app);
    return await (needs.handlesSignal ? work(app) : unlessAborted(work(app), context.signal));
  } finally {
    await app.close();
  }
}

/** A command that opens nothing works on a copy, too; that it is one is said. */
async function warnOfCopy(context: CommandContext, { db, config: { trustsFailover } }: App): Promise<void> {
  const [here, noted] = [await whereDatabaseIs(db), await notedBinding(db)];
  const namespace = noted?.namespace ?? null;
  const held = noted && { incarnation: noted.incarnation };
  const verdict = judgeBinding({ ...here, namespace }, noted, held, { isEmbedded: false, trustsFailover });
  if (verdict.is !== 'refused') return;
  const { message, todo } = refusalOf(verdict);
  context.note(`warning: ${message}`);
  context.note(`what to do: ${todo}`);
}
