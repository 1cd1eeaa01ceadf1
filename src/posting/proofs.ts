import { Money, minorUnit, roundHalfEven, sum } from '../domain/money.ts';
import { consolidatedPayment } from '../records/source-codes.ts';
import type { InvoiceRecord, PaymentRecord } from '../records/types.ts';
import type { Findings } from './findings.ts';
import { type CompleteRow, rateOf } from './groups.ts';
import type { InvoiceFacts } from './types.ts';

// Multiplying is much faster than dividing by 100.
const perCent = new Money('0.01');
/** At most this many ids are named in a message. */
const longestTold = 8;

/** An invoice's totals, all present. */
export interface Totals {
  total: Money;
  totalVat: Money;
  totalWithVat: Money;
}

/** P1: the rows add up to the totals, and each row and the totals agree within one minor unit. Holds otherwise. */
export function proveTotals(totals: Totals, rows: CompleteRow[], decimals: number, findings: Findings): void {
  const unit = minorUnit(decimals);
  const sums: [string, Money, Money][] = [
    ['net', sum(rows.map((row) => row.sum)), totals.total],
    ['VAT', sum(rows.map((row) => row.sumVat)), totals.totalVat],
    ['with VAT', sum(rows.map((row) => row.sumTotal)), totals.totalWithVat],
  ];
  for (const [what, ofRows, total] of sums) {
    if (roundHalfEven(ofRows, decimals).equals(total)) continue;
    findings.holdAndRefetch(
      'totals_disagree',
      `the rows add up to ${ofRows.toFixed()} ${what}, the document says ${total.toFixed(decimals)}`,
    );
  }
  for (const row of rows) {
    const withVat = row.sum.plus(row.sumVat);
    if (withVat.equals(row.sumTotal) || withVat.minus(row.sumTotal).abs().lessThanOrEqualTo(unit)) continue;
    const amounts = `${row.sum.toFixed()} + ${row.sumVat.toFixed()} is not ${row.sumTotal.toFixed()}`;
    findings.holdAndRefetch('totals_disagree', `row ${row.id}: ${amounts}`);
  }
  const { total, totalVat, totalWithVat } = totals;
  if (total.plus(totalVat).minus(totalWithVat).abs().greaterThan(unit)) {
    const parts = [total, totalVat].map((amount) => amount.toFixed(decimals)).join(' + ');
    findings.holdAndRefetch('totals_disagree', `the document's ${parts} is not ${totalWithVat.toFixed(decimals)}`);
  }
}

/** In major units of any currency. */
const largestPlausible = new Money(10_000_000);

/** P6: holds if an amount is above what a document of a clinic can have. Each amount has its name for the message. */
export function provePlausible(amounts: readonly (readonly [string, Money | null])[], findings: Findings): void {
  for (const [name, amount] of amounts) {
    if (amount === null || amount.abs().lessThanOrEqualTo(largestPlausible)) continue;
    findings.holdAndRefetch('amount_implausible', `${name} is ${shortened(amount)}, which is above 10,000,000`);
  }
}

/** The amount in few characters, even if it has many digits. */
function shortened(amount: Money): string {
  return amount.precision(true) > 20 ? amount.toExponential(3) : amount.toFixed();
}

/**
 * P6 for an invoice: its totals and the amounts of its rows are plausible, and a credit note is in no circle. Holds
 * otherwise.
 */
export function provePlausibleInvoice({ invoice, rows, creditCircle }: InvoiceFacts, findings: Findings): void {
  const { total, totalVat, totalWithVat } = invoice;
  provePlausible(
    [['total', total] as const, ['total_vat', totalVat] as const, ['total_with_vat', totalWithVat] as const],
    findings,
  );
  for (const { id, sum: net, sumVat, sumTotal } of rows) {
    const amounts = [['sum', net] as const, ['sum_vat', sumVat] as const, ['sum_total', sumTotal] as const];
    provePlausible(
      amounts.map(([name, amount]) => [`row ${id}: ${name}`, amount] as const),
      findings,
    );
  }
  if (!creditCircle) return;
  const told = creditCircle.slice(0, longestTold).join(', ');
  const more = creditCircle.length > longestTold ? ` and ${creditCircle.length - longestTold} more` : '';
  findings.holdAndRefetch(
    'credit_cycle',
    creditCircle.length === 1
      ? 'it credits itself'
      : `these credit notes credit each other in a circle, or in a chain that is too long: ${told}${more}`,
  );
}

/** Not part of P1: each row's VAT is within one minor unit of its net times its rate. Reported, does not hold. */
export function reviewVatRates(rows: CompleteRow[], decimals: number, findings: Findings): void {
  const unit = minorUnit(decimals);
  for (const row of rows) {
    const rate = rateOf(row);
    if (rate === null) continue;
    const expected = row.sum.times(rate).times(perCent);
    if (row.sumVat.minus(expected).abs().lessThanOrEqualTo(unit)) continue;
    findings.report(
      'vat_rate_disagrees',
      `row ${row.id} has ${row.sumVat.toFixed()} VAT on ${row.sum.toFixed()}, and ${rate.toFixed()} % is ${expected.toFixed()}`,
    );
  }
}

/** P1 of a consolidated invoice (R10): its total is the sum of its members' payments of type 6. Reported, does not hold. */
export function reviewCollector(totalWithVat: Money, memberPayments: PaymentRecord[], findings: Findings): void {
  const collected = sum(
    memberPayments
      .filter(({ paymentType }) => paymentType === consolidatedPayment)
      .map(({ paid }) => paid ?? new Money(0)),
  );
  if (collected.equals(totalWithVat)) return;
  findings.refetch = true;
  findings.report(
    'collector_disagrees',
    `its total is ${totalWithVat.toFixed()}, its members were paid ${collected.toFixed()} by it`,
  );
}

/** Remark `overpaid`: due_sum is below zero although the total is not (an open credit note has both below zero). */
export function reviewOverpaid({ dueSum }: InvoiceRecord, totalWithVat: Money, findings: Findings): void {
  if (dueSum === null || !dueSum.lessThan(0) || dueSum.greaterThanOrEqualTo(totalWithVat)) return;
  findings.report(
    'overpaid',
    `${dueSum.toFixed()} is due of ${totalWithVat.toFixed()}: more was paid than it asks for`,
  );
}

/** P3: the source's due sum, if it sends one, is the total minus the payments. Reported, does not hold. */
export function reviewDueSum(
  invoice: InvoiceRecord,
  totalWithVat: Money,
  payments: PaymentRecord[],
  findings: Findings,
): void {
  const paid = payments.map((payment) => payment.paid);
  // A payment with an unreadable amount is held; without that amount the due sum cannot be checked.
  if (invoice.dueSum === null || !paid.every((amount) => amount !== null)) return;
  const expected = totalWithVat.minus(sum(paid));
  if (invoice.dueSum.equals(expected)) return;
  findings.refetch = true;
  findings.report(
    'due_sum_disagrees',
    `${invoice.dueSum.toFixed()} is due, but ${totalWithVat.toFixed()} less ${paid.length} payments is ${expected.toFixed()}`,
  );
}
