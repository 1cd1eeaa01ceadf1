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
import { foreignError, look } from './look.ts';

export interface ForeignPorts {
  db: Db;
  databaseId: string;
  clock: Clock;
  signal: AbortSignal;
  target(installation: InstallationConfig): ErpTarget;
}

/**
 * What another database has in the company that an installation is delivered to, and what to do; null where nothing is known of one.
 * The ERP is asked for what has changed since the last look; where it does not answer, what was seen before is told.
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
      await look(
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
