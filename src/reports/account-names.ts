import type { InstallationConfig } from '../config/load-config.ts';
import { loadChart } from '../config/mapping-files.ts';
import type { Connection } from '../db/rows.ts';
import { ConfigError } from '../domain/errors.ts';
import { erpAccountNames } from '../erp/account-names.ts';
import { type AccountNames, accountNames } from '../mapping/account-names.ts';
import type { Chart } from '../mapping/chart.ts';
import { storedSourceAccounts } from '../mirror/source-accounts.ts';

type Named = Pick<InstallationConfig, 'id' | 'mapping' | 'mappingPath'>;

/** The names of an installation's accounts. */
export async function readAccountNames(db: Connection, installation: Named): Promise<AccountNames> {
  const listed = (await storedSourceAccounts(db, installation.id)) ?? [];
  const inErp = await erpAccountNames(db, installation.id);
  return accountNames(installation.mapping, { chart: await chartOf(installation), listed, inErp });
}

/**
 * The chart file; null if it cannot be read. A report then lacks the names, and `mapping check` reports the faults of
 * the file.
 */
async function chartOf({ mapping, mappingPath }: Named): Promise<Chart | null> {
  try {
    return (await loadChart(mapping, mappingPath))?.chart ?? null;
  } catch (error) {
    if (error instanceof ConfigError) return null;
    throw error;
  }
}
