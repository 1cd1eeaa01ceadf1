import type { InstallationConfig } from '../config/load-config.ts';
import { accountsUsed, type WrittenAccount } from '../mapping/accounts-written.ts';
import { type MappingGap, mappingGaps, type UnnamedValue, unnamedValues } from '../mapping/mapping-gaps.ts';
import { owedAsRevenueText } from '../mapping/owed.ts';
import type { Mapping } from '../mapping/schema.ts';
import type { SourceUsage } from '../mapping/source-usage.ts';
import { hasRecords } from '../mirror/stored-records.ts';
import type { CalendarDate, InstallationId } from '../terms.ts';
import { type AccountPorts, findOwedAsRevenue, type OwedFinding } from './owed-as-revenue.ts';
import { sourceUsage } from './source-usage.ts';

/** A mapping compared with what one installation's source uses. */
export interface MappingComparison {
  installation: InstallationId;
  /** False before the first window: nothing is known about the source yet. */
  isLoaded: boolean;
  gaps: MappingGap[];
  unnamed: UnnamedValue[];
  /** Rows that the mapping posts as revenue although their names indicate a liability. */
  owed: OwedFinding;
  /** Accounts that the source's documents are posted to. */
  accounts: WrittenAccount[];
}

/**
 * Compares what an installation's source uses, as in the mirror, with the accounts and names of a mapping. With
 * `since`, only documents of that day and later. `read`: what the source uses, if it was read already.
 */
export async function compareMapping(
  ports: AccountPorts,
  installation: InstallationConfig,
  mapping: Mapping,
  since: CalendarDate | null = null,
  read: SourceUsage | null = null,
): Promise<MappingComparison & { usage: SourceUsage }> {
  const usage = read ?? (await sourceUsage(ports.db, installation, since));
  return {
    installation: installation.id,
    isLoaded: await hasRecords(ports.db, installation.id),
    gaps: mappingGaps(usage, mapping),
    unnamed: unnamedValues(usage, mapping),
    owed: await findOwedAsRevenue(ports, installation, usage, mapping),
    accounts: accountsUsed(usage, mapping),
    usage,
  };
}

/** Remarks that hold no document. Revenue with the name of a gift card or prepayment comes first. */
export function remarksOf({ unnamed, owed }: MappingComparison): UnnamedValue[] {
  const found = owed.found.map((each) => {
    return { message: owedAsRevenueText(each), count: each.rows, net: each.net, unit: 'row' as const };
  });
  return [...found, ...unnamed];
}
