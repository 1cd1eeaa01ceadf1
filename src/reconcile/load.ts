import { type Db, query } from '../db/pool.ts';
import { Money } from '../domain/money.ts';
import type { SourceRecord } from '../domain/records.ts';
import { parseJson } from '../practice/json.ts';
import { parseRecord, type RecordOf } from '../practice/schema.ts';
import type { DocumentKind, DocumentState, RecordKind } from '../terms.ts';
import type { Book, BookLine, InvoiceBook, LedgerFigure, PaymentBook, PrepaymentBook } from './books.ts';
import type { ReconcileInput } from './report.ts';

const batchSize = 500;

interface MirrorRow {
  id: number;
  parent_id: number | null;
  raw: string;
  gone: boolean;
  version: number;
  source_time: Date;
  state: DocumentState | null;
  problem_code: string | null;
  dirty: boolean;
  document_date: string | null;
}

const mirrorColumns = `m.id, m.parent_id, m.raw, m.gone_at is not null as gone, m.version, m.source_time,
  d.state, d.problem_code, coalesce(d.dirty, false) as dirty, d.document_date`;
const mirrorSource = `mirror_record m
  left join document d on d.installation = m.installation and d.kind = m.kind and d.id = m.id`;

/** Every mirrored invoice with its payments, rows and ledger figures, by id, one batch in memory at a time. */
export async function* invoiceBooks(db: Db, input: ReconcileInput): AsyncGenerator<InvoiceBook> {
  for await (const invoices of batches(db, input, 'invoice')) {
    const ids = invoices.map((row) => row.id);
    const payments = Map.groupBy(await childrenOf(db, input, 'payment', ids), (row) => row.parent_id);
    const paymentFigures = await figuresOf(
      db,
      input,
      'payment',
      [...payments.values()].flat().map((row) => row.id),
    );
    const rows = Map.groupBy(await childrenOf(db, input, 'row', ids), (row) => row.parent_id);
    const figures = await figuresOf(db, input, 'invoice', ids);
    const inForce = await linesInForce(db, input, ids);
    for (const row of invoices) {
      yield {
        ...book('invoice', row, figures, input),
        payments: (payments.get(row.id) ?? []).map((each) => book('payment', each, paymentFigures, input)),
        rows: (rows.get(row.id) ?? []).filter((each) => !each.gone).map((each) => parse('row', each, input)),
        inForce: inForce.get(row.id) ?? null,
      };
    }
  }
}

/** Every mirrored payment whose invoice is not in the mirror. */
export async function* orphanPaymentBooks(db: Db, input: ReconcileInput): AsyncGenerator<PaymentBook> {
  const orphan = `and not exists (select from mirror_record i
    where i.installation = m.installation and i.kind = 'invoice' and i.id = m.parent_id)`;
  for await (const rows of batches(db, input, 'payment', orphan)) {
    const figures = await figuresOf(
      db,
      input,
      'payment',
      rows.map((row) => row.id),
    );
    for (const row of rows) yield book('payment', row, figures, input);
  }
}

/** Every mirrored prepayment with its ledger figures, by id. */
export async function* prepaymentBooks(db: Db, input: ReconcileInput): AsyncGenerator<PrepaymentBook> {
  for await (const rows of batches(db, input, 'prepayment')) {
    const figures = await figuresOf(
      db,
      input,
      'prepayment',
      rows.map((row) => row.id),
    );
    for (const row of rows) yield book('prepayment', row, figures, input);
  }
}

function book<Kind extends DocumentKind>(
  kind: Kind,
  row: MirrorRow,
  figures: Map<number, LedgerFigure[]>,
  input: ReconcileInput,
): Book<RecordOf<Kind> & SourceRecord> {
  return {
    record: parse(kind, row, input),
    gone: row.gone,
    changed: row.version > 1,
    sourceTime: row.source_time,
    state: row.state,
    problem: row.problem_code,
    dirty: row.dirty,
    documentDate: row.document_date,
    figures: figures.get(row.id) ?? [],
  };
}

function parse<Kind extends RecordKind>(kind: Kind, row: MirrorRow, input: ReconcileInput): RecordOf<Kind> {
  return parseRecord(kind, parseJson(row.raw), input.dialect);
}

async function* batches(
  db: Db,
  input: ReconcileInput,
  kind: DocumentKind,
  condition = '',
): AsyncGenerator<MirrorRow[]> {
  for (let last = 0; ; ) {
    const rows = await query<MirrorRow>(
      db,
      `select ${mirrorColumns} from ${mirrorSource}
       where m.installation = ? and m.kind = ? and m.id > ? ${condition} order by m.id limit ?`,
      [input.id, kind, last, batchSize],
    );
    if (rows.length > 0) yield rows;
    if (rows.length < batchSize) return;
    last = rows.at(-1)!.id;
  }
}

async function childrenOf(
  db: Db,
  input: ReconcileInput,
  kind: 'row' | 'payment',
  parents: number[],
): Promise<MirrorRow[]> {
  const rows = await query<MirrorRow>(
    db,
    `select ${mirrorColumns} from ${mirrorSource}
     where m.installation = ? and m.kind = ? and m.parent_id = any(?::bigint[]) order by m.id`,
    [input.id, kind, parents],
  );
  return rows;
}

interface FigureRow {
  document_id: number;
  account: string;
  role: LedgerFigure['role'];
  invoice_id: number | null;
  party_code: string | null;
  payment_type: number | null;
  department_id: number | null;
  document_date: string;
  amount: string;
}

async function figuresOf(
  db: Db,
  input: ReconcileInput,
  kind: DocumentKind,
  ids: number[],
): Promise<Map<number, LedgerFigure[]>> {
  const tags = 'l.account, l.role, l.invoice_id, l.party_code, l.payment_type, l.department_id';
  const rows = await query<FigureRow>(
    db,
    `select e.document_id, ${tags}, e.document_date, sum(case l.side when 'debit' then l.amount else -l.amount end) as amount
     from entry e join entry_line l on l.entry_id = e.id
     where e.installation = ? and e.kind = ? and e.document_id = any(?::bigint[])
     group by e.document_id, ${tags}, e.document_date
     having sum(case l.side when 'debit' then l.amount else -l.amount end) <> 0`,
    [input.id, kind, ids],
  );
  const figures = new Map<number, LedgerFigure[]>();
  for (const row of rows) {
    const known = figures.get(row.document_id) ?? [];
    if (known.length === 0) figures.set(row.document_id, known);
    known.push({
      account: row.account,
      role: row.role,
      invoiceId: row.invoice_id,
      partyCode: row.party_code,
      paymentType: row.payment_type,
      departmentId: row.department_id,
      documentDate: row.document_date,
      amount: new Money(row.amount),
    });
  }
  return figures;
}

interface LineRow {
  document_id: number;
  account: string;
  role: BookLine['role'];
  party_code: string | null;
  vat_group: string | null;
  vat_rate: string | null;
  document_date: string;
  row_ids: number[];
  amount: string;
}

async function linesInForce(db: Db, input: ReconcileInput, invoices: number[]): Promise<Map<number, BookLine[]>> {
  const rows = await query<LineRow>(
    db,
    `select e.document_id, l.account, l.role, l.party_code, l.vat_group, l.vat_rate, e.document_date, l.row_ids,
       case l.side when 'debit' then l.amount else -l.amount end as amount
     from entry e join entry_line l on l.entry_id = e.id
     where e.installation = ? and e.kind = 'invoice' and e.document_id = any(?::bigint[]) and e.reverses is null
       and not exists (select from entry r where r.reverses = e.id)
     order by e.document_id, e.n, l.line`,
    [input.id, invoices],
  );
  const lines = new Map<number, BookLine[]>();
  for (const row of rows) {
    const known = lines.get(row.document_id) ?? [];
    if (known.length === 0) lines.set(row.document_id, known);
    known.push({
      account: row.account,
      role: row.role,
      partyCode: row.party_code,
      vatGroup: row.vat_group,
      vatRate: row.vat_rate === null ? null : new Money(row.vat_rate),
      documentDate: row.document_date,
      rowIds: row.row_ids,
      amount: new Money(row.amount),
    });
  }
  return lines;
}
