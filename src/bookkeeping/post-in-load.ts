import type { InstallationConfig } from '../config/load-config.ts';
import { isOfTheData, retryingTransaction } from '../db/database-errors.ts';
import type { Transact } from '../db/lease.ts';
import type { Connection } from '../db/rows.ts';
import { claimThese } from '../documents/claim-documents.ts';
import { markedIds, markedPaymentsOf } from '../documents/marked.ts';
import type { DocumentRef } from '../terms.ts';
import { judgingBatch } from './judge-documents.ts';
import { postClaimed } from './post.ts';
import type { ContextFor } from './posting-context.ts';

/** What posts while a first load reads its lists (DESIGN "Sync"). */
export interface LoadPoster {
  db: Connection;
  installation: InstallationConfig;
  contextFor: ContextFor;
  windowId: number | null;
  /** Each batch is one of its transactions. */
  transact: Transact;
}

/**
 * Posts the prepayments with ids above `after` that are certain already. Returns how many entries were appended, and the last id that was
 * looked at.
 */
export async function postPrepaymentsInLoad(
  poster: LoadPoster,
  after: number,
): Promise<{ entries: number; last: number }> {
  const { db, installation } = poster;
  let [entries, last] = [0, after];
  for (;;) {
    const ids = await markedIds(db, installation.id, 'prepayment', { after: last, limit: judgingBatch });
    const highest = ids.at(-1);
    if (highest === undefined) return { entries, last };
    entries += await postCertain(
      poster,
      ids.map((id) => ({ kind: 'prepayment', id })),
    );
    last = highest;
  }
}

/** Posts those of these invoices, and of their payments, that are certain already. Returns how many entries were appended. */
export async function postInvoicesInLoad(poster: LoadPoster, invoices: readonly number[]): Promise<number> {
  const entries = await postCertain(
    poster,
    invoices.map((id) => ({ kind: 'invoice', id })),
  );
  const payments = await markedPaymentsOf(poster.db, poster.installation.id, invoices);
  return (
    entries +
    (await postCertain(
      poster,
      payments.map((id) => ({ kind: 'payment', id })),
    ))
  );
}

/** A batch that cannot be posted for what is in it is left to the close of the window, which finds the document. */
async function postCertain(
  { installation, contextFor, windowId, transact }: LoadPoster,
  documents: readonly DocumentRef[],
): Promise<number> {
  if (documents.length === 0) return 0;
  try {
    const { entries } = await retryingTransaction(transact, async (trx) => {
      const claimed = await claimThese(trx, installation.id, documents);
      // What was posted before is corrected when everything is read.
      const first = claimed.filter(({ entryCount }) => entryCount === 0);
      return postClaimed(trx, installation, contextFor, windowId, first, { finalRound: false, onlyCertain: true });
    });
    return entries;
  } catch (error) {
    if (!isOfTheData(error)) throw error;
    return 0;
  }
}
