import { type Db, query } from '../db/pool.ts';
import type { InstallationId } from '../terms.ts';
import { chainStart, entryHash } from './journal/chain.ts';
import { entriesBySeq } from './journal/read.ts';
import { summariesBySeq } from './summaries/store.ts';
import { summaryHash } from './summaries/summary.ts';

/** The first place where the books are not as they were written. */
export interface BrokenLink {
  /** Position in its chain, that of entries or that of daily summaries; null when what is missing had the chain's end. */
  seq: number | null;
  /** The entry, or the daily summary. */
  entryId: string;
  message: string;
}

/**
 * Walks an installation's hash chain from its first entry and returns the first broken link, or null when the books are as
 * they were written. Entries cut off at the end leave a sound chain, so the documents that name them are asked, too. The
 * chain of daily summaries comes after it: each is hashed over its lines and its entries' hashes.
 */
export async function verifyChain(db: Db, installation: InstallationId): Promise<BrokenLink | null> {
  let seq = 0;
  let hash = chainStart;
  for await (const entry of entriesBySeq(db, installation)) {
    const broken = (message: string): BrokenLink => ({ seq: entry.seq, entryId: entry.id, message });
    seq += 1;
    if (entry.seq !== seq) return broken(`entry ${seq} of the chain is missing; the next one there is ${entry.seq}`);
    if (entry.id !== `${installation}/${entry.document.kind}/${entry.document.id}/${entry.n}`) {
      return broken('its id does not fit its document');
    }
    if (entry.previousHash !== hash) return broken('it does not follow the entry before it');
    hash = entryHash(hash, entry);
    if (entry.hash !== hash) return broken('its content is not what was posted');
  }
  return (await missingEnd(db, installation)) ?? (await brokenSummary(db, installation));
}

async function missingEnd(db: Db, installation: InstallationId): Promise<BrokenLink | null> {
  const rows = await query<{ kind: string; id: number; entry_id: string }>(
    db,
    `select d.kind, d.id, d.entry_id from document d
     where d.installation = ? and d.entry_id is not null and not exists (select from entry e where e.id = d.entry_id)
     order by d.kind, d.id limit 1`,
    [installation],
  );
  const row = rows[0];
  if (row === undefined) return null;
  return {
    seq: null,
    entryId: row.entry_id,
    message: `${row.kind} ${row.id} has this entry, but it is not in the ledger`,
  };
}

async function brokenSummary(db: Db, installation: InstallationId): Promise<BrokenLink | null> {
  let seq = 0;
  let hash = chainStart;
  for await (const summary of summariesBySeq(db, installation)) {
    const broken = (message: string): BrokenLink => ({ seq: summary.seq, entryId: summary.id, message });
    seq += 1;
    if (summary.seq !== seq) return broken(`daily summary ${seq} is missing; the next one there is ${summary.seq}`);
    if (summary.previousHash !== hash) return broken('it does not follow the daily summary before it');
    hash = summaryHash(hash, summary);
    if (summary.hash !== hash) return broken('its lines or its entries are not those that it was made of');
  }
  return null;
}
