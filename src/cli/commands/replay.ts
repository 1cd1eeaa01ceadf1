import type { ReplayRequest } from '../../../workflows/messages.ts';
import { UserError } from '../../domain/errors.ts';
import { replayChanges } from '../../queries/replay-changes.ts';
import { type ReplayCost, replayCost } from '../../queries/replay-cost.ts';
import { type App, chosenInstallations, installationOf } from '../../runtime/app.ts';
import { leftOutText, planReplay, replayTime, type Wanted } from '../../sync/replay/plan.ts';
import type { Span } from '../../sync/replay/targets.ts';
import { installationsOfWindows } from '../../sync/replay/window-streams.ts';
import { replayNow } from '../../windows/replay.ts';
import { type CommandContext, usageError } from '../context.ts';
import { ProgressBars } from '../progress.ts';
import { costText, replayBlock, replayDocument, type ToldReplay } from '../render/replay.ts';
import { deliverNow } from '../run-deliveries.ts';
import { exitCodeOf, notOpenedError } from '../run-windows.ts';
import { withApp } from '../with-app.ts';

export interface ReplayCommandOptions {
  installation?: number;
  failed?: true;
  from?: string;
  to?: string;
  fromMirror?: true;
  dryRun?: true;
  yes?: true;
  waitDelivery: number;
}

/** Above this a terminal is asked before anything is spent. */
const largeCost = { seconds: 600, weight: 1_000 };

interface Planned {
  request: ReplayRequest;
  spans: Span[];
  leftOut: string[];
}

/** Replays windows, and says what it will cost beforehand and what it has changed. */
export function replay(
  context: CommandContext,
  options: ReplayCommandOptions,
  names: readonly string[],
): Promise<number> {
  const ids = names.map(windowId);
  checkChoice(options, ids);
  return withApp(context, { temporal: options.dryRun !== true, handlesSignal: true }, async (app) => {
    const planned = await plan(app, options, ids);
    const costs: ReplayCost[] = [];
    for (const { request, spans } of planned) {
      if (spans.length === 0 || options.fromMirror) continue;
      costs.push(await replayCost(app, installationOf(app.config, request.installation), spans, context.signal));
    }
    const leftBefore = planned.flatMap(({ leftOut }) => leftOut);
    for (const each of leftBefore) context.note(`left out: ${each}`);
    const todo = planned.filter(({ spans }) => spans.length > 0);
    const document = (windows: ToldReplay[], leftOut: readonly string[] = []) =>
      replayDocument(windows, costs, [...new Set([...leftBefore, ...leftOut])]);
    if (todo.length === 0) {
      await context.result(document([]), () => nothingText(options));
      return 0;
    }
    for (const { request, spans } of todo) context.note(costText(request.installation, spans, costs));
    if (options.dryRun) {
      await context.result(document([]), () => 'Nothing was replayed: this was a dry run.');
      return 0;
    }
    if (!(await isAgreed(context, costs, options))) {
      await context.result(document([]), () => 'Nothing was replayed.');
      return 0;
    }
    const { windows, leftOut } = await run(context, app, todo, options.waitDelivery);
    for (const each of leftOut.filter((one) => !leftBefore.includes(one))) context.note(`left out: ${each}`);
    await context.result(document(windows, leftOut), () => windows.map(replayBlock).join('\n\n'));
    return exitCodeOf(windows);
  });
}

async function run(
  context: CommandContext,
  app: App,
  todo: readonly Planned[],
  waitDelivery: number,
): Promise<{ windows: ToldReplay[]; leftOut: string[] }> {
  const bars = new ProgressBars(context.io.stderr);
  const installations = todo.map(({ request }) => request.installation);
  const { windows, leftOut } = await replayNow(
    app,
    todo.map(({ request }) => request),
    {
      onProgress: (progress) =>
        bars.show({
          ...progress,
          step: todo.length > 1 ? `${progress.installation} ${progress.step}` : progress.step,
        }),
      afterWindows: async (engine) => {
        bars.end();
        await deliverNow(context, app, engine, installations, { seconds: waitDelivery });
      },
      signal: context.signal,
    },
  ).finally(() => bars.end());
  const [first] = windows;
  if (first?.failedToOpen && windows.every((window) => window.failedToOpen)) throw notOpenedError(first.failedToOpen);
  const told: ToldReplay[] = [];
  for (const window of windows) {
    const versions = Object.values(window.pulled).reduce((sum, n) => sum + n, 0);
    const { installation, posted: entries } = window;
    told.push({
      ...window,
      changed: await replayChanges(app.db, { installation, window: window.window, versions, entries }),
    });
  }
  return { windows: told, leftOut };
}

/** What each installation is asked to replay. */
async function plan(app: App, options: ReplayCommandOptions, ids: readonly number[]): Promise<Planned[]> {
  const { config, db } = app;
  const chosen = chosenInstallations(config, options.installation);
  const owners = ids.length > 0 ? await installationsOfWindows(db, ids) : new Map<number, number>();
  const unknown = ids.filter((id) => !chosen.some((each) => each.id === owners.get(id)));
  if (unknown.length > 0) {
    throw new UserError(
      'window_unknown',
      `there is no window ${unknown.join(', ')}${options.installation === undefined ? '' : ` of installation ${options.installation}`}`,
      '`vetledger windows --limit 100` lists them',
      1,
    );
  }
  const planned: Planned[] = [];
  for (const { id, overlapSeconds, timezone } of chosen) {
    const windows = ids.filter((each) => owners.get(each) === id);
    if (ids.length > 0 && windows.length === 0) continue;
    const wanted: Wanted =
      windows.length > 0
        ? { by: 'windows', windows }
        : options.failed
          ? { by: 'failed' }
          : { by: 'times', from: replayTime(options.from, timezone), to: replayTime(options.to, timezone) };
    if (wanted.by === 'times' && wanted.from > wanted.to)
      throw usageError(`--from ${options.from} is after --to ${options.to}.`, 'replay');
    const { spans, leftOut } = await planReplay(db, id, wanted, { overlapMs: overlapSeconds * 1000, now: app.clock() });
    planned.push({ request: requestOf(id, wanted, options), spans, leftOut: leftOut.map(leftOutText) });
  }
  return planned;
}

/** As the Temporal UI would be given it. */
function requestOf(installation: number, wanted: Wanted, { fromMirror }: ReplayCommandOptions): ReplayRequest {
  const mirror = fromMirror ? { from_mirror: true } : {};
  switch (wanted.by) {
    case 'windows':
      return { installation, windows: [...wanted.windows], ...mirror };
    case 'failed':
      return { installation, failed: true, ...mirror };
    case 'times':
      return { installation, from: wanted.from.toISOString(), to: wanted.to.toISOString(), ...mirror };
  }
}

/** Asks on a terminal where it is dear; elsewhere nobody can be asked. */
async function isAgreed(
  context: CommandContext,
  costs: readonly ReplayCost[],
  { yes }: ReplayCommandOptions,
): Promise<boolean> {
  const isLarge = costs.some(({ seconds, weight }) => seconds > largeCost.seconds || weight > largeCost.weight);
  if (yes || !isLarge) return true;
  return (await context.confirm('Replay that now?')) ?? true;
}

function checkChoice({ failed, from, to }: ReplayCommandOptions, ids: readonly number[]): void {
  const hasTimes = from !== undefined || to !== undefined;
  const chosen = [ids.length > 0, failed === true, hasTimes].filter(Boolean).length;
  if (chosen !== 1)
    throw usageError('Say what to replay: windows by their number, --failed, or --from and --to.', 'replay');
  if (hasTimes && (from === undefined || to === undefined))
    throw usageError('Give --from and --to together.', 'replay');
}

function windowId(name: string): number {
  if (!/^\d{1,15}$/.test(name)) throw usageError(`“${name}” is not the number of a window.`, 'replay');
  return Number(name);
}

function nothingText({ failed }: ReplayCommandOptions): string {
  return failed ? 'Nothing to replay: every failed window is covered.' : 'Nothing to replay.';
}
