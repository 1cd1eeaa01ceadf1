import { bool, instant, integer, json, nullable, oneOf, type RowOf } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { type Absence, lookUpAnswers } from '../domain/absence.ts';
import { inSlices, mapped } from '../domain/slices.ts';
import { readRecord } from '../mirror/read.ts';
import { creditChain } from '../posting/originals.ts';
import type { DocumentFacts } from '../posting/types.ts';
import type { DueBooks } from '../posting/vat-due.ts';
import { usedPrepayments } from '../prepayments/used.ts';
import type { Dialect } from '../records/dialect.ts';
import type { RecordOf } from '../records/schema.ts';
import { consolidatedPayment, longestChain, prepaymentUse } from '../records/source-codes.ts';
import type { DocumentRef, RecordKind } from '../terms.ts';
import { redatedInvoices } from './late-decision-store.ts';

/**
 * The facts of documents in the mirror, ready for posting. The number of SQL statements does not depend on the number
 * of documents. Documents that are not in the mirror are left out.
 */
export async function loadFacts(
  db: Connection,
  installation: number,
  dialect: Dialect,
  documents: readonly DocumentRef[],
): Promise<DocumentFacts[]> {
  const ids = (kind: DocumentRef['kind']) => documents.filter((ref) => ref.kind === kind).map((ref) => ref.id);
  const reader = new FactsReader(db, installation, dialect);
  return [
    ...(await reader.invoices(ids('invoice'))),
    ...(await reader.payments(ids('payment'))),
    ...(await reader.prepayments(ids('prepayment'))),
    ...ids('vat_due').map((id): DocumentFacts => ({ kind: 'vat_due', id, books: noDueBooks, gone: false })),
  ];
}

/** Empty at first. VatDueBatch adds the invoices and payments on which the VAT of each document depends. */
const noDueBooks: DueBooks = {
  invoices: new Map(),
  payments: new Map(),
  settlements: new Map(),
  chains: new Map(),
  members: new Map(),
};

/** The fixed cost of reading a record, in units of src/domain/slices.ts; its characters are added. */
const unitsPerRecord = 2_000;

const storedShape = {
  ...{ id: integer, parentId: nullable(integer), raw: json, gone: bool, rowsFresh: bool },
  /**
   * Null for records of the first load, because the time of that read does not show when the practice recorded them.
   */
  firstSeenAt: nullable(instant),
  missingAt: nullable(instant),
  missingAnswer: nullable(oneOf(lookUpAnswers)),
  missingMany: bool,
};

interface Found<Kind extends RecordKind> {
  stored: RowOf<typeof storedShape>;
  record: RecordOf<Kind>;
}

function recordsOf<Kind extends RecordKind>(found: readonly Found<Kind>[]): RecordOf<Kind>[] {
  return found.map(({ record }) => record);
}

function absenceOf({ missingAt, missingAnswer, missingMany }: RowOf<typeof storedShape>): Absence | null {
  return missingAt && { since: missingAt, answer: missingAnswer ?? 'not_asked', isOfMany: missingMany };
}

class FactsReader {
  readonly #db: Connection;
  readonly #installation: number;
  readonly #dialect: Dialect;

  constructor(db: Connection, installation: number, dialect: Dialect) {
    this.#db = db;
    this.#installation = installation;
    this.#dialect = dialect;
  }

  async invoices(ids: number[]): Promise<DocumentFacts[]> {
    const invoices = await this.#withIds('invoice', ids);
    const members = invoices.flatMap(({ record }) => record.consolidatedInvoiceIds);
    const rowsOf = await this.#ofInvoices('row', ids);
    const paymentsOf = await this.#ofInvoices('payment', [...new Set([...ids, ...members])]);
    const originals = await this.#originals(invoices.map(({ record }) => record));
    const chains = new Map(invoices.map(({ record }) => [record.id, creditChain(record, (id) => originals.get(id))]));
    return invoices.map(({ record, stored }) => ({
      kind: 'invoice',
      invoice: record,
      firstSeenAt: stored.firstSeenAt,
      rows: recordsOf(rowsOf(record.id)),
      rowsFresh: stored.rowsFresh,
      payments: recordsOf(paymentsOf(record.id)),
      memberPayments: record.consolidatedInvoiceIds.flatMap((member) =>
        recordsOf(paymentsOf(member)).filter((payment) => payment.paymentType === consolidatedPayment),
      ),
      original: record.creditNote ? (originals.get(record.originalInvoiceId ?? record.id) ?? null) : null,
      originalDate: chains.get(record.id)?.first?.invoiceDate ?? null,
      creditCircle: chains.get(record.id)?.circle ?? null,
      gone: stored.gone,
      absence: absenceOf(stored),
      missingRows: rowsOf(record.id).flatMap(({ stored: { id, missingAt } }) => (missingAt === null ? [] : [id])),
    }));
  }

  async payments(ids: number[]): Promise<DocumentFacts[]> {
    const payments = await this.#withIds('payment', ids);
    const invoiceIds = payments.flatMap(({ record }) => (record.invoiceId === null ? [] : [record.invoiceId]));
    const invoices = await this.#withIds('invoice', [...new Set(invoiceIds)]);
    const byId = new Map<number | null, RecordOf<'invoice'>>(invoices.map(({ record }) => [record.id, record]));
    const decidedIn = await redatedInvoices(
      this.#db,
      this.#installation,
      invoices.map(({ record }) => record.id),
    );
    const uses = payments.flatMap(({ record }) => (record.paymentType === prepaymentUse ? record.id : []));
    const used = await usedPrepayments(this.#db, this.#installation, uses);
    return payments.map(({ record, stored }) => {
      const prepayment = used.get(record.id);
      return {
        kind: 'payment',
        payment: record,
        firstSeenAt: stored.firstSeenAt,
        invoice: byId.get(record.invoiceId) ?? null,
        invoiceDecidedIn: record.invoiceId !== null && decidedIn.has(record.invoiceId),
        ...(prepayment ? { prepayment } : {}),
        gone: stored.gone,
        absence: absenceOf(stored),
      };
    });
  }

  async prepayments(ids: number[]): Promise<DocumentFacts[]> {
    const prepayments = await this.#withIds('prepayment', ids);
    const refunded = prepayments.flatMap(({ record }) => (record.paid?.isNegative() ? (record.refundsId ?? []) : []));
    const originals = await this.#withIds('prepayment', [...new Set(refunded)]);
    const clientOf = new Map(originals.map(({ record }) => [record.id, record.clientId]));
    return prepayments.map(({ record, stored }) => ({
      kind: 'prepayment',
      prepayment: record,
      originalClientId: record.paid?.isNegative() && record.refundsId ? (clientOf.get(record.refundsId) ?? null) : null,
      gone: stored.gone,
      absence: absenceOf(stored),
    }));
  }

  /** The invoices to which chains of at most `longestChain` credit notes lead, by id. */
  async #originals(invoices: readonly RecordOf<'invoice'>[]): Promise<Map<number, RecordOf<'invoice'>>> {
    const found = new Map(invoices.map((invoice) => [invoice.id, invoice]));
    let last = invoices;
    for (let link = 0; link <= longestChain; link++) {
      const next = last.flatMap(({ creditNote, originalInvoiceId: id }) =>
        creditNote && id !== null && !found.has(id) ? [id] : [],
      );
      if (next.length === 0) break;
      last = (await this.#withIds('invoice', [...new Set(next)])).map(({ record }) => record);
      for (const invoice of last) found.set(invoice.id, invoice);
    }
    return found;
  }

  /** Records by their ids, including records that are gone. */
  #withIds<Kind extends RecordKind>(kind: Kind, ids: number[]): Promise<Found<Kind>[]> {
    return this.#select(kind, 'id = any(?)', ids);
  }

  /** Rows or payments by the ids of their invoices, without those that are gone. */
  async #ofInvoices<Kind extends 'row' | 'payment'>(
    kind: Kind,
    invoices: number[],
  ): Promise<(invoice: number) => Found<Kind>[]> {
    const found = await this.#select(kind, 'parent_id = any(?) and gone_at is null', invoices);
    const byInvoice = Map.groupBy(found, ({ stored }) => stored.parentId);
    return (invoice) => byInvoice.get(invoice) ?? [];
  }

  async #select<Kind extends RecordKind>(kind: Kind, condition: string, ids: number[]): Promise<Found<Kind>[]> {
    if (ids.length === 0) return [];
    const found = await rows(
      this.#db,
      storedShape,
      `select id, parent_id as "parentId", raw, gone_at is not null as gone,
         missing_at as "missingAt", missing_answer as "missingAnswer", missing_many as "missingMany",
         coalesce(rows_source_time >= rows_fresh_from, not needs_rows) as "rowsFresh",
         -- Asked once, by the index: the first import ends with the first window that closed.
         case when first_seen_at > (
           select closed_at from sync_window
           where installation = ? and kind = 'window' and outcome = 'closed' order by id limit 1)
         then first_seen_at end as "firstSeenAt"
       from mirror_record where installation = ? and kind = ? and ${condition} order by id`,
      [this.#installation, this.#installation, kind, ids],
    );
    const read = (stored: RowOf<typeof storedShape>) => ({
      stored,
      record: readRecord(kind, stored.raw, this.#dialect),
    });
    return inSlices(mapped(found, ({ raw }) => unitsPerRecord + 3 * raw.length, read));
  }
}
