import type { Knex } from 'knex';
import type { Db } from '../db/pool.ts';
import { readRecord } from '../mirror/store.ts';
import type { DocumentFacts } from '../posting/types.ts';
import type { Dialect } from '../records/dialect.ts';
import type { InvoiceRecord, PaymentRecord, PrepaymentRecord, RowRecord, SourceRecord } from '../records/types.ts';
import type { DocumentRef, RecordKind } from '../terms.ts';

/** Payments by which a consolidated invoice's members are settled (practice-api: Invoice payment). */
const consolidatedPaymentType = 6;

interface Row {
  id: number;
  parent_id: number | null;
  raw: string;
  gone: boolean;
  rows_fresh: boolean;
}

/**
 * The facts of documents as the mirror holds them, ready for posting; a constant number of statements for any number of
 * documents. Documents that the mirror does not hold are left out.
 */
export async function loadFacts(
  db: Db | Knex.Transaction,
  installation: number,
  dialect: Dialect,
  documents: DocumentRef[],
): Promise<DocumentFacts[]> {
  const ids = (kind: DocumentRef['kind']) => documents.filter((ref) => ref.kind === kind).map((ref) => ref.id);
  const reader = new Reader(db, installation, dialect);
  return [
    ...(await reader.invoices(ids('invoice'))),
    ...(await reader.payments(ids('payment'))),
    ...(await reader.prepayments(ids('prepayment'))),
  ];
}

class Reader {
  private readonly db: Db | Knex.Transaction;
  private readonly installation: number;
  private readonly dialect: Dialect;

  constructor(db: Db | Knex.Transaction, installation: number, dialect: Dialect) {
    this.db = db;
    this.installation = installation;
    this.dialect = dialect;
  }

  async invoices(ids: number[]): Promise<DocumentFacts[]> {
    const found = await this.byId<InvoiceRecord>('invoice', ids);
    const members = [...found.values()].flatMap(({ record }) => record.consolidatedInvoiceIds);
    const rows = await this.byParent<RowRecord>('row', ids);
    const payments = await this.byParent<PaymentRecord>('payment', [...new Set([...ids, ...members])]);
    return [...found.values()].map(({ record, row }) => ({
      kind: 'invoice',
      invoice: record,
      rows: rows.get(record.id) ?? [],
      rowsFresh: row.rows_fresh,
      payments: payments.get(record.id) ?? [],
      memberPayments: record.consolidatedInvoiceIds.flatMap((member) =>
        (payments.get(member) ?? []).filter((payment) => payment.paymentType === consolidatedPaymentType),
      ),
      gone: row.gone,
    }));
  }

  async payments(ids: number[]): Promise<DocumentFacts[]> {
    const found = await this.byId<PaymentRecord>('payment', ids);
    const invoiceIds = [...found.values()].flatMap(({ record }) =>
      record.invoiceId === null ? [] : [record.invoiceId],
    );
    const invoices = await this.byId<InvoiceRecord>('invoice', [...new Set(invoiceIds)]);
    return [...found.values()].map(({ record, row }) => ({
      kind: 'payment',
      payment: record,
      invoice: (record.invoiceId === null ? undefined : invoices.get(record.invoiceId)?.record) ?? null,
      gone: row.gone,
    }));
  }

  async prepayments(ids: number[]): Promise<DocumentFacts[]> {
    const found = await this.byId<PrepaymentRecord>('prepayment', ids);
    return [...found.values()].map(({ record, row }) => ({ kind: 'prepayment', prepayment: record, gone: row.gone }));
  }

  private async byId<R extends SourceRecord>(kind: R['kind'], ids: number[]) {
    const found = await this.select(kind, 'id', ids, true);
    return new Map(found.map((row) => [row.id, { row, record: readRecord(kind, row.raw, this.dialect) as R }]));
  }

  private async byParent<R extends SourceRecord>(kind: R['kind'], parents: number[]): Promise<Map<number, R[]>> {
    const grouped = new Map<number, R[]>();
    for (const row of await this.select(kind, 'parent_id', parents, false)) {
      const siblings = grouped.get(row.parent_id!) ?? [];
      siblings.push(readRecord(kind, row.raw, this.dialect) as R);
      grouped.set(row.parent_id!, siblings);
    }
    return grouped;
  }

  private async select(kind: RecordKind, column: 'id' | 'parent_id', ids: number[], withGone: boolean): Promise<Row[]> {
    if (ids.length === 0) return [];
    const found = await this.db.raw<{ rows: Row[] }>(
      `select id, parent_id, raw, gone_at is not null as gone,
         coalesce(rows_source_time >= rows_fresh_from, not needs_rows) as rows_fresh
       from mirror_record where installation = ? and kind = ? and ?? = any(?) and (? or gone_at is null) order by id`,
      [this.installation, kind, column, ids, withGone],
    );
    return found.rows;
  }
}
