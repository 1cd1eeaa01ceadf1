import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import type { StoredLate } from '../documents/document.ts';
import type { RemappedState, SavedOutside } from '../documents/save.ts';
import { appendEntries } from '../ledger/journal/append-entries.ts';
import type { Decision } from '../posting/types.ts';
import type { DocumentWithHistory } from './history.ts';
import { postedBy } from './posted-by.ts';

interface DecidedDocument {
  document: DocumentWithHistory;
  decision: Decision;
}

/** `entryIds` are the ids of the entries appended for the document, in order. */
export type Appended<Decided extends DecidedDocument> = Decided & { entryIds: string[] };

/** Appends the decided entries and returns each document with the ids of its entries. */
export async function appendDecided<Decided extends DecidedDocument>(
  trx: Connection,
  installation: InstallationConfig,
  decided: readonly Decided[],
  windowId: number | null,
): Promise<Appended<Decided>[]> {
  const { id, postingMode } = installation;
  const drafts = decided.flatMap(({ decision }) => decision.entries);
  const by = drafts.length === 0 ? { decimals: installation.decimals } : await postedBy(trx, installation);
  const ids = await appendEntries(trx, id, drafts, { ...by, windowId, postingMode });
  let next = 0;
  return decided.map((one) => {
    const from = next;
    next += one.decision.entries.length;
    return { ...one, entryIds: ids.slice(from, next) };
  });
}

/** The document does not wait for a lock or for a decision. */
const notLate: StoredLate = { atClose: false, version: null, decision: null };

/** The document's row after the decision: its entry in force and its problem. */
export function stateAfter({ document, decision, entryIds }: Appended<DecidedDocument>): RemappedState {
  const { inForce } = document.before;
  const last = decision.entries.at(-1);
  const lastId = entryIds.at(-1);
  const current =
    last === undefined || lastId === undefined
      ? { entryId: inForce?.id ?? null, inputHash: inForce?.inputHash ?? null }
      : last.reverses === null
        ? { entryId: lastId, inputHash: last.inputHash }
        : { entryId: null, inputHash: null };
  return {
    kind: document.kind,
    id: document.id,
    ...current,
    entriesAdded: decision.entries.length,
    problem: decision.problem,
    outside: outsideOf(decision),
    remapHeld: decision.remapHeld ?? false,
    late: decision.late ?? notLate,
  };
}

/** Limits of the fields and accounts that are stored for one held change. */
const keptDetails = 50;

function outsideOf({ problem, outside }: Decision): SavedOutside | null {
  if (problem === null) return null;
  const { amount = null, vat = null, changes = [], effect = [] } = outside ?? {};
  const causes = problem.causes ?? [];
  const details = {
    ...(causes.length > 0 ? { causes: causes.slice(0, keptDetails) } : {}),
    ...(changes.length > 0 ? { changes: changes.slice(0, keptDetails) } : {}),
    ...(effect.length > 0
      ? { effect: effect.slice(0, keptDetails).map(({ account, amount: by }) => ({ account, amount: by.toFixed() })) }
      : {}),
  };
  return {
    amount: amount?.toFixed() ?? null,
    vat: vat?.toFixed() ?? null,
    details: Object.keys(details).length > 0 ? details : null,
  };
}
