import { integer, oneOf } from '../../db/columns.ts';
import type { Db } from '../../db/pool.ts';
import { rows } from '../../db/rows.ts';
import { markKnown } from '../../documents/mark.ts';
import { type DocumentRef, documentKinds, type InstallationId } from '../../terms.ts';
import type { Span } from './spans.ts';

const markBatch = 1_000;

/**
 * Marks the documents of a span in the mirror to be judged again, and returns them. These are invoices and prepayments
 * that changed in it, invoices with a changed row, and payments of the span.
 */
export async function markSpan(
  db: Db,
  installation: InstallationId,
  overlapMs: number,
  { invoice, prepayment, row, payment }: Span,
): Promise<DocumentRef[]> {
  const changed = ({ from, to }: Span['row']) => [
    from === null ? '-infinity' : new Date(from - overlapMs),
    new Date(to),
  ];
  const isChanged = 'modified >= ?::timestamptz and modified < ?::timestamptz';
  const mirrored = (of: 'id' | 'parent_id', kind: string, condition: string) =>
    `select '${kind === 'row' ? 'invoice' : kind}' as kind, ${of} as id from mirror_record
     where installation = ? and kind = '${kind}' and ${of} is not null and ${condition}`;
  const found = await rows(
    db,
    { kind: oneOf(documentKinds), id: integer },
    `${mirrored('id', 'invoice', isChanged)} union ${mirrored('parent_id', 'row', isChanged)}
     union ${mirrored('id', 'prepayment', isChanged)} union ${mirrored('id', 'payment', 'id > ? and id <= ?')} order by kind, id`,
    [
      ...[installation, ...changed(invoice), installation, ...changed(row), installation, ...changed(prepayment)],
      ...[installation, payment.from ?? -1, payment.to ?? Number.MAX_SAFE_INTEGER],
    ],
  );
  for (const [kind, documents] of Map.groupBy(found, (document) => document.kind)) {
    for (let start = 0; start < documents.length; start += markBatch) {
      const ids = documents.slice(start, start + markBatch).map(({ id }) => id);
      await db.transaction((trx) => markKnown(trx, installation, kind, ids));
    }
  }
  return found;
}
