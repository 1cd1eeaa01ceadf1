import { type Db, withoutIdleTimeout } from '../db/pool.ts';
import type { DocumentRef, InstallationId } from '../terms.ts';
import { reconcileInstallation } from './installation.ts';
import type { InstallationReport, ReconcileInput, ReconcileReport } from './reconcile-report.ts';

export type { InstallationReport, ReconcileInput, ReconcileReport } from './reconcile-report.ts';

/** A report, and by installation the invoices and prepayments that E2 and E3 find a difference in, so that they can be fetched again. */
export interface Reconciliation {
  report: ReconcileReport;
  disputed: Map<InstallationId, DocumentRef[]>;
}

/**
 * The equations E1-E6, E9 and E10 over the whole books (ACCOUNTING "Equations"; one file each), from one snapshot of the database. The ledger
 * is summed in SQL, the mirror is streamed: in memory are one page of invoices and one sum per client, account and day.
 */
export async function reconcile(db: Db, installations: ReconcileInput[]): Promise<ReconcileReport> {
  return (await reconcileBooks(db, installations)).report;
}

/** As `reconcile`, with the documents in dispute. */
export async function reconcileBooks(db: Db, installations: ReconcileInput[]): Promise<Reconciliation> {
  const reports: InstallationReport[] = [];
  const disputed: Reconciliation['disputed'] = new Map();
  const trx = await db.transaction({ isolationLevel: 'repeatable read', readOnly: true });
  await withoutIdleTimeout(trx);
  try {
    for (const input of installations) {
      const found = await reconcileInstallation(trx, input);
      reports.push(found.report);
      disputed.set(input.id, found.disputed);
    }
  } finally {
    await trx.rollback();
  }
  return { report: reportOf(reports), disputed };
}

/** The report of several installations. */
export function reportOf(installations: InstallationReport[]): ReconcileReport {
  return {
    ok: installations.every(({ ok }) => ok),
    complete: installations.every(({ complete }) => complete),
    installations,
  };
}
