import { type Line, signed } from '../domain/entry.ts';
import { type Money, zero } from '../domain/money.ts';
import type { SummaryLine } from '../ledger/summaries/summary.ts';

/** The rules of sales. The VAT of other rules belongs to payments and prepayments, which have no revenue lines. */
const saleRules: ReadonlySet<string> = new Set(['R1', 'R2']);

/** The VAT groups whose VAT is not due with the sales of this unit: their base is on VAT lines only (ACCOUNTING R13). */
export function groupsNotDue(lines: readonly (Line | SummaryLine)[]): ReadonlySet<string> {
  return new Set(
    lines.flatMap(({ role, rule, vat }) =>
      role === 'vat_not_due' && saleRules.has(rule) && vat !== null ? groupKey(vat) : [],
    ),
  );
}

export function groupKey(vat: { group: string | null; rate: Money | null }): string {
  return JSON.stringify([vat.group, vat.rate?.toFixed() ?? null]);
}

/**
 * The part of each VAT group's base that is on its VAT lines but on no revenue line, in the direction of the VAT line.
 * Payments have such a part, if they make VAT due or give back the VAT of prepayments.
 */
export function basesOnVatLinesAlone(lines: readonly (Line | SummaryLine)[]): Map<Line | SummaryLine, Money> {
  const alone = new Map<Line | SummaryLine, Money>();
  for (const line of lines) {
    const base = line.role === 'vat' && !saleRules.has(line.rule) ? line.vat?.base : null;
    if (base != null && !base.isZero()) alone.set(line, base);
  }
  const groups = Map.groupBy(
    lines.filter(({ rule, vat }) => saleRules.has(rule) && vat !== null),
    ({ vat }) => groupKey(vat ?? { group: null, rate: null }),
  );
  const notDue = groupsNotDue(lines);
  for (const [key, group] of groups) {
    const vatLines = group.filter(({ role, vat }) => role === 'vat' && vat?.base != null);
    const [first] = vatLines;
    if (first === undefined) continue;
    // In a summary, a revenue line with `vat.base` comes from entries without a VAT line of the group, so it is left
    // out here.
    const revenue = notDue.has(key) ? [] : group.filter(({ role, vat }) => role === 'revenue' && vat?.base == null);
    let left = zero;
    for (const line of vatLines) left = left.plus(signed({ side: line.side, amount: line.vat?.base ?? zero }));
    for (const line of revenue) left = left.minus(signed(line));
    if (!left.isZero()) alone.set(first, first.side === 'debit' ? left : left.negated());
  }
  return alone;
}
