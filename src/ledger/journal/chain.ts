import { createHash } from 'node:crypto';
import { integer, text } from '../../db/columns.ts';
import { type Connection, execute, row } from '../../db/rows.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';

/** The latest link of a hash chain: its position, from 1, and its hash. */
export interface ChainHead {
  seq: number;
  hash: string;
}

export const closeKinds = ['close', 'reopen'] as const;

/** A close of our books, or a reopening, as a link of the journal's chain. */
export interface Close {
  installation: InstallationId;
  seq: number;
  kind: (typeof closeKinds)[number];
  /** The last closed day after this close or reopening. */
  through: CalendarDate;
  /** The JSON text that was hashed (src/ledger/close.ts). */
  details: string;
  /** Number of entries before this close. */
  entries: number;
  /** Position of the last daily summary before this close, and its hash; 0 and `chainStart` if there is none. */
  summaries: number;
  summaryHash: string;
  previousHash: string;
  hash: string;
}

/**
 * Locks the journal's chain until the end of the transaction. Two writers would otherwise continue from the same head.
 */
export async function holdChain(trx: Connection, installation: InstallationId): Promise<void> {
  await execute(trx, 'select hold_chain(?)', [installation]);
}

/** Position and hash of the latest entry or close of an installation; 0 and `chainStart` if there is none. */
export function chainHead(db: Connection, installation: InstallationId): Promise<ChainHead> {
  return row(db, { seq: integer, hash: text }, 'select seq, hash from chain_head(?)', [installation]);
}

/** sha256 of the previous hash and the facts of the close, in hex. The SQL function chain_close computes the same. */
export function closeHash(previousHash: string, close: Omit<Close, 'hash' | 'previousHash'>): string {
  const { installation, seq, kind, through, details, entries, summaries, summaryHash } = close;
  const content = [kind, installation, seq, through, entries, summaries, summaryHash, sha256(details)];
  return sha256(`${previousHash}\n${content.join(' ')}`);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
