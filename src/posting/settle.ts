import { Decimal } from 'decimal.js';
import { Money, sum } from '../domain/money.ts';

/** One group of rows, summed exactly, to be brought to the minor unit. */
export interface CentGroup {
  exact: Money;
  /** Decides ties: the lowest row id of the group, or the lowest credited row's. */
  tie: number;
}

/**
 * Settling the cents (ACCOUNTING Amounts): each group's amount at the minor unit, adding up to `target`, none moved by more than
 * one unit. Rounds down, gives what is left to the largest remainders (ties: the lowest row id first), takes what is too
 * much from the smallest (ties: the last first). `flip` turns every sign first and back at the end, so that a full credit
 * note undoes its invoice. Null when the target is out of reach. Groups are non-zero; the result is in their order.
 */
export function settle(groups: CentGroup[], target: Money, decimals: number, flip: boolean): Money[] | null {
  if (flip) {
    const negated = groups.map((group) => ({ ...group, exact: group.exact.negated() }));
    return settle(negated, target.negated(), decimals, false)?.map((amount) => amount.negated()) ?? null;
  }
  const unit = new Money(10).pow(-decimals);
  const floors = groups.map((group) => group.exact.toDecimalPlaces(decimals, Decimal.ROUND_FLOOR));
  const left = target.minus(sum(floors)).dividedBy(unit);
  if (!left.isInteger() || left.abs().greaterThan(groups.length)) return null;

  const remainder = (index: number) => groups[index]!.exact.minus(floors[index]!);
  const order = groups
    .map((_, index) => index)
    .sort((a, b) => remainder(b).comparedTo(remainder(a)) || groups[a]!.tie - groups[b]!.tie);
  const count = left.abs().toNumber();
  const moved = new Set(left.lessThan(0) ? order.slice(order.length - count) : order.slice(0, count));
  const step = left.lessThan(0) ? unit.negated() : unit;
  const settled = floors.map((floor, index) => (moved.has(index) ? floor.plus(step) : floor));
  const reached = settled.every((amount, index) => amount.minus(groups[index]!.exact).abs().lessThanOrEqualTo(unit));
  return reached ? settled : null;
}
