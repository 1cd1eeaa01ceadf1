import { Option } from 'commander';
import { UserError } from '../domain/errors.ts';
import { type App, chosenInstallations } from '../runtime/app.ts';
import { installationsOfWindows } from '../sync/replay/noted-windows.ts';
import { leftOutText, planReplay, type ReplayChoice, replayTime } from '../sync/replay/plan.ts';
import type { Span } from '../sync/replay/spans.ts';
import type { InstallationId } from '../terms.ts';
import { usageTexts } from '../texts/commands/usage.ts';
import { commandErrors } from '../texts/errors/commands.ts';
import { usageError } from './context.ts';

/** Options of `replay` and `problems retry` that choose windows or times. */
export interface ChoiceOptions {
  installation?: number;
  failed?: true;
  from?: string;
  to?: string;
}

export const choiceOptions = [
  new Option('--failed', 'every failed window that is not covered yet'),
  new Option(
    '--from <time>',
    'from this time of the source on: 2026-03-01T08:00:00Z, or a day; extended to whole windows',
  ),
  new Option('--to <time>', 'up to this time'),
];

/** The chosen intervals of an installation. */
export interface Chosen {
  installation: InstallationId;
  wanted: ReplayChoice;
  spans: Span[];
  /** Failed windows that are omitted, with the reason. */
  leftOut: string[];
}

/** The chosen intervals of each installation. Throws UserError for an unknown window or a wrong range. */
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
      commandErrors.windowUnknown({ windows: unknown.join(', '), installation: options.installation ?? null }),
      1,
    );
  }
  const all: Chosen[] = [];
  for (const { id, overlapSeconds, timezone } of chosen) {
    const own = windows.filter((each) => owners.get(each) === id);
    if (windows.length > 0 && own.length === 0) continue;
    const wanted = wantedOf(options, own, timezone);
    if (wanted.by === 'times' && wanted.from > wanted.to)
      throw usageError(usageTexts.fromAfterTo({ from: String(options.from), to: String(options.to) }), command);
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

/** Throws ConfigError unless exactly one way to choose was used. `others`: whether the command's other ways were used. */
export function checkChoice(
  { failed, from, to }: ChoiceOptions,
  others: readonly boolean[],
  { message, command }: { message: string; command: string },
): void {
  const hasTimes = from !== undefined || to !== undefined;
  if ([...others, failed === true, hasTimes].filter(Boolean).length !== 1) throw usageError(message, command);
  if (hasTimes && (from === undefined || to === undefined)) throw usageError(usageTexts.fromAndTo, command);
}
