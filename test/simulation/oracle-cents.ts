// The oracle's implementation of "Settling the cents" in ACCOUNTING.
import { Decimal } from 'decimal.js';
import type { InvoiceRow } from '../../sandbox/src/records.ts';

export const D = Decimal.clone({ precision: 60, rounding: Decimal.ROUND_HALF_EVEN, toExpNeg: -40, toExpPos: 60 });
export type D = Decimal;

export const total0 = (amounts: string[]): D => amounts.reduce((sum, amount) => sum.plus(amount), new D(0));

export interface Group {
  rows: InvoiceRow[];
  exact: D;
  tie: number;
  settled: D;
}

/** Exact sums per group. Groups of exactly zero are included, but are not settled. */
export function grouped(
  rows: InvoiceRow[],
  keyOf: (row: InvoiceRow) => unknown,
  field: 'sum' | 'sum_vat',
  tieOf: (row: InvoiceRow) => number,
): Group[] {
  const groups = Map.groupBy(rows, (row) => JSON.stringify(keyOf(row)));
  return [...groups.values()].map((own) => ({
    rows: own,
    exact: total0(own.map((row) => row[field])),
    tie: tieOf(own[0]!),
    settled: new D(0),
  }));
}

/** Steps 2 and 3 of "Settling the cents" in whole minor units; false if the target cannot be reached. */
export function settleCents(groups: Group[], target: D, unit: D, turn: boolean): boolean {
  const sign = turn ? -1 : 1;
  const parts = groups.map((group) => {
    const exact = group.exact.times(sign).dividedBy(unit);
    const down = exact.floor();
    return { group, exact, down, rest: exact.minus(down), tie: group.tie };
  });
  let over = target
    .times(sign)
    .dividedBy(unit)
    .minus(parts.reduce((sum, { down }) => sum.plus(down), new D(0)));
  const give = over.greaterThan(0);
  const queue = [...parts].sort((a, b) =>
    give ? b.rest.comparedTo(a.rest) || a.tie - b.tie : a.rest.comparedTo(b.rest) || b.tie - a.tie,
  );
  for (const part of queue) {
    if (over.isZero()) break;
    part.down = part.down.plus(give ? 1 : -1);
    over = over.minus(give ? 1 : -1);
  }
  if (!over.isZero() || parts.some(({ down, exact }) => down.minus(exact).abs().greaterThan(1))) return false;
  for (const { group, down } of parts) group.settled = down.times(unit).times(sign).plus(0);
  return true;
}
