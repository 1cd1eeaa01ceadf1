import { integer, oneOf, text } from '../db/columns.ts';
import { type Connection, maybeRow } from '../db/rows.ts';
import { entryId } from '../domain/entry.ts';
import { documentKinds, type InstallationId } from '../terms.ts';
import { chainStart, entryHash } from './journal/entry-hash.ts';
import { entriesBySeq } from './journal/read.ts';
import { summariesBySeq } from './summaries/read.ts';
import { summaryHash } from './summaries/summary-hash.ts';

/** The first entry or summary that is not as it was written. */
export interface BrokenLink {
  /** Position in the chain of entries or of daily summaries; null when the chain's end is missing. */
  seq: number | null;
  /** Id of the entry or of the daily summary. */
  entryId: string;
  message: string;
}

/**
 * Walks an installation's hash chain from its first entry and returns the first broken link, or null when the books are as they
 * were written. A chain without its last entries is still sound, so each entry that a document names must exist, too. Then the
 * chain of daily summaries is walked: each is hashed over its lines and its entries' hashes.
 */
export async function verifyChain(db: Connection, installation: InstallationId): Promise<BrokenLink | null> {
  let seq = 0;
  let hash = chainStart;
  for await (const entry of entriesBySeq(db, installation)) {
    const broken = (message: string): BrokenLink => ({ seq: entry.seq, entryId: entry.id, message });
    seq += 1;
    if (entry.seq !== seq) return broken(`entry ${seq} of the chain is missing; the next one there is ${entry.seq}`);
    if (entry.id !== entryId(installation, entry.document, entry.n)) {
      return broken('its id does not fit its document');
    }
    if (entry.previousHash !== hash) return broken('it does not follow the entry before it');
    hash = entryHash(hash, entry);
    if (entry.hash !== hash) return broken('its content is not what was posted');
  }
  return (await missingEnd(db, installation)) ?? (await brokenSummary(db, installation));
}

async function missingEnd(db: Connection, installation: InstallationId): Promise<BrokenLink | null> {
  const found = await maybeRow(
    db,
    { kind: oneOf(documentKinds), id: integer, entry_id: text },
    `select d.kind, d.id, d.entry_id from document d
     where d.installation = ? and d.entry_id is not null and not exists (select from entry e where e.id = d.entry_id)
     order by d.kind, d.id limit 1`,
    [installation],
  );
  if (found === null) return null;
  const message = `${found.kind} ${found.id} has this entry, but it is not in the ledger`;
  return { seq: null, entryId: found.entry_id, message };
}

async function brokenSummary(db: Connection, installation: InstallationId): Promise<BrokenLink | null> {
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
