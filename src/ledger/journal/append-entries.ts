import { insertion, insertRows } from '../../db/bulk.ts';
import { integer, nullable, oneOf, text } from '../../db/columns.ts';
import { type Connection, execute, rows } from '../../db/rows.ts';
import type { DraftEntry, LedgerEntry, Line } from '../../domain/entry.ts';
import { entryDefect, entryId } from '../../domain/entry.ts';
import { postgresText } from '../../domain/text.ts';
import { type DocumentRef, documentKinds, type InstallationId, type PostingMode } from '../../terms.ts';
import { ledgerErrors } from '../../texts/findings/chain.ts';
import { LedgerError } from '../ledger-error.ts';
import { chainHead, holdChain } from './chain.ts';
import { entryHash } from './entry-hash.ts';
import { entryInsertTypes, entryRow, lineInsertTypes, lineRow } from './entry-rows.ts';
import { insertShares } from './shares.ts';
import { type VatPeriods, vatLateness } from './vat-lateness.ts';
import { numberVouchers } from './vouchers.ts';

export interface AppendOptions {
  /** Decimals of the installation's currency, for proof P5. */
  decimals: number;
  /** The window that posts; null outside a window. */
  windowId: number | null;
  /** The installation's posting mode, stored with each entry. Default: `document`. */
  postingMode?: PostingMode;
  /** Content hash of the mapping that gave the accounts. */
  mappingHash?: string | null;
  vat?: VatPeriods;
  /** The first month of a fiscal year, from 1, for voucher numbers. Default: January. */
  fiscalYearStart?: number;
}

/** An entry of a document that is already in the ledger. */
interface PostedEntry {
  id: string;
  inputHash: string;
  reverses: string | null;
  vatPeriod: string;
}

/**
 * Appends `drafts` in order within the caller's transaction and returns the entry id of each. A document has at most
 * one entry in force. If an entry already has the same facts, or is the same reversal, its id is returned. Other facts
 * while an entry is in force throw LedgerError, so that two concurrent posters cannot both post. Proof P5 is checked
 * again here. The number of SQL statements does not depend on the number of drafts (ACCOUNTING P5, R3, R8).
 */
export async function appendEntries(
  trx: Connection,
  installation: InstallationId,
  drafts: DraftEntry[],
  options: AppendOptions,
): Promise<string[]> {
  for (const draft of drafts) {
    const defect = entryDefect(draft, options.decimals);
    if (defect !== null) {
      throw new LedgerError('unsound_entry', ledgerErrors.unsound({ document: documentName(draft), defect }));
    }
  }
  if (drafts.length === 0) return [];
  await holdChain(trx, installation);
  const head = await chainHead(trx, installation);
  const postedByDocument = await postedBefore(trx, installation, drafts);
  const vatOf = await vatLateness(trx, installation, options.vat);

  const ids: string[] = [];
  const fresh: LedgerEntry[] = [];
  for (const draft of drafts) {
    const posted = postedByDocument.get(documentKey(draft.document)) ?? [];
    const existing = existingEntry(draft, posted);
    if (existing !== null) {
      ids.push(existing);
      continue;
    }
    const reversed = posted.find(({ id }) => id === draft.reverses);
    const entry = chained(installation, posted.length + 1, draft, fresh.at(-1) ?? head, {
      postingMode: options.postingMode ?? 'document',
      mappingHash: options.mappingHash ?? null,
      ...vatOf(draft, reversed?.vatPeriod),
    });
    fresh.push(entry);
    ids.push(entry.id);
    postedByDocument.set(documentKey(draft.document), [...posted, entry]);
  }
  if (fresh.length > 0) {
    await insert(trx, fresh, options.windowId);
    await numberVouchers(trx, installation, options.fiscalYearStart ?? 1, head.seq + 1);
  }
  return ids;
}

function documentKey(document: DocumentRef): string {
  return `${document.kind}/${document.id}`;
}

/**
 * The id of the entry that already posts these facts, or null if the draft must be appended. Throws LedgerError if
 * neither is allowed.
 */
function existingEntry(draft: DraftEntry, posted: PostedEntry[]): string | null {
  const document = documentName(draft);
  const reversed = new Set(posted.map((entry) => entry.reverses));
  if (draft.reverses !== null) {
    const reversal = posted.find((entry) => entry.reverses === draft.reverses);
    if (reversal !== undefined) return reversal.id;
    if (posted.some((entry) => entry.id === draft.reverses && entry.reverses === null)) return null;
    throw new LedgerError('not_in_force', ledgerErrors.notReversible({ entryId: draft.reverses, document }));
  }
  const inForce = posted.find((entry) => entry.reverses === null && !reversed.has(entry.id));
  if (inForce === undefined) return null;
  if (inForce.inputHash === draft.inputHash) return inForce.id;
  throw new LedgerError('already_in_force', ledgerErrors.alreadyInForce({ document, entryId: inForce.id }));
}

function documentName({ document: { kind, id } }: DraftEntry): string {
  return `${kind} ${id}`;
}

/** The draft as an entry that follows `previous` in the hash chain. */
function chained(
  installation: InstallationId,
  n: number,
  draft: DraftEntry,
  previous: { seq: number; hash: string },
  posted: Pick<LedgerEntry, 'postingMode' | 'mappingHash' | 'vatPeriod' | 'isLate'>,
): LedgerEntry {
  const id = entryId(installation, draft.document, n);
  const entry = {
    ...draft,
    description: postgresText(draft.description),
    lines: draft.lines.map(postgresLine),
    id,
    installation,
    n,
    seq: previous.seq + 1,
    ...posted,
    idempotencyKey: `${id}:${draft.inputHash}`,
    previousHash: previous.hash,
  };
  return { ...entry, hash: entryHash(previous.hash, entry) };
}

/** PostgreSQL returns texts without NUL, so the hash covers that form. */
function postgresLine(line: Line): Line {
  const maybe = (value: string | null) => value && postgresText(value);
  return {
    ...line,
    account: postgresText(line.account),
    mappedBy: postgresText(line.mappedBy),
    party: line.party && {
      code: postgresText(line.party.code),
      name: maybe(line.party.name),
      vatNumber: maybe(line.party.vatNumber),
      countryCode: maybe(line.party.countryCode),
    },
    dimensions: [maybe(line.dimensions[0]), maybe(line.dimensions[1]), maybe(line.dimensions[2])],
    internal: {
      account: maybe(line.internal.account),
      dimension1: maybe(line.internal.dimension1),
      dimension2: maybe(line.internal.dimension2),
    },
    documentNumber: maybe(line.documentNumber),
    bankReference: maybe(line.bankReference),
    vat: line.vat && { ...line.vat, group: maybe(line.vat.group) },
  };
}

async function postedBefore(
  trx: Connection,
  installation: InstallationId,
  drafts: DraftEntry[],
): Promise<Map<string, PostedEntry[]>> {
  const found = await rows(
    trx,
    {
      ...{ id: text, kind: oneOf(documentKinds), document_id: integer, input_hash: text, reverses: nullable(text) },
      vat_period: text,
    },
    // Arrays instead of pairs let PostgreSQL use the index even without statistics. The query may therefore return
    // entries of other documents, which are ignored.
    `select id, kind, document_id, input_hash, reverses, vat_period from entry
     where installation = ? and kind = any(?::text[]) and document_id = any(?::bigint[]) order by kind, document_id, n`,
    [installation, documentKinds, drafts.map((draft) => draft.document.id)],
  );
  const posted = new Map<string, PostedEntry[]>();
  for (const { id, kind, document_id, input_hash: inputHash, reverses, vat_period: vatPeriod } of found) {
    const key = documentKey({ kind, id: document_id });
    const entries = posted.get(key) ?? [];
    entries.push({ id, inputHash, reverses, vatPeriod });
    posted.set(key, entries);
  }
  return posted;
}

async function insert(trx: Connection, entries: LedgerEntry[], windowId: number | null): Promise<void> {
  const entryRows = entries.map((entry) => ({ ...entryRow(entry), window_id: windowId }));
  const lineRows = entries.flatMap((entry) => entry.lines.map((line, index) => lineRow(entry.id, index, line)));
  // One statement, because the database checks at its end that each entry has balanced lines.
  const lines = insertion('entry_line', lineInsertTypes, lineRows);
  const own = insertion('entry', entryInsertTypes, entryRows);
  await execute(trx, `with line as (${lines.sql}) ${own.sql}`, [...lines.bindings, ...own.bindings]);
  await insertShares(trx, entries);
  const names = entries.flatMap(({ id, installation, lines }) => {
    const parties = lines.flatMap(({ party }) => (party?.name ? [[party.code, party.name] as const] : []));
    return [...new Map(parties)].map(([party_code, name]) => ({ installation, entry_id: id, party_code, name }));
  });
  const types = { installation: 'bigint', entry_id: 'text', party_code: 'text', name: 'text' };
  if (names.length > 0) await insertRows(trx, 'entry_party_name', types, names);
}
