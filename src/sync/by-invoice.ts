import { integer } from '../db/columns.ts';
import { rows } from '../db/rows.ts';
import { earlierOf, spanOf } from '../domain/read-at.ts';
import type { SaveResult } from '../mirror/types.ts';
import type { RecordKind } from '../terms.ts';
import { listTexts } from '../texts/errors/lists.ts';
import { ignoredFilters } from './capabilities/filters.ts';
import { addCounts, type PullContext, type PullResult } from './context.ts';
import { ListUnprovable } from './walk/types.ts';

/** Most invoices in one `invoice__in`. It limits the length of the URL, with about 10 bytes per id. */
export const invoicesPerRequest = 150;

/**
 * The last way to read a list of rows or payments that cannot be divided: pulls the records of each invoice in the
 * mirror, many invoices per request if `invoice__in` is honoured. The list is proven complete if the number of received
 * records equals its count; an invoice that the mirror does not have would cause a difference. Null if the server
 * honours neither filter. Throws ListUnprovable if fewer records than the count were received.
 */
export async function pullByInvoice(
  context: PullContext,
  kind: RecordKind,
  /** Pulls the records that match filters. Throws ListUnprovable if the result cannot be proven complete. */
  pull: (filters: Record<string, string>, onSaved: (saved: SaveResult) => void) => Promise<PullResult>,
): Promise<PullResult | null> {
  if (kind !== 'row' && kind !== 'payment') return null;
  const { db, installation, client, priority } = context;
  const before = await client.list(kind, {}, null, { priority });
  const pending = await knownInvoices(context, kind);
  const received = new Set<number>();
  const total: PullResult = { seen: 0, pulled: 0, began: earlierOf(before, before), read: spanOf(before, before) };
  while (pending.length > 0) {
    const ignored = await ignoredFilters(db, installation, kind);
    const filter = ignored.has('invoice__in') ? 'invoice__is' : 'invoice__in';
    if (ignored.has(filter)) return null;
    const requested = pending.slice(0, filter === 'invoice__in' ? invoicesPerRequest : 1);
    try {
      const result = await pull({ [filter]: requested.join(',') }, ({ ids, unusable }) => {
        for (const id of [...ids, ...unusable]) received.add(id);
      });
      addCounts(total, result);
      total.read = spanOf(total.read, result.read);
    } catch (error) {
      // If the server ignored the filter, the answer was the whole list. The other filter may work.
      if (!(error instanceof ListUnprovable)) throw error;
      if (!(await ignoredFilters(db, installation, kind)).has(filter)) throw error;
      continue;
    }
    pending.splice(0, requested.length);
  }
  const after = await client.list(kind, {}, null, { priority });
  const count = Math.min(before.count, after.count);
  if (received.size >= count) return total;
  throw new ListUnprovable(listTexts.recordsMissing({ received: received.size, count }));
}

/** The ids of invoices in the mirror, and of those that its rows or payments name. */
async function knownInvoices({ db, installation }: PullContext, kind: 'row' | 'payment'): Promise<number[]> {
  const found = await rows(
    db,
    { id: integer },
    `select id from mirror_record where installation = ? and kind = 'invoice'
     union select parent_id from mirror_record where installation = ? and kind = ? and parent_id is not null order by 1`,
    [installation, installation, kind],
  );
  return found.map(({ id }) => id);
}
