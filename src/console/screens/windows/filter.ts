import { dayAfter, instantOf } from '../../../domain/dates.ts';
import type { WindowFilter } from '../../../queries/windows.ts';
import { dayIn } from '../../parts/pages.ts';

const kinds = ['window', 'backfill', 'replay'] as const;
export const windowKinds: readonly string[] = kinds;

/** Reads the fields of the form. Fields with a fault count as empty. Days are those of the clinic's zone. */
export function readFilter(query: Readonly<Record<string, string>>, timezone: string): WindowFilter {
  const [from, to] = [dayIn(query, 'from'), dayIn(query, 'to')];
  return {
    failedOnly: query.outcome === 'failed',
    kind: kinds.find((each) => each === query.kind) ?? null,
    from: from === null ? null : instantOf(from, timezone),
    to: to === null ? null : instantOf(dayAfter(to), timezone),
  };
}

/** Days that a time line shows. */
export const lineDays = { day: 1, week: 7, month: 30 } as const;
export type LineSpan = keyof typeof lineDays;

export function readSpan(query: Readonly<Record<string, string>>): LineSpan {
  return (Object.keys(lineDays) as LineSpan[]).find((each) => each === query.span) ?? 'day';
}
