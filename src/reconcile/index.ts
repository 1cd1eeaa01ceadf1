import { type Db, withoutIdleTimeout } from '../db/pool.ts';
import type { DocumentRef, InstallationId } from '../terms.ts';
import { reconcileInstallation } from './installation.ts';
import type { InstallationReport, ReconcileInput, ReconcileReport } from './reconcile-report.ts';

export type { InstallationReport, ReconcileInput, ReconcileReport } from './reconcile-report.ts';

/**
 * A report, and by installation the invoices and prepayments with a difference in E2 or E3, so that they can be fetched
 * again.
 */
export interface Reconciliation {
  report: ReconcileReport;
  disputed: Map<InstallationId, DocumentRef[]>;
}

/**
 * Checks the equations E1-E6, E9 and E10 over the whole books (ACCOUNTING "Equations"; one file each), from one
 * snapshot of the database. SQL sums the ledger, and the mirror is streamed. Memory holds only one page of invoices,
 * and one sum per client, account and day.
 */
export async function reconcile(db: Db, installations: ReconcileInput[]): Promise<ReconcileReport> {
  return (await reconcileBooks(db, installations)).report;
}

/** Does the same as `reconcile`, and also returns the disputed documents. If `signal` aborts, throws its reason. */
export async function reconcileBooks(
  db: Db,
  installations: ReconcileInput[],
  signal?: AbortSignal,
): Promise<Reconciliation> {
  const reports: InstallationReport[] = [];
  const disputed: Reconciliation['disputed'] = new Map();
  const trx = await db.transaction({ isolationLevel: 'repeatable read', readOnly: true });
  // Rolls the transaction back. Every further read then fails at once.
  const breakOff = () => void trx.rollback().catch(() => undefined);
  signal?.addEventListener('abort', breakOff, { once: true });
  try {
    await withoutIdleTimeout(trx);
    for (const input of installations) {
      signal?.throwIfAborted();
      const found = await reconcileInstallation(trx, input);
      reports.push(found.report);
      disputed.set(input.id, found.disputed);
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', breakOff);
    if (!trx.isCompleted()) await trx.rollback();
  }
  return { report: reportOf(reports), disputed };
}

export function reportOf(installations: InstallationReport[]): ReconcileReport {
  return {
    ok: installations.every(({ ok }) => ok),
    complete: installations.every(({ complete }) => complete),
    installations,
  };
}
