import { type Money, sum, zero } from '../domain/money.ts';

/** A drop of a prepayment's `unused_amount` that no linked refund and no match explains. */
export interface Change {
  prepaymentId: number;
  /** Its number among the prepayment's changes. */
  n: number;
  clientId: number | null;
  /** Positive. */
  amount: Money;
  /** It happened after the first and not after the second, by the source's clock in epoch milliseconds; null: not known. */
  sinceMs: number | null;
  untilMs: number | null;
}

/** A payment of type 8 without a match. */
export interface Use {
  paymentId: number;
  /** Positive. */
  amount: Money;
  /** When the source recorded it; null: not known. */
  recordedMs: number | null;
  /** The client of its invoice. */
  clientId: number | null;
}

/** Both are written in one transaction of the source, whose clock may tell them a moment apart. */
const toleranceMs = 5_000;
/** Changes of one client that sets are made of: 4,096 sets at most. */
const changesAtMost = 12;

/**
 * The matches that the changes prove (ACCOUNTING R7): of each use the one set of prepayments whose changes equal its amount.
 * A set is one change of any client, or several changes of the client of the use's invoice. A use with two possible sets has
 * none, nor have two uses whose one set shares a change. What is matched leaves fewer sets to the others, so it is done again
 * until nothing is found: the result does not depend on the order of either list. `ambiguous` says of an amount that not all of its
 * changes are here, so that nothing can be proven of it.
 */
export function provenMatches(
  uses: readonly Use[],
  changes: readonly Change[],
  ambiguous: (amount: Money) => boolean = () => false,
): Map<number, Change[]> {
  const matches = new Map<number, Change[]>();
  let openUses = [...uses];
  let openChanges = [...changes];
  for (;;) {
    const found = provenOnce(openUses, openChanges, ambiguous);
    if (found.size === 0) return matches;
    const used = new Set([...found.values()].flat());
    for (const [paymentId, set] of found) matches.set(paymentId, set);
    openUses = openUses.filter(({ paymentId }) => !found.has(paymentId));
    openChanges = openChanges.filter((change) => !used.has(change));
  }
}

function provenOnce(
  uses: readonly Use[],
  changes: readonly Change[],
  ambiguous: (amount: Money) => boolean,
): Map<number, Change[]> {
  const byAmount = Map.groupBy(changes, ({ amount }) => amount.toFixed());
  const byClient = Map.groupBy(changes, ({ clientId }) => clientId);
  const only = new Map<number, Change[]>();
  const claims = new Map<Change, number>();
  for (const use of uses) {
    if (ambiguous(use.amount)) continue;
    const single = (byAmount.get(use.amount.toFixed()) ?? []).filter((change) => fits(use, change)).map((one) => [one]);
    const own = use.clientId === null ? [] : (byClient.get(use.clientId) ?? []);
    const sets = distinct([...single, ...setsOfSeveral(use, own)]);
    const [set, other] = sets;
    if (set === undefined || other !== undefined) continue;
    only.set(use.paymentId, set);
    for (const change of set) claims.set(change, (claims.get(change) ?? 0) + 1);
  }
  return new Map([...only].filter(([, set]) => set.every((change) => claims.get(change) === 1)));
}

/** Whether the use can be what changed the prepayment. */
function fits({ recordedMs }: Use, { sinceMs, untilMs }: Change): boolean {
  if (recordedMs === null) return true;
  return (
    (sinceMs === null || recordedMs >= sinceMs - toleranceMs) &&
    (untilMs === null || recordedMs <= untilMs + toleranceMs)
  );
}

/** Sets of two or more changes that add up to the use's amount; none where there are too many to try. */
function setsOfSeveral(use: Use, changes: readonly Change[]): Change[][] {
  const parts = changes.filter((change) => change.amount.lessThan(use.amount) && fits(use, change));
  if (parts.length < 2 || parts.length > changesAtMost) return [];
  const sets: Change[][] = [];
  const extend = (from: number, set: Change[], left: Money): void => {
    if (left.isZero()) sets.push(set);
    if (!left.greaterThan(zero)) return;
    for (let at = from; at < parts.length; at++) {
      const part = parts[at] as Change;
      extend(at + 1, [...set, part], left.minus(part.amount));
    }
  };
  extend(0, [], use.amount);
  return sets;
}

/** One of those sets that take the same amounts from the same prepayments. */
function distinct(sets: readonly Change[][]): Change[][] {
  const byTaken = new Map(sets.toReversed().map((set) => [takenText(set), set]));
  return [...byTaken.values()];
}

function takenText(set: readonly Change[]): string {
  const taken = [...Map.groupBy(set, ({ prepaymentId }) => prepaymentId)].map(
    ([id, of]) => `${id} ${sum(of.map(({ amount }) => amount)).toFixed()}`,
  );
  return taken.sort().join(', ');
}

/** What is to be done to a prepayment's changes so that they add up to what is unexplained now. */
export interface Adjustment {
  /** A new change; null where there is none. */
  added: Money | null;
  /** Changes that are gone, and the one whose amount is another now. */
  removed: number[];
  reduced: { n: number; amount: Money } | null;
}

/**
 * Brings the changes of a prepayment to `unexplained`, what its unused amount has dropped by without explanation: more is a new
 * change; less takes away the change of that amount where there is one, else the latest ones. Below zero there is no change.
 */
export function adjusted(changes: readonly Pick<Change, 'n' | 'amount'>[], unexplained: Money): Adjustment {
  const target = unexplained.lessThan(zero) ? zero : unexplained;
  const total = sum(changes.map(({ amount }) => amount));
  if (target.greaterThan(total)) return { added: target.minus(total), removed: [], reduced: null };
  let less = total.minus(target);
  const newestFirst = changes.toSorted((a, b) => b.n - a.n);
  const same = newestFirst.find(({ amount }) => amount.equals(less));
  if (same !== undefined && !less.isZero()) return { added: null, removed: [same.n], reduced: null };
  const removed: number[] = [];
  for (const { n, amount } of newestFirst) {
    if (less.isZero()) break;
    if (amount.greaterThan(less)) return { added: null, removed, reduced: { n, amount: amount.minus(less) } };
    removed.push(n);
    less = less.minus(amount);
  }
  return { added: null, removed, reduced: null };
}
