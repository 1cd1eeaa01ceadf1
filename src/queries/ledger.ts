import { integer } from '../db/columns.ts';
import type { Db } from '../db/pool.ts';
import { row } from '../db/rows.ts';
import { type BrokenLink, verifyChain } from '../ledger/verify.ts';
import type { InstallationId } from '../terms.ts';

/** The hash chain of an installation's journal, as `ledger verify --json` prints it. */
export interface ChainReport {
  installation: InstallationId;
  ok: boolean;
  entries: number;
  /** Daily summaries. */
  summaries: number;
  broken: BrokenLink | null;
}

/** Walks the hash chain of an installation's journal, and counts what is in it. */
export async function chainReport(db: Db, installation: InstallationId): Promise<ChainReport> {
  const broken = await verifyChain(db, installation);
  const counts = await row(
    db,
    { entries: integer, summaries: integer },
    `select (select count(*) from entry where installation = ?) as entries,
       (select count(*) from summary_entry where installation = ?) as summaries`,
    [installation, installation],
  );
  return { installation, ok: broken === null, ...counts, broken };
}
