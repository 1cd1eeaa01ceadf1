import type { ReadingRequest } from '../queries/asked-windows.ts';
import type { Gap } from '../sync/replay/gaps.ts';
import { streamNames } from '../sync/streams.ts';
import type { InstallationId } from '../terms.ts';
import { windowListTexts as texts, windowTexts } from '../texts/commands/windows.ts';
import { codeWord, type TimeText } from './words.ts';

/** The records of a gap, such as `rows changed from … to …`. */
export function gapText(gap: Gap, at: TimeText): string {
  const list = codeWord(streamNames[gap.stream]);
  return gap.stream === 'payment'
    ? texts.withIds({ list, from: gap.from ?? 0, to: gap.to })
    : texts.changed({
        ...{ list, from: gap.from === null ? windowTexts.beginning : at(new Date(gap.from)) },
        to: at(new Date(gap.to)),
      });
}

/** The reading that closes a gap. */
export function readingOf(gap: Gap): Extract<ReadingRequest, { read: 'times' | 'backfill' }> {
  const [from, to] =
    gap.stream === 'payment'
      ? [gap.since, gap.until]
      : [gap.from === null ? null : new Date(gap.from), new Date(gap.to)];
  if (from === null || gap.from === null) return { read: 'backfill', from: null };
  const end = to ?? new Date(from.getTime() + 1);
  return { read: 'times', from: from.toISOString(), to: end.toISOString() };
}

/** The command that reads a gap. */
export function remedyOf(installation: InstallationId, gap: Gap): string {
  const reading = readingOf(gap);
  if (reading.read === 'backfill') return `vetledger backfill --installation ${installation}`;
  return `vetledger replay --installation ${installation} --from ${reading.from} --to ${reading.to}`;
}
