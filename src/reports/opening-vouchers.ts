import { json } from '../db/columns.ts';
import { type Connection, rows } from '../db/rows.ts';
import { businessDate } from '../domain/dates.ts';
import { sum, zero } from '../domain/money.ts';
import { isUnmapped, paymentAccount, roleAccount, soldRole } from '../mapping/look-ups.ts';
import { readRecord } from '../mirror/read.ts';
import type { RecordOf } from '../records/schema.ts';
import { type SoldRole, soldRoles } from '../terms.ts';
import { sectionTitles } from '../texts/reports/reports.ts';
import { finalInvoicesBefore, paymentsBefore } from './before-start.ts';
import { columnsOf, type Item, type Section, type SectionShape, section } from './report-sections.ts';
import type { VatInput } from './vat.ts';

const shape: SectionShape = {
  name: 'opening',
  title: sectionTitles.openingVouchers,
  keys: columnsOf('role', 'account'),
  facts: columnsOf('date'),
  amounts: columnsOf('sold', 'redeemed', 'unused'),
};

/**
 * Gift cards and vouchers sold before `start_date`, less those redeemed before it (ACCOUNTING E9: the opening balance).
 * It uses rows that the mapping posts to these roles, and their payments. Cards from before the practice software are
 * unknown.
 */
export async function openingVouchers(db: Connection, input: VatInput, name = shape.name): Promise<Section> {
  const items: Item[] = [];
  for await (const invoices of finalInvoicesBefore(db, input)) {
    const ids = invoices.map(({ id }) => id);
    const rowsOf = Map.groupBy(await rowsOfInvoices(db, input, ids), ({ invoiceId }) => invoiceId);
    const paymentsOf = Map.groupBy(await paymentsBefore(db, input, ids), ({ invoiceId }) => invoiceId);
    for (const invoice of invoices) {
      items.push(...soldBy(invoice, rowsOf.get(invoice.id) ?? [], input));
      items.push(...redeemedOn(invoice, paymentsOf.get(invoice.id) ?? [], input));
    }
  }
  const roles = soldRoles.map((role) => ({ role, items: items.filter(({ keys }) => keys.role === role) }));
  // A debit cannot be an opening balance of cards. It means that the records begin after the sale of the cards.
  const isShort = ({ items: own }: { items: readonly Item[] }) =>
    sum(own.map(({ amounts }) => amounts.unused ?? zero)).lessThan(0);
  const short = roles.filter(isShort).map(({ role }) => `${role} (${keysOf(role, input).account ?? '-'})`);
  const title =
    short.length === 0 ? shape.title : sectionTitles.openingUnknown({ title: shape.title, roles: short.join(', ') });
  return section(
    { ...shape, name, title },
    roles.flatMap((each) => (isShort(each) ? [] : each.items)),
  );
}

function soldBy(invoice: RecordOf<'invoice'>, own: readonly RecordOf<'row'>[], input: VatInput): Item[] {
  const day = invoice.invoiceDate === null ? null : businessDate(invoice.invoiceDate, input.timezone);
  const roleOf = ({ accountNumber, dimensions, internal, vatGroup, vatPercentage }: RecordOf<'row'>) => {
    const vat = { name: vatGroup?.name ?? null, rate: vatGroup?.rate ?? vatPercentage };
    return soldRole(input.mapping, accountNumber, invoice.departmentId, { dimensions, internal, vat, date: day });
  };
  return [...Map.groupBy(own, roleOf)].flatMap(([role, sold]): Item[] => {
    const amount = sum(sold.map((row) => row.sum ?? zero));
    if (role === null || amount.isZero()) return [];
    return [
      {
        ...{ keys: keysOf(role, input), document: `invoice ${invoice.id}`, facts: { date: day } },
        amounts: { sold: amount, redeemed: zero, unused: amount },
      },
    ];
  });
}

function redeemedOn(
  { departmentId }: RecordOf<'invoice'>,
  payments: readonly RecordOf<'payment'>[],
  input: VatInput,
): Item[] {
  return payments.flatMap(({ id, paymentType, paid, dateAdded }): Item[] => {
    if (paymentType === null || paid === null || paid.isZero()) return [];
    const found = paymentAccount(input.mapping, paymentType, departmentId);
    const role = 'role' in found ? soldRoles.find((each) => each === found.role) : undefined;
    if (role === undefined) return [];
    return [
      {
        ...{ keys: keysOf(role, input), document: `payment ${id}` },
        facts: { date: dateAdded === null ? null : businessDate(dateAdded, input.timezone) },
        amounts: { sold: zero, redeemed: paid, unused: paid.negated() },
      },
    ];
  });
}

function keysOf(role: SoldRole, { mapping }: VatInput): Item['keys'] {
  const account = roleAccount(mapping, role);
  return { role, account: isUnmapped(account) ? null : account.account };
}

async function rowsOfInvoices(
  db: Connection,
  { id, dialect }: VatInput,
  invoices: readonly number[],
): Promise<RecordOf<'row'>[]> {
  const found = await rows(
    db,
    { raw: json },
    `select raw from mirror_record where installation = ? and kind = 'row' and parent_id = any(?::bigint[]) and gone_at is null
     order by id`,
    [id, invoices],
  );
  return found.map(({ raw }) => readRecord('row', raw, dialect));
}
