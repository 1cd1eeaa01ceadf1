import { bool, integer, json, nullable, type RowOf } from '../db/columns.ts';
import { pages } from '../db/pages.ts';
import { type Connection, rows } from '../db/rows.ts';
import type { ProblemDetails } from '../documents/save.ts';
import { notedUses, usedPrepayments } from '../prepayments/used.ts';
import { type JsonValue, parseMarked, readJson } from '../records/json.ts';
import { parseRecord } from '../records/schema.ts';
import { prepaymentUse } from '../records/source-codes.ts';
import type { CalendarDate, DocumentKind, DocumentState } from '../terms.ts';
import { entriesColumn, entriesInForce, readEntries, type StoredEntry, sumsByTags } from './load-entries.ts';
import type { ReconcileInput } from './reconcile-report.ts';
import type {
  ReconciledDocument,
  ReconciledInvoice,
  ReconciledPayment,
  ReconciledPrepayment,
} from './reconciled-documents.ts';
import { invoiceFacts, paymentFacts, type RowFacts, rowFacts } from './record-facts.ts';

const pageSize = 200;

/** What loading needs of an installation. */
export type LoadedBooks = Pick<ReconcileInput, 'id' | 'dialect'>;

// Right after a first load the tables have no statistics yet, and a join may be planned to read them whole for each page. So what
// belongs to a record is asked for by a subquery of its own, which PostgreSQL answers for one record at a time.

/** Every mirrored invoice with its payments, rows and ledger sums, by id; one page is in memory at a time. */
export async function* loadInvoices(db: Connection, input: LoadedBooks): AsyncGenerator<ReconciledInvoice> {
  for await (const page of recordPages(db, input, 'invoice')) {
    const ids = page.map(({ id }) => id);
    const payments = await paymentsOf(db, input, await storedRecords(db, input, 'payment', 'parent_id', ids));
    const paymentsByInvoice = Map.groupBy(payments, ({ record }) => record.invoiceId);
    const rowsByInvoice = await presentRows(db, input, ids);
    for (const stored of page) {
      const record = invoiceFacts(readJson(stored.raw), input.dialect);
      const entries = readEntries(stored.entries);
      const inForce = entriesInForce(entries);
      yield {
        ...documentOf(record, stored, entries),
        payments: paymentsByInvoice.get(record.id) ?? [],
        rows: rowsByInvoice.get(record.id) ?? [],
        inForce: inForce.length === 0 ? null : inForce.flatMap(({ lines }) => lines),
        wasCorrected: inForce.length < entries.length,
      };
    }
  }
}

/** Every mirrored payment whose invoice is not in the mirror. */
export async function* loadPaymentsWithoutInvoice(
  db: Connection,
  input: LoadedBooks,
): AsyncGenerator<ReconciledPayment> {
  const withoutInvoice = `and not exists (select from mirror_record i
    where i.installation = m.installation and i.kind = 'invoice' and i.id = m.parent_id)`;
  for await (const page of recordPages(db, input, 'payment', withoutInvoice)) yield* await paymentsOf(db, input, page);
}

/** Every mirrored prepayment with its ledger sums, by id. */
export async function* loadPrepayments(db: Connection, input: LoadedBooks): AsyncGenerator<ReconciledPrepayment> {
  for await (const page of recordPages(db, input, 'prepayment')) {
    for (const stored of page) {
      const record = parseRecord('prepayment', readJson(stored.raw), input.dialect);
      yield documentOf(record, stored, readEntries(stored.entries));
    }
  }
}

/** Every payment of type 8 that was followed, with its ledger sums, by id. */
export async function* loadUses(
  db: Connection,
  input: LoadedBooks & Pick<ReconcileInput, 'timezone'>,
): AsyncGenerator<ReconciledPayment> {
  for await (const page of notedUses(db, input.id, input.timezone, pageSize)) {
    const ids = page.map(({ paymentId }) => paymentId);
    yield* await paymentsOf(db, input, await storedRecords(db, input, 'payment', 'id', ids));
  }
}

/** Payments; those of type 8 with whose prepayment they used. */
async function paymentsOf(db: Connection, input: LoadedBooks, stored: StoredRecord[]): Promise<ReconciledPayment[]> {
  const payments = stored.map((each) =>
    documentOf(paymentFacts(readJson(each.raw), input.dialect), each, readEntries(each.entries)),
  );
  const uses = payments.filter(({ record }) => record.paymentType === prepaymentUse).map(({ record }) => record.id);
  const used = await usedPrepayments(db, input.id, uses);
  return payments.map((payment) => {
    const use = used.get(payment.record.id);
    return use === undefined ? payment : { ...payment, used: use };
  });
}

const recordShape = {
  id: integer,
  raw: json,
  gone: bool,
  version: integer,
  document: nullable(json),
  entries: nullable(json),
};
type StoredRecord = RowOf<typeof recordShape>;
type GatheredDocument = [
  state: DocumentState,
  problem: string | null,
  details: ProblemDetails | null,
  dirty: boolean,
  documentDate: CalendarDate | null,
];

const recordColumns = `m.id, m.raw, m.gone_at is not null as gone, m.version, (
  select json_build_array(d.state, d.problem_code, d.problem_details, d.dirty, d.document_date) from document d
  where d.installation = m.installation and d.kind = m.kind and d.id = m.id) as document, ${entriesColumn}`;

function recordPages(
  db: Connection,
  input: LoadedBooks,
  kind: DocumentKind,
  condition = '',
): AsyncGenerator<StoredRecord[]> {
  return pages(pageSize, (after) =>
    rows(
      db,
      recordShape,
      `select ${recordColumns} from mirror_record m
       where m.installation = ? and m.kind = ? and m.id > ? ${condition} order by m.id limit ?`,
      [input.id, kind, after?.id ?? 0, pageSize],
    ),
  );
}

function storedRecords(
  db: Connection,
  input: LoadedBooks,
  kind: DocumentKind,
  by: 'id' | 'parent_id',
  ids: number[],
): Promise<StoredRecord[]> {
  return rows(
    db,
    recordShape,
    `select ${recordColumns} from mirror_record m
     where m.installation = ? and m.kind = ? and m.${by} = any(?::bigint[]) order by m.id`,
    [input.id, kind, ids],
  );
}

/** The rows of invoices that are not gone, by invoice. */
async function presentRows(
  db: Connection,
  { id, dialect }: LoadedBooks,
  invoices: number[],
): Promise<Map<number, RowFacts[]>> {
  const found = await rows(
    db,
    { invoice: integer, raws: json },
    `select m.parent_id as invoice, json_agg(m.raw order by m.id) as raws from mirror_record m
     where m.installation = ? and m.kind = 'row' and m.parent_id = any(?::bigint[]) and m.gone_at is null
     group by m.parent_id`,
    [id, invoices],
  );
  return new Map(
    found.map(({ invoice, raws }) => {
      const { value, exact } = parseMarked(raws, {});
      return [invoice, (exact(value) as JsonValue[]).map((raw) => rowFacts(raw, dialect))];
    }),
  );
}

function documentOf<Record>(
  record: Record,
  { gone, version, document }: StoredRecord,
  entries: StoredEntry[],
): ReconciledDocument<Record> {
  const [state, problem, details, dirty, documentDate] =
    document === null ? [null, null, null, false, null] : (JSON.parse(document) as GatheredDocument);
  return {
    ...{ record, gone, state, problem, dirty, documentDate },
    changed: version > 1,
    ...(details?.changes === undefined ? {} : { changes: details.changes }),
    sums: sumsByTags(entries),
  };
}
