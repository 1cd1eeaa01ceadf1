import { soldRole } from '../mapping/look-ups.ts';
import type { CalendarDate } from '../terms.ts';
import type { Findings } from './findings.ts';
import type { NetGroup } from './groups.ts';
import type { PostingContext } from './types.ts';

/**
 * The net groups that the mapping sends to a liability instead of revenue (ACCOUNTING R1: gift cards, multi-purpose vouchers). One
 * with VAT, or with a rate, holds the document: a voucher whose VAT is known when it is sold is revenue.
 */
export function proveVouchers(
  net: readonly NetGroup[],
  departmentId: number | null,
  date: CalendarDate | null,
  { mapping }: PostingContext,
  findings: Findings,
): ReadonlySet<NetGroup> {
  const found = new Set<NetGroup>();
  for (const group of net) {
    const role = soldRole(mapping, group.accountNumber, departmentId, { ...group, date });
    if (role === null) continue;
    found.add(group);
    const { name, rate } = group.vat;
    // A group of exactly zero takes no part, whatever its rate (ACCOUNTING "Settling the cents", 1).
    if (group.exact.isZero() && group.exactVat.isZero()) continue;
    if (group.exactVat.isZero() && (rate === null || rate.isZero())) continue;
    const at = `VAT group ${name ?? 'without a name'} at ${rate?.toFixed() ?? 'no'} %`;
    const of = `row ${group.rowIds.join(', ')} on account ${group.accountNumber ?? 'none'}`;
    findings.hold('voucher_with_vat', `${of} goes to ${role} and has ${group.exactVat.toFixed()} VAT, ${at}`);
  }
  return found;
}
