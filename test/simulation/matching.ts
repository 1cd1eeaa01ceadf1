// Lives of a few clients and their prepayments: what is seen of them window by window, and the matches of the rules in
// src/prepayments (ACCOUNTING R7). The clinic knows which prepayment each payment used; the rules see only the unused
// amounts.
import { Rng } from '../../sandbox/src/rng.ts';
import { Money } from '../../src/domain/money.ts';
import { type OwnPrepayment, type OwnUse, ownClientMatches } from '../../src/prepayments/own-client.ts';

export type Rule = typeof ownClientMatches;

/** Amounts are in coins of 2.50. */
interface Prepayment {
  id: number;
  client: number;
  day: number;
  paid: number;
  unused: number;
  refunded: number;
}

interface Use {
  id: number;
  /** The client of the paid invoice. */
  client: number;
  /** The true prepayment, which the rules do not see. */
  prepayment: number;
  invoice: number;
  day: number;
  amount: number;
  /** The use that this use cancels. In the source, only the invoice, amount and order show it. */
  cancels: Use | null;
}

export interface MatchingLife {
  windows: number;
  matched: number;
  /** The number of clients who have uses but no matches. */
  left: number;
}

/** Runs one seed. Throws an Error with the fault, the seed and the window. */
export function liveMatches({ seed, windows, rule }: { seed: number; windows: number; rule: Rule }): MatchingLife {
  const life = new Life(seed, rule);
  for (let window = 1; window <= windows; window++) {
    const wrong = life.window();
    if (wrong !== null) throw new Error(`seed ${seed}, window ${window}: ${wrong}`);
  }
  return { windows, ...life.counts };
}

class Life {
  readonly counts = { matched: 0, left: 0 };
  readonly #rng: Rng;
  readonly #rule: Rule;
  readonly #prepayments: Prepayment[] = [];
  readonly #uses: Use[] = [];
  /** For each matched payment, the amount that it took from each prepayment. */
  readonly #matches = new Map<number, Map<number, number>>();
  #day = 1;
  #nextId = 1;

  constructor(seed: number, rule: Rule) {
    this.#rng = new Rng(seed, 'matching');
    this.#rule = rule;
  }

  /** Plays some events, reads all of them, and applies the rule to each client. Returns the fault, or null. */
  window(): string | null {
    for (let left = this.#rng.int(1, 8); left > 0; left--) this.#happen();
    // The accountant matched some uses on other clients' invoices; these matches stay.
    for (const { id, client, prepayment, amount, cancels } of this.#uses) {
      const isStranger = this.#prepayments.some((each) => each.id === prepayment && each.client !== client);
      const isCancelled = cancels !== null || this.#uses.some((use) => use.cancels?.id === id);
      if (isStranger && !isCancelled && !this.#matches.has(id) && this.#rng.chance(0.3))
        this.#matches.set(id, new Map([[prepayment, amount]]));
    }
    if (this.#rng.chance(0.7)) this.#day += this.#rng.int(0, 2);
    for (const client of [1, 2, 3]) {
      const wrong = this.#follow(client);
      if (wrong !== null) return `client ${client}: ${wrong}`;
    }
    return null;
  }

  #happen(): void {
    const rng = this.#rng;
    const usable = this.#prepayments.filter(({ unused }) => unused > 0);
    const prepayment = usable.length === 0 || rng.chance(0.3) ? this.#take() : rng.pick(usable);
    if (rng.chance(0.1)) {
      const part = rng.int(1, prepayment.unused);
      prepayment.unused -= part;
      prepayment.refunded += part;
      return;
    }
    const standing = this.#uses.filter(
      (use) => use.cancels === null && !this.#uses.some(({ cancels }) => cancels === use),
    );
    const last = standing.at(-1);
    // Only the latest use is cancelled, because invoice and amount do not distinguish two equal uses.
    if (last !== undefined && rng.chance(0.15)) {
      const used = this.#prepayments.find(({ id }) => id === last.prepayment)!;
      used.unused += last.amount;
      this.#uses.push({ ...last, id: this.#nextId++, day: this.#day, amount: -last.amount, cancels: last });
      return;
    }
    // Amounts are round, so that decreases of different clients are often equal.
    const amount = Math.min(prepayment.unused, rng.chance(0.6) ? 4 * rng.int(1, 4) : rng.int(1, prepayment.unused));
    const client = rng.chance(0.85) ? prepayment.client : rng.int(1, 3);
    const use = { client, prepayment: prepayment.id, invoice: this.#nextId, day: this.#day, amount, cancels: null };
    this.#uses.push({ id: this.#nextId++, ...use });
    prepayment.unused -= amount;
  }

  #take(): Prepayment {
    const paid = 4 * this.#rng.int(1, 9);
    const client = this.#rng.int(1, 3);
    const made = { id: this.#nextId++, client, day: this.#day, paid, unused: paid, refunded: 0 };
    this.#prepayments.push(made);
    return made;
  }

  #follow(client: number): string | null {
    // The cancellation of a matched use removes the match. If the use is not matched, both the use and its cancellation
    // are ignored.
    for (const use of this.#uses.filter(({ cancels }) => cancels !== null)) {
      const of = this.#matches.get(use.cancels!.id);
      if (of && !this.#matches.has(use.id)) this.#matches.set(use.id, new Map([...of].map(([id, sum]) => [id, -sum])));
    }
    const cancelled = new Set(this.#uses.flatMap(({ cancels }) => cancels ?? []));
    const open = this.#uses.filter(
      (use) => use.client === client && use.cancels === null && !cancelled.has(use) && !this.#matches.has(use.id),
    );
    const own = this.#prepayments.filter((each) => each.client === client);
    const drops = new Map(own.map((each) => [each.id, this.#unexplained(each)]));
    const found = this.#rule(
      open.map(({ id, amount, day }): OwnUse => ({ paymentId: id, amount: money(amount), usedOn: dayText(day) })),
      own.map(
        ({ id, day }): OwnPrepayment => ({
          ...{ prepaymentId: id, unexplained: money(drops.get(id)!) },
          receivedOn: dayText(day),
        }),
      ),
    );
    const before = new Map(this.#matches);
    for (const { paymentId, prepaymentId, amount } of found ?? []) {
      const taken = this.#matches.get(paymentId) ?? new Map<number, number>();
      taken.set(prepaymentId, (taken.get(prepaymentId) ?? 0) + amount.dividedBy(coin).toNumber());
      this.#matches.set(paymentId, taken);
    }
    return this.#wrong(open, own, drops, before);
  }

  /** The paid amount less what is unused, refunded and matched. */
  #unexplained({ id, paid, unused, refunded }: Prepayment): number {
    const matched = [...this.#matches.values()].reduce((sum, taken) => sum + (taken.get(id) ?? 0), 0);
    return paid - unused - refunded - matched;
  }

  /** The oracle: splits the uses and the prepayments into coins, and pairs the coins in the order of their days. */
  #wrong(open: Use[], own: Prepayment[], drops: Map<number, number>, before: Map<number, unknown>): string | null {
    const inOrder = <T extends { id: number; day: number }>(items: T[]) =>
      items.toSorted((a, b) => a.day - b.day || a.id - b.id);
    const used = inOrder(open).flatMap(({ id, day, amount }) => Array.from({ length: amount }, () => ({ id, day })));
    const dropped = inOrder(own).flatMap(({ id, day }) =>
      Array.from({ length: Math.max(0, drops.get(id)!) }, () => ({ id, day })),
    );
    const isExplained = [...drops.values()].every((sum) => sum >= 0);
    const fits = isExplained && used.length === dropped.length && used.every(({ day }, at) => dropped[at]!.day <= day);
    const asked = new Map<string, number>();
    if (fits)
      used.forEach(({ id }, at) => {
        const key = `payment ${id} from ${dropped[at]!.id}`;
        asked.set(key, (asked.get(key) ?? 0) + 1);
      });
    const got = new Map<string, number>();
    for (const [id, taken] of this.#matches) {
      if (before.has(id)) continue;
      for (const [prepayment, sum] of taken) got.set(`payment ${id} from ${prepayment}`, sum);
    }
    const text = (of: Map<string, number>) =>
      [...of]
        .map(([key, sum]) => `${key}: ${sum}`)
        .sort()
        .join(', ') || 'none';
    if (text(asked) !== text(got)) return `matched are ${text(got)}, should be ${text(asked)}`;
    this.counts.matched += got.size;
    if (open.length > 0 && !fits) this.counts.left += 1;
    // Strict E8: if everything is matched, no prepayment has an unexplained amount.
    const wrong = fits ? own.find((each) => this.#unexplained(each) !== 0) : undefined;
    return wrong ? `prepayment ${wrong.id} has ${this.#unexplained(wrong)} unexplained, though all is matched` : null;
  }
}

const coin = '2.50';
const money = (coins: number) => new Money(coin).times(coins);
const dayText = (day: number) =>
  `2026-${String(1 + Math.floor(day / 28)).padStart(2, '0')}-${String(1 + (day % 28)).padStart(2, '0')}`;

/** The first seed with a fault, and the fault; null if there is none. */
export function firstWrongMatch(rule: Rule, seeds: readonly number[]): string | null {
  for (const seed of seeds) {
    try {
      liveMatches({ seed, windows: 40, rule });
    } catch (error) {
      return (error as Error).message;
    }
  }
  return null;
}

/** Variants of the rule, each with one mistake. */
export const matchingMutants: Record<string, Rule> = {
  'the newest prepayment first': (uses, prepayments) => {
    const days = prepayments.map(({ receivedOn }) => receivedOn).sort();
    const turned = prepayments.map((each) => ({ ...each, receivedOn: days.at(-1 - days.indexOf(each.receivedOn))! }));
    return ownClientMatches(uses, turned);
  },
  'sums that differ are matched': (uses, prepayments) => {
    const [first, ...others] = prepayments;
    if (first === undefined) return ownClientMatches(uses, prepayments);
    const total = (amounts: Money[]) => amounts.reduce((sum, amount) => sum.plus(amount), new Money(0));
    const more = total(uses.map(({ amount }) => amount)).minus(
      total(prepayments.map(({ unexplained }) => unexplained)),
    );
    return ownClientMatches(uses, [{ ...first, unexplained: first.unexplained.plus(more) }, ...others]);
  },
  'days not looked at': (uses, prepayments) =>
    ownClientMatches(
      uses.map((use) => ({ ...use, usedOn: '9999-12-31' })),
      prepayments,
    ),
  'one prepayment for each use': (uses, prepayments) => {
    const found = ownClientMatches(uses, prepayments);
    const isSplit = found?.some(({ paymentId }, at) => found.some((one, n) => n !== at && one.paymentId === paymentId));
    return isSplit ? null : found;
  },
  'uses by amount, and not by day': (uses, prepayments) => {
    const days = uses.map(({ usedOn }) => usedOn).sort();
    const byAmount = uses.toSorted((a, b) => a.amount.comparedTo(b.amount));
    return ownClientMatches(
      byAmount.map((use, at) => ({ ...use, usedOn: days[at] ?? null })),
      prepayments,
    );
  },
};
