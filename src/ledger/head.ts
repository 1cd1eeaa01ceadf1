import { integer, text } from '../db/columns.ts';
import { type Connection, row } from '../db/rows.ts';
import type { InstallationId } from '../terms.ts';

/**
 * The end of an installation's books. A copy of it, kept elsewhere, later shows whether the books still contain this
 * point.
 */
export interface BooksHead {
  installation: InstallationId;
  /** Position of the journal's latest entry or close, and its hash. Empty books have 0 and zeros. */
  seq: number;
  hash: string;
  /** Number of entries up to this position. */
  entries: number;
  /** Position of the latest daily summary, and its hash; 0 and zeros if there is none. */
  summaries: number;
  summaryHash: string;
}

/** Reads the head in one statement, so that its parts fit together. */
export async function booksHead(db: Connection, installation: InstallationId): Promise<BooksHead> {
  const { summary_hash: summaryHash, ...head } = await row(
    db,
    { seq: integer, hash: text, entries: integer, summaries: integer, summary_hash: text },
    // The chain has no gaps, so every link that is not a close is an entry.
    `select head.seq, head.hash, head.seq - (select count(*) from ledger_close where installation = ?) as entries,
       coalesce(last.seq, 0) as summaries, coalesce(last.hash, repeat('0', 64)) as summary_hash
     from chain_head(?) head
     left join (select seq, hash from summary_entry where installation = ? order by seq desc limit 1) last on true`,
    [installation, installation, installation],
  );
  return { installation, ...head, summaryHash };
}

/** A head as one line of text, for signatures. */
export function headLine({ installation, seq, entries, hash, summaries, summaryHash }: BooksHead): string {
  return `installation ${installation} seq ${seq} entries ${entries} head ${hash} summaries ${summaries} summary-head ${summaryHash}`;
}

/** Finds a `headLine` in a text. */
export const headPattern =
  'installation (?<installation>\\d+) seq (?<seq>\\d+) entries (?<entries>\\d+) head (?<hash>[0-9a-f]{64}) summaries (?<summaries>\\d+) summary-head (?<summaryHash>[0-9a-f]{64})';

/** The head that `headPattern` found. */
export function headOf(groups: Record<string, string>): BooksHead {
  const { installation, seq, entries, hash = '', summaries, summaryHash = '' } = groups;
  return {
    installation: Number(installation),
    seq: Number(seq),
    hash,
    entries: Number(entries),
    summaries: Number(summaries),
    summaryHash,
  };
}
