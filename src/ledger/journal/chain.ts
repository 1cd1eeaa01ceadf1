import { createHash } from 'node:crypto';
import { integer, text } from '../../db/columns.ts';
import { type Connection, execute, row } from '../../db/rows.ts';
import type { CalendarDate, InstallationId } from '../../terms.ts';

/** The latest link of a chain: its place, from 1, and its hash. */
export interface ChainHead {
  seq: number;
  hash: string;
}

export const closeKinds = ['close', 'reopen'] as const;

/** A close of our own books, or a reopening, as a link of the journal's chain. */
export interface Close {
  installation: InstallationId;
  seq: number;
  kind: (typeof closeKinds)[number];
  /** The last closed day after it. */
  through: CalendarDate;
  /** JSON text, as it was hashed (src/ledger/close.ts). */
  details: string;
  /** Entries posted before it. */
  entries: number;
  /** The last daily summary before it, and its hash; 0 and `chainStart` without one. */
  summaries: number;
  summaryHash: string;
  previousHash: string;
  hash: string;
}

/** Holds the journal's chain until the end of the transaction: two writers would both continue from the same head. */
export async function holdChain(trx: Connection, installation: InstallationId): Promise<void> {
  await execute(trx, 'select hold_chain(?)', [installation]);
}

/** The latest entry or close of an installation; 0 and `chainStart` without one. */
export function chainHead(db: Connection, installation: InstallationId): Promise<ChainHead> {
  return row(db, { seq: integer, hash: text }, 'select seq, hash from chain_head(?)', [installation]);
}

/** sha256 of the previous hash and what the close says, in hex; the function chain_close of the database makes the same. */
export function closeHash(previousHash: string, close: Omit<Close, 'hash' | 'previousHash'>): string {
  const { installation, seq, kind, through, details, entries, summaries, summaryHash } = close;
  const content = [kind, installation, seq, through, entries, summaries, summaryHash, sha256(details)];
  return sha256(`${previousHash}\n${content.join(' ')}`);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
