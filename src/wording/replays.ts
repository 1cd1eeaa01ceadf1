import { about } from '../domain/durations.ts';
import { shown } from '../languages/language.ts';
import type { ReadingCost } from '../queries/asked-windows.ts';
import type { Span } from '../sync/replay/spans.ts';
import { recordKinds } from '../terms.ts';
import { labels } from '../texts/commands/labels.ts';
import { replayTexts, windowTexts } from '../texts/commands/windows.ts';
import { count, type TimeText } from './words.ts';

/** The cost of a replay or backfill: the sum, a line for each list, and the reasons for a higher cost. */
export function costLines(cost: ReadingCost): string[] {
  const toRead = recordKinds.map((kind) => count(cost.records[kind], kind)).join(', ');
  const of = { requests: count(cost.requests, 'request'), weight: cost.weight, time: shown(about(cost.seconds)) };
  return [
    replayTexts.cost({ ...of, records: toRead }),
    ...cost.lists.map(({ action, requests, weight }) => {
      const text = replayTexts.ofList({ requests: count(requests, 'request'), weight });
      return `  ${action.padEnd(24)} ${text}`;
    }),
    ...[...new Set(cost.remarks)].map((text) => shown(text)),
  ];
}

/** An interval that is read again, with the windows that it repeats. */
export function spanText({ invoice: { from, to }, windows }: Span, at: TimeText): string {
  const start = from === null ? windowTexts.beginning : at(new Date(from));
  return `${windowTexts.interval({ from: start, to: at(new Date(to)) })}${windows.length > 0 ? ` (${windowsText(windows)})` : ''}`;
}

export function windowsText(windows: readonly number[]): string {
  const list = windows.slice(0, 10).join(', ');
  return labels.windows({ count: windows.length, list: `${list}${windows.length > 10 ? ', …' : ''}` });
}
