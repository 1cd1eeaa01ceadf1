import { isFileTarget } from '../../config/erp.ts';
import type { InstallationConfig } from '../../config/load-config.ts';
import type { Db } from '../../db/pool.ts';
import type { Clock } from '../../domain/clock.ts';
import type { PlainError } from '../../texts/plain-error.ts';
import { companyKeyOf } from '../company.ts';
import { erpPriorities, pacedTarget } from '../erp-pace.ts';
import { ErpError, type ErpTarget } from '../port.ts';
import { foreignFolder } from '../targets/files/folder-claim.ts';
import { foreignIn } from './claim-store.ts';
import { foreignError, searchForeign } from './search-foreign.ts';

export interface ForeignPorts {
  db: Db;
  databaseId: string;
  clock: Clock;
  signal: AbortSignal;
  target(installation: InstallationConfig): ErpTarget;
}

/**
 * The error if another database has entries in the company of an installation; null if none are known. It searches the
 * entries that changed since the last search. If the ERP does not answer, it uses the earlier result.
 */
export async function foreignEntries(
  { db, databaseId, clock, signal, target: targetOf }: ForeignPorts,
  installation: InstallationConfig,
): Promise<PlainError | null> {
  const { id, erp } = installation;
  if (isFileTarget(erp)) return foreignFolder(erp.folder, { installation: id, databaseId });
  const company = companyKeyOf(erp);
  if (company === null) return null;
  const claim = { company, installation: id };
  try {
    const target = pacedTarget(targetOf(installation), { db, clock });
    if (target.capabilities.key.lookup !== 'none') {
      const request = { signal, priority: erpPriorities.review };
      await searchForeign(
        { db, databaseId, claim, target, ask: (send) => send(request), transact: (work) => db.transaction(work) },
        { full: false, claims: false },
      );
    }
  } catch (error) {
    if (!(error instanceof ErpError) || signal.aborted) throw error;
  }
  const [foreign] = await foreignIn(db, [claim]);
  return foreign === undefined ? null : foreignError(foreign);
}
