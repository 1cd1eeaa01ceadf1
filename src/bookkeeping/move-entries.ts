import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { lockDocuments, type StoredDocument } from '../documents/document.ts';
import { type RemappedState, saveRemapped } from '../documents/save.ts';
import type { DraftEntry, LedgerEntry } from '../domain/entry.ts';
import { UserError } from '../domain/errors.ts';
import { appendEntries } from '../ledger/journal/append-entries.ts';
import { loadEntries } from '../ledger/journal/read-entries.ts';
import { type EntryMove, movedToDay } from '../posting/move-day.ts';
import type { CalendarDate, DocumentRef } from '../terms.ts';
import { lateErrors } from '../texts/errors/late-documents.ts';
import { postedBy } from './posted-by.ts';

/** Entries to be moved to another day. */
interface EntriesToMove {
  /** The unit's name in messages. */
  name: string;
  moved: readonly LedgerEntry[];
  day: CalendarDate;
  /**
   * The posting mode of the moved entries, not the installation's present one, so that their reversals are delivered in
   * the same way.
   */
  postingMode: LedgerEntry['postingMode'];
}

interface MovedEntries {
  /** The documents whose entries were moved. */
  documents: DocumentRef[];
  entryIds: string[];
  moves: EntryMove[];
}

/**
 * Moves entries to another day: reverses each on its own day and posts it again on the other day (`movedToDay`). The
 * facts in force of every document stay the same. Throws UserError `not_redatable`.
 */
export async function moveEntries(
  trx: Connection,
  installation: InstallationConfig,
  { name, moved, day, postingMode }: EntriesToMove,
): Promise<MovedEntries> {
  const { id } = installation;
  const byDocument = Map.groupBy(
    moved.toSorted((a, b) => a.seq - b.seq),
    ({ document }) => keyOf(document),
  );
  const refs = [...byDocument.values()].flatMap(([entry]) => entry?.document ?? []);
  const documents = await lockDocuments(trx, id, refs);
  const inForceIds = documents.flatMap(({ entryId }) => entryId ?? []);
  const inForce = new Map((await loadEntries(trx, inForceIds)).map((entry) => [keyOf(entry.document), entry]));
  const changed = documents.flatMap((document) => {
    const entries = byDocument.get(keyOf(document)) ?? [];
    const current = inForce.get(keyOf(document)) ?? null;
    const { entryCount } = document;
    const { drafts, moves } = movedToDay(day, { installation: id, entryCount, inForce: current, moved: entries });
    if (drafts.length === 0) return [];
    refuseOtherMode(name, current, postingMode);
    return { document, drafts, moves };
  });
  const drafts = changed.flatMap((one) => one.drafts);
  const entryIds = await appendEntries(trx, id, drafts, {
    ...(await postedBy(trx, installation)),
    ...{ windowId: null, postingMode },
  });
  let next = 0;
  const states = changed.map((one) => {
    next += one.drafts.length;
    return stateAfter(one, entryIds[next - 1] ?? null);
  });
  await saveRemapped(trx, id, states);
  return {
    documents: changed.map(({ document }) => document),
    entryIds,
    moves: changed.flatMap((one) => one.moves),
  };
}

const keyOf = ({ kind, id }: DocumentRef) => `${kind}/${id}`;

/** `lastId` is the id of the last entry appended for the document. */
function stateAfter(
  { document, drafts }: { document: StoredDocument; drafts: readonly DraftEntry[] },
  lastId: string | null,
): RemappedState {
  const last = drafts.at(-1);
  const isInForce = last !== undefined && last.reverses === null;
  const { kind, id, remapHeld, late } = document;
  return {
    ...{ kind, id, remapHeld, late, entriesAdded: drafts.length, problem: null, outside: null },
    ...{ entryId: isInForce ? lastId : null, inputHash: isInForce ? last.inputHash : null },
  };
}

/**
 * An entry in force in the other posting mode is delivered in another way, so the entries appended here would not
 * cancel it in the ERP.
 */
function refuseOtherMode(name: string, inForce: LedgerEntry | null, postingMode: LedgerEntry['postingMode']): void {
  if (inForce === null || inForce.postingMode === postingMode) return;
  throw new UserError(lateErrors.otherPostingMode({ unit: name, entry: inForce.id, mode: inForce.postingMode }), 1);
}
