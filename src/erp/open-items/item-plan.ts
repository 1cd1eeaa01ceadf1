import { type Money, sum } from '../../domain/money.ts';
import { deliveryFindings } from '../../texts/findings/delivery.ts';

/**
 * A delivered line of an item: a receivable line of an invoice or its payments, or a liability line of a client's
 * prepayments, their refunds and uses.
 */
export interface ItemLine {
  /** Id of the line's unit. */
  unitId: string;
  /** Position in the unit. A reversal has the lines of the reversed unit in the same order. */
  line: number;
  /** Id of the unit that the line's unit reverses; null if it reverses none. */
  reverses: string | null;
  /** True for a line of a payment, false for a line of the invoice. */
  isPayment: boolean;
  account: string;
  /** Only lines of the same part settle each other: prepayments with their refunds and uses. Empty for an invoice. */
  part: string;
  /** Debit positive. */
  amount: Money;
}

/** A line as the ERP holds it. */
export interface HeldLine extends ItemLine {
  /** The ERP's id of the line. */
  id: string;
  party: string | null;
  /** Id of the ERP's group of matched lines; null if the line is not matched. */
  matched: string | null;
}

/** A group of lines that vetledger matched, or was going to match. */
export interface OurGroup {
  lineIds: readonly string[];
  /** The ERP's id of the group; null if it was never read back. */
  groupId: string | null;
}

export interface ItemPlan {
  /** Groups to undo, before any group is matched. */
  unmatch: string[][];
  /** Groups to match. Each has one account and party, and sums to zero. */
  match: string[][];
  /** Our groups that stay as they are. */
  keep: OurGroup[];
  /** The reason why lines that settle the invoice stay unmatched; null if there are none. */
  remark: string | null;
}

/**
 * Whether our books show anything that could be matched or undone. Most items are open invoices, which need no request.
 */
export function concernsErp(lines: readonly ItemLine[], ours: readonly OurGroup[]): boolean {
  const place = ({ account, part }: ItemLine) => JSON.stringify([account, part]);
  if (ours.length > 0 || pairsOf(lines, place).length > 0) return true;
  return [...Map.groupBy(lines, place).values()].some(isSettled);
}

/**
 * Plans the matches of an item's lines, with as few changes as possible. A reversal is matched with what it reverses,
 * and a payment with its cancellation. The other lines of an account and party are matched with each other once they
 * sum to zero. A group of ours is undone only if one of its lines was reversed or cancelled, or belongs to another
 * part now. Groups of other users stay.
 *
 * `lines` are in the order of the books.
 */
export function planItem(lines: readonly HeldLine[], ours: readonly OurGroup[]): ItemPlan {
  const plan: ItemPlan = { unmatch: [], match: [], keep: [], remark: null };
  const groups = existingGroups(lines);
  const foreign = new Set([...groups].filter(([name, ids]) => !isOurs(name, ids, ours)).map(([name]) => name));
  const pairOf = new Map<string, HeldLine[]>();
  const changeable = lines.filter(({ matched }) => matched === null || !foreign.has(matched));
  for (const pair of pairsOf(changeable, sideOf)) {
    for (const { id } of pair) pairOf.set(id, pair);
  }
  const undone = new Set<string>();
  for (const [name, ids] of groups) {
    if (foreign.has(name)) continue;
    const pair = pairOf.get(ids[0] ?? '');
    const sides = new Set(lines.flatMap((line) => (ids.includes(line.id) ? [sideOf(line)] : [])));
    const isPair = pair !== undefined && sameIds(idsOf(pair), ids);
    if (isPair || (sides.size === 1 && ids.every((id) => !pairOf.has(id))))
      plan.keep.push({ lineIds: ids, groupId: name });
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

/** The ERP's groups, each with the item's lines in it. */
function existingGroups(lines: readonly HeldLine[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { id, matched } of lines) {
    if (matched !== null) groups.set(matched, [...(groups.get(matched) ?? []), id]);
  }
  return groups;
}

/**
 * Whether vetledger made a group. It is recognised by its id. If the request ended without an answer, it is recognised
 * by its lines.
 */
function isOurs(name: string, ids: readonly string[], ours: readonly OurGroup[]): boolean {
  return ours.some(({ groupId, lineIds }) => (groupId === null ? sameIds(lineIds, ids) : groupId === name));
}

/**
 * Pairs of lines that cancel each other out: a line and its reversal, or a payment and the latest earlier payment of
 * the opposite amount. The source cancels and refunds payments in this way. `side`: the ERP can only match lines with
 * the same value.
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
    // If a reversal was itself reversed, it stays paired with its original, and the second reversal remains unpaired.
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

/** Account, party and part. No ERP matches lines of different accounts or parties. */
function sideOf({ account, party, part }: HeldLine): string {
  return JSON.stringify([account, party, part]);
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
      const units = [...new Set(byHand.map(({ unitId }) => unitId))].join(', ');
      return deliveryFindings.matchedByHand({ units });
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
