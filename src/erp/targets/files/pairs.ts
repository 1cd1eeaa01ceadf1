import { signed } from '../../../domain/entry.ts';
import { Money, sum, zero } from '../../../domain/money.ts';
import type { LineRole, Side } from '../../../terms.ts';
import { Balances } from '../../balances.ts';

/** The fields of a line that splitting into pairs needs. `amount` is positive. */
export interface PairedLine {
  account: string;
  role: LineRole;
  side: Side;
  amount: Money;
}

/** One amount between two accounts: all or part of `line`, with `against` on the other side. */
export interface Pair<Line extends PairedLine> {
  line: Line;
  against: Line;
  /** Positive. */
  amount: Money;
}

/**
 * Roles of the lines that say what was sold. The contra account is preferably a line of another role, as in manual
 * bookkeeping.
 */
const soldRoles: readonly LineRole[] = ['revenue', 'vat', 'rounding'];

/**
 * Splits a balanced entry into pairs of different accounts; null if that is impossible. If one line is alone on its
 * side, every other line is paired with it as a whole. Otherwise lines are split until they match.
 */
export function pairsOf<Line extends PairedLine>(lines: readonly Line[]): Pair<Line>[] | null {
  const pairs = aroundOne(lines) ?? split(lines);
  return pairs !== null && isWhole(pairs, lines) ? pairs : null;
}

function aroundOne<Line extends PairedLine>(lines: readonly Line[]): Pair<Line>[] | null {
  const byAccount = Map.groupBy(lines, ({ account }) => account);
  const alone = lines.filter(({ account }) => byAccount.get(account)?.length === 1);
  const sorted = alone.toSorted(
    (a, b) => Number(soldRoles.includes(a.role)) - Number(soldRoles.includes(b.role)) || b.amount.comparedTo(a.amount),
  );
  const [centre] = sorted;
  if (centre === undefined || lines.length < 2) return null;
  return lines.flatMap((line) => (line === centre ? [] : { line, against: centre, amount: line.amount }));
}

/**
 * Pairs the lines in their order. No account may keep more than the half of the amounts that are left, because then it would have to
 * be paired with itself; so a pair takes only a part of its lines if needed. Null if one account has more than the half of all.
 */
function split<Line extends PairedLine>(lines: readonly Line[]): Pair<Line>[] | null {
  const open = lines.map((line) => ({ line, left: line.amount }));
  const debits = open.filter(({ line }) => line.side === 'debit');
  const credits = open.filter(({ line }) => line.side === 'credit');
  const accounts = new Map<string, Money>();
  for (const { account, amount } of lines) accounts.set(account, (accounts.get(account) ?? zero).plus(amount));
  let total = sum(debits.map(({ left }) => left));
  const pairs: Pair<Line>[] = [];
  while (!total.isZero()) {
    const before = total;
    for (const debit of debits)
      for (const credit of credits) {
        const [own, other] = [debit.line.account, credit.line.account];
        if (own === other || debit.left.isZero() || credit.left.isZero()) continue;
        const others = [...accounts].flatMap(([account, left]) => (account === own || account === other ? [] : [left]));
        const amount = Money.min(debit.left, credit.left, total.minus(Money.max(zero, ...others)));
        if (!amount.greaterThan(0)) continue;
        pairs.push({ line: debit.line, against: credit.line, amount });
        for (const one of [debit, credit]) {
          one.left = one.left.minus(amount);
          accounts.set(one.line.account, (accounts.get(one.line.account) ?? zero).minus(amount));
        }
        total = total.minus(amount);
      }
    if (total.equals(before)) return null;
  }
  return pairs;
}

/**
 * The amounts that pairs post, debit positive: each amount on the account of `line`, and the opposite amount on that of
 * `against`.
 */
export function expanded<Line extends PairedLine>(pairs: readonly Pair<Line>[]): { account: string; amount: Money }[] {
  return pairs.flatMap(({ line, against, amount }) => {
    const debit = signed({ side: line.side, amount });
    return [
      { account: line.account, amount: debit },
      { account: against.account, amount: debit.negated() },
    ];
  });
}

/**
 * Checks the pairs: they are positive, between different accounts, and post exactly the same on each account as the
 * lines.
 */
function isWhole<Line extends PairedLine>(pairs: readonly Pair<Line>[], lines: readonly Line[]): boolean {
  const left = new Balances();
  for (const line of lines) left.add(line.account, signed(line));
  for (const { account, amount } of expanded(pairs)) left.add(account, amount.negated());
  return (
    left.areZero &&
    pairs.every(
      ({ line, against, amount }) => amount.isPositive() && !amount.isZero() && line.account !== against.account,
    )
  );
}
