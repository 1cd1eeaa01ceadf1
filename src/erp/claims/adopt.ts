import { type ActedBy, recordAction } from '../../actions/record.ts';
import { isFileTarget } from '../../config/erp.ts';
import type { InstallationConfig } from '../../config/load-config.ts';
import type { Db } from '../../db/pool.ts';
import { companyKeyOf } from '../company.ts';
import { takeOverFolder } from '../targets/files/folder-claim.ts';
import { adoptForeign } from './claim-store.ts';

/**
 * Adopts the known entries of other databases: they no longer stop the delivery, but later ones do. A folder of batches
 * is claimed for this database. Returns the number of entries, which is 0 for a folder.
 */
export async function adoptEntries(
  { db, databaseId }: { db: Db; databaseId: string },
  { id, erp }: InstallationConfig,
  by: ActedBy,
): Promise<number> {
  const company = companyKeyOf(erp);
  if (company === null) return 0;
  return db.transaction(async (trx) => {
    const entries = await adoptForeign(trx, { company, installation: id });
    await recordAction(trx, { installation: id, kind: 'adopt_entries', by, input: { company }, result: { entries } });
    if (isFileTarget(erp)) await takeOverFolder(erp.folder, { installation: id, databaseId });
    return entries;
  });
}
