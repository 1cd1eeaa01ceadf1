// The oracle of VAT on payment (ACCOUNTING R13): what each payment moves, computed with whole cents and fractions. It shares no code
// with src.

/** An invoice or credit note. Amounts are in cents, by any name of a VAT group; a consolidated invoice has members. */
export interface Sale<Rate extends string | number = string | number> {
  id: number;
  date: string;
  rows: { rate: Rate; net: bigint; vat: bigint }[];
  credits: number | null;
  members: number[];
  isVoid: boolean;
}

export interface Paid {
  id: number;
  sale: number;
  type: number;
  cents: bigint;
  date: string;
  isGone: boolean;
}

export interface DuePolicy {
  /** The first day of invoices whose VAT is due with payments. */
  from: string;
  until: string | null;
  latest: { months: number } | { year_end: string } | null;
  rest: boolean;
  /** The start date of the books. */
  start: string | null;
}

/** The documents that the oracle sees. Keys are like `payment/7`. */
export interface DueView {
  sales: ReadonlyMap<number, Sale>;
  paid: ReadonlyMap<number, Paid>;
  /** Documents in the order of their first entries. */
  order: readonly string[];
  policy: DuePolicy;
  stateOf(key: string): string | undefined;
  /** The document date of a payment's entry in force. */
  dateOf(key: string): string;
}

/** VAT that becomes due, and its net amount, in cents. */
export interface DueMove {
  key: string;
  sale: number;
  rate: string | number;
  vat: bigint;
  net: bigint;
  day: string;
}

const abs = (n: bigint): bigint => (n < 0n ? -n : n);

/** A fraction rounded half-even. */
export function rounded(over: bigint, under: bigint): bigint {
  const [n, d] = under < 0n ? [-over, -under] : [over, under];
  const sign = n < 0n ? -1n : 1n;
  const [whole, rest] = [abs(n) / d, abs(n) % d];
  const up = rest * 2n > d || (rest * 2n === d && whole % 2n === 1n);
  return sign * (whole + (up ? 1n : 0n));
}

/** A fraction, limited to the range between zero and a total. */
function within([n, d]: [bigint, bigint], total: bigint): [bigint, bigint] {
  const [over, under] = d < 0n ? [-n, -d] : [n, d];
  const isBelow = total < 0n ? over > 0n : over < 0n;
  const isAbove = total < 0n ? over < total * under : over > total * under;
  return isBelow ? [0n, 1n] : isAbove ? [total, 1n] : [over, under];
}

export const totalOf = ({ rows }: Pick<Sale, 'rows'>): bigint =>
  rows.reduce((sum, { net, vat }) => sum + net + vat, 0n);

/** The first original of a chain of credit notes. Undefined if it is unknown. */
export function firstOf(sales: ReadonlyMap<number, Sale>, sale: Sale): Sale | undefined {
  let found: Sale | undefined = sale;
  while (found !== undefined && found.credits !== null) found = sales.get(found.credits);
  return found;
}

export class DueOracle {
  readonly #view: DueView;
  readonly #rates: ReadonlySet<string | number>;

  constructor(view: DueView) {
    this.#view = view;
    this.#rates = new Set([...view.sales.values()].flatMap(({ rows }) => rows.map(({ rate }) => rate)));
  }

  #first(sale: Sale): Sale | undefined {
    return firstOf(this.#view.sales, sale);
  }

  #isOpening = ({ date }: Sale): boolean => this.#view.policy.start !== null && date < this.#view.policy.start;

  #isOnPayment(sale: Sale): boolean {
    const day = this.#first(sale)?.date ?? sale.date;
    const { from, until } = this.#view.policy;
    return day >= from && (until === null || day <= until);
  }

  #latestOf({ date }: Sale): string | null {
    const { latest, rest, until } = this.#view.policy;
    const days: string[] = [];
    if (latest !== null && 'months' in latest) {
      const [year, month] = date.split('-').map(Number) as [number, number];
      days.push(new Date(Date.UTC(year, month + 1, 0)).toISOString().slice(0, 10));
    } else if (latest !== null) days.push(date <= '2026-03-31' ? '2026-03-31' : '2027-03-31');
    if (rest) days.push(until!);
    const [first] = days.sort();
    return first === undefined ? null : first < date ? date : first;
  }

  /** The pairs of payments of type 12 with opposite amounts in the chain of a sale. */
  #pairs(sale: Sale): { from: Sale; to: Sale; fromPaid: Paid; toPaid: Paid }[] {
    const first = this.#first(sale);
    const depth = (one: Sale): number => (one.credits === null ? 0 : 1 + depth(this.#view.sales.get(one.credits)!));
    const left = [...this.#view.paid.values()]
      .filter(({ type, isGone, sale: of }) => {
        const on = this.#view.sales.get(of)!;
        return type === 12 && !isGone && !on.isVoid && totalOf(on) !== 0n && this.#first(on) === first;
      })
      .sort((a, b) => a.id - b.id);
    const pairs: { from: Sale; to: Sale; fromPaid: Paid; toPaid: Paid }[] = [];
    const used = new Set<number>();
    for (const one of left) {
      if (used.has(one.id)) continue;
      const other = left.find(
        (each) => each.id > one.id && !used.has(each.id) && each.sale !== one.sale && each.cents === -one.cents,
      );
      if (other === undefined) continue;
      used.add(one.id).add(other.id);
      const [a, b] = [this.#view.sales.get(one.sale)!, this.#view.sales.get(other.sale)!];
      const isFirst = depth(a) === depth(b) ? a.id > b.id : depth(a) > depth(b);
      pairs.push(
        isFirst ? { from: a, to: b, fromPaid: one, toPaid: other } : { from: b, to: a, fromPaid: other, toPaid: one },
      );
    }
    return pairs.sort((x, y) => x.fromPaid.id - y.fromPaid.id);
  }

  /** The due VAT and net amount of a rate if only the documents in `done` are posted. */
  #due(sale: Sale, rate: Sale['rows'][number]['rate'], done: ReadonlySet<string>, isOver: boolean): [bigint, bigint] {
    const pairs = this.#pairs(sale);
    const of = (one: Sale, what: 'net' | 'vat') => one.rows.reduce((s, r) => (r.rate === rate ? s + r[what] : s), 0n);
    const given = new Map<number, bigint>();
    let [vat, net, total, money] = [of(sale, 'vat'), of(sale, 'net'), totalOf(sale), 0n];
    // The base of a group without VAT is due with the sale.
    if (vat === 0n) net = 0n;
    const paired = new Set<number>();
    for (const { from, to, fromPaid, toPaid } of pairs) {
      const before = given.get(from.id) ?? 0n;
      const after = before + fromPaid.cents;
      given.set(from.id, after);
      const whole = totalOf(from);
      const share = (amount: bigint) => {
        const upTo = (sum: bigint) => rounded(amount * within([sum, 1n], whole)[0], whole);
        return upTo(after) - upTo(before);
      };
      const left = within([after, 1n], whole)[0] - within([before, 1n], whole)[0];
      const hasVat = of(from, 'vat') !== 0n && this.isMoved(from);
      for (const [mine, key, sign] of [
        [from.id === sale.id, fromPaid, -1n],
        [to.id === sale.id, toPaid, 1n],
      ] as const) {
        if (!mine) continue;
        paired.add(key.id);
        if (!done.has(`payment/${key.id}`)) continue;
        if (hasVat) {
          vat += sign * share(of(from, 'vat'));
          net += sign * share(of(from, 'net'));
        }
        total += sign * left;
      }
    }
    const collector = [...this.#view.sales.values()].find(
      (one) => one.members.includes(sale.id) && !one.isVoid && totalOf(one) !== 0n,
    );
    let consolidated = 0n;
    for (const paid of this.#view.paid.values()) {
      if (paid.sale !== sale.id || paired.has(paid.id)) continue;
      if (paid.type === 6 && collector !== undefined) {
        if (this.#isIn(paid)) consolidated += paid.cents;
      } else if (done.has(`payment/${paid.id}`)) money += paid.cents;
    }
    let paid: [bigint, bigint] = [money, 1n];
    if (collector !== undefined && consolidated !== 0n) {
      const whole = totalOf(collector);
      let got = 0n;
      for (const one of this.#view.paid.values()) {
        if (one.sale === collector.id && done.has(`payment/${one.id}`)) got += one.cents;
      }
      const [n] = within([got, 1n], whole);
      paid = [money * whole + consolidated * n, whole];
    }
    if (isOver || total === 0n) return [vat, net];
    const [n, d] = within(paid, total);
    return [rounded(vat * n, total * d), rounded(net * n, total * d)];
  }

  /** True if a payment is posted, or is part of the opening balances. */
  #isIn(paid: Paid): boolean {
    const state = this.#view.stateOf(`payment/${paid.id}`);
    return state === 'posted' || (state === 'before_start' && !paid.isGone);
  }

  /** True if payments move the VAT of this sale. */
  isMoved(sale: Sale): boolean {
    if (sale.isVoid || !this.#isOnPayment(sale) || sale.members.length > 0 || totalOf(sale) === 0n) return false;
    const latest = this.#latestOf(sale);
    return !(this.#isOpening(sale) && latest !== null && latest < this.#view.policy.start!);
  }

  /**
   * The VAT that each payment and latest day moves, by the documents that are posted at the end of `today`. Moves of
   * zero VAT are left out.
   */
  moves(today: string): DueMove[] {
    const { sales, paid, order, stateOf, dateOf } = this.#view;
    const found: DueMove[] = [];
    for (const sale of sales.values()) {
      if (sale.members.length > 0 || !this.isMoved(sale)) continue;
      const latest = this.#latestOf(sale);
      const latestAt = order.indexOf(`vat_due/${sale.id}`);
      const opening = [...paid.values()].filter(
        ({ id, isGone }) => stateOf(`payment/${id}`) === 'before_start' && !isGone,
      );
      const done = new Set(opening.map(({ id }) => `payment/${id}`));
      const posted = order.flatMap((key, at) => {
        const isPaid = key.startsWith('payment/') && paid.has(Number(key.slice(8)));
        return isPaid && stateOf(key) === 'posted' ? [{ key, at }] : [];
      });
      const isLate = ({ key, at }: (typeof posted)[number]) =>
        latest !== null && (dateOf(key) > latest || (latestAt >= 0 && at > latestAt));
      const turns: { key: string; isOver: boolean }[] = [
        ...posted.filter((each) => !isLate(each)).map(({ key }) => ({ key, isOver: false })),
        ...(latest === null ? [] : [{ key: `vat_due/${sale.id}`, isOver: true }]),
        ...posted.filter(isLate).map(({ key }) => ({ key, isOver: true })),
      ];
      for (const rate of this.#rates) {
        let before = this.#due(sale, rate, done, false);
        const seen = new Set(done);
        for (const { key, isOver } of turns) {
          seen.add(key);
          const after = this.#due(sale, rate, seen, isOver);
          const [vat, net] = [after[0] - before[0], after[1] - before[1]];
          before = after;
          if (vat === 0n || (key.startsWith('vat_due') && today <= latest!)) continue;
          found.push({ key, sale: sale.id, rate, vat, net, day: key.startsWith('vat_due') ? latest! : dateOf(key) });
        }
      }
    }
    return found;
  }
}
