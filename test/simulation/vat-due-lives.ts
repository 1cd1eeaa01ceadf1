// Random lives of VAT on payment (ACCOUNTING R13): invoices, credit notes, consolidated invoices and payments in any order. The
// oracle computes with whole cents and fractions, and shares no code with src.
import { Rng } from '../../sandbox/src/rng.ts';
import { Money } from '../../src/domain/money.ts';
import type { InvoiceFacts } from '../../src/posting/types.ts';
import type { DueBooks } from '../../src/posting/vat-due.ts';
import type { PaymentRecord } from '../../src/records/types.ts';
import { DueScene } from '../posting/due-support.ts';
import { contextOf, invoiceFacts, invoiceOf, mappingOf, paymentOf, rowOf, vatGroup } from '../posting/support.ts';
import { DueOracle, type DuePolicy, type Sale as DueSale, firstOf, type Paid, rounded, totalOf } from './oracle-due.ts';

const rates = [24, 14, 0] as const;
type Rate = (typeof rates)[number];

type Sale = DueSale<Rate>;

/** The cases that occurred in lives, so that a test can check that none is missing. */
export type Counts = Record<string, number>;

const text = (cents: bigint): string => new Money(String(cents)).dividedBy(100).toFixed(2);

export function liveVatDue(seed: number, counts: Counts, change?: (books: DueBooks) => DueBooks): void {
  const life = new Life(seed, counts, change);
  for (let step = 0; step < 24; step++) life.step();
}

class Life {
  readonly #rng: Rng;
  readonly #counts: Counts;
  readonly #policy: DuePolicy;
  readonly #scene: DueScene;
  readonly #seed: number;
  readonly #sales = new Map<number, Sale>();
  readonly #paid = new Map<number, Paid>();
  /** Documents in the order of their first entries. */
  readonly #order: string[] = [];
  #next = 1;
  #day = '2026-01-05';

  constructor(seed: number, counts: Counts, change?: (books: DueBooks) => DueBooks) {
    this.#seed = seed;
    this.#counts = counts;
    const rng = new Rng(seed, 'vat due');
    this.#rng = rng;
    const until = rng.chance(0.3) ? '2026-03-10' : null;
    this.#policy = {
      from: '2026-01-01',
      until,
      latest: rng.pick([null, null, { months: 1 }, { year_end: '03-31' }] as const),
      rest: until !== null && rng.chance(0.5),
      start: rng.chance(0.3) ? '2026-01-25' : null,
    };
    const { latest, rest, start } = this.#policy;
    const vat_due = {
      payment: '2026-01-01',
      ...(until ? { until, rest_at_end: rest } : {}),
      ...(latest ? { latest } : {}),
    };
    const mapping = mappingOf({ policies: { vat_due, rounding_limit: '100000' } });
    this.#scene = new DueScene(contextOf({ mapping, startDate: start }), change);
  }

  step(): void {
    const rng = this.#rng;
    this.#pass(rng.int(0, 9));
    const act = rng.weighted([
      [() => this.#sell(), 4],
      [() => this.#credit(), 2],
      [() => this.#collect(), 1],
      [() => this.#pay(), 8],
      [() => this.#settle(), 3],
      [() => this.#void(), 0.6],
      [() => this.#correct(), 1],
      [() => this.#lose(), 0.6],
    ] as [() => void, number][]);
    act();
    this.#follow();
    this.#check();
  }

  #count(what: string): void {
    this.#counts[what] = (this.#counts[what] ?? 0) + 1;
  }

  #pass(days: number): void {
    this.#day = new Date(Date.parse(this.#day) + days * 86_400_000).toISOString().slice(0, 10);
  }

  #post(sale: Sale): void {
    this.#sales.set(sale.id, sale);
    this.#placed(`invoice/${sale.id}`, this.#scene.invoice(this.#factsOf(sale)).length > 0);
    if (this.#isOpening(sale)) this.#count('before the start');
  }

  #isOpening({ id }: Sale): boolean {
    return this.#scene.stateOf(`invoice/${id}`) === 'before_start';
  }

  #factsOf(sale: Sale): InvoiceFacts {
    const { id, rows, date, credits, members, isVoid } = sale;
    const nets = rows.reduce((sum, { net }) => sum + net, 0n);
    const vats = rows.reduce((sum, { vat }) => sum + vat, 0n);
    const first = firstOf(this.#sales, sale);
    const invoice = invoiceOf([text(nets), text(vats), text(nets + vats)], {
      ...{ id, number: String(1000 + id), invoiceDate: date, created: `${date}T09:00:00+02:00`, dueDate: null },
      ...{ creditNote: credits !== null, originalInvoiceId: credits, status: isVoid ? 99 : 3 },
      consolidatedInvoiceIds: members,
    });
    return invoiceFacts(
      invoice,
      members.length > 0
        ? []
        : rows.map(({ rate, net, vat }, at) =>
            rowOf(`300${at}`, text(net), text(vat), text(net + vat), {
              ...{ id: id * 10 + at, invoiceId: id, vatGroup: vatGroup(String(rate)) },
            }),
          ),
      { originalDate: first?.date ?? null },
    );
  }

  #placed(key: string, isPosted: boolean): void {
    if (isPosted && !this.#order.includes(key)) this.#order.push(key);
  }

  #sell(): void {
    const rows = rates.flatMap((rate) => {
      if (!this.#rng.chance(0.7)) return [];
      const net = BigInt(this.#rng.int(1, 20_000));
      return [{ rate, net, vat: rounded(net * BigInt(rate), 100n) }];
    });
    if (rows.length === 0) return;
    const back = this.#rng.chance(0.2) ? this.#rng.int(1, 30) : 0;
    const day = new Date(Date.parse(this.#day) - back * 86_400_000).toISOString().slice(0, 10);
    const date = day < '2026-01-01' ? '2026-01-02' : day;
    this.#post({ id: this.#next++, date, rows, credits: null, members: [], isVoid: false });
  }

  #credit(): void {
    const of = this.#pick(({ members }) => members.length === 0);
    if (of === undefined) return;
    const isWhole = this.#rng.chance(0.4);
    const rows = of.rows.flatMap(({ rate, net, vat }) => {
      if (!isWhole && this.#rng.chance(0.4)) return [];
      const part = isWhole || this.#rng.chance(0.4) ? net : (net * BigInt(this.#rng.int(1, 9))) / 10n;
      if (part === 0n) return [];
      return [{ rate, net: -part, vat: part === net ? -vat : -rounded(part * BigInt(rate), 100n) }];
    });
    if (rows.length === 0) return;
    this.#post({ id: this.#next++, date: this.#day, rows, credits: of.id, members: [], isVoid: false });
    this.#count(of.credits === null ? 'credit note' : 'credit of a credit note');
  }

  #collect(): void {
    const taken = new Set([...this.#sales.values()].flatMap(({ members }) => members));
    const members = [...this.#sales.values()].filter(
      (sale) => !taken.has(sale.id) && sale.members.length === 0 && sale.credits === null && !sale.isVoid,
    );
    if (members.length === 0) return;
    const some = members.slice(0, this.#rng.int(1, 3));
    const net = some.reduce((sum, sale) => sum + totalOf(sale), 0n);
    const isSeenFirst = this.#rng.chance(0.5);
    const pay = () => {
      for (const sale of some) this.#put({ sale: sale.id, type: 6, cents: totalOf(sale) });
    };
    if (!isSeenFirst) pay();
    const rows = [{ rate: 0 as const, net, vat: 0n }];
    const ids = some.map(({ id }) => id);
    this.#post({ id: this.#next++, date: this.#day, rows, credits: null, members: ids, isVoid: false });
    if (isSeenFirst) pay();
    this.#count('collector');
  }

  #pick(wanted: (sale: Sale) => boolean): Sale | undefined {
    const found = [...this.#sales.values()].filter((sale) => !sale.isVoid && wanted(sale));
    return found.length === 0 ? undefined : this.#rng.pick(found);
  }

  #pay(): void {
    const sale = this.#pick(() => true);
    if (sale === undefined) return;
    const total = totalOf(sale);
    const paid = [...this.#paid.values()].filter((one) => one.sale === sale.id && !one.isGone);
    const left = total - paid.reduce((sum, { cents }) => sum + cents, 0n);
    const [what, cents] = this.#rng.weighted([
      [['rest', left] as const, 4],
      [['part', (total * BigInt(this.#rng.int(1, 9))) / 10n] as const, 3],
      [['double', total] as const, 1],
      [['over', total * 2n] as const, 0.5],
      [['refund', -(total * BigInt(this.#rng.int(1, 10))) / 10n] as const, 1],
      [['rounding', BigInt(this.#rng.pick([-2, 1, 2]))] as const, 0.7],
    ] as [readonly [string, bigint], number][]);
    if (cents === 0n) return;
    if (sale.members.length > 0) this.#count(`collector ${what}`);
    this.#count(what);
    const type = what === 'rounding' ? 3 : this.#rng.pick([0, 1, 2, 5, 8, 9, 10, 15]);
    if ([8, 9, 10, 15].includes(type)) this.#count(`type ${type}`);
    this.#put({ sale: sale.id, type, cents });
  }

  #put(one: Pick<Paid, 'sale' | 'type' | 'cents'>): void {
    const sale = this.#sales.get(one.sale)!;
    // Some payments are recorded late, with an earlier date.
    const back = this.#rng.chance(0.2) ? this.#rng.int(1, 60) : 0;
    const day = new Date(Date.parse(this.#day) - back * 86_400_000).toISOString().slice(0, 10);
    const [, date = day] = [day, sale.date].sort();
    const paid: Paid = { ...one, id: 500 + this.#next++, date, isGone: false };
    this.#paid.set(paid.id, paid);
    this.#placed(`payment/${paid.id}`, this.#scene.pay(this.#recordOf(paid)).length > 0);
  }

  #recordOf({ id, sale, type, cents, date }: Paid): PaymentRecord {
    return paymentOf(type, text(cents), { id, invoiceId: sale, dateAdded: `${date}T12:00:00+02:00` });
  }

  #settle(): void {
    const note = this.#pick(({ credits }) => credits !== null);
    const against = note && this.#sales.get(note.credits!);
    if (note === undefined || against === undefined) return;
    const whole = totalOf(note);
    const cents = this.#rng.chance(0.6) ? whole : (whole * BigInt(this.#rng.int(1, 9))) / 10n;
    if (cents === 0n) return;
    this.#count(cents === whole ? 'type 12 whole' : 'type 12 part');
    if (this.#isOpening(against)) this.#count('type 12 before the start');
    this.#put({ sale: note.id, type: 12, cents });
    if (this.#rng.chance(0.9)) this.#put({ sale: against.id, type: 12, cents: -cents });
    else this.#count('type 12 alone');
  }

  #void(): void {
    const sale = this.#pick(() => true);
    if (sale === undefined) return;
    this.#count('void');
    this.#post({ ...sale, isVoid: true });
  }

  #correct(): void {
    const sale = this.#pick(({ members }) => members.length === 0);
    if (sale === undefined) return;
    const rows = sale.rows.map(({ rate, net }) => ({
      rate,
      net: net * 2n,
      vat: rounded(net * 2n * BigInt(rate), 100n),
    }));
    // A correction that the accountant left as posted: the source shows it, and the entry in force stays.
    const isLeft = this.#scene.stateOf(`invoice/${sale.id}`) === 'posted' && this.#rng.chance(0.3);
    this.#count(isLeft ? 'left as posted' : 'R8');
    if (isLeft) this.#scene.see(this.#factsOf({ ...sale, rows }));
    else this.#post({ ...sale, rows });
  }

  #lose(): void {
    const found = [...this.#paid.values()].filter(({ isGone }) => !isGone);
    if (found.length === 0) return;
    const paid = this.#rng.pick(found);
    this.#count('payment gone');
    paid.isGone = true;
    this.#scene.remove(paid.id);
  }

  /** Posts every document that must move another amount of VAT, until nothing changes. */
  #follow(): void {
    for (let round = 0; round < 20; round++) {
      let entries = 0;
      const states = () => [...this.#paid.keys()].map((id) => this.#scene.stateOf(`payment/${id}`)).join();
      const before = states();
      for (const { id } of this.#paid.values()) {
        const added = this.#scene.again(id);
        entries += added.length;
        if (added.some(({ reason }) => reason === 'vat_due_changed')) this.#count('vat_due_changed');
        this.#placed(`payment/${id}`, added.length > 0);
      }
      for (const { id } of this.#sales.values()) {
        const added = this.#scene.latest(id, this.#day);
        entries += added.length;
        if (added.length > 0) this.#count('latest day');
        this.#placed(`vat_due/${id}`, added.length > 0);
      }
      if (entries === 0 && states() === before) return;
    }
    throw new Error(`seed ${this.#seed}: posting does not come to an end`);
  }

  #check(): void {
    const expected = new Map<string, [bigint, bigint]>();
    const dayOf = new Map<string, string>();
    const oracle = new DueOracle({
      ...{ sales: this.#sales, paid: this.#paid, order: this.#order, policy: this.#policy },
      stateOf: (key) => this.#scene.stateOf(key) ?? undefined,
      dateOf: (key) => this.#scene.inForce(key)!.documentDate,
    });
    for (const { key, sale, rate, vat, net, day } of oracle.moves(this.#day)) {
      expected.set(`${key} of ${sale} at ${rate}`, [vat, net]);
      dayOf.set(key, day);
    }
    const found = new Map<string, [bigint, bigint]>();
    const byMonth = new Map<string, bigint>();
    const keys = [
      ...[...this.#paid.keys()].map((id) => `payment/${id}`),
      ...[...this.#sales.keys()].map((id) => `vat_due/${id}`),
    ];
    for (const key of keys) {
      const entry = this.#scene.inForce(key);
      for (const line of entry?.lines ?? []) {
        if (line.rule !== 'R13' || line.role !== 'vat') continue;
        const sign = line.side === 'credit' ? 1n : -1n;
        const cents = (of: Money | null) => sign * BigInt((of ?? new Money(0)).times(100).toFixed(0));
        found.set(`${key} of ${line.invoiceId} at ${line.vat!.rate!.toFixed()}`, [
          cents(line.amount),
          cents(line.vat!.base),
        ]);
        const month = entry!.date.slice(0, 7);
        byMonth.set(month, (byMonth.get(month) ?? 0n) + cents(line.amount));
      }
    }
    const shown = (of: Map<string, [bigint, bigint]>) =>
      [...of]
        .map(([key, [vat, net]]) => `${key}: ${vat} on ${net}`)
        .sort()
        .join('\n');
    if (shown(found) !== shown(expected)) {
      const world = JSON.stringify([...this.#sales.values(), ...this.#paid.values()], (_, v) =>
        typeof v === 'bigint' ? String(v) : v,
      );
      throw new Error(
        `seed ${this.#seed} ${this.#day}: posted\n${shown(found)}\nexpected\n${shown(expected)}\n${JSON.stringify(this.#policy)}\n${world}`,
      );
    }
    const months = new Map<string, bigint>();
    for (const [key, [vat]] of expected) {
      const month = dayOf.get(key.split(' ')[0]!)!.slice(0, 7);
      months.set(month, (months.get(month) ?? 0n) + vat);
    }
    for (const month of new Set([...months.keys(), ...byMonth.keys()])) {
      if ((months.get(month) ?? 0n) !== (byMonth.get(month) ?? 0n))
        throw new Error(`seed ${this.#seed}: VAT of ${month}`);
    }
    this.#notDue(found);
  }

  /** E11: the balance of `vat_not_due` must equal the VAT of the entries in force less the VAT that became due. */
  #notDue(found: Map<string, [bigint, bigint]>): void {
    let left = 0n;
    let owed = 0n;
    const sum = (key: string) => {
      for (const { role, side, amount } of this.#scene.inForce(key)?.lines ?? []) {
        const cents = BigInt(amount.times(100).toFixed(0)) * (side === 'credit' ? 1n : -1n);
        if (role === 'vat_not_due' || role === 'opening_vat_not_due') left += cents;
        if (role === 'vat_not_due' && key.startsWith('invoice')) owed += cents;
      }
    };
    for (const id of this.#sales.keys()) sum(`invoice/${id}`);
    for (const id of this.#sales.keys()) sum(`vat_due/${id}`);
    for (const id of this.#paid.keys()) sum(`payment/${id}`);
    const due = [...found.values()].reduce((all, [vat]) => all + vat, 0n);
    if (left !== owed - due) throw new Error(`seed ${this.#seed}: E11, ${left} is left of ${owed} less ${due}`);
    this.#count('E11');
  }
}

/** Wrong facts; the oracle must notice each. */
export const vatDueMutants: Record<string, (books: DueBooks) => DueBooks> = {
  'no set-off': (books) => ({ ...books, settlements: new Map() }),
  'no collector': (books) => ({
    ...books,
    invoices: new Map([...books.invoices].map(([id, one]) => [id, { ...one, collector: null }])),
  }),
  'no latest day': (books) => ({
    ...books,
    invoices: new Map([...books.invoices].map(([id, one]) => [id, { ...one, latest: null }])),
  }),
  'no place of the latest day': (books) => ({
    ...books,
    invoices: new Map([...books.invoices].map(([id, one]) => [id, { ...one, latestPlace: null }])),
  }),
  'payments that were reversed count': (books) => ({
    ...books,
    payments: new Map(
      [...books.payments].map(([id, its]) => [
        id,
        its.map((one) => ({ ...one, counts: true, amount: one.counts ? one.amount : new Money(10) })),
      ]),
    ),
  }),
};

if (import.meta.main) {
  const [from = 1, many = 1000] = process.argv.slice(2).map(Number);
  const counts: Counts = {};
  let failed = 0;
  for (let seed = from; seed < from + many; seed++) {
    try {
      liveVatDue(seed, counts);
    } catch (error) {
      failed += 1;
      if (failed <= 2) console.error((error as Error).message);
    }
  }
  console.log(`${many} lives, ${failed} failed`, JSON.stringify(counts));
}
