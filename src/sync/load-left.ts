import { between } from '../domain/durations.ts';
import { actionOf, externalIdActionOf, limitOf } from '../records/dialect.ts';
import { type RecordKind, recordKinds } from '../terms.ts';
import { loadTexts } from '../texts/reports/load.ts';
import { readDefaultPageSizes } from './capabilities/server.ts';
import type { PullContext } from './context.ts';
import { estimateList, savingSeconds } from './load-estimate.ts';
import { recordsLeft } from './records-left.ts';

/** The progress of a first load, and the time that the rest will take. */
export interface LoadLeft {
  lists: Record<RecordKind, { received: number; left: number }>;
  /** `least` follows from the rate budgets alone, `most` from the speed so far. */
  seconds: { least: number; most: number };
}

/**
 * The rest of a first load that began `elapsedSeconds` ago. Null if the size of a list is not known yet. `writes` is
 * the number of prepayments whose entry ids must be written back.
 */
export async function loadLeft(
  { db, installation, dialect, owner }: PullContext,
  { writes, windowSeconds, elapsedSeconds }: { writes: number; windowSeconds: number; elapsedSeconds: number },
): Promise<LoadLeft | null> {
  const found = await recordsLeft(db, installation, owner, null);
  if (found === null) return null;
  const pageSizes = await readDefaultPageSizes(db, installation, dialect);
  const pace = { maxPageSize: dialect.max_page_size, windowSeconds, latencySeconds: savingSeconds };
  const none = { received: 0, left: 0 };
  const lists = { invoice: none, row: none, payment: none, prepayment: none };
  let least = Math.max(0, writes / limitOf(dialect, externalIdActionOf(dialect, 'prepayment')) - 1) * windowSeconds;
  let most = 0;
  for (const list of recordKinds) {
    const { received, left } = found[list];
    if (left === null) return null;
    const action = actionOf(dialect, list, 'list');
    const load = { action, records: left, limit: limitOf(dialect, action), defaultPageSize: pageSizes[list], busy: [] };
    least = Math.max(least, estimateList(load, pace).seconds);
    if (received > 0) most = Math.max(most, (elapsedSeconds * left) / received);
    lists[list] = { received, left };
  }
  return { lists, seconds: { least, most: Math.max(least, most) } };
}

/** For example `about 20 to 30 minutes; 4000 of 20000 invoices read, …`. It names the lists that are not finished. */
export function leftText({ lists, seconds }: LoadLeft): string {
  const underWay = recordKinds.filter((list) => lists[list].left > 0);
  const read = underWay.map((list) => {
    const { received, left } = lists[list];
    return loadTexts.received({ received, all: received + left, list });
  });
  return [between(seconds.least, seconds.most), ...(read.length === 0 ? [] : [read.join(', ')])].join('; ');
}
