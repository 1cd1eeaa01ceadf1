import { rowsAsArrays } from '../db/bulk.ts';
import { type Connection, execute } from '../db/rows.ts';
import type { InvoiceRecord } from '../records/types.ts';
import type { InstallationId } from '../terms.ts';

/** Replaces the stored members of these collectors (table `collector_member`). */
export async function storeMembers(
  trx: Connection,
  installation: InstallationId,
  collectors: readonly Pick<InvoiceRecord, 'id' | 'consolidatedInvoiceIds'>[],
): Promise<void> {
  if (collectors.length === 0) return;
  const ids = collectors.map(({ id }) => id);
  await execute(trx, 'delete from collector_member where installation = ? and collector_id = any(?::bigint[])', [
    installation,
    ids,
  ]);
  const members = collectors.flatMap(({ id, consolidatedInvoiceIds }) =>
    [...new Set(consolidatedInvoiceIds)].map((member) => ({ collector_id: id, member_id: member })),
  );
  if (members.length === 0) return;
  const { from, bindings } = rowsAsArrays('added', { collector_id: 'bigint', member_id: 'bigint' }, members);
  await execute(
    trx,
    `insert into collector_member (installation, collector_id, member_id)
     select ?, added.collector_id, added.member_id from ${from}`,
    [installation, ...bindings],
  );
}
