import { noVerdict, verdicts } from '../../queries/verdict.ts';
import { chosenInstallations } from '../../runtime/app.ts';
import { named } from '../books.ts';
import type { CommandContext } from '../context.ts';
import { windowBlock, windowsDocument } from '../render/window.ts';
import { exitCodeOf, runWindows, type WindowRun } from '../run-windows.ts';
import { withApp } from '../with-app.ts';

interface SyncCommandOptions {
  installation?: number;
  waitDelivery: number;
}

/** One window of each installation now. */
export function sync(context: CommandContext, options: SyncCommandOptions): Promise<number> {
  const { installation, waitDelivery: waitDeliverySeconds } = options;
  return runAndReport(context, installation, { trigger: 'sync', waitDeliverySeconds });
}

/** Loads everything again, or the invoices dated from a day on. */
export function backfill(context: CommandContext, options: SyncCommandOptions & { from?: string }): Promise<number> {
  const { installation, from = null, waitDelivery: waitDeliverySeconds } = options;
  return runAndReport(context, installation, { trigger: 'backfill', from, waitDeliverySeconds });
}

function runAndReport(context: CommandContext, installation: number | undefined, run: WindowRun): Promise<number> {
  return withApp(
    context,
    { temporal: true, handlesSignal: true, ...(run.trigger === 'sync' ? { upgradesEmbedded: true } : {}) },
    async (app) => {
      const chosen = chosenInstallations(app.config, installation).map(({ id }) => id);
      const ran = named(app.config, await runWindows(context, app, chosen, run));
      const verdictOf = await verdicts(app.db, chosenInstallations(app.config, installation));
      const windows = ran.map((window) => ({ ...window, verdict: verdictOf.get(window.installation) ?? noVerdict }));
      await context.result(windowsDocument(windows), () => windows.map(windowBlock).join('\n\n'));
      return exitCodeOf(windows);
    },
  );
}
