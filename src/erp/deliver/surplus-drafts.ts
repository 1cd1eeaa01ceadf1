import { createHash } from 'node:crypto';
import { type CompareOptions, compareEntry } from '../compare.ts';
import type { ErpEntry, FoundEntry } from '../erp-entry.ts';
import type { OutboxUnit } from '../outbox/unit.ts';
import type { UnwantedDraft } from '../outbox/unwanted-drafts.ts';

/**
 * Ids of the unit's drafts that are certainly surplus: the recorded entry exists beside them, and they equal what
 * vetledger sent. A draft that differs may be a user's work, even if it has our key.
 */
export function surplusDrafts(
  { erp_id: kept }: Pick<OutboxUnit, 'erp_id'>,
  entry: ErpEntry,
  found: readonly FoundEntry[],
  options: CompareOptions,
): string[] {
  if (kept === null || !found.some(({ id, state }) => id === kept && state !== 'void')) return [];
  return found
    .filter(({ id, state }) => state === 'draft' && id !== kept)
    .filter((draft) => compareEntry(entry, draft, options).length === 0)
    .map(({ id }) => id);
}

/** Ids of drafts that were to be deleted before, and have not changed since. The recorded entry is never among them. */
export function leftDrafts(
  { state, erp_id: erpId }: Pick<OutboxUnit, 'state' | 'erp_id'>,
  entry: ErpEntry | null,
  found: readonly FoundEntry[],
  { unwanted, ...options }: CompareOptions & { unwanted: readonly UnwantedDraft[] },
): string[] {
  const kept = state === 'delivered' || state === 'drafted' ? erpId : null;
  const digests = new Map(unwanted.map(({ id, digest }) => [id, digest]));
  const isUnchanged = (draft: FoundEntry) => {
    const digest = digests.get(draft.id);
    if (digest === undefined) return false;
    if (digest !== null) return digest === draftDigest(draft);
    return entry !== null && compareEntry(entry, draft, options).length === 0;
  };
  return found
    .filter((draft) => draft.state === 'draft' && draft.id !== kept && isUnchanged(draft))
    .map(({ id }) => id);
}

/** A hash of a draft's content. It changes when a user edits the draft. */
export function draftDigest({ date, journal, description, lines }: FoundEntry): string {
  const content = lines.map(({ account, amount, party, vat, dimensions }) =>
    JSON.stringify([account, amount, party, vat, Object.entries(dimensions).toSorted()]),
  );
  return createHash('sha256')
    .update(JSON.stringify([date, journal, description, content.toSorted()]))
    .digest('hex');
}
