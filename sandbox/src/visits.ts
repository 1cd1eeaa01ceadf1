// Rows and payments of a visit, used by the generated history and by live events.
import type { Decimal } from 'decimal.js';
import type { Item } from './catalogue.ts';
import { items, vatGroupOn, vatGroups } from './catalogue.ts';
import type { Clinic } from './clinic.ts';
import type { RowInput } from './inputs.ts';
import { type Amount, dec, fixed, rowAmount } from './money.ts';
import type { Client, Invoice } from './records.ts';
import type { Rng } from './rng.ts';

/** The ways to settle an invoice. The kinds with `later` take some days. */
export type Settlement =
  | 'card'
  | 'mobile'
  | 'cash'
  | 'giftCard'
  | 'cheque'
  | 'financing'
  | 'other'
  | 'split'
  | 'bankLater'
  | 'partThenBank'
  | 'insurance'
  | 'unpaid';

export const settlements: readonly (readonly [Settlement, number])[] = [
  ['card', 44],
  ['mobile', 13],
  ['cash', 9],
  ['split', 4],
  ['giftCard', 3],
  ['cheque', 0.3],
  ['financing', 2],
  ['other', 0.7],
  ['bankLater', 8],
  ['partThenBank', 5],
  ['insurance', 7],
  ['unpaid', 4],
];

const paymentTypeOf: Partial<Record<Settlement, number>> = {
  card: 0,
  // The part of the invoice that gift cards do not cover.
  giftCard: 0,
  cheque: 4,
  mobile: 7,
  financing: 10,
  other: 11,
  bankLater: 2,
};

const one = dec(1);
const discounted = dec('0.9');

/**
 * The VAT rate as a share, and the factor from net to gross. They are cached, because every row uses one of a few
 * percentages.
 */
const rates = new Map<Amount, { rate: Decimal; factor: Decimal }>();
const rateOf = (percentage: Amount): { rate: Decimal; factor: Decimal } => {
  const rate = dec(percentage).div(100);
  const known = { rate, factor: rate.plus(1) };
  rates.set(percentage, known);
  return known;
};

/** A row of an item. The price includes VAT; for companies it does not. */
export const itemRow = (rng: Rng, clinic: Clinic, item: Item, client: Client | null): RowInput => {
  const isEu = client?.customer_type === 2 && !item.shop;
  const vat = isEu ? vatGroups.euService : vatGroupOn(item.vat, clinic.today());
  const scale = clinic.decimals === 0 ? 100 : 1;
  const price = dec(rng.int(item.from * 10, item.to * 10))
    .div(10)
    .times(scale);
  const quantity = rng.weighted([
    ['1.00', 80],
    ['2.00', 10],
    ['0.50', 5],
    ['3.00', 3],
    ['0.3333', 2],
  ] as const);
  // The discount changes only the row's sum, so that the sum differs from quantity times price, as in real clinics.
  const discount = rng.chance(0.12) ? discounted : one;
  const { rate, factor } = rates.get(vat.percentage) ?? rateOf(vat.percentage);
  const line = dec(rowAmount(price.times(quantity).times(discount)));
  const net = client?.customer_type ? line : dec(rowAmount(line.div(factor)));
  const sum_vat = client?.customer_type ? dec(rowAmount(net.times(rate))) : line.minus(net);
  const priceNet = client?.customer_type ? price : price.div(factor);
  const dimensioned = item.dimension !== undefined && rng.chance(0.7);
  return {
    name: item.name,
    quantity,
    price: rowAmount(priceNet),
    price_with_vat: rowAmount(priceNet.times(factor)),
    sum: rowAmount(net),
    sum_vat: rowAmount(sum_vat),
    sum_total: rowAmount(net.plus(sum_vat)),
    vat_percentage: vat.percentage,
    vat_group: vat,
    account_number: item.account,
    reporting_dimension_1: dimensioned ? (item.dimension ?? null) : null,
    reporting_dimension_2: dimensioned && rng.chance(0.3) ? rng.pick(['CAT', 'DOG', 'HORSE']) : null,
    ...(rng.chance(0.05)
      ? { invoice_row_extra: { account_number: '9100', reporting_dimension_1: 'INT', reporting_dimension_2: null } }
      : {}),
  };
};

/** The rows of a visit or a counter sale. A few rows are zero, free or negative. */
export const visitRows = (rng: Rng, clinic: Clinic, client: Client | null, shop = false): RowInput[] => {
  const choice = shop ? items.filter((item) => item.shop) : items;
  const count = shop
    ? rng.int(1, 3)
    : rng.weighted([
        [1, 30],
        [2, 32],
        [3, 20],
        [4, 10],
        [6, 6],
        [9, 2],
      ] as const);
  const rows = Array.from({ length: count }, () => itemRow(rng, clinic, rng.pick(choice), client));
  const first = rows[0] as RowInput;
  if (rng.chance(0.04))
    rows.push({ name: 'Free nail clipping', sum: '0.00', vat_percentage: '25.50', vat_group: vatGroups.general });
  if (rng.chance(0.01))
    rows.push({
      name: 'Follow-up, no charge',
      sum: '-0.0',
      sum_vat: '-0.0',
      sum_total: '-0.0',
      vat_percentage: '25.50',
      vat_group: vatGroups.general,
    });
  if (rng.chance(0.03)) rows.push(discountRow(first));
  return rows;
};

/** A discount of a tenth of a row, as a negative row. */
const discountRow = (row: RowInput): RowInput => {
  const sum = rowAmount(dec(row.sum).div(-10));
  const sum_vat = rowAmount(dec(row.sum_vat ?? '0').div(-10));
  return {
    ...row,
    name: 'Loyalty discount',
    quantity: '-1.00',
    sum,
    sum_vat,
    sum_total: rowAmount(dec(sum).plus(sum_vat)),
    account_number: '3900',
    invoice_row_extra: {},
  };
};

/** Records the payments on the spot. Returns true if the rest is paid later. */
export const payNow = (rng: Rng, clinic: Clinic, invoice: Invoice, settlement: Settlement): boolean => {
  const due = invoice.due_sum;
  if (settlement === 'bankLater') return true;
  if (settlement === 'unpaid' || dec(due).isZero()) return false;
  const pay = (payment_type: number, paid?: Amount) =>
    clinic.pay(invoice.id, { payment_type, ...(paid ? { paid } : {}) });
  const part = (share: number): Amount => fixed(dec(due).times(share), clinic.decimals);
  switch (settlement) {
    case 'cash':
      payCash(clinic, invoice);
      return false;
    case 'split':
      pay(0, part(0.6));
      pay(1);
      return false;
    case 'partThenBank':
      pay(rng.pick([0, 7]), part(rng.int(2, 7) / 10));
      return true;
    case 'insurance':
      pay(0, part(0.25));
      return true;
    default:
      pay(paymentTypeOf[settlement] ?? 11);
      return false;
  }
};

/** Records the later payment: the bank transfer, or the insurance company's share. */
export const payRest = (clinic: Clinic, invoice: Invoice, settlement: Settlement): void => {
  if (dec(invoice.due_sum).isZero() || invoice.status !== 3) return;
  clinic.pay(invoice.id, { payment_type: settlement === 'insurance' ? 15 : 2 });
};

/** Pays in cash, rounded to five cents. A payment of type 3 records the difference. */
const payCash = (clinic: Clinic, invoice: Invoice): void => {
  if (clinic.decimals !== 2) {
    clinic.pay(invoice.id, { payment_type: 1 });
    return;
  }
  const cash = dec(invoice.due_sum).times(20).toDecimalPlaces(0).div(20);
  const rounding = dec(invoice.due_sum).minus(cash);
  if (!cash.isZero()) clinic.pay(invoice.id, { payment_type: 1, paid: fixed(cash, 2) });
  if (!rounding.isZero()) clinic.pay(invoice.id, { payment_type: 3, paid: fixed(rounding, 2) });
};

/** Settles an invoice against its credit note: a payment of type 12 on each, which add up to zero. */
export const settleAgainst = (clinic: Clinic, invoice: Invoice, creditNote: Invoice): void => {
  const amount = dec(creditNote.due_sum).negated();
  if (!amount.isPositive() || amount.greaterThan(invoice.due_sum) || amount.isZero()) return;
  const paid = fixed(amount, clinic.decimals);
  clinic.pay(invoice.id, { payment_type: 12, paid });
  clinic.pay(creditNote.id, { payment_type: 12, paid: fixed(amount.negated(), clinic.decimals) });
};
