import type { Sandbox } from '../../sandbox/src/index.ts';
import { chooseLate, decideAll } from '../../src/bookkeeping/decide-many.ts';
import type { Db } from '../../src/db/pool.ts';
import { UserError } from '../../src/domain/errors.ts';
import { absenceProblems } from '../../src/domain/problems.ts';
import type { InstallationId, RecordKind } from '../../src/terms.ts';
import { lateErrors } from '../../src/texts/errors/late-documents.ts';

/** Returns whether the source hides a record from lists and look-ups. */
export type Hidden = (kind: RecordKind, id: number) => boolean;

/**
 * Makes a sandbox hide records from lists, counts and look-ups by id, like a token without a right. The records stay in
 * its clinic.
 */
export function hiding(sandbox: Pick<Sandbox, 'clinic'>): (hidden: Hidden) => void {
  let hidden: Hidden = () => false;
  const { invoices, invoiceRows, invoicePayments, prepayments } = sandbox.clinic;
  const tables = { invoice: invoices, row: invoiceRows, payment: invoicePayments, prepayment: prepayments };
  for (const [kind, table] of Object.entries(tables) as [RecordKind, (typeof tables)['invoice']][]) {
    const visible = table.visible.bind(table);
    table.visible = (record, atMs) => (hidden(kind, record.id) ? undefined : visible(record, atMs));
  }
  return (next) => {
    hidden = next;
  };
}

/** The accountant confirms that all missing documents are gone; `number` is their number. */
export async function confirmAllGone(db: Db, installation: InstallationId, number: number): Promise<void> {
  const deciding = {
    decision: 'confirm_gone',
    reason: 'deleted in the practice software',
    actedBy: 'M. Virtanen',
  } as const;
  await db.transaction(async (trx) => {
    const found = [];
    for (const code of absenceProblems) found.push(...(await chooseLate(trx, installation, { code })));
    if (found.length !== number) throw new UserError(lateErrors.otherNumber({ found: found.length, number }), 2);
    if (number > 0) await decideAll(trx, installation, found, deciding, { chosen: true });
  });
}
