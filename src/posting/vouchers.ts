import { soldRole } from '../mapping/look-ups.ts';
import type { CalendarDate } from '../terms.ts';
import { postingFindings } from '../texts/findings/posting.ts';
import type { Findings } from './findings.ts';
import type { NetGroup } from './groups.ts';
import type { PostingContext } from './types.ts';
import { vatGroupLabel } from './vat-groups.ts';

/**
 * Finds the groups of rows that the mapping posts to a liability: gift cards and multi-purpose vouchers (ACCOUNTING
 * R1). A group with VAT or a VAT rate holds the document, because a voucher with known VAT is revenue.
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
    const { rate } = group.vat;
    // A group of exactly zero takes no part, whatever its rate (ACCOUNTING "Settling the cents", 1).
    if (group.exact.isZero() && group.exactVat.isZero()) continue;
    if (group.exactVat.isZero() && (rate === null || rate.isZero())) continue;
    findings.hold(
      'voucher_with_vat',
      postingFindings.voucherWithVat({
        count: group.rowIds.length,
        rows: group.rowIds.join(', '),
        account: group.accountNumber ?? postingFindings.noAccount,
        role,
        vat: group.exactVat.toFixed(),
        group: vatGroupLabel(group.vat),
      }),
    );
  }
  return found;
}
