import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { businessDate } from '../domain/dates.ts';
import { sum } from '../domain/money.ts';
import { receivables } from '../posting/entry-amounts.ts';
import { creditChain } from '../posting/originals.ts';
import type { Decision, DocumentFacts, InvoiceFacts, PostingContext } from '../posting/types.ts';
import type { DueBooks, DueInvoice, DuePayment, SeenSettlement } from '../posting/vat-due.ts';
import { type DueDocument, dueInvoice } from '../posting/vat-due-facts.ts';
import { isDueWithPayment } from '../posting/vat-due-policy.ts';
import type { InvoiceRecord } from '../records/types.ts';
import { loadFacts } from './facts.ts';
import { dueInvoiceRows, duePayments, relatedInvoices } from './vat-due-read.ts';

/** Whether an installation posts VAT on payment. */
export function postsVatOnPayment({ mapping }: Pick<InstallationConfig, 'mapping'>): boolean {
  return mapping.policies.vat_due !== null;
}

/**
 * The entries in force of invoices after the decisions of earlier batches, which the database does not have yet. Null
 * for an invoice without an entry.
 */
export type DecidedInvoices = Map<number, DueDocument['inForce']>;

/** Documents that this batch posts for the first time get places after all others. */
const firstNewPlace = 1e15;

/** The invoices and payments on which the VAT of a batch depends (ACCOUNTING R13). Each decision of the batch updates them. */
export class VatDueBatch {
  readonly #context: PostingContext;
  readonly #documents: Map<number, DueDocument>;
  readonly #invoices = new Map<number, DueInvoice>();
  readonly #payments: Map<number, DuePayment[]>;
  readonly #settlements: ReadonlyMap<number, readonly SeenSettlement[]>;
  readonly #chains = new Map<number, number[]>();
  readonly #members = new Map<number, number[]>();
  readonly #decided: DecidedInvoices;
  readonly #touched = new Set<number>();
  /** Invoices of this batch that got an entry. */
  readonly #posted = new Map<number, InvoiceRecord>();
  #nextPlace = firstNewPlace;

  private constructor(
    context: PostingContext,
    documents: Map<number, DueDocument>,
    { payments, settlements }: { payments: readonly DuePayment[]; settlements: readonly SeenSettlement[] },
    decided: DecidedInvoices,
  ) {
    this.#context = context;
    this.#documents = documents;
    this.#payments = Map.groupBy(payments, ({ invoiceId }) => invoiceId);
    this.#settlements = Map.groupBy(settlements, ({ invoiceId }) => invoiceId);
    this.#decided = decided;
    for (const [id, { chain, collector }] of documents) {
      this.#compute(id);
      if (chain.first !== null) add(this.#chains, chain.first.id, id);
      if (collector !== null) add(this.#members, collector, id);
    }
  }

  /** Null if the installation posts no VAT on payment. `decided` is as in PrepaymentShares. */
  static async of(
    db: Connection,
    installation: InstallationConfig,
    facts: readonly DocumentFacts[],
    context: PostingContext,
    decided: DecidedInvoices = new Map(),
  ): Promise<VatDueBatch | null> {
    if (!postsVatOnPayment(installation)) return null;
    const own = [...new Set(facts.flatMap((each) => invoicesOf(each)))];
    // The database does not have the consolidated invoices of this batch yet, so they are passed on with their members.
    const collectors = facts.flatMap((each) =>
      each.kind === 'invoice'
        ? each.invoice.consolidatedInvoiceIds.map((member): [number, number] => [member, each.invoice.id])
        : [],
    );
    return VatDueBatch.ofInvoices(db, installation, own, context, { collectors, decided });
  }

  /**
   * The facts on which the VAT of these invoices depends. `collectors` are consolidated invoices with their members that are not
   * stored yet.
   */
  static async ofInvoices(
    db: Connection,
    { id, dialect }: Pick<InstallationConfig, 'id' | 'dialect'>,
    own: readonly number[],
    context: PostingContext,
    {
      collectors = [],
      decided = new Map(),
    }: { collectors?: readonly (readonly [number, number])[]; decided?: DecidedInvoices } = {},
  ): Promise<VatDueBatch> {
    const found = await relatedInvoices(db, id, own);
    for (const [member, collector] of collectors) found.collectors.set(member, collector);
    const rows = await dueInvoiceRows(db, id, dialect, found.ids);
    const records = new Map(rows.map(({ record }) => [record.id, record]));
    const chainOf = (record: InvoiceRecord) => creditChain(record, (each) => records.get(each));
    const opening = rows.filter(({ record, isOpening, inForce }) => {
      const dated = chainOf(record).first?.invoiceDate ?? record.invoiceDate;
      const date = dated === null ? null : businessDate(dated, context.timezone);
      return isOpening && inForce === null && isDueWithPayment(context.mapping.policies.vat_due, date);
    });
    const openingRefs = opening.map(({ record }) => ({ kind: 'invoice' as const, id: record.id }));
    const whole = new Map<number, InvoiceFacts>();
    for (const each of await loadFacts(db, id, dialect, openingRefs)) {
      if (each.kind === 'invoice') whole.set(each.invoice.id, each);
    }
    const documents = rows.map(({ record, gone, ...row }): [number, DueDocument] => [
      record.id,
      {
        facts: whole.get(record.id) ?? factsOf(record, gone),
        chain: chainOf(record),
        collector: found.collectors.get(record.id) ?? null,
        ...row,
        ...(decided.has(record.id) ? { inForce: decided.get(record.id) ?? null } : {}),
      },
    ]);
    return new VatDueBatch(context, new Map(documents), await duePayments(db, id, dialect, found.ids), decided);
  }

  get books(): DueBooks {
    return {
      invoices: this.#invoices,
      payments: this.#payments,
      settlements: this.#settlements,
      chains: this.#chains,
      members: this.#members,
    };
  }

  /** The invoices whose due VAT may be different after the decisions of this batch. */
  get touched(): number[] {
    const chained = [...this.#touched].flatMap((id) => {
      const first = this.#documents.get(id)?.chain.first?.id;
      return first === undefined ? [id] : [id, ...(this.#chains.get(first) ?? [])];
    });
    return [...new Set(chained.flatMap((id) => [id, ...(this.#members.get(id) ?? [])]))];
  }

  /** The invoices that this batch posted. Their members are to be stored. */
  get decidedCollectors(): InvoiceRecord[] {
    return [...this.#posted.values()];
  }

  /** The facts of a document, with the facts on which its VAT depends. */
  add<Facts extends DocumentFacts>(facts: Facts): Facts {
    if (facts.kind === 'payment') return { ...facts, due: this.books };
    return facts.kind === 'vat_due' ? { ...facts, books: this.books } : facts;
  }

  /** Stores the decision about a document for the documents after it. */
  decided(facts: DocumentFacts, { state, entries, documentDate }: Decision): void {
    const last = entries.at(-1);
    if (last === undefined) {
      if (state === 'before_start') this.#opens(facts, documentDate ?? '');
      // Until now, the invoice may have been part of the opening balances.
      else if (state === 'gone' || state === 'voided') for (const id of invoicesOf(facts)) this.#touched.add(id);
      return;
    }
    for (const id of invoicesOf(facts)) this.#touched.add(id);
    const isInForce = last.reverses === null;
    const { lines } = last;
    if (facts.kind === 'invoice') {
      const { id } = facts.invoice;
      this.#posted.set(id, facts.invoice);
      const document = this.#documents.get(id);
      if (document === undefined) return;
      document.inForce = isInForce ? { lines, documentDate: last.documentDate } : null;
      this.#decided.set(id, document.inForce);
      this.#compute(id);
    } else if (facts.kind === 'vat_due') {
      const document = this.#documents.get(facts.id);
      if (document === undefined) return;
      document.latestPlace ??= this.#nextPlace++;
      this.#compute(facts.id);
    } else if (facts.kind === 'payment') this.#place(facts.payment.id, isInForce ? last : null, documentDate ?? '');
  }

  /** A document of the opening balances. */
  #opens(facts: DocumentFacts, date: string): void {
    for (const id of invoicesOf(facts)) this.#touched.add(id);
    if (facts.kind === 'invoice') {
      const document = this.#documents.get(facts.invoice.id);
      if (document === undefined) return;
      Object.assign(document, { facts, isOpening: true });
      this.#compute(facts.invoice.id);
    } else if (facts.kind === 'payment') {
      const { id, invoiceId, paymentType, paid } = facts.payment;
      if (invoiceId === null || paid === null) return;
      const others = (this.#payments.get(invoiceId) ?? []).filter((each) => each.id !== id);
      const payment = { id, invoiceId, type: paymentType ?? -1, amount: paid, date, place: -1, counts: true };
      this.#payments.set(invoiceId, [...others, payment]);
    }
  }

  #place(id: number, entry: Decision['entries'][number] | null, documentDate: string): void {
    let place: number | null = null;
    for (const [invoice, its] of this.#payments) {
      const known = its.find((each) => each.id === id);
      if (known === undefined) continue;
      place = known.place;
      this.#touched.add(invoice);
      this.#payments.set(
        invoice,
        its.filter((each) => each !== known),
      );
    }
    const receivable = (entry?.lines ?? []).filter(({ role }) => receivables.includes(role));
    const [line] = receivable;
    if (line?.invoiceId == null) return;
    const amount = sum(receivable.map(({ side, amount: of }) => (side === 'credit' ? of : of.negated())));
    const fields = { id, invoiceId: line.invoiceId, type: line.paymentType ?? -1, date: documentDate, amount };
    const payment = { ...fields, place: place === null || place < 0 ? this.#nextPlace++ : place, counts: true };
    this.#payments.set(line.invoiceId, [...(this.#payments.get(line.invoiceId) ?? []), payment]);
  }

  #compute(id: number): void {
    const document = this.#documents.get(id);
    const found = document && dueInvoice(document, this.#context);
    if (found) this.#invoices.set(id, found);
    else this.#invoices.delete(id);
  }
}

function add(lists: Map<number, number[]>, key: number, id: number): void {
  lists.set(key, [...(lists.get(key) ?? []), id]);
}

function invoicesOf(facts: DocumentFacts): number[] {
  switch (facts.kind) {
    case 'invoice':
      return [facts.invoice.id, ...facts.invoice.consolidatedInvoiceIds];
    case 'payment':
      return facts.payment.invoiceId === null ? [] : [facts.payment.invoiceId];
    case 'vat_due':
      return [facts.id];
    case 'prepayment':
      return [];
  }
}

function factsOf(invoice: InvoiceRecord, gone: boolean): InvoiceFacts {
  return { kind: 'invoice', invoice, rows: [], rowsFresh: false, payments: [], memberPayments: [], gone };
}
