import type { InstallationConfig } from '../config/load-config.ts';
import { isCausedByData, retryingTransaction } from '../db/database-errors.ts';
import type { Transact } from '../db/lease.ts';
import type { Connection } from '../db/rows.ts';
import { claimThese } from '../documents/claim-documents.ts';
import { markedIds, markedPaymentsOf } from '../documents/marked.ts';
import { noteJudged } from '../documents/save.ts';
import type { DocumentKind } from '../terms.ts';
import { judgingBatch } from './judge-documents.ts';
import { postClaimed } from './post.ts';
import type { ContextFor } from './posting-context.ts';

/** What posting requires while a first load reads its lists (DESIGN "Sync"). */
export interface LoadPoster {
  db: Connection;
  installation: InstallationConfig;
  contextFor: ContextFor;
  windowId: number | null;
  /** Runs one transaction per batch. */
  transact: Transact;
}

/** Prepayments per pass. Their write-back takes most of the rate budget and begins after the first pass. */
const prepaymentsAtOnce = 1_000;

/**
 * Posts the next prepayments that were not judged yet, if nothing unread can change their entries. Returns the number
 * of appended entries, and whether more prepayments wait.
 */
export async function postPrepaymentsInLoad(poster: LoadPoster): Promise<{ entries: number; isMore: boolean }> {
  const { db, installation } = poster;
  let entries = 0;
  let judged = 0;
  for (let after = 0; judged < prepaymentsAtOnce; ) {
    const next = { after, limit: judgingBatch, neverJudged: true };
    const ids = await markedIds(db, installation.id, 'prepayment', next);
    const last = ids.at(-1);
    if (last === undefined) return { entries, isMore: false };
    entries += await postCertain(poster, 'prepayment', ids);
    judged += ids.length;
    after = last;
  }
  return { entries, isMore: true };
}

/**
 * Posts these invoices and their payments, if nothing unread can change their entries. Returns the number of appended
 * entries.
 */
export async function postInvoicesInLoad(poster: LoadPoster, invoices: readonly number[]): Promise<number> {
  const entries = await postCertain(poster, 'invoice', invoices);
  const payments = await markedPaymentsOf(poster.db, poster.installation.id, invoices);
  return entries + (await postCertain(poster, 'payment', payments));
}

/** If a batch fails because of its data, the window finds the faulty document when it closes. */
async function postCertain(
  { installation, contextFor, windowId, transact }: LoadPoster,
  kind: DocumentKind,
  ids: readonly number[],
): Promise<number> {
  if (ids.length === 0) return 0;
  const documents = ids.map((id) => ({ kind, id }));
  try {
    const { entries } = await retryingTransaction(transact, async (trx) => {
      const claimed = await claimThese(trx, installation.id, documents);
      // Documents that were posted before are corrected when everything is read.
      const first = claimed.filter(({ entryCount }) => entryCount === 0);
      await noteJudged(trx, installation.id, kind, ids);
      return postClaimed(trx, installation, contextFor, windowId, first, { finalRound: false, onlyCertain: true });
    });
    return entries;
  } catch (error) {
    if (!isCausedByData(error)) throw error;
    return 0;
  }
}
