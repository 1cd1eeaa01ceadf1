import { signed } from '../../../domain/entry.ts';
import { Money, zero } from '../../../domain/money.ts';
import type { LineRole, Side } from '../../../terms.ts';

/** What a line needs to be told in pairs. `amount` is positive. */
export interface PairedLine {
  account: string;
  role: LineRole;
  side: Side;
  amount: Money;
}

/** One amount between two accounts. `line` is told by it, in whole or in part, `against` stands on the other side. */
export interface Pair<Line extends PairedLine> {
  line: Line;
  against: Line;
  /** Positive. */
  amount: Money;
}

/** Roles whose lines say what was sold; the other side of a pair is better one of the others, as in books kept by hand. */
const soldRoles: readonly LineRole[] = ['revenue', 'vat', 'rounding'];

/**
 * A balanced entry as pairs of different accounts; null where it cannot be told so. Where an account has one line only, every other
 * line is told whole against it, and that line is what they add up to; otherwise lines are split until they match.
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

function split<Line extends PairedLine>(lines: readonly Line[]): Pair<Line>[] | null {
  const credits = lines.flatMap((line) => (line.side === 'credit' ? { line, left: line.amount } : []));
  const pairs: Pair<Line>[] = [];
  for (const line of lines) {
    if (line.side === 'credit') continue;
    let left: Money = line.amount;
    for (const credit of credits) {
      if (left.isZero()) break;
      if (credit.left.isZero() || credit.line.account === line.account) continue;
      const amount = Money.min(left, credit.left);
      pairs.push({ line, against: credit.line, amount });
      left = left.minus(amount);
      credit.left = credit.left.minus(amount);
    }
    if (!left.isZero()) return null;
  }
  return pairs;
}

/** What pairs post on accounts, debit positive: each amount on the account of `line`, and its opposite on that of `against`. */
export function expanded<Line extends PairedLine>(pairs: readonly Pair<Line>[]): { account: string; amount: Money }[] {
  return pairs.flatMap(({ line, against, amount }) => {
    const debit = signed({ side: line.side, amount });
    return [
      { account: line.account, amount: debit },
      { account: against.account, amount: debit.negated() },
    ];
  });
}

/** The proof: the pairs are positive, between different accounts, and post on each account what the lines do, to the cent. */
function isWhole<Line extends PairedLine>(pairs: readonly Pair<Line>[], lines: readonly Line[]): boolean {
  const left = new Map<string, Money>();
  const add = (account: string, amount: Money) => left.set(account, (left.get(account) ?? zero).plus(amount));
  for (const line of lines) add(line.account, signed(line));
  for (const { account, amount } of expanded(pairs)) add(account, amount.negated());
  return (
    [...left.values()].every((amount) => amount.isZero()) &&
    pairs.every(
      ({ line, against, amount }) => amount.isPositive() && !amount.isZero() && line.account !== against.account,
    )
  );
}
