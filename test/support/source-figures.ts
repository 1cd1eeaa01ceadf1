// Computes the figures of reports from the sandbox's records without code of src/, so that a test compares two
// independent computations.

import { Decimal } from 'decimal.js';
import { giftCardAccount } from '../../sandbox/src/catalogue.ts';
import type { Clinic } from '../../sandbox/src/clinic.ts';
import type { Invoice, InvoicePayment, InvoiceRow, Prepayment } from '../../sandbox/src/records.ts';

const final = 3;
const fromPrepayment = 8;
const giftCard = 9;

/** The records of a clinic that figures need. */
export interface SourceRecords {
  invoices: { all(): readonly Invoice[] };
  invoiceRows: { of(invoice: number): readonly InvoiceRow[] };
  invoicePayments: { all(): readonly InvoicePayment[] };
  prepayments: { all(): readonly Prepayment[] };
}

/** A copy of a clinic's records, which later events do not change. */
export function frozen(clinic: Clinic): SourceRecords {
  const invoices = structuredClone(clinic.invoices.all());
  const rows = Map.groupBy(structuredClone(clinic.invoiceRows.all()), ({ invoice }) => invoice);
  const payments = structuredClone(clinic.invoicePayments.all());
  const prepayments = structuredClone(clinic.prepayments.all());
  return {
    invoices: { all: () => invoices },
    invoiceRows: { of: (invoice) => rows.get(invoice) ?? [] },
    invoicePayments: { all: () => payments },
    prepayments: { all: () => prepayments },
  };
}

export interface OpenItem {
  invoice: number;
  client: number | null;
  open: string;
}

export interface PrepaymentFigures extends Record<'received' | 'used' | 'refunded' | 'unused' | 'day', string> {
  client: number;
  /** The ids of the payments that used the prepayment. */
  uses: number[];
}

/** The figures of one clinic. Dates are local in `timezone`; amounts are texts with two decimals. */
export class SourceFigures {
  readonly #clinic: SourceRecords;
  readonly #day: (ms: number) => string;

  constructor(clinic: SourceRecords, timezone: string) {
    this.#clinic = clinic;
    const format = new Intl.DateTimeFormat('en-CA', { timeZone: timezone, dateStyle: 'short' });
    this.#day = (ms) => format.format(ms);
  }

  /**
   * The open amount of each final invoice dated up to a day, after the payments dated up to it, without zero amounts.
   */
  openItems(through: string): OpenItem[] {
    return this.#invoices((date) => date <= through).flatMap((invoice) => {
      const payments = this.#paymentsOf(invoice).filter(({ date_added }) => this.#day(date_added) <= through);
      const open = total(payments.map(({ paid }) => `-${paid}`)).plus(invoice.total_with_vat);
      return open.isZero() ? [] : [{ invoice: invoice.id, client: invoice.client, open: open.toFixed(2) }];
    });
  }

  /** The sums of payments and of prepayments in a month, by type and day. */
  received(month: string): Map<string, string> {
    const sums = new Map<string, Decimal>();
    const add = (type: number, ms: number, paid: string) => {
      const day = this.#day(ms);
      if (!day.startsWith(month)) return;
      const key = `${type} ${day}`;
      sums.set(key, (sums.get(key) ?? new Decimal(0)).plus(paid));
    };
    for (const { invoice, payment_type, date_added, paid } of this.#clinic.invoicePayments.all())
      if (this.#clinic.invoices.all().some(({ id }) => id === invoice)) add(payment_type, date_added, paid);
    for (const prepayment of this.#money()) add(prepayment.payment_type, prepayment.created, prepayment.paid);
    return new Map([...sums].filter(([, sum]) => !sum.isZero()).map(([key, sum]) => [key, sum.toFixed(2)]));
  }

  /** Base and tax of the rows of final invoices dated in a month, by VAT group and rate; exact. */
  vat(month: string): Map<string, { base: string; tax: string }> {
    const sums = new Map<string, { base: Decimal; tax: Decimal }>();
    for (const row of this.#rowsOf(month)) {
      // Sold gift cards have no VAT.
      if (row.account_number === giftCardAccount) continue;
      const key = `${row.vat_group.name} ${new Decimal(row.vat_percentage).toFixed()}`;
      const { base, tax } = sums.get(key) ?? { base: new Decimal(0), tax: new Decimal(0) };
      sums.set(key, { base: base.plus(row.sum), tax: tax.plus(row.sum_vat) });
    }
    const texts = [...sums].map(
      ([key, { base, tax }]) => [key, { base: base.toFixed(2), tax: tax.toFixed(2) }] as const,
    );
    return new Map(texts);
  }

  /**
   * The changes of these invoices since `then`, by VAT period of their date, VAT group and rate: base and tax of the
   * current rows less those of then. Lateness leaves them to a later return.
   */
  vatChanges(then: SourceFigures, invoices: readonly number[]): Map<string, { base: string; tax: string }> {
    const sums = new Map<string, { base: Decimal; tax: Decimal }>();
    for (const [figures, sign] of [[this, 1] as const, [then, -1] as const])
      for (const { id, invoice_date } of figures.#invoices(() => true)) {
        if (!invoices.includes(id)) continue;
        for (const { vat_group, vat_percentage, sum, sum_vat } of figures.#clinic.invoiceRows.of(id)) {
          const key = `${invoice_date.slice(0, 7)} ${vat_group.name} ${new Decimal(vat_percentage).toFixed()}`;
          const { base, tax } = sums.get(key) ?? { base: new Decimal(0), tax: new Decimal(0) };
          sums.set(key, {
            base: base.plus(new Decimal(sum).times(sign)),
            tax: tax.plus(new Decimal(sum_vat).times(sign)),
          });
        }
      }
    const changed = [...sums].filter(([, { base, tax }]) => !base.isZero() || !tax.isZero());
    return new Map(changed.map(([key, { base, tax }]) => [key, { base: base.toFixed(2), tax: tax.toFixed(2) }]));
  }

  /** Gift cards sold by invoices and redeemed by payments of type 9 up to a day, by month. */
  giftCards(through: string): Map<string, { sold: string; redeemed: string }> {
    const sums = new Map<string, { sold: Decimal; redeemed: Decimal }>();
    const add = (day: string, sold: Decimal.Value, redeemed: Decimal.Value) => {
      if (day > through) return;
      const sum = sums.get(day.slice(0, 7)) ?? { sold: new Decimal(0), redeemed: new Decimal(0) };
      sums.set(day.slice(0, 7), { sold: sum.sold.plus(sold), redeemed: sum.redeemed.plus(redeemed) });
    };
    for (const { id, invoice_date } of this.#invoices(() => true))
      for (const { account_number, sum } of this.#clinic.invoiceRows.of(id))
        if (account_number === giftCardAccount) add(invoice_date, sum, 0);
    for (const { payment_type, date_added, paid } of this.#clinic.invoicePayments.all())
      if (payment_type === giftCard) add(this.#day(date_added), 0, paid);
    return new Map(
      [...sums].map(([month, { sold, redeemed }]) => [month, { sold: sold.toFixed(2), redeemed: redeemed.toFixed(2) }]),
    );
  }

  /** The VAT of a month by the invoices' totals. */
  totalVat(month: string): string {
    return total(this.#invoices((date) => date.startsWith(month)).map(({ total_vat }) => total_vat)).toFixed(2);
  }

  /** The rows of one VAT group on final invoices of a month, by the payer's VAT number. */
  salesTo(month: string, group: string): Map<string, string> {
    const sums = new Map<string, Decimal>();
    for (const invoice of this.#invoices((date) => date.startsWith(month))) {
      const own = this.#clinic.invoiceRows.of(invoice.id).filter(({ vat_group }) => vat_group.name === group);
      const sum = total(own.map((row) => row.sum)).plus(sums.get(invoice.payer_vat_number) ?? 0);
      if (own.length > 0) sums.set(invoice.payer_vat_number, sum);
    }
    return new Map([...sums].filter(([, sum]) => !sum.isZero()).map(([number, sum]) => [number, sum.toFixed(2)]));
  }

  /**
   * The open amounts on the evening before a day: invoices and prepayments dated before it, less payments and uses by
   * then.
   */
  cutover(start: string): { open: Map<number, string>; unused: Map<number, string> } {
    const before = (ms: number) => this.#day(ms) < start;
    const open = new Map<number, string>();
    const unused = new Map<number, Decimal>();
    const add = (client: number, amount: Decimal.Value) =>
      unused.set(client, (unused.get(client) ?? new Decimal(0)).plus(amount));
    for (const invoice of this.#invoices((date) => date < start)) {
      const paid = this.#paymentsOf(invoice).filter(({ date_added }) => before(date_added));
      const left = new Decimal(invoice.total_with_vat).minus(total(paid.map((payment) => payment.paid)));
      if (!left.isZero()) open.set(invoice.id, left.toFixed(2));
      for (const { payment_type, paid: used } of paid)
        if (payment_type === fromPrepayment && invoice.client !== null) add(invoice.client, `-${used}`);
    }
    for (const { client, created, paid } of this.#money()) if (before(created)) add(client, paid);
    return {
      open,
      unused: new Map([...unused].filter(([, sum]) => !sum.isZero()).map(([client, sum]) => [client, sum.toFixed(2)])),
    };
  }

  /** Gift cards sold by final invoices dated before a day, and redeemed on those by payments dated before it. */
  giftCardsBefore(start: string): { sold: string; redeemed: string; unused: string } {
    const invoices = this.#invoices((date) => date < start);
    const cards = invoices.flatMap(({ id }) =>
      this.#clinic.invoiceRows.of(id).filter(({ account_number }) => account_number === giftCardAccount),
    );
    const payments = invoices
      .flatMap((invoice) => this.#paymentsOf(invoice))
      .filter(({ payment_type, date_added }) => payment_type === giftCard && this.#day(date_added) < start);
    const [sold, redeemed] = [total(cards.map(({ sum }) => sum)), total(payments.map(({ paid }) => paid))];
    return { sold: sold.toFixed(2), redeemed: redeemed.toFixed(2), unused: sold.minus(redeemed).toFixed(2) };
  }

  /**
   * Each prepayment with an unused amount at the end of a day, with the amounts received, used and refunded by then. It
   * uses links that only the sandbox knows.
   */
  prepayments(through: string): Map<number, PrepaymentFigures> {
    const due = (ms: number) => this.#day(ms) <= through;
    const money = this.#money().filter(({ created }) => due(created));
    const found = money.flatMap((original) => {
      if (original.refunds !== null) return [];
      const { id, client, created, paid: received } = original;
      const refunded = total(money.filter(({ refunds }) => refunds === id).map(({ paid }) => `-${paid}`));
      const payments = this.#clinic.invoicePayments.all().filter((each) => each.prepayment === id);
      const uses = payments.filter(({ date_added }) => due(date_added));
      const used = total(uses.map(({ paid }) => paid));
      const unused = new Decimal(received).minus(used).minus(refunded);
      const texts = { received, used: used.toFixed(2), refunded: refunded.toFixed(2), unused: unused.toFixed(2) };
      const figures = { ...texts, client, day: this.#day(created), uses: uses.map((use) => use.id) };
      return unused.isZero() ? [] : [[id, figures] as const];
    });
    return new Map(found);
  }

  /** The `unused_amount` of all originals that are money, from the current records. */
  unusedNow(): string {
    return total(
      this.#money()
        .filter(({ refunds }) => refunds === null)
        .map(({ unused_amount }) => unused_amount),
    ).toFixed(2);
  }

  #invoices(isAsked: (date: string) => boolean): Invoice[] {
    return this.#clinic.invoices.all().filter(({ status, invoice_date }) => status === final && isAsked(invoice_date));
  }

  #rowsOf(month: string): InvoiceRow[] {
    // A consolidated invoice has no sales; its members have them.
    return this.#invoices((date) => date.startsWith(month))
      .filter(({ consolidated_invoices }) => consolidated_invoices.length === 0)
      .flatMap(({ id }) => this.#clinic.invoiceRows.of(id));
  }

  #paymentsOf({ id }: Invoice): InvoicePayment[] {
    return this.#clinic.invoicePayments.all().filter(({ invoice }) => invoice === id);
  }

  #money(): Prepayment[] {
    return this.#clinic.prepayments.all().filter(({ status }) => status === 'Ready' || status === 'Fully used');
  }
}

function total(amounts: readonly string[]): Decimal {
  return amounts.reduce((sum, amount) => sum.plus(amount.replace('--', '')), new Decimal(0));
}

/** The number of records in the source, from the sandbox's state. */
export function sourceCounts({ sandbox }: { sandbox: { clinic: Clinic } }) {
  const { invoices, invoicePayments, prepayments } = sandbox.clinic;
  return { invoices: invoices.size, payments: invoicePayments.size, prepayments: prepayments.size };
}
