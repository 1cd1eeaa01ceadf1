import { Decimal } from 'decimal.js';
import { type Money, minorUnit, sum } from '../domain/money.ts';

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
  const unit = minorUnit(decimals);
  const floors = groups.map((group) => group.exact.toDecimalPlaces(decimals, Decimal.ROUND_FLOOR));
  // Counted in units: minorUnit(-2) is 100, the cents in one.
  const left = target.minus(sum(floors)).times(minorUnit(-decimals));
  if (!left.isInteger() || left.abs().greaterThan(groups.length)) return null;

  const remainders = groups.map((group, index) => group.exact.minus(floors[index]!));
  const order = groups
    .map((_, index) => index)
    .sort((a, b) => remainders[b]!.comparedTo(remainders[a]!) || groups[a]!.tie - groups[b]!.tie);
  const count = left.abs().toNumber();
  const moved = new Set(left.lessThan(0) ? order.slice(order.length - count) : order.slice(0, count));
  const step = left.lessThan(0) ? unit.negated() : unit;
  const settled = floors.map((floor, index) => (moved.has(index) ? floor.plus(step) : floor));
  // A floor, or one unit above it, is within a unit of the exact amount; one below it may not be.
  if (!left.lessThan(0)) return settled;
  const reached = settled.every((amount, index) => amount.minus(groups[index]!.exact).abs().lessThanOrEqualTo(unit));
  return reached ? settled : null;
}
