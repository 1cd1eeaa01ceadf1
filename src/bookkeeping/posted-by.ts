import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { daysFrom } from '../domain/dates.ts';
import type { AppendOptions } from '../ledger/journal/append-entries.ts';
import { everClosedInErp } from './erp-locks.ts';

/** The mapping and VAT periods that each appended entry records; the periods include those that were ever closed. */
export async function postedBy(
  trx: Connection,
  installation: InstallationConfig,
): Promise<Pick<AppendOptions, 'decimals' | 'mappingHash' | 'vat' | 'fiscalYearStart'>> {
  const { decimals, mapping, mappingHash, startDate, fiscalYearStart } = installation;
  const closedDays = await everClosedInErp(trx, installation);
  // VAT before the start date was declared from the old books.
  if (startDate !== null) closedDays.push({ from: null, through: daysFrom(startDate, -1) });
  return { decimals, mappingHash, fiscalYearStart, vat: { length: mapping.policies.vat_period, closedDays } };
}
