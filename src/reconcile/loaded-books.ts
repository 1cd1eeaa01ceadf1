import { integer, json, type RowOf } from '../db/columns.ts';
import { pagesAhead } from '../db/pages.ts';
import { type Binding, type Connection, rows } from '../db/rows.ts';
import type { ProblemDetails } from '../documents/save.ts';
import { notedUses, type StoredUse, storedUseOf } from '../prepayments/used.ts';
import { type JsonValue, parseMarked } from '../records/json.ts';
import { parseRecord } from '../records/schema.ts';
import { prepaymentUse } from '../records/source-codes.ts';
import type { CalendarDate, DocumentKind, DocumentState } from '../terms.ts';
import {
  entriesInForce,
  entriesOf,
  type GatheredEntry,
  readEntries,
  type StoredEntry,
  sumsByTags,
} from './load-entries.ts';
import type { ReconcileInput } from './reconcile-report.ts';
import type {
  ReconciledDocument,
  ReconciledInvoice,
  ReconciledPayment,
  ReconciledPrepayment,
} from './reconciled-documents.ts';

const pageSize = 200;

/** The fields of an installation that loading needs. */
export type LoadedBooks = Pick<ReconcileInput, 'id' | 'dialect'>;

// PostgreSQL collects the data of a document as JSON: a result row for each record and line would cost more. Data of
// the source is kept separate from our own, since its numbers may have any digits. Right after a first load, the tables
// have no statistics, so a join could read them completely for each page. Therefore each part is a subquery for one
// record.

/** Our own data about a mirrored record. */
type GatheredBook = [
  gone: boolean,
  version: number,
  document: GatheredDocument | null,
  entries: GatheredEntry[] | null,
  used: StoredUse | null,
];
type GatheredDocument = [
  state: DocumentState,
  problem: string | null,
  details: ProblemDetails | null,
  dirty: boolean,
  documentDate: CalendarDate | null,
];

/** SQL expression: our own data about the mirrored record with this alias, as JSON. */
function bookOf(m: string): string {
  return `json_build_array(${m}.gone_at is not null, ${m}.version, (
    select json_build_array(d.state, d.problem_code, d.problem_details, d.dirty, d.document_date) from document d
    where d.installation = ${m}.installation and d.kind = ${m}.kind and d.id = ${m}.id), ${entriesOf(m)},
    case ${m}.kind when 'payment' then ${storedUseOf(m)} end)`;
}

/**
 * SQL expression: the mirrored records of a kind that belong to the invoice `m`, as one JSON list ordered by id. Null
 * if there are no such records.
 */
function ofInvoice(kind: 'payment' | 'row', gathered: string, condition = ''): string {
  return `(select json_agg(${gathered} order by o.id) from mirror_record o
    where o.installation = m.installation and o.kind = '${kind}' and o.parent_id = m.id ${condition})`;
}

/** The expressions for a record: the source's data, and our own. */
interface Gathering {
  mirrored: string;
  booked: string;
}
const ofRecord: Gathering = { mirrored: 'm.raw', booked: bookOf('m') };
const ofWholeInvoice: Gathering = {
  mirrored: `json_build_array(m.raw, ${ofInvoice('payment', 'o.raw')}, ${ofInvoice('row', 'o.raw', 'and o.gone_at is null')})`,
  booked: `json_build_array(${bookOf('m')}, ${ofInvoice('payment', bookOf('o'))})`,
};

/** All mirrored invoices with their payments, current rows and ledger sums, by id. */
export async function* loadInvoices(db: Connection, input: LoadedBooks): AsyncGenerator<ReconciledInvoice> {
  for await (const found of gatheredPages(db, input, 'invoice', ofWholeInvoice)) {
    const page = found.map(({ mirrored, booked }) => ({
      mirrored: readMirrored(mirrored) as [invoice: JsonValue, payments: JsonValue[] | null, rows: JsonValue[] | null],
      booked: JSON.parse(booked) as [invoice: GatheredBook, payments: GatheredBook[] | null],
    }));
    const payments = page.flatMap(({ mirrored: [, raws], booked: [, books] }) =>
      (books ?? []).map((book, at) => paymentOf(raws?.[at], book, input)),
    );
    const paymentsByInvoice = Map.groupBy(payments, ({ record }) => record.invoiceId);
    for (const { mirrored, booked } of page) {
      const [raw, , rows] = mirrored;
      const [book] = booked;
      const record = parseRecord('invoice', raw, input.dialect);
      const entries = readEntries(book[3]);
      const inForce = entriesInForce(entries);
      yield {
        ...documentOf(record, book, entries),
        payments: paymentsByInvoice.get(record.id) ?? [],
        rows: (rows ?? []).map((row) => parseRecord('row', row, input.dialect)),
        inForce: inForce.length === 0 ? null : inForce.flatMap(({ lines }) => lines),
        wasCorrected: inForce.length < entries.length,
      };
    }
  }
}

/** All mirrored payments whose invoice is not in the mirror. */
export async function* loadPaymentsWithoutInvoice(
  db: Connection,
  input: LoadedBooks,
): AsyncGenerator<ReconciledPayment> {
  const withoutInvoice = `and not exists (select from mirror_record i
    where i.installation = m.installation and i.kind = 'invoice' and i.id = m.parent_id)`;
  for await (const page of gatheredPages(db, input, 'payment', ofRecord, withoutInvoice)) {
    for (const found of page) yield readPayment(found, input);
  }
}

/** All mirrored prepayments with their ledger sums, by id. */
export async function* loadPrepayments(db: Connection, input: LoadedBooks): AsyncGenerator<ReconciledPrepayment> {
  for await (const page of gatheredPages(db, input, 'prepayment', ofRecord)) {
    for (const { mirrored, booked } of page) {
      const book = JSON.parse(booked) as GatheredBook;
      const record = parseRecord('prepayment', readMirrored(mirrored), input.dialect);
      yield documentOf(record, book, readEntries(book[3]));
    }
  }
}

/** All payments of type 8 with a stored use, with their ledger sums, by id. */
export async function* loadUses(
  db: Connection,
  input: LoadedBooks & Pick<ReconcileInput, 'timezone'>,
): AsyncGenerator<ReconciledPayment> {
  for await (const page of notedUses(db, input.id, input.timezone, pageSize)) {
    const ids = page.map(({ paymentId }) => paymentId);
    const found = await gather(db, input, 'payment', ofRecord, 'm.id = any(?::bigint[]) order by m.id', [ids]);
    for (const each of found) yield readPayment(each, input);
  }
}

const gatheredShape = { id: integer, mirrored: json, booked: json };

/**
 * Yields the records of a kind in the order of their ids. Memory contains two pages, since PostgreSQL reads a page
 * while the previous page is compared.
 */
function gatheredPages(
  db: Connection,
  input: LoadedBooks,
  kind: DocumentKind,
  gathering: Gathering,
  condition = '',
): AsyncGenerator<RowOf<typeof gatheredShape>[]> {
  const above = `m.id > ? ${condition} order by m.id limit ?`;
  return pagesAhead(pageSize, (after: { id: number } | null) =>
    gather(db, input, kind, gathering, above, [after?.id ?? 0, pageSize]),
  );
}

function gather(
  db: Connection,
  { id }: LoadedBooks,
  kind: DocumentKind,
  { mirrored, booked }: Gathering,
  condition: string,
  bindings: Binding[],
): Promise<RowOf<typeof gatheredShape>[]> {
  return rows(
    db,
    gatheredShape,
    `select m.id, ${mirrored} as mirrored, ${booked} as booked from mirror_record m
     where m.installation = ? and m.kind = ? and ${condition}`,
    [id, kind, ...bindings],
  );
}

function readMirrored(text: string): JsonValue {
  const { value, exact } = parseMarked(text, {});
  return exact(value);
}

function readPayment({ mirrored, booked }: RowOf<typeof gatheredShape>, input: LoadedBooks): ReconciledPayment {
  return paymentOf(readMirrored(mirrored), JSON.parse(booked) as GatheredBook, input);
}

/** A payment. For type 8, it includes the client whose prepayment was used. */
function paymentOf(raw: JsonValue, book: GatheredBook, { dialect }: LoadedBooks): ReconciledPayment {
  const payment = documentOf(parseRecord('payment', raw, dialect), book, readEntries(book[3]));
  const used = book[4];
  return used === null || payment.record.paymentType !== prepaymentUse ? payment : { ...payment, used };
}

function documentOf<Record>(
  record: Record,
  [gone, version, document]: GatheredBook,
  entries: StoredEntry[],
): ReconciledDocument<Record> {
  const [state, problem, details, dirty, documentDate] = document ?? [null, null, null, false, null];
  return {
    ...{ record, gone, state, problem, dirty, documentDate },
    changed: version > 1,
    ...(details?.changes === undefined ? {} : { changes: details.changes }),
    sums: sumsByTags(entries),
  };
}
