import { z } from 'zod';
import { type Line, reversedLines, signed } from '../domain/entry.ts';
import { type Money, zero } from '../domain/money.ts';
import { declinedProblem } from '../domain/problems.ts';
import type { CalendarDate } from '../terms.ts';
import type { LockDateSource } from './lock-dates.ts';
import type { RemappedDocument } from './preview.ts';

/** What a mapping would change in the books, as an action stores it. */
export const mappingPreview = z.object({
  counts: z.object({
    same: z.number(),
    corrected: z.number(),
    change_held: z.number(),
    held: z.number(),
    left: z.number(),
  }),
  /**
   * By month and account, debits positive. `closed`: corrections in closed periods, which are held, by the month of the document.
   * The others are posted, by the month of the entries.
   */
  moves: z.array(z.object({ closed: z.boolean(), month: z.string(), account: z.string(), change: z.string() })),
  /** Documents that the mapping cannot post, by cause. */
  kept: z.array(z.object({ cause: z.string(), documents: z.number() })),
});
export type MappingPreview = z.infer<typeof mappingPreview>;

/** Lock dates as windows stored them. A preview of the daemon sends no request to the source. */
export const storedLocks: LockDateSource = { departmentSettings: async () => 'unknown' };

/** Adds up what a mapping would change. `signal` ends it between two batches. */
export async function summarisePreview(
  batches: AsyncIterable<readonly RemappedDocument[]>,
  signal: AbortSignal,
): Promise<MappingPreview> {
  const counts = { same: 0, corrected: 0, change_held: 0, held: 0, left: 0 };
  const moves = new Map<string, { closed: boolean; month: string; account: string; change: Money }>();
  const kept = new Map<string, number>();
  const add = (closed: boolean, day: CalendarDate, lines: readonly Line[]) => {
    for (const line of lines) {
      const { account } = line;
      const month = day.slice(0, 7);
      const key = JSON.stringify([closed, month, account]);
      moves.set(key, { closed, month, account, change: (moves.get(key)?.change ?? zero).plus(signed(line)) });
    }
  };
  for await (const batch of batches) {
    signal.throwIfAborted();
    for (const { document, remap } of batch) {
      const { outcome, decision, required } = remap;
      const { inForce } = document.before;
      counts[outcome] += 1;
      if (outcome === 'held')
        for (const cause of decision.problem?.causes ?? [decision.problem?.code ?? ''])
          kept.set(cause, (kept.get(cause) ?? 0) + 1);
      for (const { date, lines } of decision.entries) if (outcome === 'corrected') add(false, date, lines);
      if (outcome === 'change_held' && inForce !== null && decision.problem?.code !== declinedProblem)
        add(true, inForce.documentDate, [...reversedLines(inForce.lines), ...(required?.lines ?? [])]);
    }
  }
  return {
    counts,
    moves: [...moves]
      .filter(([, { change }]) => !change.isZero())
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, { change, ...move }]) => ({ ...move, change: change.toFixed() })),
    kept: [...kept].sort(([, a], [, b]) => b - a).map(([cause, documents]) => ({ cause, documents })),
  };
}

/** The corrections of a preview as canonical text, for the hash of what a person saw. Documents that stay the same do not count. */
export function shownPreview({ counts: { corrected, change_held }, moves, kept }: MappingPreview): string {
  return JSON.stringify([corrected, change_held, moves, kept]);
}
