import type { Connection } from '../db/rows.ts';
import { businessDate } from '../domain/dates.ts';
import { type Money, sum, zero } from '../domain/money.ts';
import { type StoredUse, usedPrepayments } from '../prepayments/used.ts';
import { printedNumber } from '../records/printed-number.ts';
import type { RecordOf } from '../records/schema.ts';
import { isNoMoney, prepaymentUse } from '../records/source-codes.ts';
import { sectionTitles } from '../texts/reports/reports.ts';
import { finalInvoicesBefore, paymentsBefore, recordsBefore } from './before-start.ts';
import { openingVouchers } from './opening-vouchers.ts';
import { namesNow } from './prepayment-records.ts';
import { columnsOf, type Item, type ReportInput, type Section, type SectionShape, section } from './report-sections.ts';
import type { VatInput } from './vat.ts';

const customer = columnsOf('customer', 'name');

const receivablesShape: SectionShape = {
  name: 'receivables',
  title: sectionTitles.openInvoices,
  keys: customer,
  facts: columnsOf('number', 'date', 'due_date'),
  amounts: columnsOf('total', 'paid', 'open'),
};

const prepaymentsShape: SectionShape = {
  name: 'prepayments',
  title: sectionTitles.unusedPrepayments,
  keys: customer,
  facts: columnsOf('date'),
  amounts: columnsOf('received', 'used', 'unused'),
};

/**
 * The amounts that were open in the source at `start_date`, by its documents in the state `before_start`. The opening
 * balances of the ERP must hold these amounts, since later payments and uses are posted against them (ACCOUNTING
 * Dates). A posted use of an old prepayment, whose invoice is dated after the start, does not reduce the opening
 * balance.
 */
export async function cutover(db: Connection, input: VatInput): Promise<Section[]> {
  const open: Item[] = [];
  const uses: Item[] = [];
  /** Names by client, from the latest invoice before the start date. Prepayments have no names. */
  const names = new Map<string, string>();
  for await (const owed of finalInvoicesBefore(db, input)) {
    const ids = owed.map(({ id }) => id);
    const payments = await paymentsBefore(db, input, ids);
    const byInvoice = Map.groupBy(payments, ({ invoiceId }) => invoiceId);
    const used = payments.filter(({ paymentType }) => paymentType === prepaymentUse);
    const known = await usedPrepayments(
      db,
      input.id,
      used.map(({ id }) => id),
    );
    for (const invoice of owed) {
      const key = clientKey(invoice.clientId);
      if (key !== null && invoice.payer.name !== null) names.set(key, invoice.payer.name);
      const own = byInvoice.get(invoice.id) ?? [];
      const item = openInvoice(invoice, own, input);
      if (!item.amounts.open?.isZero()) open.push(item);
      const ownUses = own.filter(({ paymentType }) => paymentType === prepaymentUse);
      uses.push(...ownUses.map((use) => useOf(use, known.get(use.id), invoice, input)));
    }
  }
  const prepayments: Item[] = [];
  for await (const page of recordsBefore(db, input, 'prepayment')) {
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
  const later = await namesNow(db, input, missing([...open, ...left.flatMap(({ items }) => items)], names));
  const named = (items: readonly Item[]) =>
    items.map(({ keys, ...item }): Item => {
      const code = String(keys.customer ?? '');
      return { ...item, keys: { ...keys, name: names.get(code) ?? later.get(code) ?? null } };
    });
  return [
    section(receivablesShape, named(inOrder(open))),
    section(prepaymentsShape, named(left.flatMap(({ items }) => items))),
    await openingVouchers(db, input, 'vouchers'),
  ];
}

/** The customers that no invoice before the start date names. */
function missing(items: readonly Item[], names: ReadonlyMap<string, string>): string[] {
  const codes = items.flatMap(({ keys: { customer: code } }) =>
    typeof code === 'string' && !names.has(code) ? [code] : [],
  );
  return [...new Set(codes)];
}

function openInvoice(invoice: RecordOf<'invoice'>, payments: RecordOf<'payment'>[], input: ReportInput): Item {
  const total = invoice.totalWithVat ?? zero;
  const paid = sum(payments.map((payment) => payment.paid ?? zero));
  return {
    keys: { customer: clientKey(invoice.clientId) },
    document: `invoice ${invoice.id}`,
    facts: {
      number: printedNumber(invoice),
      date: dayOf(invoice.invoiceDate, input),
      due_date: dayOf(invoice.dueDate, input),
    },
    amounts: { total, paid, open: total.minus(paid) },
  };
}

/**
 * Reduces the prepayments of the client whose prepayment was used. If that client is unknown, reduces those of the
 * invoice's client.
 */
function useOf(
  { id, paid, dateAdded }: RecordOf<'payment'>,
  known: StoredUse | undefined,
  invoice: RecordOf<'invoice'>,
  input: ReportInput,
): Item {
  const used: Money = paid ?? zero;
  return {
    keys: { customer: clientKey(known?.clientId ?? invoice.clientId) },
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
