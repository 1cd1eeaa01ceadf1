import { insertRows } from '../../db/bulk.ts';
import { type Db, query } from '../../db/pool.ts';
import type { DraftEntry, LedgerEntry, Line } from '../../domain/entry.ts';
import { entryDefect, entryId } from '../../domain/entry.ts';
import { storable } from '../../domain/text.ts';
import { type DocumentRef, documentKinds, type InstallationId, type PostingMode } from '../../terms.ts';
import { LedgerError } from '../errors.ts';
import { chainStart, entryHash } from './chain.ts';
import { entryRow, entryTypes, lineRow, lineTypes } from './rows.ts';

export { loadEntries } from './read.ts';

export interface AppendOptions {
  /** Decimals of the installation's minor unit, for proof P5. */
  decimals: number;
  /** The window that posts; null outside a window. */
  windowId: number | null;
  /** The installation's mode, kept with each entry; `document` unless given. */
  postingMode?: PostingMode;
}

interface Posted {
  id: string;
  inputHash: string;
  reverses: string | null;
}

/**
 * Posts `drafts` in order and returns the entry id of each, within the caller's transaction. A document has one entry in
 * force at most: the same facts again, or the same reversal again, give the id of the entry that already stands; other
 * facts while an entry is in force throw LedgerError, so that racing posters cannot both post. P5 is proved once more.
 * A constant number of statements, whatever the number of drafts (ACCOUNTING P5, R3, R8).
 */
export async function appendEntries(
  trx: Db,
  installation: InstallationId,
  drafts: DraftEntry[],
  options: AppendOptions,
): Promise<string[]> {
  for (const draft of drafts) {
    const defect = entryDefect(draft, options.decimals);
    if (defect !== null) {
      throw new LedgerError('unsound_entry', `the entry for ${draft.document.kind} ${draft.document.id}: ${defect}`);
    }
  }
  if (drafts.length === 0) return [];
  // The chain has one writer at a time, or `seq` and the hashes would fork.
  await query(trx, `select pg_advisory_xact_lock(hashtextextended('vetledger ledger ' || ?::bigint, 0))`, [
    installation,
  ]);
  const head = await chainHead(trx, installation);
  const books = await postedBefore(trx, installation, drafts);

  const ids: string[] = [];
  const fresh: LedgerEntry[] = [];
  for (const draft of drafts) {
    const posted = books.get(documentKey(draft.document)) ?? [];
    const standing = standingEntry(draft, posted);
    if (standing !== null) {
      ids.push(standing);
      continue;
    }
    const entry = chained(installation, posted.length + 1, draft, fresh.at(-1) ?? head, options.postingMode);
    fresh.push(entry);
    ids.push(entry.id);
    books.set(documentKey(draft.document), [...posted, entry]);
  }
  if (fresh.length > 0) await insert(trx, fresh, options.windowId);
  return ids;
}

function documentKey(document: DocumentRef): string {
  return `${document.kind}/${document.id}`;
}

/** The id of the entry that already says what `draft` says, or null when it is to be posted. Throws when it must not be. */
function standingEntry(draft: DraftEntry, posted: Posted[]): string | null {
  const name = `${draft.document.kind} ${draft.document.id}`;
  const reversed = new Set(posted.map((entry) => entry.reverses));
  if (draft.reverses !== null) {
    const reversal = posted.find((entry) => entry.reverses === draft.reverses);
    if (reversal !== undefined) return reversal.id;
    if (posted.some((entry) => entry.id === draft.reverses && entry.reverses === null)) return null;
    throw new LedgerError('not_in_force', `${draft.reverses} is no entry of ${name} that could be reversed`);
  }
  const inForce = posted.find((entry) => entry.reverses === null && !reversed.has(entry.id));
  if (inForce === undefined) return null;
  if (inForce.inputHash === draft.inputHash) return inForce.id;
  throw new LedgerError('already_in_force', `${name} has the entry ${inForce.id} in force; reverse it first`);
}

function chained(
  installation: InstallationId,
  n: number,
  draft: DraftEntry,
  previous: { seq: number; hash: string },
  postingMode: PostingMode = 'document',
): LedgerEntry {
  const id = entryId(installation, draft.document, n);
  const entry = {
    ...draft,
    description: storable(draft.description),
    lines: draft.lines.map(storableLine),
    id,
    installation,
    n,
    seq: previous.seq + 1,
    postingMode,
    idempotencyKey: `${id}:${draft.inputHash}`,
    previousHash: previous.hash,
  };
  return { ...entry, hash: entryHash(previous.hash, entry) };
}

function storableLine(line: Line): Line {
  const text = <T extends string | null>(value: T): T => (value === null ? value : (storable(value) as T));
  return {
    ...line,
    account: text(line.account),
    mappedBy: text(line.mappedBy),
    party: line.party && {
      code: text(line.party.code),
      name: text(line.party.name),
      vatNumber: text(line.party.vatNumber),
      countryCode: text(line.party.countryCode),
    },
    dimensions: [text(line.dimensions[0]), text(line.dimensions[1]), text(line.dimensions[2])],
    internal: {
      account: text(line.internal.account),
      dimension1: text(line.internal.dimension1),
      dimension2: text(line.internal.dimension2),
    },
    documentNumber: text(line.documentNumber),
    bankReference: text(line.bankReference),
    vat: line.vat && { ...line.vat, group: text(line.vat.group) },
  };
}

async function chainHead(trx: Db, installation: InstallationId): Promise<{ seq: number; hash: string }> {
  const rows = await query<{ seq: number; hash: string }>(
    trx,
    'select seq, hash from entry where installation = ? order by seq desc limit 1',
    [installation],
  );
  return rows[0] ?? { seq: 0, hash: chainStart };
}

async function postedBefore(
  trx: Db,
  installation: InstallationId,
  drafts: DraftEntry[],
): Promise<Map<string, Posted[]>> {
  const rows = await query<{
    id: string;
    kind: DocumentRef['kind'];
    document_id: number;
    input_hash: string;
    reverses: string | null;
  }>(
    trx,
    // Two arrays rather than pairs: the index serves them even without statistics; a few entries too many do no harm.
    `select id, kind, document_id, input_hash, reverses from entry
     where installation = ? and kind = any(?::text[]) and document_id = any(?::bigint[]) order by kind, document_id, n`,
    [installation, [...documentKinds], drafts.map((draft) => draft.document.id)],
  );
  const books = new Map<string, Posted[]>();
  for (const row of rows) {
    const key = documentKey({ kind: row.kind, id: row.document_id });
    const entry = { id: row.id, inputHash: row.input_hash, reverses: row.reverses };
    books.set(key, [...(books.get(key) ?? []), entry]);
  }
  return books;
}

async function insert(trx: Db, entries: LedgerEntry[], windowId: number | null): Promise<void> {
  const rows = entries.map((entry) => ({ ...entryRow(entry), window_id: windowId }));
  await insertRows(trx, 'entry', { ...entryTypes, window_id: 'bigint' }, rows);
  const lines = entries.flatMap((entry) => entry.lines.map((line, index) => lineRow(entry.id, index, line)));
  await insertRows(trx, 'entry_line', lineTypes, lines);
}
