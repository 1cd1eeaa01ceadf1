import type { InstallationConfig } from '../config/load.ts';
import type { Connection } from '../db/rows.ts';
import { accountsUsed, type WrittenAccount } from '../mapping/accounts-written.ts';
import { type MappingGap, mappingGaps, type UnnamedValue, unnamedValues } from '../mapping/check.ts';
import type { Mapping } from '../mapping/schema.ts';
import type { InstallationId } from '../terms.ts';
import { sourceUsage } from './source-usage.ts';

/** A mapping compared with what one installation's source uses. */
export interface MappingComparison {
  installation: InstallationId;
  gaps: MappingGap[];
  unnamed: UnnamedValue[];
  /** Accounts that the source's documents come to. */
  accounts: WrittenAccount[];
}

/** What an installation's source uses, as the mirror holds it, that a mapping has no account for or does not name. */
export async function compareMapping(
  db: Connection,
  installation: InstallationConfig,
  mapping: Mapping,
): Promise<MappingComparison> {
  const usage = await sourceUsage(db, installation);
  return {
    installation: installation.id,
    gaps: mappingGaps(usage, mapping),
    unnamed: unnamedValues(usage, mapping),
    accounts: accountsUsed(usage, mapping),
  };
}
