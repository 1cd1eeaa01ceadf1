import type { LedgerEntry } from '../domain/entry.ts';
import { changedFields, type FieldChange } from '../posting/changed-fields.ts';

/** The changes that the entry after each reversal has made. */
export function changesOf(entries: readonly LedgerEntry[], decimals: number): Map<string, FieldChange[]> {
  const changes = new Map<string, FieldChange[]>();
  for (const [index, { id, reverses }] of entries.entries()) {
    if (reverses === null) continue;
    const reversed = entries.find((entry) => entry.id === reverses);
    const successor = entries.slice(index + 1).find((entry) => entry.reverses === null);
    changes.set(id, reversed && successor ? changedFields(reversed, successor, decimals) : []);
  }
  return changes;
}
