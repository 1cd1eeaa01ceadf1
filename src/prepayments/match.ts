import { type Money, sum, zero } from '../domain/money.ts';

/** A drop of a prepayment's `unused_amount` that no linked refund and no match explains. */
export interface Change {
  prepaymentId: number;
  /** The number of this change among the prepayment's changes. */
  n: number;
  clientId: number | null;
  /** The amount of the decrease, always positive. */
  amount: Money;
  /**
   * The change happened after `sinceMs` and not after `untilMs`, in epoch milliseconds of the source's clock. Null if
   * unknown.
   */
  sinceMs: number | null;
  untilMs: number | null;
}

/** A payment of type 8 without a match. */
export interface Use {
  paymentId: number;
  /** The amount of the payment, always positive. */
  amount: Money;
  /** When the source recorded the payment. Null if unknown. */
  recordedMs: number | null;
  /** The client of the payment's invoice. */
  clientId: number | null;
}

/** The source writes the payment and the change in one transaction, but their times may differ slightly. */
const toleranceMs = 5_000;
/** At most this many changes of one client are combined into sets: 4,096 sets. */
const changesAtMost = 12;

/**
 * The matches that the changes prove (ACCOUNTING R7). A use matches the only set of changes that equals its amount. A
 * set is one change of any client, or several changes of the client of the use's invoice. A use with two possible sets
 * has no match; two uses whose only sets share a change have none either. Each match leaves fewer sets to other uses,
 * so the search repeats until it finds nothing, and the order of the lists does not matter. `ambiguous` returns true
 * for an amount of which some changes were not read, so that nothing can be proven.
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

/** Whether the use may have caused the change. */
function fits({ recordedMs }: Use, { sinceMs, untilMs }: Change): boolean {
  if (recordedMs === null) return true;
  return (
    (sinceMs === null || recordedMs >= sinceMs - toleranceMs) &&
    (untilMs === null || recordedMs <= untilMs + toleranceMs)
  );
}

/** Sets of two or more changes that add up to the use's amount. Empty if there are too many changes to try. */
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

/** Sets that take the same amounts from the same prepayments are equal; keeps one of each. */
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

/** How to edit a prepayment's changes so that they add up to its present unexplained amount. */
export interface Adjustment {
  /** A change to add, or null. */
  added: Money | null;
  /** Numbers of the changes to delete, and a change with its new amount. */
  removed: number[];
  reduced: { n: number; amount: Money } | null;
}

/**
 * Adjusts the changes of a prepayment to `unexplained`, the unexplained drop of its unused amount. If it grew, the
 * difference is a new change. If it shrank, the change of that amount is deleted, or else the latest ones are reduced.
 * A negative amount leaves no change.
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
