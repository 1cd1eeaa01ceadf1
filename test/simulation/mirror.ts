// The records that one installation has read of the clinic: each parsed record, and the source's record at that moment.
// The oracle uses only the source's record.

import type { Invoice, InvoicePayment, InvoiceRow, Prepayment } from '../../sandbox/src/records.ts';
import { encode, Wire, type WireRecord } from '../../sandbox/src/wire.ts';
import { loadDialect } from '../../src/config/dialect.ts';
import type { DocumentFacts } from '../../src/posting/types.ts';
import { readJson } from '../../src/records/json.ts';
import { parseRecord, type RecordOf } from '../../src/records/schema.ts';
import type {
  InvoiceRecord,
  PaymentRecord,
  PrepaymentRecord,
  RowRecord,
  SourceRecord,
} from '../../src/records/types.ts';
import type { DocumentKind, DocumentRef, RecordKind, SourceKind, SourceRef } from '../../src/terms.ts';
import type { Damage, WatchedClinic } from './clinic.ts';

const dialect = loadDialect();

/** A record as the installation last read it. */
export interface Seen<Record, Source> {
  record: Record;
  source: Source;
  damage: Damage | null;
  gone: boolean;
  /** True if the source's list no longer shows the record, although the record exists. */
  missing: boolean;
  /**
   * The clinic's time in epoch milliseconds. Null if the first load read the record, since a first load gives no time.
   */
  firstSeenAt: number | null;
}

export interface SeenRows {
  rows: Seen<RowRecord, InvoiceRow>[];
  /** The clinic's time in epoch milliseconds when the set was fetched. */
  at: number;
}

export interface Delivery {
  kind: RecordKind;
  /** For rows, the id of their invoice: all rows of an invoice are fetched together. */
  id: number;
}

export class Mirror {
  readonly invoices = new Map<number, Seen<InvoiceRecord, Invoice>>();
  readonly rowSets = new Map<number, SeenRows>();
  readonly payments = new Map<number, Seen<PaymentRecord, InvoicePayment>>();
  readonly paymentsOf = new Map<number, Set<number>>();
  readonly prepayments = new Map<number, Seen<PrepaymentRecord, Prepayment>>();
  /** Undelivered changes in the clinic as `kind/id`, in order of the first change. */
  readonly pending = new Map<string, Delivery>();
  /** True after the first load: records that are first seen later were created since. */
  isLoaded = false;
  readonly #clinic: WatchedClinic;
  readonly #wire: Wire;

  constructor(clinic: WatchedClinic) {
    this.#clinic = clinic;
    this.#wire = new Wire('http://127.0.0.1:8090/4711/api/0.1', clinic.quirks, clinic.zone);
    clinic.watchers.push((kind, id) => this.pending.set(`${kind}/${id}`, { kind, id }));
  }

  /** Delivers the current version of one record or row set. Returns the documents that this delivery affects. */
  deliver({ kind, id }: Delivery): DocumentRef[] {
    this.pending.delete(`${kind}/${id}`);
    if (kind === 'row') return this.#deliverRows(id);
    if (kind === 'invoice') return this.#deliverInvoice(id);
    if (kind === 'payment') return this.#deliverPayment(id);
    return this.#deliverPrepayment(id);
  }

  seen(kind: DocumentKind): Map<number, Seen<SourceRecord, unknown>> {
    return {
      ...{ invoice: this.invoices, payment: this.payments, prepayment: this.prepayments },
      vat_due: new Map<number, Seen<SourceRecord, unknown>>(),
    }[kind];
  }

  /** Treats an existing record as gone until it is delivered again. */
  lose(kind: SourceKind, id: number): DocumentRef[] {
    this.seen(kind).get(id)!.gone = true;
    this.pending.set(`${kind}/${id}`, { kind, id });
    const invoice = kind === 'payment' ? this.payments.get(id)!.source.invoice : 0;
    return [{ kind, id }, ...(this.invoices.has(invoice) ? [{ kind: 'invoice' as const, id: invoice }] : [])];
  }

  /** Hides a record from its list until it is delivered again. Only documents with an entry in force are affected. */
  hide(kind: SourceKind, id: number): DocumentRef {
    this.seen(kind).get(id)!.missing = true;
    this.pending.set(`${kind}/${id}`, { kind, id });
    return { kind, id };
  }

  /**
   * The facts of a document. `decidedIn` has invoices from before the cut-over that are still posted. `firstClients`
   * has the invoices' clients for payments that were posted before their prepayment was known.
   */
  facts(
    { kind, id }: SourceRef,
    decidedIn: ReadonlySet<number>,
    firstClients: ReadonlyMap<number, number | null>,
  ): DocumentFacts {
    if (kind === 'prepayment') {
      const { record, gone, missing } = this.prepayments.get(id)!;
      const original = record.refundsId === null ? undefined : this.prepayments.get(record.refundsId);
      return {
        kind,
        prepayment: record,
        originalClientId: original?.record.clientId ?? null,
        gone,
        absence: absenceIf(missing),
      };
    }
    if (kind === 'payment') {
      const { record, gone, missing, source, firstSeenAt } = this.payments.get(id)!;
      const invoice = this.invoices.get(source.invoice)?.record ?? null;
      // After the installation has read the prepayment, it knows the right match. Other tests cover how vetledger finds a match.
      const prepayment = source.prepayment === null ? undefined : this.prepayments.get(source.prepayment);
      // If the client cannot be read now, an earlier value is used, because the table prepayment_balance keeps it.
      const clientId = prepayment?.record.clientId ?? prepayment?.source.client ?? null;
      const matched = prepayment && { clientId, prepaymentIds: [prepayment.record.id] };
      const unmatched = { clientId: firstClients.get(id) ?? null, prepaymentIds: [] };
      const used = source.payment_type === 8 ? (matched ?? unmatched) : undefined;
      const seen = { firstSeenAt: dateOf(firstSeenAt), invoiceDecidedIn: decidedIn.has(source.invoice) };
      return {
        kind,
        payment: record,
        invoice,
        ...seen,
        ...(used ? { prepayment: used } : {}),
        gone,
        absence: absenceIf(missing),
      };
    }
    const { record, source, gone, missing, firstSeenAt } = this.invoices.get(id)!;
    const rows = this.rowSets.get(id);
    return {
      kind,
      invoice: record,
      firstSeenAt: dateOf(firstSeenAt),
      originalDate: this.#firstOriginal(record)?.invoiceDate ?? null,
      rows: rows?.rows.map((row) => row.record) ?? [],
      rowsFresh: rows !== undefined && rows.at >= source.modified,
      payments: this.presentPayments(id).map((payment) => payment.record),
      memberPayments: source.consolidated_invoices.flatMap((member) =>
        this.presentPayments(member).flatMap((payment) => (payment.record.paymentType === 6 ? payment.record : [])),
      ),
      gone,
      absence: absenceIf(missing),
    };
  }

  /** The first original of a chain of credit notes, as far as it was seen. */
  #firstOriginal(record: InvoiceRecord): InvoiceRecord | null {
    let found: InvoiceRecord | null = record;
    for (let links = 0; found?.creditNote; links++) {
      const original: number | null = found.originalInvoiceId;
      found = original === null || links > 10 ? null : (this.invoices.get(original)?.record ?? null);
    }
    return found;
  }

  /** Payments of an invoice that were seen and do not count as gone. */
  presentPayments(invoice: number): Seen<PaymentRecord, InvoicePayment>[] {
    return [...(this.paymentsOf.get(invoice) ?? [])]
      .sort((a, b) => a - b)
      .map((id) => this.payments.get(id)!)
      .filter((payment) => !payment.gone);
  }

  #deliverInvoice(id: number): DocumentRef[] {
    const source = this.#clinic.invoices.get(id);
    const known = this.invoices.get(id);
    if (source) {
      const record = this.#parsed('invoice', id, this.#wire.invoice(source));
      this.invoices.set(id, { record, source: { ...source }, ...this.#seen('invoice', id, known) });
    } else if (known) known.gone = true;
    else return [];
    const payments = [...(this.paymentsOf.get(id) ?? [])].map((payment) => ({ kind: 'payment' as const, id: payment }));
    return [{ kind: 'invoice', id }, ...this.#creditNotesOf([id]), ...payments];
  }

  /** The credit notes of invoices, and in turn the credit notes of those. */
  #creditNotesOf(invoices: readonly number[]): DocumentRef[] {
    const found = new Set<number>();
    const credited = new Set(invoices);
    for (let before = -1; before < found.size; ) {
      before = found.size;
      for (const { record } of this.invoices.values()) {
        if (!record.creditNote || record.originalInvoiceId === null || !credited.has(record.originalInvoiceId))
          continue;
        found.add(record.id);
        credited.add(record.id);
      }
    }
    return [...found].map((id) => ({ kind: 'invoice' as const, id }));
  }

  #deliverRows(invoice: number): DocumentRef[] {
    const rows = this.#clinic.invoiceRows.of(invoice).map((source) => ({
      record: this.#parsed('row', source.id, this.#wire.invoiceRow(source, this.#clinic.setting.exposeVatGroup)),
      source: { ...source },
      ...this.#seen('row', source.id, undefined),
    }));
    this.rowSets.set(invoice, { rows, at: this.#clinic.clock() });
    return this.invoices.has(invoice) ? [{ kind: 'invoice', id: invoice }] : [];
  }

  #deliverPayment(id: number): DocumentRef[] {
    const source = this.#clinic.invoicePayments.get(id);
    const known = this.payments.get(id);
    if (source) {
      const record = this.#parsed('payment', id, this.#wire.invoicePayment(source));
      this.payments.set(id, { record, source: { ...source }, ...this.#seen('payment', id, known) });
    } else if (known) known.gone = true;
    else return [];
    const invoice = (source ?? known!.source).invoice;
    const siblings = this.paymentsOf.get(invoice) ?? new Set();
    this.paymentsOf.set(invoice, siblings.add(id));
    return [
      { kind: 'payment', id },
      ...(this.invoices.has(invoice) ? [{ kind: 'invoice' as const, id: invoice }] : []),
    ];
  }

  #deliverPrepayment(id: number): DocumentRef[] {
    const source = this.#clinic.prepayments.get(id);
    const known = this.prepayments.get(id);
    if (source) {
      const record = this.#parsed('prepayment', id, this.#wire.prepayment(source));
      this.prepayments.set(id, { record, source: { ...source }, ...this.#seen('prepayment', id, known) });
    } else if (known) known.gone = true;
    else return [];
    const used = [...this.payments].filter(([, payment]) => payment.source.prepayment === id);
    const refunds = [...this.prepayments].filter(([, refund]) => refund.source.refunds === id);
    return [
      { kind: 'prepayment', id },
      ...used.map(([payment]) => ({ kind: 'payment' as const, id: payment })),
      ...refunds.map(([refund]) => ({ kind: 'prepayment' as const, id: refund })),
    ];
  }

  #seen(kind: RecordKind, id: number, known: Pick<Seen<unknown, unknown>, 'firstSeenAt'> | undefined) {
    const now = this.isLoaded ? this.#clinic.clock() : null;
    return {
      damage: this.#damage(kind, id),
      gone: false,
      missing: false,
      firstSeenAt: known ? known.firstSeenAt : now,
    };
  }

  #damage(kind: RecordKind, id: number): Damage | null {
    return this.#clinic.damage.get(`${kind}/${id}`) ?? null;
  }

  #parsed<Kind extends RecordKind>(kind: Kind, id: number, wire: WireRecord): RecordOf<Kind> {
    const damage = this.#damage(kind, id);
    const shown = damage ? { ...wire, [damage.field]: damage.value } : wire;
    return parseRecord(kind, readJson(encode(shown)), dialect);
  }
}

const absenceIf = (missing: boolean) =>
  missing ? { since: new Date(0), answer: 'no_record' as const, isOfMany: false } : null;

const dateOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));
