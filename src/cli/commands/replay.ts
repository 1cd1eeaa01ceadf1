import { Option } from 'commander';
import { z } from 'zod';
import type { ReplayedWindow, ReplayRequest } from '../../../workflows/messages.ts';
import { type ReplayChanges, replayChanges } from '../../queries/replay-changes.ts';
import { type ReplayCost, replayCost } from '../../queries/replay-cost.ts';
import { type App, installationOf } from '../../runtime/app.ts';
import { fieldTitles } from '../../texts/commands/labels.ts';
import { usageTexts } from '../../texts/commands/usage.ts';
import { replayTexts } from '../../texts/commands/windows.ts';
import { replayNow } from '../../windows/replay.ts';
import { costLines, spanText, windowsText } from '../../wording/replays.ts';
import { count } from '../../wording/words.ts';
import { type LocalTimes, localTimes } from '../books.ts';
import { type ChoiceOptions, type Chosen, checkChoice, choiceOptions, chosenSpans } from '../chosen-windows.ts';
import { type Definition, installation, waitDelivery, wholeNumber, yes } from '../command.ts';
import { type CommandContext, usageError } from '../context.ts';
import { ProgressBars } from '../progress.ts';
import { windowAnswer, windowBlock, windowsDocument } from '../render/window.ts';
import { deliverNow } from '../run-deliveries.ts';
import { exitCodeOf, notOpenedError } from '../run-windows.ts';
import { withApp } from '../with-app.ts';

interface Options extends ChoiceOptions {
  dryRun?: true;
  yes?: true;
  waitDelivery: number;
}

const records = z.strictObject({ invoice: z.number(), row: z.number(), payment: z.number(), prepayment: z.number() });

export const command: Definition<Options> = {
  description:
    'Reads windows, or times, again from the source. This is safe at any time: it moves no cursor of the live windows, and posts nothing twice. It prints the cost first; if the cost is high, it asks for confirmation on a terminal. Afterwards it prints the changes; usually there are none. A failed window that was read again is covered. `vetledger problems retry --failed` judges again from the mirror, without requests to the source.',
  options: [installation, ...choiceOptions, new Option('--dry-run', 'only print the cost'), yes, waitDelivery],
  examples: [
    ['vetledger replay --failed', 'failed windows that are not covered'],
    ['vetledger replay 1204 1205 --dry-run', 'the cost of two windows'],
    ['vetledger replay --installation 4711 --from 2026-03-01 --to 2026-03-02', 'a day of one installation'],
  ],
  answer: z.strictObject({
    windows: z.array(
      windowAnswer.extend({
        replayed: z.array(z.number()),
        changed: z.strictObject({
          versions: z.number(),
          posted: z.number(),
          corrected: z.number(),
          documents: z.array(z.string()),
        }),
      }),
    ),
    cost: z.array(
      z.strictObject({
        installation: z.number(),
        intervals: z.number(),
        records,
        lists: z.array(
          z.strictObject({
            action: z.string(),
            requests: z.number(),
            weight: z.number(),
            seconds: z.number(),
          }),
        ),
        requests: z.number(),
        weight: z.number(),
        seconds: z.number(),
        remarks: z.array(z.string()),
      }),
    ),
    left_out: z.array(z.string()),
  }),
  run: replay,
};

/** Above this cost, the command asks for confirmation on a terminal. */
const largeCost = { seconds: 600, weight: 1_000 };

/** A replayed interval and its changes. */
interface FinishedReplay extends ReplayedWindow {
  changed: ReplayChanges;
}

function replay(context: CommandContext, options: Options, names: readonly string[]): Promise<number> {
  const ids = names.map(windowId);
  checkChoice(options, [ids.length > 0], {
    message: usageTexts.replayWhat,
    command: 'replay',
  });
  return withApp(context, { temporal: options.dryRun !== true, handlesSignal: true }, async (app) => {
    const planned = await chosenSpans(app, options, ids, 'replay');
    const costs: ReplayCost[] = [];
    for (const { installation: id, spans } of planned) {
      if (spans.length === 0) continue;
      costs.push(await replayCost(app, installationOf(app.config, id), spans, context.signal));
    }
    const leftBefore = planned.flatMap(({ leftOut }) => leftOut);
    for (const each of leftBefore) context.note(replayTexts.omitted({ what: each }));
    const document = (windows: FinishedReplay[], leftOut: readonly string[] = []) => ({
      ...windowsDocument(windows),
      ...{ cost: costs, left_out: [...new Set([...leftBefore, ...leftOut])] },
    });
    const todo = planned.filter(({ spans }) => spans.length > 0);
    for (const each of todo) context.note(context.show(() => costText(each, costs, localTimes(app.config))));
    const notDone =
      todo.length === 0
        ? replayTexts[options.failed ? 'allCovered' : 'nothing']
        : options.dryRun
          ? replayTexts.dryRun
          : (await isAgreed(context, costs, options))
            ? null
            : replayTexts.refused;
    if (notDone !== null) {
      await context.result(document([]), () => notDone);
      return 0;
    }
    const { windows, leftOut } = await run(context, app, todo, options.waitDelivery);
    for (const each of leftOut.filter((one) => !leftBefore.includes(one)))
      context.note(replayTexts.omitted({ what: each }));
    await context.result(document(windows, leftOut), () =>
      windows.map((each) => replayBlock(each, localTimes(app.config))).join('\n\n'),
    );
    return exitCodeOf(windows);
  });
}

async function run(
  context: CommandContext,
  app: App,
  todo: readonly Chosen[],
  waitDeliverySeconds: number,
): Promise<{ windows: FinishedReplay[]; leftOut: string[] }> {
  const bars = new ProgressBars(context.io.stderr, context.language);
  const { windows, leftOut } = await replayNow(app, todo.map(requestOf), {
    onProgress: (progress) => bars.show({ ...progress, of: todo.length > 1 ? progress.installation : null }),
    afterWindows: async (engine) => {
      bars.end();
      const installations = todo.map((each) => each.installation);
      await deliverNow(context, app, engine, installations, { seconds: waitDeliverySeconds });
    },
    signal: context.signal,
  }).finally(() => bars.end());
  const [first] = windows;
  if (first?.failedToOpen && windows.every((window) => window.failedToOpen)) throw notOpenedError(first.failedToOpen);
  const finished: FinishedReplay[] = [];
  for (const replayed of windows) {
    const { installation: id, window, pulled, posted: entries } = replayed;
    const versions = Object.values(pulled).reduce((sum, n) => sum + n, 0);
    const changed = await replayChanges(app.db, { installation: id, window, versions, entries });
    finished.push({ ...replayed, changed });
  }
  return { windows: finished, leftOut };
}

/** The input of the workflow, as it could also be entered in the Temporal UI. */
function requestOf({ installation: id, wanted }: Chosen): ReplayRequest {
  switch (wanted.by) {
    case 'windows':
      return { installation: id, windows: [...wanted.windows] };
    case 'failed':
      return { installation: id, failed: true };
    case 'times':
      return { installation: id, from: wanted.from.toISOString(), to: wanted.to.toISOString() };
  }
}

/** Asks for confirmation of a high cost. Without a terminal, the replay runs without a question. */
async function isAgreed(context: CommandContext, costs: readonly ReplayCost[], options: Options): Promise<boolean> {
  const isLarge = costs.some(({ seconds, weight }) => seconds > largeCost.seconds || weight > largeCost.weight);
  if (options.yes || !isLarge) return true;
  return (await context.confirm(replayTexts.question)) ?? true;
}

function windowId(name: string): number {
  if (!/^\d{1,15}$/.test(name)) throw usageError(usageTexts.noWindow({ text: name }), 'replay');
  return wholeNumber(name);
}

/** The intervals of an installation that will be read, and the cost. */
function costText({ installation: id, spans }: Chosen, costs: readonly ReplayCost[], times: LocalTimes): string {
  const lines = [
    replayTexts.spans({
      installation: id,
      spans: spans.map((span) => spanText(span, (time) => times(id, time))).join('; '),
    }),
  ];
  const cost = costs.find((each) => each.installation === id);
  if (cost === undefined) return lines.join('\n');
  lines.push(...costLines(cost).map((line) => `  ${line}`));
  return lines.join('\n');
}

/** One replayed interval as a block of lines. */
function replayBlock(replayed: FinishedReplay, times: LocalTimes): string {
  const { changed, replayed: windows } = replayed;
  const parts = [
    ...(changed.versions > 0 ? [count(changed.versions, 'newVersion')] : []),
    ...(changed.posted > 0 ? [replayTexts.posted({ documents: count(changed.posted, 'document') })] : []),
    ...(changed.corrected > 0 ? [replayTexts.corrected({ documents: count(changed.corrected, 'document') })] : []),
  ];
  return windowBlock(replayed, times, [
    ...(windows.length > 0 ? [[fieldTitles.replayed, windowsText(windows)] as const] : []),
    [fieldTitles.changed, parts.length > 0 ? parts.join(', ') : replayTexts.unchanged],
    ...changed.documents.map((document) => ['', document] as const),
  ]);
}
