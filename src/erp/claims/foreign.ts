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

/** The entries of other databases in a company. */
export interface ForeignSearch {
  /** The error if another database has entries there; null if none are known. */
  error: PlainError | null;
  /** False if the ERP did not answer, or not completely. Then there may be more such entries. */
  isComplete: boolean;
}

/**
 * Searches the company of an installation for entries of other databases that changed since the last search. If the ERP does not
 * answer, uses the earlier result.
 */
export async function foreignEntries(
  { db, databaseId, clock, signal, target: targetOf }: ForeignPorts,
  installation: InstallationConfig,
): Promise<ForeignSearch> {
  const { id, erp } = installation;
  if (isFileTarget(erp)) {
    return { error: await foreignFolder(erp.folder, { installation: id, databaseId }), isComplete: true };
  }
  const company = companyKeyOf(erp);
  if (company === null) return { error: null, isComplete: true };
  const claim = { company, installation: id };
  let isComplete = true;
  try {
    const target = pacedTarget(targetOf(installation), { db, clock });
    if (target.capabilities.key.lookup !== 'none') {
      const request = { signal, priority: erpPriorities.review };
      isComplete = await searchForeign(
        { db, databaseId, claim, target, ask: (send) => send(request), transact: (work) => db.transaction(work) },
        { full: false, claims: false },
      );
    }
  } catch (error) {
    if (!(error instanceof ErpError) || signal.aborted) throw error;
    isComplete = false;
  }
  const [foreign] = await foreignIn(db, [claim]);
  return { error: foreign === undefined ? null : foreignError(foreign), isComplete };
}
