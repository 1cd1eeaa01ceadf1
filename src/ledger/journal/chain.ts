import { createHash } from 'node:crypto';
import { date, integer, oneOf, text } from '../../db/columns.ts';
import { type Connection, execute, row, rows } from '../../db/rows.ts';
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

/** The closes and reopenings of an installation in the order of the chain. */
export async function closesBySeq(db: Connection, installation: InstallationId): Promise<Close[]> {
  const found = await rows(
    db,
    {
      seq: integer,
      kind: oneOf(closeKinds),
      through: date,
      details: text,
      entries: integer,
      summaries: integer,
      summary_hash: text,
      previous_hash: text,
      hash: text,
    },
    `select seq, kind, through, details, entries, summaries, summary_hash, previous_hash, hash from ledger_close
     where installation = ? order by seq`,
    [installation],
  );
  return found.map(({ summary_hash: summaryHash, previous_hash: previousHash, ...close }) => ({
    installation,
    ...close,
    summaryHash,
    previousHash,
  }));
}

/** The text of a close that is hashed: its facts, and the sha256 of its details. */
export function canonicalClose(close: Omit<Close, 'hash' | 'previousHash'>): string {
  const { installation, seq, kind, through, details, entries, summaries, summaryHash } = close;
  return [kind, installation, seq, through, entries, summaries, summaryHash, sha256(details)].join(' ');
}

/** sha256 of the previous hash and the facts of the close, in hex. The SQL function chain_close computes the same. */
export function closeHash(previousHash: string, close: Omit<Close, 'hash' | 'previousHash'>): string {
  return sha256(`${previousHash}\n${canonicalClose(close)}`);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
