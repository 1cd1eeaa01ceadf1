import { text } from '../../db/columns.ts';
import { type Connection, rows } from '../../db/rows.ts';
import type { InstallationId } from '../../terms.ts';

/** Whether an item holds the prepayments of a client; any other item is an invoice. */
export function isClientItem(item: string): boolean {
  return item.split('/')[1] === 'client';
}

/** `prepayment/7` for the unit `4711/prepayment/7/1`. */
function documentOf(unitId: string): string {
  return unitId.split('/').slice(1, 3).join('/');
}

/**
 * The part of each unit, by its id. A part holds what settles each other: prepayments, their linked refunds and their
 * matched uses; a use and its cancellation without a match; or a single document, which stays open.
 */
export async function prepaymentParts(
  db: Connection,
  installation: InstallationId,
  unitIds: readonly string[],
): Promise<Map<string, string>> {
  if (unitIds.length === 0) return new Map();
  const documents = [...new Set(unitIds.map(documentOf))];
  const idsOf = (kind: string) =>
    documents.flatMap((document) => (document.startsWith(`${kind}/`) ? [Number(document.split('/')[1])] : []));
  const links = await rows(
    db,
    { document: text, other: text },
    `select 'prepayment/' || refund_id as document, 'prepayment/' || original_id as other
     from prepayment_refund where installation = ? and refund_id = any(?::bigint[])
     union all
     select 'payment/' || payment_id, 'prepayment/' || prepayment_id
     from prepayment_match where installation = ? and payment_id = any(?::bigint[])
     union all
     select 'payment/' || payment_id, 'invoice/' || invoice_id
     from prepayment_use where installation = ? and state = 'cancelled' and payment_id = any(?::bigint[])`,
    [installation, idsOf('prepayment'), ...[installation, idsOf('payment')], ...[installation, idsOf('payment')]],
  );
  const partOf = partsOf(documents, links);
  return new Map(unitIds.map((id) => [id, partOf(documentOf(id))]));
}

/** Joins linked documents: the part of a document is named after one of its documents. */
function partsOf(
  documents: readonly string[],
  links: readonly { document: string; other: string }[],
): (document: string) => string {
  const parents = new Map(documents.map((document) => [document, document]));
  const rootOf = (document: string): string => {
    let root = document;
    for (let parent = parents.get(root); parent !== undefined && parent !== root; parent = parents.get(root))
      root = parent;
    // Later look-ups take one step.
    parents.set(document, root);
    return root;
  };
  for (const { document, other } of links) parents.set(rootOf(document), rootOf(other));
  return rootOf;
}
