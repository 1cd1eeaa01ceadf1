// Books in memory for VAT on payment. Documents are posted one after the other, as in src/bookkeeping.
import type { DraftEntry } from '../../src/domain/entry.ts';
import { Money } from '../../src/domain/money.ts';
import { post } from '../../src/posting/index.ts';
import { creditChain } from '../../src/posting/originals.ts';
import type { DocumentFacts, InvoiceFacts, PostedBefore, PostingContext } from '../../src/posting/types.ts';
import type { DueBooks, DueInvoice, DuePayment } from '../../src/posting/vat-due.ts';
import { dueInvoice } from '../../src/posting/vat-due-facts.ts';
import type { InvoiceRecord, PaymentRecord } from '../../src/records/types.ts';
import { booksAfter, nothingBefore, paymentFacts, signedAmount } from './support.ts';

export class DueScene {
  readonly #context: PostingContext;
  readonly #invoices = new Map<number, InvoiceFacts>();
  readonly #payments = new Map<number, PaymentRecord>();
  readonly #before = new Map<string, PostedBefore>();
  readonly #places = new Map<string, number>();
  readonly #collectors = new Map<number, number>();
  readonly #gone = new Set<number>();
  readonly #change: (books: DueBooks) => DueBooks;

  /** `change` makes a mutant. */
  constructor(context: PostingContext, change: (books: DueBooks) => DueBooks = (books) => books) {
    this.#context = context;
    this.#change = change;
  }

  /** Adds the invoice to the source, without posting anything. */
  see(facts: InvoiceFacts): void {
    this.#invoices.set(facts.invoice.id, facts);
    for (const member of facts.invoice.consolidatedInvoiceIds) this.#collectors.set(member, facts.invoice.id);
  }

  seePayment(payment: PaymentRecord): void {
    this.#payments.set(payment.id, payment);
  }

  invoice(facts: InvoiceFacts): DraftEntry[] {
    this.see(facts);
    return this.#post(`invoice/${facts.invoice.id}`, facts);
  }

  /** Removes the payment from the source. */
  remove(id: number): void {
    this.#gone.add(id);
  }

  /** The entry in force of a document, such as `payment/50`; null if there is none. */
  inForce(key: string): DraftEntry | null {
    return this.#before.get(key)?.inForce ?? null;
  }

  stateOf(key: string): string | null {
    return this.#before.get(key)?.state ?? null;
  }

  pay(payment: PaymentRecord): DraftEntry[] {
    this.seePayment(payment);
    return this.again(payment.id);
  }

  /** Posts a payment of the source again. */
  again(id: number): DraftEntry[] {
    const payment = this.#payments.get(id)!;
    const invoice = this.#invoices.get(payment.invoiceId ?? 0)?.invoice ?? null;
    return this.#post(`payment/${id}`, {
      ...paymentFacts(payment, invoice),
      due: this.#change(this.books()),
      gone: this.#gone.has(id),
    });
  }

  /** Posts the latest day of an invoice. Returns its entry. */
  latest(id: number, today = '2099-01-01'): DraftEntry[] {
    const context = { ...this.#context, today };
    return this.#post(
      `vat_due/${id}`,
      { kind: 'vat_due', id, books: this.#change(this.books()), gone: false },
      context,
    );
  }

  #post(key: string, facts: DocumentFacts, context = this.#context): DraftEntry[] {
    const before = this.#before.get(key) ?? nothingBefore;
    const decision = post(facts, before, context);
    if (decision.problem !== null) throw new Error(`${key} has a problem: ${decision.problem.message}`);
    if (decision.entries.length === 0) {
      this.#before.set(key, { ...before, state: decision.state });
      return [];
    }
    if (!this.#places.has(key)) this.#places.set(key, this.#places.size + 1);
    this.#before.set(key, { ...booksAfter(decision), everPosted: true });
    return decision.entries;
  }

  books(): DueBooks {
    const find = (id: number) => this.#invoices.get(id)?.invoice;
    const documents = [...this.#invoices.values()].flatMap((facts) => this.#dueInvoice(facts, find) ?? []);
    const payments = [...this.#payments.values()].map((payment) => this.#duePayment(payment));
    const settlements = [...this.#payments.values()].flatMap(({ id, invoiceId, paymentType, paid }) =>
      paymentType === 12 && !this.#gone.has(id) ? [{ id, invoiceId: invoiceId!, amount: paid! }] : [],
    );
    const chained = documents.filter(({ chain }) => chain !== null);
    return {
      invoices: new Map(documents.map((document) => [document.id, document])),
      payments: Map.groupBy(payments, ({ invoiceId }) => invoiceId),
      settlements: Map.groupBy(settlements, ({ invoiceId }) => invoiceId),
      chains: new Map(
        [...Map.groupBy(chained, ({ chain }) => chain!.first)].map(([first, its]) => [first, its.map(({ id }) => id)]),
      ),
      members: new Map(
        [...Map.groupBy(this.#collectors, ([, collector]) => collector)].map(([collector, its]) => [
          collector,
          its.map(([member]) => member),
        ]),
      ),
    };
  }

  #dueInvoice(facts: InvoiceFacts, find: (id: number) => InvoiceRecord | undefined): DueInvoice | null {
    const { id } = facts.invoice;
    const before = this.#before.get(`invoice/${id}`);
    const chain = creditChain(facts.invoice, find);
    const collector = this.#collectors.get(id) ?? null;
    const latestPlace = this.#places.get(`vat_due/${id}`) ?? null;
    const isOpening = before?.state === 'before_start';
    const document = { facts, chain, inForce: before?.inForce ?? null, isOpening, collector, latestPlace };
    return dueInvoice(document, this.#context);
  }

  #duePayment({ id, invoiceId, paymentType, paid, dateAdded }: PaymentRecord): DuePayment {
    const { inForce = null, state } = this.#before.get(`payment/${id}`) ?? {};
    const lines = inForce?.lines.filter(({ role }) => role === 'receivable' || role === 'opening_receivable') ?? [];
    const posted = lines.reduce((total, line) => total.minus(signedAmount(line)), new Money(0));
    const place = this.#places.get(`payment/${id}`) ?? null;
    const common = { id, invoiceId: invoiceId!, type: paymentType! };
    if (state === 'before_start')
      return { ...common, amount: paid!, date: dateAdded!.slice(0, 10), place: -1, counts: true };
    return { ...common, amount: posted, date: inForce?.documentDate ?? '', place, counts: inForce !== null };
  }
}
