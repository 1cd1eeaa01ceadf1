import { integer } from '../../db/columns.ts';
import type { Transact } from '../../db/lease.ts';
import { type Connection, rows } from '../../db/rows.ts';
import { markKnown } from '../../documents/mark.ts';
import type { DocumentKind, InstallationId } from '../../terms.ts';
import type { Asked, Span } from './targets.ts';

const markBatch = 1_000;

/**
 * Marks the documents of a span to be judged again, as the mirror holds them: invoices and prepayments that changed in it,
 * invoices of which a row did, and its payments. Nothing is asked of the source. `marked` is called with the number so far.
 */
export async function markSpan(
  { db, transact, installation, overlapMs }: MarkContext,
  span: Span,
  marked: (documents: number) => void,
): Promise<void> {
  const changed = (kind: 'invoice' | 'prepayment' | 'row', { from, to }: Asked) => ({
    sql: `kind = '${kind}' and modified >= ?::timestamptz and modified < ?::timestamptz`,
    bindings: [from === null ? '-infinity' : new Date(from - overlapMs), to === null ? 'infinity' : new Date(to)],
  });
  const { payment } = span;
  const documents: [DocumentKind, number[]][] = [
    [
      'invoice',
      [
        ...(await idsOf(db, installation, 'id', changed('invoice', span.invoice))),
        ...(await idsOf(db, installation, 'parent_id', changed('row', span.row))),
      ],
    ],
    ['prepayment', await idsOf(db, installation, 'id', changed('prepayment', span.prepayment))],
    [
      'payment',
      await idsOf(db, installation, 'id', {
        sql: `kind = 'payment' and id > ? and id <= ?`,
        bindings: [payment.from ?? -1, payment.to ?? Number.MAX_SAFE_INTEGER],
      }),
    ],
  ];
  let done = 0;
  for (const [kind, found] of documents) {
    const ids = [...new Set(found)].toSorted((a, b) => a - b);
    for (let start = 0; start < ids.length; start += markBatch) {
      const batch = ids.slice(start, start + markBatch);
      await transact((trx) => markKnown(trx, installation, kind, batch));
      done += batch.length;
      marked(done);
    }
  }
}

interface MarkContext {
  db: Connection;
  transact: Transact;
  installation: InstallationId;
  /** As in PullContext. */
  overlapMs: number;
}

async function idsOf(
  db: Connection,
  installation: InstallationId,
  column: 'id' | 'parent_id',
  { sql, bindings }: { sql: string; bindings: (string | number | Date)[] },
): Promise<number[]> {
  const found = await rows(
    db,
    { id: integer },
    `select distinct ${column} as id from mirror_record where installation = ? and ${sql} and ${column} is not null`,
    [installation, ...bindings],
  );
  return found.map(({ id }) => id);
}
