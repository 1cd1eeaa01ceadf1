import { Decimal } from 'decimal.js';
import { type Money, minorUnit, sum } from '../domain/money.ts';

/** A group of rows with its exact sum, which is to be rounded to the minor unit. */
export interface CentGroup {
  exact: Money;
  /** Decides between equal remainders: the lowest row id of the group, or the lowest credited row's id. */
  tie: number;
}

export interface Settled<Group> {
  group: Group;
  /** Rounded to the minor unit. */
  amount: Money;
}

/**
 * Does the same as `settle`, but first gives the groups that `atExact` selects their exact amounts, if these are whole
 * minor units (ACCOUNTING R1). The other groups share the rest.
 */
export function settleAfter<Group extends CentGroup>(
  groups: Group[],
  atExact: (group: Group) => boolean,
  target: Money,
  decimals: number,
  flip: boolean,
): Settled<Group>[] | null {
  const first = new Set(groups.filter((group) => atExact(group) && group.exact.decimalPlaces() <= decimals));
  const left = target.minus(sum([...first].map(({ exact }) => exact)));
  const others = settle(
    groups.filter((group) => !first.has(group)),
    left,
    decimals,
    flip,
  );
  if (others === null) return null;
  const amounts = new Map(others.map(({ group, amount }) => [group, amount]));
  return groups.map((group) => ({ group, amount: amounts.get(group) ?? group.exact }));
}

/**
 * Settles the cents (ACCOUNTING Amounts): rounds each group to the minor unit, so that the sum is `target` and no group
 * moves by more than one unit. Every amount is rounded down. Missing units go to the largest remainders (ties: the
 * lowest row id first); surplus units come from the smallest (ties: the last first). `flip` inverts the signs during
 * the work, so that a full credit note mirrors its invoice. Null if the target cannot be reached. No group may be zero.
 * The result has the order of `groups`.
 */
export function settle<Group extends CentGroup>(
  groups: Group[],
  target: Money,
  decimals: number,
  flip: boolean,
): Settled<Group>[] | null {
  const turned = (amount: Money) => (flip ? amount.negated() : amount);
  const unit = minorUnit(decimals);
  const shares = groups.map((group) => {
    const exact = turned(group.exact);
    const floor = exact.toDecimalPlaces(decimals, Decimal.ROUND_FLOOR);
    return { group, exact, floor, remainder: exact.minus(floor) };
  });
  // The rest in minor units: minorUnit(-2) is 100, the number of cents in 1.
  const left = turned(target)
    .minus(sum(shares.map(({ floor }) => floor)))
    .times(minorUnit(-decimals));
  if (!left.isInteger() || left.abs().greaterThan(groups.length)) return null;

  const count = left.abs().toNumber();
  const isSurplus = left.lessThan(0);
  const byRemainder = shares.toSorted((a, b) => b.remainder.comparedTo(a.remainder) || a.group.tie - b.group.tie);
  const moved = new Set(isSurplus ? byRemainder.slice(byRemainder.length - count) : byRemainder.slice(0, count));
  const step = isSurplus ? unit.negated() : unit;
  const settled: Settled<Group>[] = [];
  for (const share of shares) {
    const { group, exact, floor } = share;
    const amount = moved.has(share) ? floor.plus(step) : floor;
    // An amount rounded down, or one unit above it, is within one unit of the exact amount. One unit below it may be
    // further away.
    if (isSurplus && amount.minus(exact).abs().greaterThan(unit)) return null;
    settled.push({ group, amount: turned(amount) });
  }
  return settled;
}
