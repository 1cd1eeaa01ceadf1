import { createHash } from 'node:crypto';
import { type CompareOptions, compareEntry } from '../compare.ts';
import type { ErpEntry, FoundEntry } from '../erp-entry.ts';
import type { OutboxUnit } from '../outbox/unit.ts';
import type { UnwantedDraft } from '../outbox/unwanted-drafts.ts';

/**
 * The drafts among what was found under a unit's key that are ours and surplus beyond doubt: the record that counts is there beside
 * them, and they are what we sent, to the line. A draft that differs is somebody's work, even with our key in it.
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

/**
 * The drafts among what was found under a unit's key that were to be deleted before, and that nobody has changed since. The record
 * that counts is never among them.
 */
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

/** A hash of what a draft says: a person who changes it changes the hash. */
export function draftDigest({ date, journal, description, lines }: FoundEntry): string {
  const said = lines.map(({ account, amount, party, vat, dimensions }) =>
    JSON.stringify([account, amount, party, vat, Object.entries(dimensions).toSorted()]),
  );
  return createHash('sha256')
    .update(JSON.stringify([date, journal, description, said.toSorted()]))
    .digest('hex');
}
