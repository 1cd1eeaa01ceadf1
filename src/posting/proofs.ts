import { Money, minorUnit, roundHalfEven, sum } from '../domain/money.ts';
import { consolidatedPayment } from '../records/source-codes.ts';
import type { InvoiceRecord, PaymentRecord } from '../records/types.ts';
import { postingFindings } from '../texts/findings/posting.ts';
import type { Findings } from './findings.ts';
import { type CompleteRow, rateOf } from './groups.ts';
import type { InvoiceFacts } from './types.ts';

// Multiplying is much faster than dividing by 100.
const perCent = new Money('0.01');
/** A message names at most this many ids. */
const maxNamedIds = 8;

/** An invoice's totals, all present. */
export interface Totals {
  total: Money;
  totalVat: Money;
  totalWithVat: Money;
}

/**
 * P1: the rows add up to the totals, and the amounts within each row and within the totals agree to one minor unit.
 * Holds the document otherwise.
 */
export function proveTotals(totals: Totals, rows: CompleteRow[], decimals: number, findings: Findings): void {
  const unit = minorUnit(decimals);
  const sums: [string, Money, Money][] = [
    [postingFindings.net, sum(rows.map((row) => row.sum)), totals.total],
    [postingFindings.vat, sum(rows.map((row) => row.sumVat)), totals.totalVat],
    [postingFindings.withVat, sum(rows.map((row) => row.sumTotal)), totals.totalWithVat],
  ];
  for (const [what, ofRows, total] of sums) {
    if (roundHalfEven(ofRows, decimals).equals(total)) continue;
    findings.holdAndRefetch(
      'totals_disagree',
      postingFindings.rowsAndTotal({ rows: ofRows.toFixed(), what, total: total.toFixed(decimals) }),
    );
  }
  for (const row of rows) {
    const withVat = row.sum.plus(row.sumVat);
    if (withVat.equals(row.sumTotal) || withVat.minus(row.sumTotal).abs().lessThanOrEqualTo(unit)) continue;
    const [net, vat, total] = [row.sum, row.sumVat, row.sumTotal].map((amount) => amount.toFixed()) as Texts;
    findings.holdAndRefetch('totals_disagree', postingFindings.rowAmounts({ row: row.id, net, vat, total }));
  }
  const { total, totalVat, totalWithVat } = totals;
  if (total.plus(totalVat).minus(totalWithVat).abs().greaterThan(unit)) {
    const texts = [total, totalVat, totalWithVat].map((amount) => amount.toFixed(decimals)) as Texts;
    const [net, vat, withVat] = texts;
    findings.holdAndRefetch('totals_disagree', postingFindings.documentAmounts({ net, vat, total: withVat }));
  }
}

type Texts = [net: string, vat: string, total: string];

/** The largest plausible amount, in units of any currency such as euros. */
const largestPlausible = new Money(10_000_000);

/**
 * P6: holds the document if an amount is larger than a document of a clinic can have. `amounts` are pairs of a field
 * name and its amount.
 */
export function provePlausible(amounts: readonly (readonly [string, Money | null])[], findings: Findings): void {
  for (const [field, amount] of amounts) {
    if (amount === null || amount.abs().lessThanOrEqualTo(largestPlausible)) continue;
    findings.holdAndRefetch('amount_implausible', postingFindings.implausible({ field, amount: shortened(amount) }));
  }
}

/** The amount in few characters, even if it has many digits. */
function shortened(amount: Money): string {
  return amount.precision(true) > 20 ? amount.toExponential(3) : amount.toFixed();
}

/**
 * P6 for an invoice: its totals and row amounts are plausible, and a credit note is not part of a circle. Holds the
 * document otherwise.
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
      amounts.map(([name, amount]) => [postingFindings.amountOfRow({ row: id, field: name }), amount] as const),
      findings,
    );
  }
  if (!creditCircle) return;
  const few = creditCircle.slice(0, maxNamedIds).join(', ');
  const more = creditCircle.length - maxNamedIds;
  const ids = more > 0 ? postingFindings.andMore({ few, more }) : few;
  findings.holdAndRefetch(
    'credit_cycle',
    creditCircle.length === 1 ? postingFindings.creditsItself : postingFindings.creditCircle({ ids }),
  );
}

/**
 * Not part of P1: each row's VAT is within one minor unit of its net times its rate. A difference is reported and does
 * not hold the document.
 */
export function reviewVatRates(rows: CompleteRow[], decimals: number, findings: Findings): void {
  const unit = minorUnit(decimals);
  for (const row of rows) {
    const rate = rateOf(row);
    if (rate === null) continue;
    const expected = row.sum.times(rate).times(perCent);
    if (row.sumVat.minus(expected).abs().lessThanOrEqualTo(unit)) continue;
    findings.report(
      'vat_rate_disagrees',
      postingFindings.rowVat({
        row: row.id,
        vat: row.sumVat.toFixed(),
        net: row.sum.toFixed(),
        rate: rate.toFixed(),
        expected: expected.toFixed(),
      }),
      row.sumVat.minus(expected),
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
    postingFindings.collector({ total: totalWithVat.toFixed(), paid: collected.toFixed() }),
    totalWithVat.minus(collected),
  );
}

/** At most this many payments are named in a message. */
const shownPayments = 10;

/** Remark `paid_on_voided`: an invoice without an entry, because it is void or gone, has payments. */
export function reviewPaidOnVoided(payments: readonly PaymentRecord[], findings: Findings): void {
  const paid = sum(payments.map((payment) => payment.paid ?? new Money(0)));
  if (paid.isZero()) return;
  const ids = payments.map(({ id }) => id).slice(0, shownPayments);
  findings.report(
    'paid_on_voided',
    postingFindings.paidOnVoided({ paid: paid.toFixed(), payments: ids.join(', ') }),
    paid,
  );
}

/** Remark `overpaid`: due_sum is below zero although the total is not (an open credit note has both below zero). */
export function reviewOverpaid({ dueSum }: InvoiceRecord, totalWithVat: Money, findings: Findings): void {
  if (dueSum === null || !dueSum.lessThan(0) || dueSum.greaterThanOrEqualTo(totalWithVat)) return;
  const message = postingFindings.overpaid({ due: dueSum.toFixed(), total: totalWithVat.toFixed() });
  findings.report('overpaid', message, Money.min(totalWithVat, 0).minus(dueSum));
}

/**
 * P3: the source's due sum, if the source sends it, is the total minus the payments. A difference is reported and does
 * not hold the document.
 */
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
    postingFindings.dueSum({
      due: invoice.dueSum.toFixed(),
      total: totalWithVat.toFixed(),
      payments: paid.length,
      expected: expected.toFixed(),
    }),
    invoice.dueSum.minus(expected),
  );
}
