import { integer, nullable, oneOf } from '../db/columns.ts';
import { rows } from '../db/rows.ts';
import { markRefetched } from '../documents/mark-refetched.ts';
import { type RecordKind, type SourceKind, sourceKinds } from '../terms.ts';
import { pullByIds } from './by-id.ts';
import type { PullContext, PullCounts } from './context.ts';
import { pullList } from './pull-list.ts';
import { pullRowSets } from './pull-row-sets.ts';

/** Documents whose parts are fetched again together. A window takes several rounds if there are more. */
export const refetchBatch = 50;

export interface RefetchNeed {
  kind: SourceKind;
  id: number;
  /** The invoice of a payment. */
  invoiceId: number | null;
}

/** The next documents whose parts must be fetched again. */
export function refetchNeeds({ db, installation }: Pick<PullContext, 'db' | 'installation'>): Promise<RefetchNeed[]> {
  return rows(
    db,
    { kind: oneOf(sourceKinds), id: integer, invoiceId: nullable(integer) },
    `select d.kind, d.id, m.parent_id as "invoiceId" from document d
     cross join lateral (
       select * from mirror_record r where r.installation = d.installation and r.kind = d.kind and r.id = d.id limit 1) m
     where d.installation = ? and d.refetch = 'wanted' order by d.kind, d.id limit ?`,
    [installation, refetchBatch],
  );
}

/**
 * Fetches the parts of documents with failed proofs again, because the parts may be stale (ACCOUNTING "Proofs"). For an
 * invoice, these are the invoice, its rows and its payments. For a payment, they are those of its invoice. `count` is
 * called with the counts of each pull.
 */
export async function refetchParts(
  context: PullContext,
  needs: RefetchNeed[],
  count: (stream: RecordKind, counts: PullCounts) => void,
): Promise<void> {
  const invoices = new Set<number>();
  for (const need of needs) {
    if (need.kind === 'invoice') invoices.add(need.id);
    else if (need.kind === 'payment' && need.invoiceId !== null) invoices.add(need.invoiceId);
  }
  const prepayments = needs.filter(({ kind }) => kind === 'prepayment').map(({ id }) => id);
  await pullByIds(context, 'prepayment', prepayments, (result) => count('prepayment', result));
  await pullByIds(context, 'invoice', [...invoices], (result) => count('invoice', result));
  if (invoices.size > 0) {
    count('row', await pullRowSets(context, [...invoices]));
    for (const id of invoices) {
      count('payment', await pullList(context, 'payment', { invoice__is: String(id) }, null, { keepWalk: false }));
    }
  }
  await context.transact((trx) => markRefetched(trx, context.installation, needs));
}
