import { type Db, query } from '../db/pool.ts';
import { Money, zero } from '../domain/money.ts';
import { parseJson } from '../records/json.ts';
import { parseRecord, type RecordOf } from '../records/schema.ts';
import type { DocumentKind, DocumentState, LineRole, RecordKind } from '../terms.ts';
import type { Book, BookLine, InvoiceBook, LedgerFigure, PaymentBook, PrepaymentBook } from './books.ts';
import type { ReconcileInput } from './report.ts';

const batchSize = 500;

interface RecordRow {
  id: number;
  parent_id: number | null;
  raw: string;
  gone: boolean;
  version: number;
}

interface StateRow {
  id: number;
  state: DocumentState;
  problem_code: string | null;
  dirty: boolean;
  document_date: string | null;
}

const recordColumns = 'm.id, m.parent_id, m.raw, m.gone_at is not null as gone, m.version';

/** Every mirrored invoice with its payments, rows and ledger figures, by id, one batch in memory at a time. */
export async function* invoiceBooks(db: Db, input: ReconcileInput): AsyncGenerator<InvoiceBook> {
  for await (const records of batches(db, input, 'invoice')) {
    const ids = records.map((row) => row.id);
    const ledger = await ledgerOf(db, input, 'invoice', ids);
    const payments = await childrenOf(db, input, 'payment', ids);
    const paymentBooks = Map.groupBy(await books(db, input, 'payment', payments), ({ record }) => record.invoiceId);
    const rows = Map.groupBy(await childrenOf(db, input, 'row', ids), (row) => row.parent_id);
    for (const book of await books(db, input, 'invoice', records, ledger)) {
      const { id } = book.record;
      const ownRows = (rows.get(id) ?? []).filter((row) => !row.gone);
      yield {
        ...book,
        payments: paymentBooks.get(id) ?? [],
        rows: ownRows.map((row) => parse('row', row, input)),
        inForce: linesInForce(ledger.get(id) ?? []),
      };
    }
  }
}

/** Every mirrored payment whose invoice is not in the mirror. */
export async function* orphanPaymentBooks(db: Db, input: ReconcileInput): AsyncGenerator<PaymentBook> {
  const orphan = `and not exists (select from mirror_record i
    where i.installation = m.installation and i.kind = 'invoice' and i.id = m.parent_id)`;
  for await (const records of batches(db, input, 'payment', orphan)) yield* await books(db, input, 'payment', records);
}

/** Every mirrored prepayment with its ledger figures, by id. */
export async function* prepaymentBooks(db: Db, input: ReconcileInput): AsyncGenerator<PrepaymentBook> {
  for await (const records of batches(db, input, 'prepayment')) yield* await books(db, input, 'prepayment', records);
}

// Right after a first load the tables have no statistics yet, and a join may be planned to read them whole for each batch.
// So each table is asked on its own, by the ids of the batch.

async function* batches(
  db: Db,
  input: ReconcileInput,
  kind: DocumentKind,
  condition = '',
): AsyncGenerator<RecordRow[]> {
  for (let last = 0; ; ) {
    const rows = await query<RecordRow>(
      db,
      `select ${recordColumns} from mirror_record m
       where m.installation = ? and m.kind = ? and m.id > ? ${condition} order by m.id limit ?`,
      [input.id, kind, last, batchSize],
    );
    if (rows.length > 0) yield rows;
    if (rows.length < batchSize) return;
    last = rows.at(-1)!.id;
  }
}

function childrenOf(db: Db, input: ReconcileInput, kind: 'row' | 'payment', parents: number[]): Promise<RecordRow[]> {
  return query<RecordRow>(
    db,
    `select ${recordColumns} from mirror_record m
     where m.installation = ? and m.kind = ? and m.parent_id = any(?::bigint[]) order by m.id`,
    [input.id, kind, parents],
  );
}

async function books<Kind extends DocumentKind>(
  db: Db,
  input: ReconcileInput,
  kind: Kind,
  records: RecordRow[],
  known?: Map<number, StoredEntry[]>,
): Promise<Book<RecordOf<Kind>>[]> {
  const ids = records.map((row) => row.id);
  const ledger = known ?? (await ledgerOf(db, input, kind, ids));
  const rows = await query<StateRow>(
    db,
    `select id, state, problem_code, dirty, document_date from document
     where installation = ? and kind = ? and id = any(?::bigint[])`,
    [input.id, kind, ids],
  );
  const states = new Map(rows.map((row) => [row.id, row]));
  return records.map((row) => {
    const state = states.get(row.id);
    return {
      record: parse(kind, row, input),
      gone: row.gone,
      changed: row.version > 1,
      state: state?.state ?? null,
      problem: state?.problem_code ?? null,
      dirty: state?.dirty ?? false,
      documentDate: state?.document_date ?? null,
      figures: figuresOf(ledger.get(row.id) ?? []),
    };
  });
}

function parse<Kind extends RecordKind>(kind: Kind, row: RecordRow, input: ReconcileInput): RecordOf<Kind> {
  return parseRecord(kind, parseJson(row.raw), input.dialect);
}

interface EntryRow {
  id: string;
  document_id: number;
  document_date: string;
  reverses: string | null;
}

interface LineRow {
  entry_id: string;
  account: string;
  role: LineRole;
  invoice_id: number | null;
  party_code: string | null;
  payment_type: number | null;
  department_id: number | null;
  vat_group: string | null;
  vat_rate: string | null;
  row_ids: number[];
  amount: string;
}

/** An entry with its lines. */
interface StoredEntry extends EntryRow {
  lines: LineRow[];
}

/** All entries of the documents, by document, in their order. */
async function ledgerOf(
  db: Db,
  input: ReconcileInput,
  kind: DocumentKind,
  ids: number[],
): Promise<Map<number, StoredEntry[]>> {
  const entries = await query<EntryRow>(
    db,
    `select id, document_id, document_date, reverses from entry
     where installation = ? and kind = ? and document_id = any(?::bigint[]) order by document_id, n`,
    [input.id, kind, ids],
  );
  const lines = await query<LineRow>(
    db,
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

/** The sums of a document's entries by their tags, zero left out. */
function figuresOf(entries: StoredEntry[]): LedgerFigure[] {
  const figures = new Map<string, LedgerFigure>();
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
      figures.set(key, { ...tags, amount: (figures.get(key)?.amount ?? zero).plus(line.amount) });
    }
  }
  return [...figures.values()].filter(({ amount }) => !amount.isZero());
}

/** The lines of the entry in force, or null. */
function linesInForce(entries: StoredEntry[]): BookLine[] | null {
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
