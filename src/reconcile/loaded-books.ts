import { bool, date, integer, json, nullable, oneOf, type RowOf, text } from '../db/columns.ts';
import { pages } from '../db/pages.ts';
import { type Connection, rows } from '../db/rows.ts';
import type { ProblemDetails } from '../documents/save.ts';
import { notedUses, usedPrepayments } from '../prepayments/used.ts';
import { readJson } from '../records/json.ts';
import { parseRecord, type RecordOf } from '../records/schema.ts';
import { prepaymentUse } from '../records/source-codes.ts';
import { type DocumentKind, documentStates, type RecordKind } from '../terms.ts';
import { entriesOf, linesInForce, type StoredEntry, sumsByTags } from './load-entries.ts';
import type { ReconcileInput } from './reconcile-report.ts';
import type {
  ReconciledDocument,
  ReconciledInvoice,
  ReconciledPayment,
  ReconciledPrepayment,
} from './reconciled-documents.ts';

const pageSize = 500;

/** What loading needs of an installation. */
export type LoadedBooks = Pick<ReconcileInput, 'id' | 'dialect'>;

// Right after a first load the tables have no statistics yet, and a join may be planned to read them whole for each page.
// So each table is queried on its own, by the ids of the page.

/** Every mirrored invoice with its payments, rows and ledger sums, by id; one page is in memory at a time. */
export async function* loadInvoices(db: Connection, input: LoadedBooks): AsyncGenerator<ReconciledInvoice> {
  for await (const records of recordPages(db, input, 'invoice')) {
    const ids = records.map(({ id }) => id);
    const entries = await entriesOf(db, input, 'invoice', ids);
    const paymentRecords = await childrenOf(db, input, 'payment', ids);
    const payments = await withUses(db, input, await withLedger(db, input, 'payment', paymentRecords));
    const paymentsByInvoice = Map.groupBy(payments, ({ record }) => record.invoiceId);
    const rowsByInvoice = Map.groupBy(await childrenOf(db, input, 'row', ids), (row) => row.parent_id);
    for (const document of await withLedger(db, input, 'invoice', records, entries)) {
      const { id } = document.record;
      const present = (rowsByInvoice.get(id) ?? []).filter(({ gone }) => !gone);
      yield {
        ...document,
        payments: paymentsByInvoice.get(id) ?? [],
        rows: present.map((row) => parse('row', row, input)),
        inForce: linesInForce(entries.get(id) ?? []),
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
  for await (const records of recordPages(db, input, 'payment', withoutInvoice)) {
    yield* await withUses(db, input, await withLedger(db, input, 'payment', records));
  }
}

/** Every mirrored prepayment with its ledger sums, by id. */
export async function* loadPrepayments(db: Connection, input: LoadedBooks): AsyncGenerator<ReconciledPrepayment> {
  for await (const records of recordPages(db, input, 'prepayment')) {
    yield* await withLedger(db, input, 'prepayment', records);
  }
}

/** Every payment of type 8 that was followed, with its ledger sums, by id. */
export async function* loadUses(
  db: Connection,
  input: LoadedBooks & Pick<ReconcileInput, 'timezone'>,
): AsyncGenerator<ReconciledPayment> {
  for await (const page of notedUses(db, input.id, input.timezone, pageSize)) {
    const ids = page.map(({ paymentId }) => paymentId);
    const records = await rows(
      db,
      recordShape,
      `select ${recordColumns} from mirror_record m
       where m.installation = ? and m.kind = 'payment' and m.id = any(?::bigint[]) order by m.id`,
      [input.id, ids],
    );
    yield* await withUses(db, input, await withLedger(db, input, 'payment', records));
  }
}

/** Adds to payments of type 8 whose prepayment they used. */
async function withUses(
  db: Connection,
  input: LoadedBooks,
  payments: ReconciledPayment[],
): Promise<ReconciledPayment[]> {
  const uses = payments.filter(({ record }) => record.paymentType === prepaymentUse).map(({ record }) => record.id);
  const used = await usedPrepayments(db, input.id, uses);
  return payments.map((payment) => {
    const use = used.get(payment.record.id);
    return use === undefined ? payment : { ...payment, used: use };
  });
}

const recordShape = { id: integer, parent_id: nullable(integer), raw: json, gone: bool, version: integer };
type StoredRecord = RowOf<typeof recordShape>;

const recordColumns = 'm.id, m.parent_id, m.raw, m.gone_at is not null as gone, m.version';

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

function childrenOf(
  db: Connection,
  input: LoadedBooks,
  kind: 'row' | 'payment',
  parents: number[],
): Promise<StoredRecord[]> {
  return rows(
    db,
    recordShape,
    `select ${recordColumns} from mirror_record m
     where m.installation = ? and m.kind = ? and m.parent_id = any(?::bigint[]) order by m.id`,
    [input.id, kind, parents],
  );
}

async function withLedger<Kind extends DocumentKind>(
  db: Connection,
  input: LoadedBooks,
  kind: Kind,
  records: StoredRecord[],
  knownEntries?: Map<number, StoredEntry[]>,
): Promise<ReconciledDocument<RecordOf<Kind>>[]> {
  const ids = records.map(({ id }) => id);
  const entries = knownEntries ?? (await entriesOf(db, input, kind, ids));
  const documents = await rows(
    db,
    {
      id: integer,
      state: oneOf(documentStates),
      problem_code: nullable(text),
      problem_details: nullable(json),
      dirty: bool,
      document_date: nullable(date),
    },
    `select id, state, problem_code, problem_details, dirty, document_date from document
     where installation = ? and kind = ? and id = any(?::bigint[])`,
    [input.id, kind, ids],
  );
  const documentsById = new Map(documents.map((document) => [document.id, document]));
  return records.map((record) => {
    const document = documentsById.get(record.id);
    return {
      record: parse(kind, record, input),
      gone: record.gone,
      changed: record.version > 1,
      state: document?.state ?? null,
      problem: document?.problem_code ?? null,
      ...changesOf(document?.problem_details ?? null),
      dirty: document?.dirty ?? false,
      documentDate: document?.document_date ?? null,
      sums: sumsByTags(entries.get(record.id) ?? []),
    };
  });
}

function changesOf(details: string | null): Pick<ReconciledDocument<never>, 'changes'> {
  const { changes } = (details === null ? {} : JSON.parse(details)) as ProblemDetails;
  return changes === undefined ? {} : { changes };
}

function parse<Kind extends RecordKind>(kind: Kind, record: StoredRecord, input: LoadedBooks): RecordOf<Kind> {
  return parseRecord(kind, readJson(record.raw), input.dialect);
}
