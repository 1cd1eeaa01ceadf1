import { type ActedBy, recordAction } from '../../actions/record.ts';
import { isFileTarget } from '../../config/erp.ts';
import type { InstallationConfig } from '../../config/load-config.ts';
import type { Db } from '../../db/pool.ts';
import { companyKeyOf } from '../company.ts';
import { takeOverFolder } from '../targets/files/folder-claim.ts';
import { adoptForeign } from './claim-store.ts';

/**
 * Takes the entries of other databases that are known by now for ours: they stand, and stop the delivery no more; later ones do. A
 * folder of batches becomes this database's. Gives how many entries; of a folder none are known.
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
