import type { AccountNumber } from '../records/types.ts';
import type { LineRole } from '../terms.ts';
import { roleNames } from '../texts/reports/accounts.ts';
import type { Chart } from './chart.ts';
import { isUnmapped, revenueAccount } from './look-ups.ts';
import type { Mapping } from './schema.ts';

/** The names of the ERP's accounts. */
export interface AccountNames {
  /**
   * The name comes from the chart of the mapping, otherwise from the practice software's list, the ERP's chart, or the
   * purpose of `role`. Null if all are unknown.
   */
  nameOf(account: string, role: LineRole | null): string | null;
  chart: Chart | null;
}

/**
 * Names of accounts from a chart, from the practice software's list, and from the ERP. A name of the list belongs to the account to
 * which the mapping sends its rows. If it sends several numbers to one account, the name is that of the same number.
 */
export function accountNames(
  mapping: Mapping,
  {
    chart,
    listed,
    inErp,
  }: { chart: Chart | null; listed: readonly AccountNumber[]; inErp: ReadonlyMap<string, string> },
): AccountNames {
  const own = new Map<string, Map<string, string>>();
  for (const { number, description, departmentId } of listed) {
    if (!description) continue;
    const found = revenueAccount(mapping, number, departmentId);
    if (isUnmapped(found)) continue;
    own.set(found.account, (own.get(found.account) ?? new Map()).set(number, description));
  }
  const ofList = (account: string) => {
    const names = own.get(account);
    const [only, ...others] = new Set(names?.values());
    return names?.get(account) ?? (others.length === 0 ? only : undefined);
  };
  return {
    nameOf: (account, role) =>
      chart?.get(account)?.name || ofList(account) || inErp.get(account) || (role === null ? null : roleNames[role]),
    chart,
  };
}
