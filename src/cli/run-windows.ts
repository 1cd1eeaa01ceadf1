import { z } from 'zod';
import { changedIdentity } from '../bookkeeping/identity.ts';
import { databaseNow } from '../db/database-now.ts';
import { about } from '../domain/durations.ts';
import { UserError } from '../domain/errors.ts';
import { signInNow } from '../practice/sign-in-store.ts';
import { type LoadPlan, planLoad } from '../queries/plan-load.ts';
import { noVerdict, verdictSince, verdicts } from '../queries/verdict.ts';
import { type App, chosenInstallations, installationOf } from '../runtime/app.ts';
import type { LoadEstimate } from '../sync/load-estimate.ts';
import { recordKinds } from '../terms.ts';
import { runTexts } from '../texts/commands/windows.ts';
import type { PlainError } from '../texts/plain-error.ts';
import { syncNow, type WindowReport } from '../windows/run-window.ts';
import { count } from '../wording/words.ts';
import { localTimes, named } from './books.ts';
import type { CommandContext } from './context.ts';
import { ProgressBars } from './progress.ts';
import { windowAnswer, windowBlock, windowsDocument } from './render/window.ts';
import { deliverNow } from './run-deliveries.ts';
import { withApp } from './with-app.ts';

/** The JSON of `sync` and `backfill`. */
export const windowsAnswer = z.strictObject({ windows: z.array(windowAnswer) });

/** Runs a window of the named installation, or of each, and prints the windows with the verdict on the books. */
export function runAndReport(
  context: CommandContext,
  installation: number | undefined,
  run: WindowRun,
): Promise<number> {
  return withApp(
    context,
    { temporal: true, handlesSignal: true, ...(run.trigger === 'sync' ? { upgradesEmbedded: true } : {}) },
    async (app) => {
      const chosen = chosenInstallations(app.config, installation).map(({ id }) => id);
      const began = await databaseNow(app.db);
      const ran = named(app.config, await runWindows(context, app, chosen, run));
      const verdictOf = await verdicts(app.db, chosenInstallations(app.config, installation));
      const windows = ran.map((window) => ({
        ...window,
        verdict: verdictSince(verdictOf.get(window.installation) ?? noVerdict, began),
      }));
      await context.result(windowsDocument(windows), () =>
        windows.map((each) => windowBlock(each, localTimes(app.config))).join('\n\n'),
      );
      return exitCodeOf(windows);
    },
  );
}

/** Which windows to run; `from` is a backfill's first invoice date. */
export interface WindowRun {
  trigger: 'sync' | 'backfill' | 'retry';
  from?: string | null;
  /** The longest wait for the delivery after the windows. */
  waitDeliverySeconds: number;
}

/** Runs a window of each installation. Throws UserError (exit code 3) if no window could be opened. */
export async function runWindows(
  context: CommandContext,
  app: App,
  installations: number[],
  run: WindowRun,
): Promise<WindowReport[]> {
  let plans = new Map<number, LoadPlan>();
  const bars = new ProgressBars(context.io.stderr, context.language);
  const several = installations.length > 1;
  // The daemon pauses requests to a source that refused the credentials. This command tries again immediately.
  await signInNow(app.db, installations);
  const windows = await syncNow(app, {
    installations,
    trigger: run.trigger,
    from: run.from ?? null,
    // The records are counted here, because the counts use rate budget and the window follows immediately.
    beforeWindows: async () => {
      if (run.trigger === 'retry') return;
      plans = await planLoads(context, app, installations, run);
      printPlans(context, app, plans, { several, isWindow: run.trigger !== 'backfill' });
    },
    onProgress: (progress) => {
      const seconds = plans.get(progress.installation)?.secondsLeft(progress) ?? null;
      const left = seconds === null ? null : runTexts.timeLeft({ time: about(seconds) });
      bars.show({ ...progress, of: several ? progress.installation : null, left });
    },
    afterWindows: async (engine) => {
      bars.end();
      await deliverNow(context, app, engine, installations, { seconds: run.waitDeliverySeconds });
    },
    signal: context.signal,
  }).finally(() => bars.end());
  const [first] = windows;
  if (first?.failedToOpen && windows.every((window) => window.failedToOpen)) throw notOpenedError(first.failedToOpen);
  return windows;
}

/** The plans of the installations whose window reads the whole history. */
async function planLoads(
  context: CommandContext,
  app: App,
  installations: number[],
  { trigger, from = null }: WindowRun,
): Promise<Map<number, LoadPlan>> {
  const owner = trigger === 'backfill' ? 'backfill' : 'window';
  const plans = await Promise.all(
    installations.map(async (id) => {
      const installation = installationOf(app.config, id);
      // The window will report the changed identity, so no request is sent now.
      if (await changedIdentity(app.db, installation)) return [id, null] as const;
      const plan = await planLoad(app, installation, { owner, from }, context.signal);
      return [id, plan] as const;
    }),
  );
  return new Map(plans.flatMap(([id, plan]) => (plan === null ? [] : [[id, plan]])));
}

function printPlans(
  context: CommandContext,
  { config }: App,
  plans: Map<number, LoadPlan>,
  { several, isWindow }: { several: boolean; isWindow: boolean },
): void {
  for (const [installation, plan] of plans) {
    const text = loadText(plan);
    context.note(several ? runTexts.ofInstallation({ installation, text }) : text);
    const minutes = config.windowTimeoutMinutes;
    if (isWindow && plan.estimate.seconds > minutes * 60) {
      context.note(runTexts.longLoad({ minutes }));
    }
  }
}

/** Codes of windows that did not open because the configuration is wrong (exit code 2). */
const configurationCodes = ['start_date_moved', 'identity_changed'];

/** The error if no window could be opened: exit code 3, or 2 if the configuration is wrong. */
export function notOpenedError({ code, message, todo }: PlainError): UserError {
  return new UserError({ code, message, todo }, configurationCodes.includes(code) ? 2 : 3);
}

/** Returns 4 if a window failed, otherwise 0. */
export function exitCodeOf(windows: WindowReport[]): number {
  return windows.some((window) => window.outcome === 'failed' || window.failedToOpen) ? 4 : 0;
}

/** Example: `about 61 minutes: invoicerow is the limit (2600 invoices, … to load)`. */
function loadText({ estimate, records }: LoadPlan): string {
  const toLoad = recordKinds.map((list) => count(records[list], list)).join(', ');
  return runTexts.toLoad({ estimate: estimateText(estimate), records: toLoad });
}

/** Example: `about 61 minutes: invoicerow is the limit`. */
export function estimateText({ seconds, limit }: LoadEstimate): string {
  return runTexts.limit({ time: about(seconds), list: limit.action.replace(/\.list$/, '') });
}
