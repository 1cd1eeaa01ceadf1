import type { Connection } from '../db/rows.ts';
import { monthBounds } from '../domain/dates.ts';
import type { InstallationId } from '../terms.ts';
import { type RecordedClose, recordedCloses } from './close.ts';
import type { BooksHead } from './head.ts';
import { type Close, closesBySeq } from './journal/chain.ts';
import { type Seal, sealsOf } from './seals.ts';

/** The last close of a month, as a link of the chain. */
export interface ClosedMonth {
  close: RecordedClose;
  /** The head of the books with the close as their last link. */
  head: BooksHead;
  /** Made in the transaction of the close; null without a key. */
  seal: Seal | null;
  /** The reopening after which the month is open again; null if it is closed. */
  reopened: RecordedClose | null;
  /** The closes and reopenings up to the close: as links of the chain, and as actions of people. */
  links: Close[];
  closes: RecordedClose[];
}

/** The last close of a month; null if the month was never closed to its end. */
export async function closeOfMonth(
  db: Connection,
  installation: InstallationId,
  month: string,
): Promise<ClosedMonth | null> {
  const recorded = await recordedCloses(db, installation);
  const found = lastCloseOf(recorded, monthBounds(month).through);
  if (found === null) return null;
  const { seq } = found.close;
  const links = (await closesBySeq(db, installation)).filter((each) => each.seq <= seq);
  const { entries, hash, summaries, summaryHash } = links.at(-1) as Close;
  const [seal = null] = await sealsOf(db, installation, seq);
  return {
    ...found,
    ...{ seal, links, closes: recorded.filter((each) => each.seq <= seq) },
    head: { installation, seq, entries, hash, summaries, summaryHash },
  };
}

/** The close that closed the day for the last time, and the reopening after it. */
export function lastCloseOf(
  recorded: readonly RecordedClose[],
  day: string,
): Pick<ClosedMonth, 'close' | 'reopened'> | null {
  let close: RecordedClose | null = null;
  let reopened: RecordedClose | null = null;
  for (const each of recorded) {
    const isClosed = each.through >= day;
    if (isClosed && (close === null || reopened !== null)) [close, reopened] = [each, null];
    else if (!isClosed && close !== null) reopened ??= each;
  }
  return close && { close, reopened };
}
