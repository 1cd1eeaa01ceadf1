import { fieldMapOf, keptText } from '../records/field-map.ts';
import { recordOf } from '../records/schema.ts';
import type { RecordKind } from '../terms.ts';
import { mirrorTexts } from '../texts/findings/mirror.ts';
import type { ProblemCode } from '../texts/problems.ts';
import { incomingRecord } from './incoming.ts';
import type { IncomingPage, MirrorScope } from './types.ts';

/** The reason why a record with an id is put aside. */
export interface Reason {
  code: Extract<ProblemCode, 'internal_error' | 'contradiction' | 'foreign_reference'>;
  message: string;
  parentId: number | null;
}

/**
 * The records of a page that contradict themselves (ACCOUNTING P6): one id with two contents, and a row whose invoice
 * belongs to another installation. Such a row is not part of any invoice of ours.
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
      const message = mirrorTexts.foreignInvoice({ id: item.id, field: defect.field, message: defect.message });
      refused.set(item.id, { code: 'foreign_reference', message, parentId: null });
    }
  }
  if (new Set(results.map(({ id }) => id)).size === results.length) return refused;
  for (const [id, versions] of Map.groupBy(results, (item) => item.id)) {
    if (versions.length === 1) continue;
    // Only the mapped fields are compared, even if the whole record is kept.
    const texts = versions.map(({ value }) => keptText(value, fieldMapOf(scope.dialect, kind)));
    if (new Set(texts).size === 1) continue;
    const parentId = versions.map((item) => parentOf(scope, kind, item)).find((parent) => parent !== null) ?? null;
    const message = mirrorTexts.contradiction({ kind, id, versions: versions.length });
    refused.set(id, { code: 'contradiction', message, parentId });
  }
  return refused;
}

/** The ids for which an answer contains two different versions. */
export function contradictedIn(scope: MirrorScope, kind: RecordKind, results: IncomingPage['results']): number[] {
  return [...refusedIn(scope, kind, results)].flatMap(([id, { code }]) => (code === 'contradiction' ? id : []));
}

/** The invoice of a row or payment. Null if it cannot be read. */
export function parentOf(scope: MirrorScope, kind: RecordKind, item: IncomingPage['results'][number]): number | null {
  try {
    return incomingRecord(scope, kind, item).parentId;
  } catch {
    return null;
  }
}
