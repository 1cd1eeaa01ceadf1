import { bool, date, integer, integers, json, nullable, numeric, oneOf, type RowOf, text } from '../db/columns.ts';
import { pages } from '../db/pages.ts';
import { type Connection, rows } from '../db/rows.ts';
import type { ProblemDetails } from '../documents/save.ts';
import { Money, zero } from '../domain/money.ts';
import { usedPrepayments } from '../prepayments/used.ts';
import { readJson } from '../records/json.ts';
import { prepaymentUse } from '../records/prepayment-words.ts';
import { parseRecord, type RecordOf } from '../records/schema.ts';
import { type DocumentKind, documentStates, lineRoles, type RecordKind } from '../terms.ts';
import type {
  LedgerSum,
  LineInForce,
  ReconciledDocument,
  ReconciledInvoice,
  ReconciledPayment,
  ReconciledPrepayment,
} from './documents.ts';
import type { ReconcileInput } from './report.ts';

const pageSize = 500;

// Right after a first load the tables have no statistics yet, and a join may be planned to read them whole for each page.
// So each table is queried on its own, by the ids of the page.

/** Every mirrored invoice with its payments, rows and ledger sums, by id; one page is in memory at a time. */
export async function* loadInvoices(db: Connection, input: ReconcileInput): AsyncGenerator<ReconciledInvoice> {
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
  input: ReconcileInput,
): AsyncGenerator<ReconciledPayment> {
  const withoutInvoice = `and not exists (select from mirror_record i
    where i.installation = m.installation and i.kind = 'invoice' and i.id = m.parent_id)`;
  for await (const records of recordPages(db, input, 'payment', withoutInvoice)) {
    yield* await withUses(db, input, await withLedger(db, input, 'payment', records));
  }
}

/** Every mirrored prepayment with its ledger sums, by id. */
export async function* loadPrepayments(db: Connection, input: ReconcileInput): AsyncGenerator<ReconciledPrepayment> {
  for await (const records of recordPages(db, input, 'prepayment')) {
    yield* await withLedger(db, input, 'prepayment', records);
  }
}

/** Adds to payments of type 8 whose prepayment they used. */
async function withUses(
  db: Connection,
  input: ReconcileInput,
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
  input: ReconcileInput,
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
  input: ReconcileInput,
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
  input: ReconcileInput,
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

function parse<Kind extends RecordKind>(kind: Kind, record: StoredRecord, input: ReconcileInput): RecordOf<Kind> {
  return parseRecord(kind, readJson(record.raw), input.dialect);
}

const entryShape = { id: text, document_id: integer, document_date: date, reverses: nullable(text) };

const lineShape = {
  entry_id: text,
  account: text,
  role: oneOf(lineRoles),
  invoice_id: nullable(integer),
  party_code: nullable(text),
  payment_type: nullable(integer),
  department_id: nullable(integer),
  vat_group: nullable(text),
  vat_rate: nullable(numeric),
  row_ids: integers,
  // Debit positive.
  amount: numeric,
};

/** An entry with its lines. */
interface StoredEntry extends RowOf<typeof entryShape> {
  lines: RowOf<typeof lineShape>[];
}

/** All entries of the documents, by document, in their order. */
async function entriesOf(
  db: Connection,
  input: ReconcileInput,
  kind: DocumentKind,
  ids: number[],
): Promise<Map<number, StoredEntry[]>> {
  const entries = await rows(
    db,
    entryShape,
    `select id, document_id, document_date, reverses from entry
     where installation = ? and kind = ? and document_id = any(?::bigint[]) order by document_id, n`,
    [input.id, kind, ids],
  );
  const lines = await rows(
    db,
    lineShape,
    `select entry_id, account, role, invoice_id, party_code, payment_type, department_id, vat_group, vat_rate, row_ids,
       case side when 'debit' then amount else -amount end as amount
     from entry_line where entry_id = any(?::text[]) order by entry_id, line`,
    [entries.map(({ id }) => id)],
  );
  const byEntry = Map.groupBy(lines, (line) => line.entry_id);
  return Map.groupBy(
    entries.map((entry) => ({ ...entry, lines: byEntry.get(entry.id) ?? [] })),
    (entry) => entry.document_id,
  );
}

/** The sums of a document's lines by their tags; sums of zero are left out. */
function sumsByTags(entries: StoredEntry[]): LedgerSum[] {
  const sums = new Map<string, LedgerSum>();
  for (const { document_date: documentDate, lines } of entries) {
    for (const line of lines) {
      const tags = {
        account: line.account,
        role: line.role,
        invoiceId: line.invoice_id,
        partyCode: line.party_code,
        paymentType: line.payment_type,
        departmentId: line.department_id,
        documentDate,
      };
      const key = JSON.stringify(tags);
      sums.set(key, { ...tags, amount: (sums.get(key)?.amount ?? zero).plus(line.amount) });
    }
  }
  return [...sums.values()].filter(({ amount }) => !amount.isZero());
}

/** The lines of the entry in force, or null. */
function linesInForce(entries: StoredEntry[]): LineInForce[] | null {
  const reversed = new Set(entries.map(({ reverses }) => reverses));
  const inForce = entries.filter(({ id, reverses }) => reverses === null && !reversed.has(id));
  if (inForce.length === 0) return null;
  return inForce.flatMap(({ document_date: documentDate, lines }) =>
    lines.map((line) => ({
      account: line.account,
      role: line.role,
      partyCode: line.party_code,
      vatGroup: line.vat_group,
      vatRate: line.vat_rate === null ? null : new Money(line.vat_rate),
      documentDate,
      rowIds: line.row_ids,
      amount: new Money(line.amount),
    })),
  );
}
