import { integer, json, nullable } from '../db/columns.ts';
import { pages } from '../db/pages.ts';
import { type Connection, rows } from '../db/rows.ts';
import { businessDate } from '../domain/dates.ts';
import { type Money, sum, zero } from '../domain/money.ts';
import { readRecord } from '../mirror/read.ts';
import type { Dialect } from '../records/dialect.ts';
import { isNoMoney, prepaymentUse } from '../records/prepayment-words.ts';
import type { RecordOf } from '../records/schema.ts';
import type { DocumentKind } from '../terms.ts';
import { type Item, type ReportInput, type Section, type SectionShape, section } from './report.ts';

const pageSize = 500;
/** The status of an invoice that is owed (practice-api: Invoice). */
const finalised = 3;

const customer = [
  { name: 'customer', title: 'customer' },
  { name: 'name', title: 'name' },
];

const receivablesShape: SectionShape = {
  name: 'receivables',
  title: 'Open invoices at the cut-over, to be the opening balance of opening_receivable',
  keys: customer.slice(0, 1),
  facts: [
    { name: 'number', title: 'number' },
    { name: 'date', title: 'date' },
    { name: 'due_date', title: 'due' },
  ],
  amounts: [
    { name: 'total', title: 'total' },
    { name: 'paid', title: 'paid' },
    { name: 'open', title: 'open' },
  ],
};

const prepaymentsShape: SectionShape = {
  name: 'prepayments',
  title: 'Unused prepayments at the cut-over, to be the opening balance of prepayment_liability',
  keys: customer.slice(0, 1),
  facts: [{ name: 'date', title: 'date' }],
  amounts: [
    { name: 'received', title: 'received' },
    { name: 'used', title: 'used' },
    { name: 'unused', title: 'unused' },
  ],
};

/**
 * What was open in the source at `start_date`, by its documents that are recorded as `before_start`: what the opening balances of the
 * ERP must hold, since later payments and uses are posted against them (ACCOUNTING Dates). A use of an old prepayment that is posted,
 * because its invoice is dated after the cut-over, does not lower the opening balance.
 */
export async function cutover(db: Connection, input: ReportInput & { dialect: Dialect }): Promise<Section[]> {
  const open: Item[] = [];
  const uses: Item[] = [];
  for await (const invoices of before(db, input, 'invoice')) {
    const owed = invoices.filter(({ status }) => status === finalised);
    const payments = await paymentsOf(
      db,
      input,
      owed.map(({ id }) => id),
    );
    const byInvoice = Map.groupBy(payments, ({ invoiceId }) => invoiceId);
    for (const invoice of owed) {
      const own = byInvoice.get(invoice.id) ?? [];
      const item = openInvoice(invoice, own, input);
      if (!item.amounts.open?.isZero()) open.push(item);
      uses.push(
        ...own.filter(({ paymentType }) => paymentType === prepaymentUse).map((use) => useOf(use, invoice, input)),
      );
    }
  }
  const prepayments: Item[] = [];
  for await (const page of before(db, input, 'prepayment')) {
    for (const { id, clientId, paid, created, status } of page) {
      if (isNoMoney(status)) continue;
      const amount = paid ?? zero;
      prepayments.push({
        keys: { customer: clientKey(clientId) },
        document: `prepayment ${id}`,
        facts: { date: dayOf(created, input) },
        amounts: { received: amount, used: zero, unused: amount },
      });
    }
  }
  const unused = section(prepaymentsShape, inOrder([...prepayments, ...uses]));
  const left = unused.figures.filter(({ amounts }) => !amounts.unused?.isZero());
  return [
    section(receivablesShape, inOrder(open)),
    section(
      prepaymentsShape,
      left.flatMap(({ items }) => items),
    ),
  ];
}

function openInvoice(invoice: RecordOf<'invoice'>, payments: RecordOf<'payment'>[], input: ReportInput): Item {
  const total = invoice.totalWithVat ?? zero;
  const paid = sum(payments.map((payment) => payment.paid ?? zero));
  return {
    keys: { customer: clientKey(invoice.clientId), name: null },
    document: `invoice ${invoice.id}`,
    facts: {
      number: [invoice.prefix, invoice.number].filter((part) => part !== null).join('') || null,
      date: dayOf(invoice.invoiceDate, input),
      due_date: dayOf(invoice.dueDate, input),
    },
    amounts: { total, paid, open: total.minus(paid) },
  };
}

function useOf({ id, paid, dateAdded }: RecordOf<'payment'>, invoice: RecordOf<'invoice'>, input: ReportInput): Item {
  const used: Money = paid ?? zero;
  return {
    keys: { customer: clientKey(invoice.clientId) },
    document: `payment ${id}`,
    facts: { date: dayOf(dateAdded, input) },
    amounts: { received: zero, used, unused: used.negated() },
  };
}

function inOrder(items: readonly Item[]): Item[] {
  const numberOf = ({ keys }: Item) => Number(String(keys.customer ?? '').replace(/\D/g, '') || '-1');
  return items.toSorted((a, b) => numberOf(a) - numberOf(b));
}

function clientKey(id: number | null): string | null {
  return id === null ? null : `client:${id}`;
}

function dayOf(text: string | null, { timezone }: ReportInput): string | null {
  return text === null ? null : businessDate(text, timezone);
}

const recordShape = { id: integer, parent_id: nullable(integer), raw: json };

/** The records of the documents that are dated before the cut-over and still there, a page at a time. */
async function* before<Kind extends Exclude<DocumentKind, 'payment'>>(
  db: Connection,
  { id, dialect }: ReportInput & { dialect: Dialect },
  kind: Kind,
): AsyncGenerator<RecordOf<Kind>[]> {
  const found = pages(pageSize, (after: { id: number } | null) =>
    rows(
      db,
      recordShape,
      `select m.id, m.parent_id, m.raw from document d
         join mirror_record m on m.installation = d.installation and m.kind = d.kind and m.id = d.id
       where d.installation = ? and d.kind = ? and d.state = 'before_start' and d.id > ? and m.gone_at is null
       order by d.id limit ?`,
      [id, kind, after?.id ?? 0, pageSize],
    ),
  );
  for await (const page of found) yield page.map(({ raw }) => readRecord(kind, raw, dialect));
}

async function paymentsOf(
  db: Connection,
  { id, dialect }: ReportInput & { dialect: Dialect },
  invoices: readonly number[],
): Promise<RecordOf<'payment'>[]> {
  const found = await rows(
    db,
    recordShape,
    `select m.id, m.parent_id, m.raw from mirror_record m
       join document d on d.installation = m.installation and d.kind = m.kind and d.id = m.id
     where m.installation = ? and m.kind = 'payment' and m.parent_id = any(?::bigint[]) and m.gone_at is null
       and d.state = 'before_start' order by m.id`,
    [id, invoices],
  );
  return found.map(({ raw }) => readRecord('payment', raw, dialect));
}
