import type { PlainError } from '../../../workflows/messages.ts';
import { UserError } from '../../domain/errors.ts';
import { type App, chosenInstallations } from '../../runtime/app.ts';
import { syncNow, type WindowReport } from '../../windows/run-window.ts';
import type { CommandContext } from '../context.ts';
import { ProgressBars } from '../progress.ts';
import { windowBlock } from '../render/window.ts';
import { withApp } from '../with-app.ts';
import { type LoadPlan, planLoad } from './sync-estimate.ts';

interface Run {
  trigger: 'sync' | 'backfill';
  from?: string | null;
}

export function sync(context: CommandContext, options: { installation?: number }): Promise<number> {
  return command(context, options.installation, { trigger: 'sync' });
}

export function backfill(context: CommandContext, options: { installation?: number; from?: string }): Promise<number> {
  return command(context, options.installation, { trigger: 'backfill', from: options.from ?? null });
}

function command(context: CommandContext, installation: number | undefined, run: Run): Promise<number> {
  return withApp(context, { temporal: true, endsItself: true }, async (app) => {
    const chosen = chosenInstallations(app.config, installation).map(({ id }) => id);
    const windows = await runWindows(context, app, chosen, run);
    await context.result(windowsDocument(windows), () => windows.map(windowBlock).join('\n\n'));
    return exitCodeOf(windows);
  });
}

/** Runs a window of each installation; throws UserError (exit code 3) when none could be opened. */
export async function runWindows(context: CommandContext, app: App, installations: number[], run: Run) {
  let plans = new Map<number, LoadPlan>();
  const bars = new ProgressBars(context.io.stderr as NodeJS.WriteStream);
  const several = installations.length > 1;
  const windows = await syncNow(app, {
    installations,
    ...run,
    // Not before: the budget that the counts cost is idle until the first window's questions follow them.
    beforeWindows: async () => {
      plans = await printPlans(context, app, installations, run);
    },
    onProgress: (progress) => {
      const left = plans.get(progress.installation)?.left(progress) ?? null;
      bars.show({ ...progress, left, step: several ? `${progress.installation} ${progress.step}` : progress.step });
    },
    signal: context.signal,
  }).finally(() => bars.end());
  const [first] = windows;
  if (first?.failedToOpen && windows.every((window) => window.failedToOpen)) throw notOpenedError(first.failedToOpen);
  return windows;
}

/** Says how long each full load will take before it starts, and gives the plans by installation. */
async function printPlans(context: CommandContext, app: App, installations: number[], run: Run) {
  const plans = new Map<number, LoadPlan>();
  await Promise.all(
    installations.map(async (installation) => {
      const plan = await planLoad(app, installation, run, context.signal);
      if (plan) plans.set(installation, plan);
    }),
  );
  for (const [installation, plan] of plans) {
    context.note(installations.length > 1 ? `installation ${installation}: ${plan.text}` : plan.text);
    const minutes = app.config.windowTimeoutMinutes;
    if (run.trigger !== 'backfill' && plan.seconds > minutes * 60) {
      context.note(
        `that is longer than window_timeout_minutes (${minutes}): it is given up by then, and the next window goes on from there`,
      );
    }
  }
  return plans;
}

/** What keeps a window from opening although everything can be reached: the configuration (exit code 2). */
const configurationCodes = ['start_date_moved'];

/** Why no window could be opened, as the error of the command (exit code 3, or 2 where the configuration is at fault). */
export function notOpenedError({ code, message, todo }: PlainError): UserError {
  return new UserError(code, message, todo, configurationCodes.includes(code) ? 2 : 3);
}

/** What `sync --json` prints (DESIGN). */
export function windowsDocument(windows: WindowReport[]) {
  return {
    windows: windows.map(({ failedToOpen, window: _id, ...shown }) =>
      failedToOpen ? { ...shown, error: failedToOpen } : shown,
    ),
  };
}

export function exitCodeOf(windows: WindowReport[]): number {
  return windows.some((window) => window.outcome === 'failed' || window.failedToOpen) ? 4 : 0;
}
