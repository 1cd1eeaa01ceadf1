import type { SaveResult } from '../mirror/types.ts';
import type { RecordKind } from '../terms.ts';
import { ignoredFilters } from './capabilities/filters.ts';
import type { PullContext, PullResult } from './pull.ts';
import { ListUnprovable } from './walk/types.ts';

/** Invoices asked for at once: bounds the address's length (some 10 bytes an id). */
const invoicesPerQuestion = 150;

/**
 * The last and dearest way to a whole list of rows or payments, where nothing divides it: the records of each invoice that the
 * mirror knows, many invoices at a time where `invoice__in` is honoured. It stands only if as many records were received as the
 * list counts: an invoice that the mirror does not know yet shows there. Null where the list cannot be asked so; throws
 * ListUnprovable where it does not add up.
 */
export async function pullByInvoice(
  context: PullContext,
  kind: RecordKind,
  /** Pulls what a filter keeps; throws ListUnprovable when that cannot be proven. */
  pull: (filters: Record<string, string>, onSaved: (saved: SaveResult) => void) => Promise<PullResult>,
): Promise<PullResult | null> {
  if (kind !== 'row' && kind !== 'payment') return null;
  const { db, installation, client, priority } = context;
  const before = await client.list(kind, {}, null, { priority });
  const known = await db.raw<{ rows: { id: number }[] }>(
    `select id from mirror_record where installation = ? and kind = 'invoice'
     union select parent_id from mirror_record where installation = ? and kind = ? and parent_id is not null order by 1`,
    [installation, installation, kind],
  );
  const left = known.rows.map(({ id }) => id);
  const received = new Set<number>();
  const total: PullResult = { seen: 0, pulled: 0, began: before.sourceTime, earliest: before.sourceTime };
  while (left.length > 0) {
    const ignored = await ignoredFilters(db, installation, kind);
    const filter = ignored.has('invoice__in') ? 'invoice__is' : 'invoice__in';
    if (ignored.has(filter)) return null;
    const asked = left.slice(0, filter === 'invoice__in' ? invoicesPerQuestion : 1);
    try {
      const result = await pull({ [filter]: asked.join(',') }, ({ ids }) => {
        for (const id of ids) received.add(id);
      });
      total.seen += result.seen;
      total.pulled += result.pulled;
      total.earliest = new Date(Math.min(total.earliest.getTime(), result.earliest.getTime()));
    } catch (error) {
      // The filter was ignored, and the whole list came into sight again: the other one may serve.
      if (!(error instanceof ListUnprovable) || !(await ignoredFilters(db, installation, kind)).has(filter))
        throw error;
      continue;
    }
    left.splice(0, asked.length);
  }
  const after = await client.list(kind, {}, null, { priority });
  const count = Math.min(before.count, after.count);
  if (received.size >= count) return total;
  throw new ListUnprovable(`the invoices known so far have ${received.size} of its ${count} records`);
}
