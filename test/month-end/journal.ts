// The journal that ACCOUNTING requires of the played clinic, window by window: the simulation's oracle says what each document is, and
// this file says on which day its entries are and whether they are late. It uses nothing of src.

import type { Clinic } from '../../sandbox/src/clinic.ts';
import { addDays } from '../../sandbox/src/zone.ts';
import type { MappingData } from '../simulation/conditions.ts';
import { textOfExpected } from '../simulation/oracle.ts';
import { accountOfVat } from '../simulation/oracle-accounts.ts';
import { D } from '../simulation/oracle-cents.ts';
import { DueOracle, firstOf, type Paid, type Sale } from '../simulation/oracle-due.ts';
import { Rules } from '../simulation/oracle-rules.ts';
import type { ExpectedLine } from '../simulation/oracle-terms.ts';
import { documentsOf, keyOf, viewOf } from '../support/expected-books.ts';
import { onPaymentFrom, type Variant } from './variant.ts';
import { timezone } from './world.ts';

/** An entry; debits are positive. */
export interface Expected {
  document: string;
  on: string;
  /** The document's day; for a reversal, that of the reversed entry. */
  day: string;
  /** Posted after the month of its day was first closed. */
  isLate: boolean;
  isReversal: boolean;
  /** The number of the window that posted it. */
  window: number;
  lines: readonly ExpectedLine[];
}

/** Facts that the rules take from the books: decisions of people, and the order of first postings. */
export interface Recorded {
  /** Uses of prepayments without a known prepayment. */
  unmatched: ReadonlySet<number>;
  /** Documents in the order of their first entries. */
  order: readonly string[];
}

type Decision = 'redate' | 'as_dated';

interface Wanted {
  day: string;
  /** The lines without VAT on payment. */
  plain: readonly ExpectedLine[];
}

interface Standing extends Wanted {
  on: string;
  lines: readonly ExpectedLine[];
}

export class Journal {
  readonly entries: Expected[] = [];
  readonly #clinic: Clinic;
  readonly #mapping: MappingData;
  readonly #isOnPayment: boolean;
  readonly #standing = new Map<string, Standing>();
  readonly #firstParty = new Map<number, string>();
  readonly #decisions = new Map<string, Decision>();
  readonly #late = new Set<string>();
  /** The last closed day, and the months that were ever closed. */
  #closedThrough = '';
  readonly #closedMonths = new Set<string>();
  #window = 0;

  constructor(clinic: Clinic, mapping: MappingData, { vat }: Variant) {
    this.#clinic = clinic;
    this.#mapping = mapping;
    this.#isOnPayment = vat === 'payment';
  }

  close(through: string): void {
    this.#closedThrough = through;
    this.#closedMonths.add(through.slice(0, 7));
  }

  reopen(from: string): void {
    this.#closedThrough = addDays(from, -1);
  }

  decide(document: string, decision: Decision): void {
    this.#decisions.set(document, decision);
  }

  /** Adds the entries of a window that read all of the clinic's records. */
  window({ unmatched, order }: Recorded): void {
    this.#window += 1;
    const wanted = this.#wanted(unmatched);
    const isPosted = (key: string) => {
      const want = wanted.get(key);
      const standing = this.#standing.get(key);
      return standing !== undefined
        ? want !== null || this.#placeOf(key, standing.on) === null
        : Boolean(want && this.#placeOf(key, want.day));
    };
    for (const [key, want] of wanted)
      if (!key.startsWith('payment/')) this.#post(key, want, this.#invoiceLines(key, want, wanted));
    const moves = this.#isOnPayment ? this.#moves(wanted, order, isPosted) : new Map<string, ExpectedLine[]>();
    for (const [key, want] of wanted)
      if (key.startsWith('payment/')) this.#post(key, want, want && [...want.plain, ...(moves.get(key) ?? [])]);
  }

  /** What the rules require of each document; null for no entry. A held document is left out. */
  #wanted(unmatched: ReadonlySet<number>): Map<string, Wanted | null> {
    const view = viewOf(this.#clinic);
    for (const id of unmatched) {
      const { client } = this.#clinic.invoice(this.#clinic.payment(id).invoice);
      if (!this.#firstParty.has(id))
        this.#firstParty.set(id, client === null ? this.#mapping.cash_customer! : `client:${client}`);
    }
    const parties = new Map([...unmatched].map((id) => [id, this.#firstParty.get(id)!]));
    const rules = new Rules({ ...view, unmatched: parties }, { decimals: 2, timezone, exposeVatGroup: true });
    const wanted = new Map<string, Wanted | null>();
    for (const document of documentsOf(this.#clinic)) {
      const { verdict } = rules.verdict(document, { mapping: this.#mapping, startDate: null }, null);
      if (verdict.state === 'held') continue;
      wanted.set(keyOf(document), verdict.state === 'posted' ? { day: verdict.date, plain: verdict.lines } : null);
    }
    return wanted;
  }

  /** The day of an entry that is dated on `day`; null if it must wait. */
  #placeOf(key: string, day: string): string | null {
    const isLocked = day <= this.#closedThrough;
    if (isLocked) this.#late.add(key);
    const decision = this.#decisions.get(key);
    if (decision === 'redate' && this.#late.has(key)) return isLocked ? addDays(this.#closedThrough, 1) : day;
    if (isLocked || (this.#late.has(key) && decision !== 'as_dated')) return null;
    return day;
  }

  #post(key: string, want: Wanted | null, lines: readonly ExpectedLine[] | null): void {
    const standing = this.#standing.get(key);
    const isSame = standing && want && lines && standing.day === want.day && textOf(standing.lines) === textOf(lines);
    if (isSame || (!standing && !want)) return;
    const days = [...(standing ? [standing.on] : []), ...(want ? [want.day] : [])].map((day) =>
      this.#placeOf(key, day),
    );
    if (days.includes(null)) return;
    const isMoved = days[0] !== (standing?.on ?? want!.day) || (want && days.at(-1) !== want.day);
    const last = days.map(String).sort().at(-1)!;
    if (standing) {
      const turned = standing.lines.map((line) => ({ ...line, amount: line.amount.negated() }));
      this.#append(key, { on: isMoved ? last : standing.on, day: standing.day, isReversal: true, lines: turned });
      this.#standing.delete(key);
    }
    if (want && lines && lines.length > 0) {
      const on = isMoved ? last : want.day;
      this.#append(key, { on, day: want.day, isReversal: false, lines });
      this.#standing.set(key, { ...want, on, lines });
    }
    this.#late.delete(key);
    this.#decisions.delete(key);
  }

  #append(document: string, entry: Pick<Expected, 'on' | 'day' | 'isReversal' | 'lines'>): void {
    const isLate = this.#closedMonths.has(entry.day.slice(0, 7));
    this.entries.push({ document, ...entry, isLate, window: this.#window });
  }

  /** R13: the VAT of an invoice is not due. */
  #invoiceLines(
    key: string,
    want: Wanted | null,
    wanted: ReadonlyMap<string, Wanted | null>,
  ): readonly ExpectedLine[] | null {
    if (!this.#isOnPayment || want === null || !key.startsWith('invoice/')) return want?.plain ?? null;
    const sales = this.#sales(wanted);
    const oracle = new DueOracle(this.#view(sales, new Map(), [], () => false));
    const sale = sales.get(idOf(key));
    if (sale === undefined || !oracle.isMoved(sale)) return want.plain;
    const account = this.#mapping.roles.vat_not_due ?? '';
    return want.plain.map((line) =>
      line.role === 'vat' ? { ...line, role: 'vat_not_due', account, vat: { ...line.vat!, base: null } } : line,
    );
  }

  /** R13: the lines that move VAT, by payment. */
  #moves(wanted: ReadonlyMap<string, Wanted | null>, order: readonly string[], isPosted: (key: string) => boolean) {
    const sales = this.#sales(new Map([...this.#standing]));
    const paid = new Map(
      this.#clinic.invoicePayments
        .all()
        .map(({ id, invoice, payment_type, paid: amount }): [number, Paid] => {
          const date = wanted.get(`payment/${id}`)?.day ?? '';
          return [
            id,
            {
              id,
              sale: invoice,
              type: payment_type,
              cents: centsOf(new D(amount)),
              date,
              isGone: !isPosted(`payment/${id}`),
            },
          ];
        })
        .filter(([, { sale }]) => sales.has(sale)),
    );
    const found = new Map<string, ExpectedLine[]>();
    for (const move of new DueOracle(this.#view(sales, paid, order, isPosted)).moves('9999-12-31')) {
      const lines = found.get(move.key) ?? [];
      lines.push(...this.#moveLines(move, sales.get(move.sale)!));
      found.set(move.key, lines);
    }
    return found;
  }

  #moveLines(
    { sale: id, rate: key, vat, net }: { sale: number; rate: string | number; vat: bigint; net: bigint },
    { date }: Sale,
  ): ExpectedLine[] {
    const [group, rate] = JSON.parse(String(key)) as [string, string];
    const { lines } = this.#standing.get(`invoice/${id}`)!;
    const { party, snapshot, department } = lines[0]!;
    const receivable = lines.find((line) => line.role === 'receivable')?.receivable ?? null;
    const common = {
      party,
      snapshot,
      department,
      receivable,
      tags: [null, null, null, null, null, null],
      paymentType: null,
    };
    const amount = new D(String(vat)).dividedBy(100);
    const base = new D(String(vat < 0n ? -net : net)).dividedBy(100).plus(0).toFixed();
    const account = accountOfVat(this.#mapping, { group, rate }, [], date);
    return [
      {
        ...common,
        role: 'vat_not_due',
        account: this.#mapping.roles.vat_not_due ?? '',
        amount,
        vat: { group, rate, base: null },
      },
      { ...common, role: 'vat', account, amount: amount.negated(), vat: { group, rate, base } },
    ];
  }

  /** Invoices with an entry, as the oracle of VAT on payment needs them. The key of a VAT group is its name and rate as JSON. */
  #sales(of: ReadonlyMap<string, Wanted | null>): Map<number, Sale> {
    const sales = new Map<number, Sale>();
    for (const {
      id,
      invoice_date: date,
      credit_note,
      credit_note_original_invoice,
      consolidated_invoices,
    } of this.#clinic.invoices.all()) {
      const plain = of.get(`invoice/${id}`)?.plain;
      if (!plain) continue;
      const rows = plain.flatMap(({ role, amount, vat }) => {
        const rate = JSON.stringify([vat?.group, vat?.rate]);
        const cents = -centsOf(amount);
        if (role === 'vat') return { rate, net: 0n, vat: cents };
        return role === 'receivable' || role === 'insurance_receivable' ? [] : { rate, net: cents, vat: 0n };
      });
      const credits = credit_note ? credit_note_original_invoice : null;
      sales.set(id, { id, date, rows, credits, members: [...consolidated_invoices], isVoid: false });
    }
    // A credit note of an unknown original is its own chain.
    for (const sale of sales.values()) if (firstOf(sales, sale) === undefined) sale.credits = null;
    return sales;
  }

  #view(
    sales: Map<number, Sale>,
    paid: Map<number, Paid>,
    order: readonly string[],
    isPosted: (key: string) => boolean,
  ) {
    return {
      ...{ sales, paid, order },
      policy: { from: onPaymentFrom, until: null, latest: null, rest: false, start: null },
      stateOf: (key: string) => (isPosted(key) ? 'posted' : undefined),
      dateOf: (key: string) => paid.get(idOf(key))!.date,
    };
  }
}

const idOf = (key: string): number => Number(key.split('/')[1]);
const centsOf = (amount: D): bigint => BigInt(amount.times(100).toFixed(0));
const textOf = (lines: readonly ExpectedLine[]): string => lines.map(textOfExpected).sort().join('\n');
