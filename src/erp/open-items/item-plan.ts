import { type Money, sum } from '../../domain/money.ts';

/** A delivered receivable line of an invoice or of one of its payments. */
export interface ItemLine {
  /** Id of the unit that it belongs to. */
  unitId: string;
  /** Position in the unit: a reversal has the lines of what it reverses, in the same order. */
  line: number;
  /** Id of the unit that its unit reverses. */
  reverses: string | null;
  /** Whether it is of a payment, and not of the invoice itself. */
  isPayment: boolean;
  account: string;
  /** Debit positive. */
  amount: Money;
}

/** A line as the ERP holds it. */
export interface HeldLine extends ItemLine {
  /** The ERP's id of the line. */
  id: string;
  party: string | null;
  /** The ERP's group of lines that it is matched with. */
  matched: string | null;
}

/** A group that we matched, or were about to. */
export interface OurGroup {
  lineIds: readonly string[];
  /** The ERP's name of it; null where it was never read back. */
  groupId: string | null;
}

export interface ItemPlan {
  /** Groups that are undone, before anything is matched. */
  unmatch: string[][];
  /** Groups that are matched; each sums to zero, and is of one account and party. */
  match: string[][];
  /** Groups of ours that stay, with the ERP's name of them. */
  keep: OurGroup[];
  /** Why lines that would settle the invoice stay unmatched; null where none do. */
  remark: string | null;
}

/**
 * Whether there may be something to match or to undo, as far as our books tell. Most items are open invoices: nothing is asked
 * about them.
 */
export function concernsErp(lines: readonly ItemLine[], ours: readonly OurGroup[]): boolean {
  if (ours.length > 0 || pairsOf(lines, ({ account }) => account).length > 0) return true;
  return [...Map.groupBy(lines, ({ account }) => account).values()].some(isSettled);
}

/**
 * What to match and to undo so that the ERP's open items are right, with as few changes as can be: a reversal is matched with what
 * it reverses, a payment with its cancellation, and the other lines of an account and party with each other once they sum to zero.
 * A group of ours is undone only when one of its lines was reversed or cancelled. A group that we did not make is left alone.
 *
 * The lines are in the order of the books.
 */
export function planItem(lines: readonly HeldLine[], ours: readonly OurGroup[]): ItemPlan {
  const plan: ItemPlan = { unmatch: [], match: [], keep: [], remark: null };
  const groups = existingGroups(lines);
  const foreign = new Set([...groups].filter(([name, ids]) => !isOurs(name, ids, ours)).map(([name]) => name));
  const pairOf = new Map<string, HeldLine[]>();
  const mendable = lines.filter(({ matched }) => matched === null || !foreign.has(matched));
  for (const pair of pairsOf(mendable, sideOf)) {
    for (const { id } of pair) pairOf.set(id, pair);
  }
  const undone = new Set<string>();
  for (const [name, ids] of groups) {
    if (foreign.has(name)) continue;
    const pair = pairOf.get(ids[0] ?? '');
    const isPair = pair !== undefined && sameIds(idsOf(pair), ids);
    if (isPair || ids.every((id) => !pairOf.has(id))) plan.keep.push({ lineIds: ids, groupId: name });
    else {
      plan.unmatch.push(ids);
      undone.add(name);
    }
  }
  const free = lines.filter(({ matched }) => matched === null || undone.has(matched));
  for (const pair of new Set(pairOf.values())) {
    if (pair.every((line) => free.includes(line))) plan.match.push(idsOf(pair));
  }
  const rest = free.filter(({ id }) => !pairOf.has(id));
  for (const same of bySide(rest).values()) if (isSettled(same)) plan.match.push(idsOf(same));
  plan.remark = remarkOn(lines, foreign, new Set(plan.match.flat()));
  return plan;
}

/** The ERP's groups, with the lines of this item in them. */
function existingGroups(lines: readonly HeldLine[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { id, matched } of lines) {
    if (matched !== null) groups.set(matched, [...(groups.get(matched) ?? []), id]);
  }
  return groups;
}

/** Whether we made it: by the ERP's name of it, or, where our request ended without an answer, by its lines. */
function isOurs(name: string, ids: readonly string[], ours: readonly OurGroup[]): boolean {
  return ours.some(({ groupId, lineIds }) => (groupId === null ? sameIds(lineIds, ids) : groupId === name));
}

/**
 * Lines that cancel each other out: an entry's and its reversal's, and, among payments that stand, one and the latest before it of
 * the opposite amount, which is how the source cancels and refunds them. `side` names what the ERP can match within.
 */
function pairsOf<Each extends ItemLine>(lines: readonly Each[], side: (line: Each) => string): [Each, Each][] {
  const pairs: [Each, Each][] = [];
  const paired = new Set<Each>();
  const pair = (first: Each, second: Each) => {
    pairs.push([first, second]);
    paired.add(first).add(second);
  };
  const placeOf = (unitId: string, line: Each) => JSON.stringify([unitId, line.line, side(line)]);
  const places = new Map(lines.map((line) => [placeOf(line.unitId, line), line]));
  for (const line of lines) {
    const original = line.reverses === null ? undefined : places.get(placeOf(line.reverses, line));
    // A reversal that was itself reversed stays with the first that it reverses; what reverses it stands again.
    if (original?.amount.plus(line.amount).isZero() && !paired.has(original)) pair(original, line);
  }
  const payments = lines.filter((line) => line.isPayment && line.reverses === null && !paired.has(line));
  const open = new Map<string, Each[]>();
  for (const line of payments) {
    const named = (amount: Money) => JSON.stringify([side(line), amount.toFixed()]);
    const before = open.get(named(line.amount.negated()))?.pop();
    if (before !== undefined) pair(before, line);
    else open.set(named(line.amount), [...(open.get(named(line.amount)) ?? []), line]);
  }
  return pairs;
}

/** Account and party: no ERP matches across them. */
function sideOf({ account, party }: HeldLine): string {
  return JSON.stringify([account, party]);
}

function bySide(lines: readonly HeldLine[]): Map<string, HeldLine[]> {
  return Map.groupBy(lines, sideOf);
}

function remarkOn(
  lines: readonly HeldLine[],
  foreign: ReadonlySet<string>,
  matchedNow: ReadonlySet<string>,
): string | null {
  for (const same of bySide(lines).values()) {
    const byHand = same.filter(({ matched }) => matched !== null && foreign.has(matched));
    const left = same.filter(({ id, matched }) => matched === null && !matchedNow.has(id));
    if (byHand.length === 0 || (isSettled(byHand) && left.length === 0)) continue;
    if (isSettled(same) || !isSettled(byHand)) {
      const entries = [...new Set(byHand.map(({ unitId }) => unitId))].join(', ');
      return `lines of ${entries} were matched by hand with other lines; they are left alone`;
    }
  }
  return null;
}

function isSettled(lines: readonly { amount: Money }[]): boolean {
  return lines.length > 0 && sum(lines.map(({ amount }) => amount)).isZero();
}

function idsOf(lines: readonly HeldLine[]): string[] {
  return lines.map(({ id }) => id).sort();
}

function sameIds(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id) => b.includes(id));
}
