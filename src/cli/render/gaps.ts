import type { Gap } from '../../sync/replay/coverage.ts';
import type { GapReport } from '../../sync/replay/coverage-of.ts';
import { streamNames } from '../../sync/streams.ts';
import type { InstallationId } from '../../terms.ts';
import { instant } from './text.ts';

type InstallationGaps = GapReport & { installation: InstallationId };

export function gapsDocument(reports: readonly InstallationGaps[]) {
  return {
    ok: reports.every(({ gaps }) => gaps.length === 0),
    installations: reports.map(({ installation, since, gaps }) => ({
      ...{ installation, ok: gaps.length === 0, since },
      gaps: gaps.map((gap) => ({
        stream: streamNames[gap.stream],
        ...(gap.stream === 'payment'
          ? { from_id: gap.from, to_id: gap.to, from: gap.since, to: gap.until }
          : { from: timeOf(gap.from), to: timeOf(gap.to) }),
        todo: `run \`${remedyOf(installation, gap)}\``,
      })),
    })),
  };
}

/** One installation's check, a line for each gap. */
export function gapsText({ installation, since, gaps }: InstallationGaps): string {
  if (since === null) return `Installation ${installation}: no window has noted what it read yet.`;
  if (gaps.length === 0) return `Installation ${installation}: no gap since ${instant(since)}.`;
  return gaps
    .map((gap) => {
      const of = `Installation ${installation}: no window has read the ${streamNames[gap.stream]}`;
      const what =
        gap.stream === 'payment'
          ? `with ids above ${gap.from ?? 0} up to ${gap.to}`
          : `changed from ${gap.from === null ? 'the beginning' : instant(new Date(gap.from))} to ${instant(new Date(gap.to))}`;
      return `${of} ${what}. What to do: \`${remedyOf(installation, gap)}\``;
    })
    .join('\n');
}

function remedyOf(installation: InstallationId, gap: Gap): string {
  const [from, to] = gap.stream === 'payment' ? [gap.since, gap.until] : [timeOf(gap.from), timeOf(gap.to)];
  if (from === null || gap.from === null) return `vetledger backfill --installation ${installation}`;
  const end = to ?? new Date(from.getTime() + 1);
  return `vetledger replay --installation ${installation} --from ${from.toISOString()} --to ${end.toISOString()}`;
}

function timeOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
