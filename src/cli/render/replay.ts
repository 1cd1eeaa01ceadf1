import type { ReplayedWindow } from '../../../workflows/messages.ts';
import type { ReplayChanges } from '../../queries/replay-changes.ts';
import type { ReplayCost } from '../../queries/replay-cost.ts';
import type { Span } from '../../sync/replay/targets.ts';
import { streamNames } from '../../sync/streams.ts';
import { recordKinds } from '../../terms.ts';
import { about, count, instant } from './text.ts';
import { windowBlock, windowsDocument } from './window.ts';

/** A replayed interval and what it has changed. */
export interface ToldReplay extends ReplayedWindow {
  changed: ReplayChanges;
}

export function replayDocument(
  windows: readonly ToldReplay[],
  costs: readonly ReplayCost[],
  leftOut: readonly string[],
) {
  return { ...windowsDocument([...windows]), cost: costs, left_out: leftOut };
}

/** What is about to be read of an installation, and what that costs. */
export function costText(installation: number, spans: readonly Span[], costs: readonly ReplayCost[]): string {
  const intervals = spans.map(({ invoice, windows }) => {
    const from = invoice.from === null ? 'the beginning' : instant(new Date(invoice.from));
    return `${from} to ${instant(new Date(invoice.to))}${windows.length > 0 ? ` (${windowsText(windows)})` : ''}`;
  });
  const lines = [`installation ${installation}: replays ${intervals.join('; ')}`];
  const cost = costs.find((each) => each.installation === installation);
  if (cost === undefined) return [...lines, '  nothing is asked of the source'].join('\n');
  const records = recordKinds.map((kind) => `${cost.records[kind]} ${streamNames[kind]}`).join(', ');
  lines.push(
    `  cost: ${count(cost.requests, 'request')}, weight ${cost.weight}, ${about(cost.seconds)} by the rate budget (${records})`,
  );
  for (const { action, requests, weight } of cost.lists) {
    lines.push(`    ${action.padEnd(24)} ${count(requests, 'request')}, weight ${weight}`);
  }
  for (const remark of new Set(cost.remarks)) lines.push(`  ${remark}`);
  return lines.join('\n');
}

function windowsText(windows: readonly number[]): string {
  const shown = windows.slice(0, 10).join(', ');
  return `window${windows.length > 1 ? 's' : ''} ${shown}${windows.length > 10 ? ', …' : ''}`;
}

/** One replayed interval as a block of lines. */
export function replayBlock(replay: ToldReplay): string {
  const { changed, replayed } = replay;
  const lines = [windowBlock(replay)];
  if (replayed.length > 0) lines.push(`  replayed      ${windowsText(replayed)}`);
  const parts = [
    ...(changed.versions > 0 ? [count(changed.versions, 'new version')] : []),
    ...(changed.posted > 0 ? [`${count(changed.posted, 'document')} posted`] : []),
    ...(changed.corrected > 0 ? [`${count(changed.corrected, 'document')} corrected`] : []),
  ];
  lines.push(`  changed       ${parts.length > 0 ? parts.join(', ') : 'nothing'}`);
  for (const document of changed.documents) lines.push(`                ${document}`);
  return lines.join('\n');
}
