import { formatExact, type Money, minorUnit, sum, zero } from '../domain/money.ts';
import type { ShareInForce } from '../ledger/journal/shares.ts';
import type { Taken } from '../prepayments/taken.ts';
import type { DocumentRef } from '../terms.ts';
import { e8Texts, reconcileTexts } from '../texts/findings/reconcile.ts';
import { isMoney } from './e3-prepayment.ts';
import type { Difference, Note } from './reconcile-report.ts';
import {
  balance,
  isHeldChange,
  type ReconciledPayment,
  type ReconciledPrepayment,
  waitingHint,
} from './reconciled-documents.ts';

/** An original with VAT in its entry in force. */
interface Original {
  prepayment: ReconciledPrepayment;
  vat: Money;
  /** The received amount, as posted. */
  paid: Money;
}

/** A payment of type 8 whose used prepayment is unknown. */
interface UnmatchedUse {
  paymentId: number;
  clientId: number | null;
  amount: Money;
}

/** E8's findings about originals. */
export interface OriginalsFinding {
  differences: Difference[];
  /** Originals that differ. */
  disputed: DocumentRef[];
  listed: Note[];
}

/** A difference of an original lists at most this number of uses of prepayments that are not matched. */
const namedAtMost = 20;

/**
 * Equation E8 for each original prepayment: `prepayment_vat` contains its VAT × unused / paid, within one minor unit.
 * The unused amount is the source's amount plus matched uses and refunds that are not posted. Documents with a held
 * change count as posted.
 */
export class OriginalsVat {
  readonly #originals = new Map<number, Original>();
  /** The amounts that linked refunds, which are money, took from each original. */
  readonly #refunded = new Map<number, Money>();
  /** Matched payments, and refunds, that are money in the source and not posted in their current form. */
  readonly #usesOutside: number[] = [];
  readonly #refundsOutside: { original: number; amount: Money }[] = [];
  /** Posted payments and refunds with a held change, as `payment 12`. */
  readonly #held = new Set<string>();
  readonly #unmatched: UnmatchedUse[] = [];
  readonly #seen: number[] = [];

  addUse(payment: ReconciledPayment, clientOfInvoice: number | null): void {
    const { record, used } = payment;
    const isHeld = isHeldChange(payment);
    if (isHeld) this.#held.add(`payment ${record.id}`);
    if (payment.gone || record.paid === null || record.paid.isZero()) return;
    if (used !== undefined && used.prepaymentIds.length > 0) {
      if (payment.state !== 'posted' || isHeld) this.#usesOutside.push(record.id);
    } else if (used?.isCancelled !== true) {
      const clientId = used?.clientId ?? clientOfInvoice;
      this.#unmatched.push({ paymentId: record.id, clientId, amount: record.paid });
    }
  }

  addPrepayment(prepayment: ReconciledPrepayment): void {
    const { record, sums } = prepayment;
    this.#seen.push(record.id);
    const isHeld = isHeldChange(prepayment);
    if (record.paid?.isNegative()) {
      if (isHeld) this.#held.add(`prepayment ${record.id}`);
      if (record.refundsId === null || !isMoney(prepayment)) return;
      const refund = { original: record.refundsId, amount: record.paid.negated() };
      this.#refunded.set(refund.original, (this.#refunded.get(refund.original) ?? zero).plus(refund.amount));
      if (prepayment.state !== 'posted' || isHeld) this.#refundsOutside.push(refund);
      return;
    }
    const vat = balance(sums, ({ role }) => role === 'prepayment_vat');
    const paid = balance(sums, ({ role }) => role === 'prepayment_liability').negated();
    if (!vat.isZero() && paid.greaterThan(zero)) this.#originals.set(record.id, { prepayment, vat, paid });
  }

  /** Payments whose matches `check` needs, and prepayments whose shares it needs. */
  get asked(): { matchesOf: number[]; sharesOf: number[] } {
    return { matchesOf: this.#usesOutside, sharesOf: this.#seen };
  }

  /**
   * Must be called after all documents were added. `shares` are the shares of entries in force. `matches` are the
   * amounts that payments used by their current match.
   */
  check(
    shares: readonly ShareInForce[],
    matches: ReadonlyMap<number, Taken>,
    refundsLowerUnused: boolean,
    decimals: number,
  ): OriginalsFinding {
    const finding: OriginalsFinding = { differences: [], disputed: [], listed: [] };
    const sharesOf = Map.groupBy(shares, ({ prepaymentId }) => prepaymentId);
    const outside = this.#outside(shares, matches);
    const unmatched = Map.groupBy(this.#unmatched, ({ clientId }) => clientId);
    const named = new Set<number | null>();
    for (const [id, { prepayment, vat, paid }] of this.#originals) {
      const left = vat.minus(sum((sharesOf.get(id) ?? []).map((share) => share.vat)));
      const unused = sum([
        unusedInSource(prepayment, paid),
        refundsLowerUnused ? zero : (this.#refunded.get(id) ?? zero).negated(),
        outside.get(id) ?? zero,
      ]);
      const exact = vat.times(unused).dividedBy(paid);
      if (!left.minus(exact).abs().greaterThan(minorUnit(decimals))) continue;
      const { clientId } = prepayment.record;
      named.add(clientId);
      finding.disputed.push({ kind: 'prepayment', id });
      const amount = left.minus(exact).toDecimalPlaces(decimals);
      const text = (of: Money) => formatExact(of, decimals);
      finding.differences.push({
        ...{ document: `prepayment ${id}`, amount },
        message:
          e8Texts.original({
            ...{ left: text(left), expected: text(exact.toDecimalPlaces(decimals)), unused: text(unused) },
            ...{ amount: text(amount.abs()), uses: unmatchedText(clientId, unmatched.get(clientId) ?? [], text) },
          }) + waitingHint(prepayment),
      });
    }
    finding.listed.push(...this.#withoutVat(sharesOf, decimals));
    for (const { paymentId, clientId, amount } of this.#unmatched) {
      if (named.has(clientId)) continue;
      const message = e8Texts.unknownUse({ amount: formatExact(amount, decimals), client: clientText(clientId) });
      finding.listed.push({ document: `payment ${paymentId}`, message });
    }
    return finding;
  }

  /**
   * For each original, the amount that is used in the source but not in the books. Negative if the books have the
   * larger use.
   */
  #outside(shares: readonly ShareInForce[], matches: ReadonlyMap<number, Taken>): Map<number, Money> {
    const outside = new Map<number, Money>();
    const add = (id: number, amount: Money) => outside.set(id, (outside.get(id) ?? zero).plus(amount));
    for (const taken of matches.values()) for (const [id, amount] of taken) add(id, amount);
    for (const { original, amount } of this.#refundsOutside) add(original, amount);
    for (const { document, prepaymentId, amount } of shares) {
      if (this.#held.has(`${document.kind} ${document.id}`)) add(prepaymentId, amount.negated());
    }
    return outside;
  }

  #withoutVat(sharesOf: ReadonlyMap<number, ShareInForce[]>, decimals: number): Note[] {
    return [...sharesOf].flatMap(([id, shares]) => {
      const taken = sum(shares.flatMap(({ hasVat, amount }) => (hasVat ? [] : [amount])));
      if (taken.isZero() || this.#originals.has(id)) return [];
      const message = e8Texts.withoutVat({ amount: formatExact(taken, decimals) });
      return [{ document: `prepayment ${id}`, message }];
    });
  }
}

/** The unused amount in the source. For an original with a held change, it is computed from the posted amount. */
function unusedInSource(prepayment: ReconciledPrepayment, posted: Money): Money {
  const { record } = prepayment;
  const counts = isMoney(prepayment);
  // The source sets the unused amount to `paid` at first (practice-api: Unallocated payment). So `paid` is used if the
  // source does not send the unused amount.
  const unused = counts ? (record.unusedAmount ?? record.paid ?? posted) : zero;
  if (!isHeldChange(prepayment)) return unused;
  return unused.plus(posted).minus(counts ? (record.paid ?? posted) : zero);
}

function clientText(clientId: number | null): string {
  return clientId === null ? reconcileTexts.noClient : reconcileTexts.client({ id: clientId });
}

function unmatchedText(
  clientId: number | null,
  uses: readonly UnmatchedUse[],
  text: (amount: Money) => string,
): string {
  const client = clientText(clientId);
  if (uses.length === 0) return e8Texts.noUnmatched({ client });
  const first = uses
    .slice(0, namedAtMost)
    .map(({ paymentId: id, amount }) => e8Texts.use({ id, amount: text(amount) }));
  const count = uses.length - first.length;
  const named = first.join(', ');
  return e8Texts.unmatched({ client, uses: count > 0 ? reconcileTexts.more({ named, count }) : named });
}
