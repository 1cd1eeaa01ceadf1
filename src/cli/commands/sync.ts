import { chosenInstallations } from '../../runtime/app.ts';
import type { CommandContext } from '../context.ts';
import { windowBlock, windowsDocument } from '../render/window.ts';
import { exitCodeOf, runWindows, type WindowRun } from '../run-windows.ts';
import { withApp } from '../with-app.ts';

/** One window of each installation now. */
export function sync(context: CommandContext, options: { installation?: number }): Promise<number> {
  return runAndReport(context, options.installation, { trigger: 'sync' });
}

/** Loads everything again, or the invoices dated from a day on. */
export function backfill(context: CommandContext, options: { installation?: number; from?: string }): Promise<number> {
  return runAndReport(context, options.installation, { trigger: 'backfill', from: options.from ?? null });
}

function runAndReport(context: CommandContext, installation: number | undefined, run: WindowRun): Promise<number> {
  return withApp(
    context,
    { temporal: true, handlesSignal: true, ...(run.trigger === 'sync' ? { upgradesEmbedded: true } : {}) },
    async (app) => {
      const chosen = chosenInstallations(app.config, installation).map(({ id }) => id);
      const windows = await runWindows(context, app, chosen, run);
      await context.result(windowsDocument(windows), () => windows.map(windowBlock).join('\n\n'));
      return exitCodeOf(windows);
    },
  );
}
