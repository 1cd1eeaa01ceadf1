import { type Money, zero } from '../domain/money.ts';
import type { VatGroupKey } from '../mapping/look-ups.ts';
import type { RowRecord } from '../records/types.ts';
import type { CentGroup } from './settle.ts';

/** A row whose amounts could all be read. */
export type CompleteRow = RowRecord & { sum: Money; sumVat: Money; sumTotal: Money };

/** Rows that become one VAT line: a VAT group is (name, rate). */
export interface VatGroup extends CentGroup, VatGroupKey {
  key: string;
  rowIds: number[];
}

/** Rows that become one revenue line (ACCOUNTING "Settling the cents", 1). */
export interface NetGroup extends CentGroup {
  accountNumber: string | null;
  dimensions: RowRecord['dimensions'];
  internal: RowRecord['internal'];
  vat: VatGroup;
  /** The VAT of its own rows. */
  exactVat: Money;
  rowIds: number[];
}

/** A row's VAT rate in per cent: its group's, or its own where the server does not expose groups. */
export function rateOf(row: RowRecord): Money | null {
  return row.vatGroup?.rate ?? row.vatPercentage;
}

/** The rows in order of the id that decides ties: the credited row's where every row names one, otherwise their own. */
export function inTieOrder(rows: CompleteRow[]): { row: CompleteRow; tie: number }[] {
  const credits = rows.every((row) => row.creditedRowId !== null);
  return rows
    .map((row) => ({ row, tie: (credits ? row.creditedRowId : null) ?? row.id }))
    .sort((a, b) => a.tie - b.tie || a.row.id - b.row.id);
}

/** The exact sums of the groups, in tie order; groups that sum to zero are included. */
export function groupRows(rows: CompleteRow[]): { net: NetGroup[]; vat: VatGroup[] } {
  const net = new Map<string, NetGroup>();
  const vat = new Map<string, VatGroup>();
  for (const { row, tie } of inTieOrder(rows)) {
    const name = row.vatGroup?.name?.trim() || null;
    const rate = rateOf(row);
    const accountNumber = row.accountNumber?.trim() || null;
    const vatKey = JSON.stringify([name, rate?.toFixed() ?? null]);
    const netKey = JSON.stringify([accountNumber, row.dimensions, internalKey(row), vatKey]);

    const vatGroup = vat.get(vatKey) ?? { key: vatKey, name, rate, accounts: [], exact: zero, tie, rowIds: [] };
    vatGroup.exact = vatGroup.exact.plus(row.sumVat);
    vatGroup.rowIds.push(row.id);
    const account = row.vatGroup?.account?.trim();
    if (account && !vatGroup.accounts.includes(account)) vatGroup.accounts.push(account);
    vat.set(vatKey, vatGroup);

    const { dimensions, internal } = row;
    const group = net.get(netKey) ?? {
      accountNumber,
      dimensions,
      internal,
      vat: vatGroup,
      exact: zero,
      exactVat: zero,
      tie,
      rowIds: [],
    };
    group.exact = group.exact.plus(row.sum);
    group.exactVat = group.exactVat.plus(row.sumVat);
    group.rowIds.push(row.id);
    net.set(netKey, group);
  }
  return { net: [...net.values()], vat: [...vat.values()] };
}

function internalKey(row: RowRecord): (string | null)[] {
  return [row.internal.account, row.internal.dimension1, row.internal.dimension2];
}

/**
 * Whether the signs are turned while the cents are settled (ACCOUNTING "Settling the cents", 2): the first amount that is not
 * zero is negative, of the total, the VAT total, the rows' nets in tie order and the rows' VATs. Without the rows a credit
 * note that totals zero would not mirror its invoice.
 */
export function flips(totalWithVat: Money, totalVat: Money, rows: CompleteRow[]): boolean {
  if (!totalWithVat.isZero()) return totalWithVat.lessThan(0);
  const inOrder = inTieOrder(rows).map(({ row }) => row);
  const ofRows = [...inOrder.map((row) => row.sum), ...inOrder.map((row) => row.sumVat)];
  return [totalVat, ...ofRows].find((amount) => !amount.isZero())?.lessThan(0) ?? false;
}
