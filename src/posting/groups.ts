import { type Money, zero } from '../domain/money.ts';
import type { VatGroupKey } from '../mapping/look-ups.ts';
import type { RowRecord } from '../records/types.ts';
import type { CentGroup } from './settle.ts';

/** A row with readable amounts. */
export type CompleteRow = RowRecord & { sum: Money; sumVat: Money; sumTotal: Money };

/** A group of rows with the same VAT name and rate. The group becomes one VAT line. */
export interface VatGroup extends CentGroup, VatGroupKey {
  key: string;
  rowIds: number[];
}

/** A group of rows that becomes one revenue line (ACCOUNTING "Settling the cents", 1). */
export interface NetGroup extends CentGroup {
  accountNumber: string | null;
  dimensions: RowRecord['dimensions'];
  internal: RowRecord['internal'];
  vat: VatGroup;
  /** The exact VAT of the rows in this group. */
  exactVat: Money;
  rowIds: number[];
}

/** A row's VAT rate in per cent: that of its group, or of the row if the server does not send groups. */
export function rateOf(row: RowRecord): Money | null {
  return row.vatGroup?.rate ?? row.vatPercentage;
}

/**
 * The rows in the order that decides ties: by the credited row's id if every row has one, otherwise by their own id.
 */
export function inTieOrder(rows: CompleteRow[]): { row: CompleteRow; tie: number }[] {
  const credits = rows.every((row) => row.creditedRowId !== null);
  return rows
    .map((row) => ({ row, tie: (credits ? row.creditedRowId : null) ?? row.id }))
    .sort((a, b) => a.tie - b.tie || a.row.id - b.row.id);
}

/** The exact sums of the groups, in the order of ties. Groups with the sum zero are included. */
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
 * Whether the signs are inverted while the cents are settled (ACCOUNTING "Settling the cents", 2). True if the first
 * amount other than zero is negative: of the total, the VAT total, the rows' nets in the order of ties, and the rows'
 * VATs. The rows count so that a credit note with the total zero mirrors its invoice.
 */
export function flips(totalWithVat: Money, totalVat: Money, rows: CompleteRow[]): boolean {
  if (!totalWithVat.isZero()) return totalWithVat.lessThan(0);
  const inOrder = inTieOrder(rows).map(({ row }) => row);
  const ofRows = [...inOrder.map((row) => row.sum), ...inOrder.map((row) => row.sumVat)];
  return [totalVat, ...ofRows].find((amount) => !amount.isZero())?.lessThan(0) ?? false;
}
