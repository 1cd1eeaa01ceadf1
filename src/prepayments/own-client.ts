import { type Money, sum, zero } from '../domain/money.ts';
import type { CalendarDate } from '../terms.ts';

/** A payment of type 8 without a match, on an invoice of this client. */
export interface OwnUse {
  paymentId: number;
  /** Signed as in the source. */
  amount: Money;
  /** The day of the payment. Null if unknown. */
  usedOn: CalendarDate | null;
}

/** A prepayment of the same client. */
export interface OwnPrepayment {
  prepaymentId: number;
  /** The drop of its unused amount that linked refunds and matches do not explain. */
  unexplained: Money;
  /** The day on which the prepayment was paid. Null if unknown. */
  receivedOn: CalendarDate | null;
}

/** The amount that a payment took from a prepayment. */
export interface TakenFrom {
  paymentId: number;
  prepaymentId: number;
  amount: Money;
}

/**
 * Matches one client's uses with the client's own prepayments (ACCOUNTING R7 "Own client first"), if the uses add up to
 * the unexplained amount. Each use, by day and id, takes from the oldest prepayment that was paid on or before its day,
 * and then from the next. Returns null if the sums differ, if a use does not find its amount, or if an amount is
 * negative, because a version or a payment is still to be read.
 */
export function ownClientMatches(uses: readonly OwnUse[], prepayments: readonly OwnPrepayment[]): TakenFrom[] | null {
  if (uses.some(({ amount }) => !amount.greaterThan(zero))) return null;
  if (prepayments.some(({ unexplained }) => unexplained.lessThan(zero))) return null;
  const used = sum(uses.map(({ amount }) => amount));
  if (!used.equals(sum(prepayments.map(({ unexplained }) => unexplained)))) return null;
  const oldestFirst = prepayments
    .flatMap(({ prepaymentId, unexplained, receivedOn }) =>
      receivedOn === null ? [] : [{ prepaymentId, left: unexplained, receivedOn }],
    )
    .sort((a, b) => order(a.receivedOn, b.receivedOn) || a.prepaymentId - b.prepaymentId);
  const taken: TakenFrom[] = [];
  for (const { paymentId, amount, usedOn } of uses.toSorted(byDayAndId)) {
    let missing = amount;
    for (const prepayment of oldestFirst) {
      if (missing.isZero() || usedOn === null || prepayment.receivedOn > usedOn) break;
      const share = prepayment.left.lessThan(missing) ? prepayment.left : missing;
      if (share.isZero()) continue;
      prepayment.left = prepayment.left.minus(share);
      missing = missing.minus(share);
      taken.push({ paymentId, prepaymentId: prepayment.prepaymentId, amount: share });
    }
    if (!missing.isZero()) return null;
  }
  return taken;
}

function byDayAndId(a: OwnUse, b: OwnUse): number {
  return order(a.usedOn ?? '', b.usedOn ?? '') || a.paymentId - b.paymentId;
}

function order(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
