import { businessDate } from '../domain/dates.ts';
import { formatExact, type Money, sum, zero } from '../domain/money.ts';
import { paymentAccount, soldRole } from '../mapping/look-ups.ts';
import type { Mapping } from '../mapping/schema.ts';
import { finalStatus } from '../records/source-codes.ts';
import { type SoldRole, soldRoles } from '../terms.ts';
import { e9Texts } from '../texts/findings/reconcile.ts';
import type { Difference, Listed, ReconcileInput } from './reconcile-report.ts';
import {
  balance,
  isHeldChange,
  paymentSide,
  postedAmount,
  type ReconciledInvoice,
  type ReconciledPayment,
  type ReconciledPrepayment,
  waitingHint,
} from './reconciled-documents.ts';

/** The terms of equation E9 for one role; a credit is positive. */
interface Terms {
  /** Net lines of invoices in force with this role. */
  sold: Money;
  /** Amounts in the source of payments and prepayments that are posted with this role. */
  redeemed: Money;
  /** Sold and redeemed before start_date, from the mirror alone: the opening balance. */
  opening: Money;
  /** The differences of single documents. */
  apart: Money;
}

const noTerms: Terms = { sold: zero, redeemed: zero, opening: zero, apart: zero };

/**
 * Equation E9: `gift_card_liability` and `voucher_liability` are the sold amounts less the posted payments by gift card
 * or voucher. The equation must hold in total; documents for which it does not hold are listed. Cards sold before
 * `start_date` belong to the opening balance, which is listed with the source's amount.
 */
export class VoucherEquation {
  readonly #input: ReconcileInput;
  readonly #terms: Record<SoldRole, Terms> = {
    gift_card_liability: { ...noTerms },
    voucher_liability: { ...noTerms },
  };
  readonly #report: (difference: Difference) => void;

  /** `report` is called with each difference. */
  constructor(input: ReconcileInput, report: (difference: Difference) => void) {
    this.#input = input;
    this.#report = report;
  }

  addInvoice(invoice: ReconciledInvoice): void {
    const { mapping } = this.#input;
    for (const role of soldRoles) {
      const inForce = balance(invoice.inForce ?? [], (line) => line.role === role).negated();
      const ledger = balance(invoice.sums, (line) => line.role === role).negated();
      this.#terms[role].sold = this.#terms[role].sold.plus(inForce);
      if (!ledger.equals(inForce)) this.#differ(`invoice ${invoice.record.id}`, role, ledger, inForce, invoice);
    }
    if (mapping !== undefined && isOpening(invoice, this.#input)) this.#addOpening(invoice, mapping);
  }

  addMoney(kind: 'payment' | 'prepayment', payment: ReconciledPayment | ReconciledPrepayment): void {
    for (const role of soldRoles) {
      const own = paymentSide(kind, payment.sums).filter((line) => line.role === role);
      if (own.length === 0) continue;
      const ledger = sum(own.map(({ amount }) => amount));
      const expected = isHeldChange(payment)
        ? postedAmount(kind, payment.sums)
        : payment.state === 'posted' && !payment.gone
          ? (payment.record.paid ?? ledger)
          : zero;
      this.#terms[role].redeemed = this.#terms[role].redeemed.plus(expected);
      if (!ledger.equals(expected)) {
        this.#differ(`${kind} ${payment.record.id}`, role, ledger.negated(), expected.negated(), payment);
      }
    }
  }

  /**
   * Reports the difference that no document explains, and lists each role. `ledger` holds the balances over the whole
   * books; a credit is positive.
   */
  check(ledger: Record<SoldRole, Money>): Listed['vouchers'] {
    const { decimals } = this.#input;
    const listed: Listed['vouchers'] = [];
    for (const role of soldRoles) {
      const { sold, redeemed, opening, apart } = this.#terms[role];
      const expected = sold.minus(redeemed);
      const rest = ledger[role].minus(expected).minus(apart);
      if (!rest.isZero()) {
        this.#report({
          document: role,
          amount: rest,
          message: e9Texts.total({
            ...{ ledger: formatExact(ledger[role], decimals), expected: formatExact(expected, decimals) },
          }),
        });
      }
      if ([sold, redeemed, opening, ledger[role]].every((amount) => amount.isZero())) continue;
      const amounts = { opening, sold, redeemed: redeemed.negated(), balance: ledger[role] };
      const shown = Object.entries(amounts).map(([name, amount]) => [name, formatExact(amount, decimals)]);
      listed.push({ role, ...(Object.fromEntries(shown) as Record<keyof typeof amounts, string>) });
    }
    return listed;
  }

  #differ(
    document: string,
    role: SoldRole,
    ledger: Money,
    expected: Money,
    of: ReconciledInvoice | ReconciledPayment | ReconciledPrepayment,
  ): void {
    const { decimals } = this.#input;
    const amount = ledger.minus(expected);
    this.#terms[role].apart = this.#terms[role].apart.plus(amount);
    this.#report({
      document,
      amount,
      message:
        e9Texts.document({
          ...{ ledger: formatExact(ledger, decimals), role, expected: formatExact(expected, decimals) },
        }) + waitingHint(of),
    });
  }

  /** Adds the sold and redeemed amounts of an invoice that the opening balances include. */
  #addOpening({ record, rows: own, payments }: ReconciledInvoice, mapping: Mapping): void {
    const date = record.invoiceDate === null ? null : businessDate(record.invoiceDate, this.#input.timezone);
    for (const row of own) {
      const vat = { name: row.vatGroup?.name ?? null, rate: row.vatGroup?.rate ?? row.vatPercentage };
      const { accountNumber, dimensions, internal } = row;
      const role = soldRole(mapping, accountNumber, record.departmentId, { dimensions, internal, vat, date });
      if (role !== null) this.#terms[role].opening = this.#terms[role].opening.plus(row.sum ?? zero);
    }
    for (const { record: payment, state } of payments) {
      if (state !== 'before_start' || payment.paymentType === null) continue;
      const found = paymentAccount(mapping, payment.paymentType, record.departmentId);
      const role = 'role' in found ? soldRoles.find((each) => each === found.role) : undefined;
      if (role) this.#terms[role].opening = this.#terms[role].opening.minus(payment.paid ?? zero);
    }
  }
}

function isOpening({ record, state, gone }: ReconciledInvoice, { startDate, timezone }: ReconcileInput): boolean {
  if (gone || record.status !== finalStatus || startDate === null) return false;
  const date = record.invoiceDate === null ? null : businessDate(record.invoiceDate, timezone);
  return state === 'before_start' || (date !== null && date < startDate);
}
