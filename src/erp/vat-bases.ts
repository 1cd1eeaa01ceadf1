import { type Line, signed } from '../domain/entry.ts';
import { type Money, zero } from '../domain/money.ts';
import type { SummaryLine } from '../ledger/summaries/summary.ts';

/**
 * The part of each VAT group's base that is on its VAT lines but on no revenue line, in the direction of the VAT line.
 * For everything that posting makes, this part is zero. Old entries may have such a part, and keep it.
 */
export function basesOnVatLinesAlone(lines: readonly (Line | SummaryLine)[]): Map<Line | SummaryLine, Money> {
  const alone = new Map<Line | SummaryLine, Money>();
  const groups = Map.groupBy(
    lines.filter(({ vat }) => vat !== null),
    ({ vat }) => JSON.stringify([vat?.group ?? null, vat?.rate?.toFixed() ?? null]),
  );
  for (const group of groups.values()) {
    const vatLines = group.filter(({ role, vat }) => role === 'vat' && vat?.base != null);
    const [first] = vatLines;
    if (first === undefined) continue;
    // In a summary, a revenue line with `vat.base` comes from entries without a VAT line of the group, so it is left
    // out here.
    const revenue = group.filter(({ role, vat }) => role === 'revenue' && vat?.base == null);
    let left = zero;
    for (const line of vatLines) left = left.plus(signed({ side: line.side, amount: line.vat?.base ?? zero }));
    for (const line of revenue) left = left.minus(signed(line));
    if (!left.isZero()) alone.set(first, first.side === 'debit' ? left : left.negated());
  }
  return alone;
}
