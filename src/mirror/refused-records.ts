import { fieldMapOf, keptText } from '../records/field-map.ts';
import { recordOf } from '../records/schema.ts';
import type { RecordKind } from '../terms.ts';
import type { ProblemCode } from '../texts/problems.ts';
import { incomingRecord } from './incoming.ts';
import type { IncomingPage, MirrorScope } from './types.ts';

/** Why a record with an id is put aside. */
export interface Reason {
  code: Extract<ProblemCode, 'internal_error' | 'contradiction' | 'foreign_reference'>;
  message: string;
  parentId: number | null;
}

/**
 * The records of a page that are not believed (ACCOUNTING P6): one id with two contents, and a row whose invoice is another tenant's,
 * because such a row is part of no invoice of ours.
 */
export function refusedIn(scope: MirrorScope, kind: RecordKind, results: IncomingPage['results']): Map<number, Reason> {
  const refused = new Map<number, Reason>();
  if (kind === 'row') {
    for (const item of results) {
      const { invoice } = scope.dialect.fields.row;
      const defect = recordOf(kind, item, scope.dialect).defects.find(
        ({ code, field }) => code === 'foreign_reference' && field === invoice,
      );
      if (!defect) continue;
      const message = `row ${item.id}: ${defect.field} ${defect.message}`;
      refused.set(item.id, { code: 'foreign_reference', message, parentId: null });
    }
  }
  if (new Set(results.map(({ id }) => id)).size === results.length) return refused;
  for (const [id, versions] of Map.groupBy(results, (item) => item.id)) {
    if (versions.length === 1) continue;
    // By what is read of them, whatever is kept.
    const texts = versions.map(({ value }) => keptText(value, fieldMapOf(scope.dialect, kind)));
    if (new Set(texts).size === 1) continue;
    const parentId = versions.map((item) => parentOf(scope, kind, item)).find((parent) => parent !== null) ?? null;
    const message = `${kind} ${id}: one answer has it in ${versions.length} versions that differ`;
    refused.set(id, { code: 'contradiction', message, parentId });
  }
  return refused;
}

/** The ids of which an answer has two versions that differ. */
export function contradictedIn(scope: MirrorScope, kind: RecordKind, results: IncomingPage['results']): number[] {
  return [...refusedIn(scope, kind, results)].flatMap(([id, { code }]) => (code === 'contradiction' ? id : []));
}

/** The invoice of a row or payment, as far as it can be read. */
export function parentOf(scope: MirrorScope, kind: RecordKind, item: IncomingPage['results'][number]): number | null {
  try {
    return incomingRecord(scope, kind, item).parentId;
  } catch {
    return null;
  }
}
