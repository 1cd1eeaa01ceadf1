import type { Connection } from '../db/rows.ts';
import { daysBetween } from '../domain/dates.ts';
import { type Money, sum, zero } from '../domain/money.ts';
import { unusedPrepayments } from '../prepayments/unused.ts';
import type { CalendarDate, DocumentKind } from '../terms.ts';
import { reportTexts, sectionTitles } from '../texts/reports/reports.ts';
import {
  type BookedOnPrepayments,
  bookedOnPrepayments,
  bookedVat,
  namesNow,
  type PrepaymentOfSource,
  prepaymentsOfSource,
  prepaymentsWithVat,
  type UseOfSource,
  usesOfSource,
} from './prepayment-records.ts';
import {
  type Cell,
  columnsOf,
  type Item,
  type Period,
  type Section,
  type SectionShape,
  section,
} from './report-sections.ts';
import { type SettledDocuments, settledPrepayments } from './settled-prepayments.ts';
import type { VatInput } from './vat.ts';

const customerColumns = columnsOf('customer', 'name');
const facts = columnsOf('date', 'state');
const amounts = columnsOf('received', 'used', 'refunded', 'unused', 'in_books');
const vatLeft = columnsOf('vat_left');

const perPrepayment: SectionShape = {
  name: 'prepayments',
  title: sectionTitles.prepaymentsPerClient,
  keys: [
    ...customerColumns,
    ...columnsOf('prepayment'),
    ...columnsOf('unmatched'),
    ...columnsOf('date_received'),
    ...columnsOf('age_days'),
  ],
  facts,
  amounts,
};
const perClient: SectionShape = {
  name: 'clients',
  title: sectionTitles.prepaymentTotals,
  keys: customerColumns,
  facts,
  amounts,
};

/**
 * Unused prepayments at the end of a day, by the source's records and the matches of payments of type 8: each original
 * with its refunds and uses up to the day, also from before `start_date`. The total of `in_books` is the ledger's
 * `prepayment_liability`; the total of `unused` is the amount that E3 derives it from. They differ by documents that
 * are not posted or from before `start_date`. With VAT at receipt, `vat_left` is the VAT of E8. Used-up prepayments
 * without a balance in the books are left out.
 */
export async function prepayments(db: Connection, input: VatInput, { through }: Period): Promise<Section[]> {
  const vat = await bookedVat(db, input, through);
  const settled = await settledPrepayments(db, input, through, prepaymentsWithVat(vat));
  const found = new PrepaymentLines(through, settled);
  for await (const page of prepaymentsOfSource(db, input, settled)) for (const one of page) found.addPrepayment(one);
  for await (const page of usesOfSource(db, input, settled)) for (const use of page) found.addUse(use);
  found.addBooked(await bookedOnPrepayments(db, input, through, settled, vat));
  const open = found.open();
  const names = await namesNow(db, input, [...new Set(open.flatMap(({ keys }) => codeOf(keys.customer) ?? []))]);
  const items = open.map((item): Item => {
    const code = codeOf(item.keys.customer);
    return { ...item, keys: { ...item.keys, name: code === null ? null : (names.get(code) ?? null) } };
  });
  const hasVat = input.mapping.policies.prepayment_vat !== 'listed' || items.some((each) => !vatOf(each).isZero());
  const columns = hasVat ? [...amounts, ...vatLeft] : amounts;
  const kept = hasVat
    ? items
    : items.map(({ amounts: { vat_left: _, ...own }, ...item }) => ({ ...item, amounts: own }));
  const ofClients = kept.map(({ keys: { customer = null, name = null }, ...item }) => ({
    ...item,
    keys: { customer, name },
  }));
  return [
    section({ ...perPrepayment, amounts: columns }, kept),
    section({ ...perClient, amounts: columns }, ofClients),
  ];
}

/** The unused prepayments at the end of a day without VAT in the books: their number and amount. */
export async function unusedWithoutVat(
  db: Connection,
  input: VatInput,
  through: CalendarDate,
): Promise<{ prepayments: number; amount: Money }> {
  const withVat = prepaymentsWithVat(await bookedVat(db, input, through));
  const open = (await unusedPrepayments(db, input, through)).filter(
    ({ prepayment }) => prepayment === null || !withVat.has(prepayment),
  );
  return { prepayments: open.length, amount: sum(open.map(({ amount }) => amount)) };
}

function codeOf(cell: Cell | undefined): string | null {
  return typeof cell === 'string' ? cell : null;
}

function vatOf({ amounts: { vat_left } }: Item): Money {
  return vat_left ?? zero;
}

/** A line of the report: an original prepayment, or a document whose original is unknown. */
interface Line {
  clientId: number | null;
  prepayment: number | null;
  unmatched: string | null;
  date: CalendarDate | null;
  shares: Map<string, Share>;
}

/** The amounts that one document adds to a line of the report. */
interface Share {
  date: CalendarDate | null;
  state: string | null;
  received: Money;
  used: Money;
  refunded: Money;
  inBooks: Money;
  vat: Money;
}

/** Collects the lines of the report. Prepayments must be added first, then uses, then booked amounts. */
class PrepaymentLines {
  readonly #through: CalendarDate;
  readonly #settled: SettledDocuments;
  readonly #lines = new Map<string, Line>();
  readonly #originals = new Map<number, PrepaymentOfSource>();
  /** The lines of a document, and its part of each. Its booked amounts are added to the same lines. */
  readonly #places = new Map<string, { line: Line; part: Money }[]>();

  constructor(through: CalendarDate, settled: SettledDocuments) {
    this.#through = through;
    this.#settled = settled;
  }

  addPrepayment(one: PrepaymentOfSource): void {
    const { id, paid, refundsId, clientId, date, state } = one;
    const document = `prepayment ${id}`;
    const isRefund = paid?.isNegative() ?? false;
    if (!isRefund) this.#originals.set(id, one);
    // A refund has a higher id than its original, so the original was added before.
    const original = isRefund && refundsId !== null ? this.#originals.get(refundsId) : undefined;
    const line = original
      ? this.#ofPrepayment(original)
      : isRefund
        ? this.#unmatched({ document, clientId, date })
        : this.#ofPrepayment(one);
    this.#places.set(document, [{ line, part: paid ?? zero }]);
    if (!one.isMoney || paid === null || !this.#isDue(date)) return;
    this.#add(line, document, { date, state, ...(isRefund ? { refunded: paid.negated() } : { received: paid }) });
  }

  addUse({ id, amount, clientId, date, state, taken, cancelledOn }: UseOfSource): void {
    const document = `payment ${id}`;
    const parts = taken.map((one) => ({ line: this.#ofId(one.prepaymentId, clientId), part: one.amount }));
    const rest = amount.minus(sum(parts.map(({ part }) => part)));
    // An unmatched payment and its cancellation share one line, whose sum is zero.
    const unmatched = cancelledOn === null ? document : reportTexts.cancelledPayments({ invoice: cancelledOn });
    if (!rest.isZero()) parts.push({ line: this.#unmatched({ document: unmatched, clientId, date }), part: rest });
    this.#places.set(document, parts);
    if (!this.#isDue(date)) return;
    for (const { line, part } of parts) this.#add(line, document, { date, state, used: part });
  }

  /** Adds the booked liabilities of documents, the VAT posted at receipt, and the VAT returned at use. */
  addBooked({ liabilities, vats, vatShares }: BookedOnPrepayments): void {
    for (const { kind, id, amount, clientId } of liabilities) {
      const places = this.#placesOf(kind, id, clientId);
      let left = amount;
      for (const [at, { line, part }] of places.entries()) {
        const own = at === places.length - 1 ? left : kind === 'payment' ? part.negated() : part;
        this.#add(line, `${kind} ${id}`, { inBooks: own });
        left = left.minus(own);
      }
    }
    for (const { id, vat } of vats) {
      for (const { line } of this.#placesOf('prepayment', id, null)) this.#add(line, `prepayment ${id}`, { vat });
    }
    for (const { kind, id, prepaymentId, vat } of vatShares) {
      this.#add(this.#ofId(prepaymentId, null), `${kind} ${id}`, { vat: vat.negated() });
    }
  }

  /** The shares of lines with a remaining amount, by client, day and id. */
  open(): Item[] {
    const lines = [...this.#lines.values()].filter(({ prepayment, shares }) => {
      // A payment may have used a settled prepayment together with another one.
      if (prepayment !== null && this.#settled.prepayments.has(prepayment)) return false;
      const all = [...shares.values()];
      const left = [unusedOf, ({ inBooks }: Share) => inBooks, ({ vat }: Share) => vat];
      return left.some((amountOf) => !sum(all.map(amountOf)).isZero());
    });
    return lines.toSorted(inOrder).flatMap((line) => this.#items(line));
  }

  #items({ clientId, prepayment, unmatched, date, shares }: Line): Item[] {
    const keys = {
      ...{ customer: clientId === null ? null : `client:${clientId}`, name: null, prepayment, unmatched },
      date_received: date,
      age_days: date === null ? null : Math.max(0, daysBetween(date, this.#through)),
    };
    return [...shares].map(([document, share]) => {
      const { received, used, refunded, inBooks, vat } = share;
      return {
        ...{ keys, document, facts: { date: share.date, state: share.state } },
        amounts: { received, used, refunded, unused: unusedOf(share), in_books: inBooks, vat_left: vat },
      };
    });
  }

  #placesOf(kind: DocumentKind, id: number, clientId: number | null): { line: Line; part: Money }[] {
    const document = `${kind} ${id}`;
    const known = this.#places.get(document) ?? [];
    return known.length > 0 ? known : [{ line: this.#unmatched({ document, clientId, date: null }), part: zero }];
  }

  #ofId(id: number, clientId: number | null): Line {
    return this.#ofPrepayment(this.#originals.get(id) ?? { id, clientId, date: null });
  }

  #ofPrepayment({ id, clientId, date }: Pick<PrepaymentOfSource, 'id' | 'clientId' | 'date'>): Line {
    return this.#line(`prepayment ${id}`, { clientId, date, prepayment: id, unmatched: null });
  }

  #unmatched({ document, clientId, date }: { document: string; clientId: number | null; date: CalendarDate | null }) {
    return this.#line(`unmatched ${document}`, { clientId, date, prepayment: null, unmatched: document });
  }

  #line(key: string, of: Omit<Line, 'shares'>): Line {
    const known = this.#lines.get(key);
    if (known !== undefined) return known;
    const line = { ...of, shares: new Map() };
    this.#lines.set(key, line);
    return line;
  }

  #add({ shares }: Line, document: string, added: Partial<Share>): void {
    const { date = null, state = null, ...own } = { ...noShare, ...shares.get(document) };
    const plus = (name: keyof typeof own) => own[name].plus(added[name] ?? zero);
    shares.set(document, {
      ...{ date: added.date ?? date, state: added.state ?? state },
      ...{ received: plus('received'), used: plus('used'), refunded: plus('refunded') },
      ...{ inBooks: plus('inBooks'), vat: plus('vat') },
    });
  }

  #isDue(date: CalendarDate | null): boolean {
    return date === null || date <= this.#through;
  }
}

const noShare: Share = {
  ...{ date: null, state: null, received: zero, used: zero, refunded: zero, inBooks: zero, vat: zero },
};

function unusedOf({ received, used, refunded }: Share): Money {
  return received.minus(used).minus(refunded);
}

function inOrder(a: Line, b: Line): number {
  return (
    (a.clientId ?? 0) - (b.clientId ?? 0) ||
    (a.date ?? '').localeCompare(b.date ?? '') ||
    (a.prepayment ?? Number.POSITIVE_INFINITY) - (b.prepayment ?? Number.POSITIVE_INFINITY) ||
    (a.unmatched ?? '').localeCompare(b.unmatched ?? '')
  );
}
