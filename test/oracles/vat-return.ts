// The VAT return, computed from the clinic's invoices in whole ten-thousandths by the text of ACCOUNTING ("Settling the
// cents"). It uses nothing of src/posting or src/domain.
import type { Clinic, Invoice, InvoiceRow } from '../../sandbox/src/index.ts';

/** Base and tax per `<month> <group> <rate>`, in cents. */
export type VatReturn = Map<string, { base: bigint; tax: bigint }>;

const finalised = 3;
/** The gift card account of the sandbox's clinic, which the demo mapping maps to a liability. */
const giftCardAccount = '2411';
/** Ten-thousandths in a cent. */
const perCent = 100n;

/** The VAT of the clinic's final invoices by month. `skip` has the invoices that are not in the books. */
export function vatReturnOf(clinic: Clinic, skip: ReadonlySet<number> = new Set()): VatReturn {
  const found: VatReturn = new Map();
  for (const invoice of clinic.invoices.all()) {
    // A consolidated invoice has no revenue and no VAT (R10).
    if (invoice.status !== finalised || invoice.consolidated_invoices.length > 0 || skip.has(invoice.id)) continue;
    const month = invoice.invoice_date.slice(0, 7);
    for (const [group, { base, tax }] of settled(invoice, [...clinic.invoiceRows.of(invoice.id)])) {
      add(found, `${month} ${group}`, base, tax);
    }
  }
  return found;
}

export function add(to: VatReturn, key: string, base: bigint, tax: bigint): void {
  const before = to.get(key) ?? { base: 0n, tax: 0n };
  to.set(key, { base: before.base + base, tax: before.tax + tax });
}

interface Group {
  vat: string;
  exact: bigint;
  tie: number;
}

/** One invoice's base and tax per VAT group, in cents. */
function settled(invoice: Invoice, rows: InvoiceRow[]): VatReturn {
  const credits = rows.every((row) => row.credited_invoicerow !== null);
  const tieOf = (row: InvoiceRow) => (credits ? row.credited_invoicerow! : row.id);
  const ordered = rows.toSorted((a, b) => tieOf(a) - tieOf(b) || a.id - b.id);
  const net = new Map<string, Group>();
  const tax = new Map<string, Group>();
  for (const row of ordered) {
    // A gift card has no VAT, and is settled first at its exact amount (R1).
    if (row.account_number === giftCardAccount) continue;
    const vat = vatGroupOf(row);
    const { account_number: account, invoice_row_extra: internal } = row;
    const dimensions = [row.reporting_dimension_1, row.reporting_dimension_2, row.reporting_dimension_3];
    gather(net, JSON.stringify([account, dimensions, internal, vat]), vat, fine(row.sum), tieOf(row));
    gather(tax, vat, vat, fine(row.sum_vat), tieOf(row));
  }
  const giftCards = ordered.filter((row) => row.account_number === giftCardAccount);
  const owed = giftCards.reduce((sum, row) => sum + cents(row.sum), 0n);
  const total = cents(invoice.total_with_vat);
  const totalTax = cents(invoice.total_vat);
  const signs = [total, totalTax, ...ordered.map((row) => fine(row.sum))];
  const flip = (signs.find((amount) => amount !== 0n) ?? 0n) < 0n;
  const found: VatReturn = new Map();
  for (const { vat, amount } of inCents([...net.values()], total - totalTax - owed, flip)) add(found, vat, amount, 0n);
  for (const { vat, amount } of inCents([...tax.values()], totalTax, flip)) add(found, vat, 0n, amount);
  return found;
}

function vatGroupOf(row: InvoiceRow): string {
  return `${row.vat_group.name} ${plain(row.vat_group.percentage)}`;
}

/** A rate without trailing zeros. */
export function plain(rate: string): string {
  return rate.includes('.') ? rate.replace(/\.?0+$/, '') : rate;
}

function gather(into: Map<string, Group>, key: string, vat: string, amount: bigint, tie: number): void {
  const group = into.get(key) ?? { vat, exact: 0n, tie };
  group.exact += amount;
  into.set(key, group);
}

/** Rounds every group down to a cent, and then gives the remaining cents to the largest remainders. */
function inCents(all: Group[], target: bigint, flip: boolean): { vat: string; amount: bigint }[] {
  const sign = flip ? -1n : 1n;
  const groups = all
    .filter(({ exact }) => exact !== 0n)
    .map(({ vat, exact, tie }) => {
      const signed = exact * sign;
      const remainder = ((signed % perCent) + perCent) % perCent;
      return { vat, tie, remainder, amount: (signed - remainder) / perCent };
    });
  let left = target * sign - groups.reduce((sum, { amount }) => sum + amount, 0n);
  const largestFirst = groups.toSorted((a, b) => compare(b.remainder, a.remainder) || a.tie - b.tie);
  for (const group of left < 0n ? largestFirst.toReversed() : largestFirst) {
    if (left === 0n) break;
    const step = left < 0n ? -1n : 1n;
    group.amount += step;
    left -= step;
  }
  if (left !== 0n) throw new Error(`${left} cents are left over`);
  return groups.map(({ vat, amount }) => ({ vat, amount: amount * sign }));
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Converts a decimal text to ten-thousandths. */
function fine(text: string): bigint {
  const parts = /^(-?)(\d+)(?:\.(\d{1,4})0*)?$/.exec(text);
  if (!parts) throw new Error(`${text} is no amount of at most four decimals`);
  const [, sign, whole, fraction = ''] = parts;
  return BigInt(`${sign}${whole}${fraction.padEnd(4, '0')}`);
}

/** Converts a decimal text to cents. */
export function cents(text: string): bigint {
  const exact = fine(text);
  if (exact % perCent !== 0n) throw new Error(`${text} is finer than a cent`);
  return exact / perCent;
}
