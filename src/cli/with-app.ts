import { loadConfig } from '../config/load-config.ts';
import { unlessAborted } from '../domain/concurrency.ts';
import { type App, openApp } from '../runtime/app.ts';
import { judgeBinding, refusalOf } from '../runtime/binding/judge.ts';
import { notedBinding, whereDatabaseIs } from '../runtime/binding/noted.ts';
import { resultTexts } from '../texts/commands/results.ts';
import type { CommandContext } from './context.ts';

interface Needs {
  temporal: boolean | 'if_reachable';
  logLevel?: 'info';
  upgradesEmbedded?: true;
  /** For the daemon: after a refused sign-in, requests to the source pause for some time. */
  pacesSignIn?: true;
  /** The work observes the context's signal and shuts down cleanly. If not set, Ctrl-C abandons the work immediately. */
  handlesSignal?: true;
}

/** Loads the configuration, opens the services and runs `work`. Closes the services even if `work` fails. */
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

/** Prints a warning if the database is a copy. Commands without Temporal also work on a copy. */
async function warnOfCopy(context: CommandContext, { db, config: { trustsFailover } }: App): Promise<void> {
  const [here, noted] = [await whereDatabaseIs(db), await notedBinding(db)];
  const namespace = noted?.namespace ?? null;
  const held = noted && { incarnation: noted.incarnation };
  const verdict = judgeBinding({ ...here, namespace }, noted, held, { isEmbedded: false, trustsFailover });
  if (verdict.is !== 'refused') return;
  const { message, todo } = refusalOf(verdict);
  context.note(resultTexts.warning({ message }));
  context.note(resultTexts.todo({ todo }));
}
