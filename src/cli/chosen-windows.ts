import { Option } from 'commander';
import { UserError } from '../domain/errors.ts';
import { type App, chosenInstallations } from '../runtime/app.ts';
import { installationsOfWindows } from '../sync/replay/noted-windows.ts';
import { leftOutText, planReplay, type ReplayChoice, replayTime } from '../sync/replay/plan.ts';
import type { Span } from '../sync/replay/spans.ts';
import type { InstallationId } from '../terms.ts';
import { usageError } from './context.ts';

/** How `replay` and `problems retry` name windows, or times. */
export interface ChoiceOptions {
  installation?: number;
  failed?: true;
  from?: string;
  to?: string;
}

export const choiceOptions = [
  new Option('--failed', 'every failed window that nothing covers yet'),
  new Option(
    '--from <time>',
    'from this time of the source on: 2026-03-01T08:00:00Z, or a day; widened to whole windows',
  ),
  new Option('--to <time>', 'up to this time'),
];

/** What was chosen of an installation. */
export interface Chosen {
  installation: InstallationId;
  wanted: ReplayChoice;
  spans: Span[];
  /** Failed windows that are left out, and why. */
  leftOut: string[];
}

/** The intervals of each installation that were chosen: by windows, by `--failed` or by `--from` and `--to`. Throws UserError. */
export async function chosenSpans(
  { config, db, clock }: App,
  options: ChoiceOptions,
  windows: readonly number[],
  command: string,
): Promise<Chosen[]> {
  const chosen = chosenInstallations(config, options.installation);
  const owners = await installationsOfWindows(db, windows);
  const unknown = windows.filter((id) => !chosen.some((each) => each.id === owners.get(id)));
  if (unknown.length > 0) {
    throw new UserError(
      {
        code: 'window_unknown',
        message: `there is no window ${unknown.join(', ')}${options.installation === undefined ? '' : ` of installation ${options.installation}`}`,
        todo: '`vetledger windows --limit 100` lists them',
      },
      1,
    );
  }
  const all: Chosen[] = [];
  for (const { id, overlapSeconds, timezone } of chosen) {
    const own = windows.filter((each) => owners.get(each) === id);
    if (windows.length > 0 && own.length === 0) continue;
    const wanted = wantedOf(options, own, timezone);
    if (wanted.by === 'times' && wanted.from > wanted.to)
      throw usageError(`--from ${options.from} is after --to ${options.to}.`, command);
    const { spans, leftOut } = await planReplay(db, id, wanted, { overlapMs: overlapSeconds * 1000, now: clock() });
    all.push({ installation: id, wanted, spans, leftOut: leftOut.map(leftOutText) });
  }
  return all;
}

function wantedOf({ failed, from, to }: ChoiceOptions, windows: number[], timezone: string): ReplayChoice {
  if (windows.length > 0) return { by: 'windows', windows };
  if (failed) return { by: 'failed' };
  return { by: 'times', from: replayTime(from, timezone), to: replayTime(to, timezone) };
}

/** Throws ConfigError unless exactly one choice was made; `others`: further ways to choose that the command has, and were used. */
export function checkChoice(
  { failed, from, to }: ChoiceOptions,
  others: readonly boolean[],
  { todo, command }: { todo: string; command: string },
): void {
  const hasTimes = from !== undefined || to !== undefined;
  if ([...others, failed === true, hasTimes].filter(Boolean).length !== 1) throw usageError(todo, command);
  if (hasTimes && (from === undefined || to === undefined)) throw usageError('Give --from and --to together.', command);
}
