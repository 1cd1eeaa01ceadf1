import { formatExact, type Money, sum, zero } from '../domain/money.ts';
import { isNoMoney } from '../records/source-codes.ts';
import type { DocumentRef } from '../terms.ts';
import { e3Texts, reconcileTexts } from '../texts/findings/reconcile.ts';
import type { Difference, Listed } from './reconcile-report.ts';
import {
  isHeldChange,
  type LedgerSum,
  postedAmount,
  type ReconciledPayment,
  type ReconciledPrepayment,
} from './reconciled-documents.ts';

/** Whether a prepayment or refund is money in the source: not gone, pending, failed or aborted. */
export function isMoney({ gone, record }: ReconciledPrepayment): boolean {
  return !gone && !isNoMoney(record.status);
}

/** The client whose prepayment a payment used, if it could be determined (ACCOUNTING R7). */
export interface KnownUse {
  /** The client whose liability the payment reduces. */
  clientId: number | null;
  /** Whether the used prepayments were determined. If not, `clientId` is the invoice's client. */
  matched: boolean;
}

/** The stored use of a payment of type 8. Without a stored use, its invoice's client. */
export function useOf({ used }: ReconciledPayment, clientOfInvoice: number | null): KnownUse {
  return { clientId: used?.clientId ?? clientOfInvoice, matched: (used?.prepaymentIds.length ?? 0) > 0 };
}

/** The terms of equation E3 for one client, with the signs of the source. */
interface ClientPrepayments {
  /** Sum of `unused_amount` of originals that are money. */
  unused: Money;
  /** The decrease of their unused amounts that linked refunds and matches do not explain. */
  dropped: Money;
  /** `paid` of prepayments and refunds that are money but not posted. */
  notPosted: Money;
  /** Payments of type 8 that are not posted. */
  usesNotPosted: Money;
  /** Refunds that are money: with and without a named original. */
  refunds: Money;
  unnamedRefunds: Money;
  /** Posted amounts minus current amounts of prepayments with a held change; the opposite for uses. */
  heldChanges: Money;
  /** `prepayment_liability`; a credit is positive. */
  ledger: Money;
  used: boolean;
  /** Whether a payment without a match, or without an entry, belongs to this client. */
  isUnproven: boolean;
  documents: DocumentRef[];
}

/** A prepayment that may have refunds, with its `unused_amount`. */
interface Original {
  client: string;
  paid: Money;
  /** The source's unused amount; null if the source does not send it. */
  unused: Money | null;
}

/** A refund that names its original. Its client is known after all prepayments are read. */
interface LinkedRefund {
  original: number;
  ownClient: string;
  paid: Money;
  notPosted: Money;
  heldChange: Money;
}

export interface PrepaymentFinding {
  differences: Difference[];
  /** The prepayments of the clients that differ. */
  disputed: DocumentRef[];
  clients: Listed['prepayment_clients'];
}

/** Limit of payments that are named beside clients without proof. */
const namedAtMost = 20;

/**
 * Equation E3: `prepayment_liability` is the unused amount of all prepayments that are money, less unposted prepayments
 * and unposted refunds, plus unposted uses (type 8). The equation must hold over all clients together. It must also
 * hold for each client whom no unmatched or unposted payment can affect. Other clients that differ are listed with
 * those payments.
 */
export class PrepaymentEquation {
  readonly #clients = new Map<string, ClientPrepayments>();
  readonly #originals = new Map<number, Original>();
  readonly #refunds: LinkedRefund[] = [];
  readonly #unproven: string[] = [];
  #unprovenCount = 0;

  addUse(payment: ReconciledPayment, { clientId, matched }: KnownUse): void {
    const client = this.#client(clientKey(clientId));
    const posted = this.#addLedger(payment.sums).negated();
    // An unreadable amount counts as posted.
    const present = payment.gone ? zero : (payment.record.paid ?? posted);
    client.used = true;
    client.documents.push({ kind: 'payment', id: payment.record.id });
    if (payment.state !== 'posted') client.usesNotPosted = client.usesNotPosted.plus(present);
    if (isHeldChange(payment)) this.#addHeldUse(payment, client, present);
    if (matched) client.dropped = client.dropped.minus(present);
    if ((matched && payment.state === 'posted') || present.isZero()) return;
    client.isUnproven = true;
    this.#unprovenCount += 1;
    if (this.#unproven.length < namedAtMost) this.#unproven.push(`payment ${payment.record.id}`);
  }

  /** The posted amount belongs to the parties of its lines, the amount in the source to the client of the use. */
  #addHeldUse({ sums }: ReconciledPayment, client: ClientPrepayments, present: Money): void {
    client.heldChanges = client.heldChanges.plus(present);
    for (const { partyCode, amount } of liability(sums)) {
      const of = this.#client(partyKey(partyCode));
      of.heldChanges = of.heldChanges.minus(amount);
    }
  }

  addPrepayment(prepayment: ReconciledPrepayment): void {
    const { record } = prepayment;
    const key = clientKey(record.clientId);
    const client = this.#client(key);
    client.documents.push({ kind: 'prepayment', id: record.id });
    this.#addLedger(prepayment.sums);
    const counts = isMoney(prepayment);
    const posted = isHeldChange(prepayment) ? postedAmount('prepayment', prepayment.sums) : null;
    const paid = counts ? (record.paid ?? posted) : zero;
    const heldChange = posted === null ? zero : posted.minus(paid ?? zero);
    const notPosted = paid !== null && counts && prepayment.state !== 'posted' ? paid : zero;
    if (counts && paid?.isNegative() && record.refundsId !== null) {
      this.#refunds.push({ original: record.refundsId, ownClient: key, paid, notPosted, heldChange });
      return;
    }
    client.heldChanges = client.heldChanges.plus(heldChange);
    // A prepayment without a readable amount is held, and adds nothing.
    if (!counts || paid === null) return;
    client.notPosted = client.notPosted.plus(notPosted);
    if (paid.isNegative()) {
      client.unnamedRefunds = client.unnamedRefunds.plus(paid);
      return;
    }
    // The source sets the unused amount to `paid` at first (practice-api: Unallocated payment). So `paid` is used if
    // the source does not send the unused amount.
    const unused = record.unusedAmount ?? paid;
    client.unused = client.unused.plus(unused);
    client.dropped = client.dropped.plus(paid).minus(unused);
    this.#originals.set(record.id, { client: key, paid, unused: record.unusedAmount });
  }

  /**
   * Whether the source reduces a prepayment's `unused_amount` by its refunds. `auto` infers this from prepayments whose
   * clients used nothing; without such prepayments the result is true.
   */
  refundsLowerUnused(setting: boolean | 'auto'): boolean {
    if (setting !== 'auto') return setting;
    let lowered = 0;
    let kept = 0;
    for (const [id, refunds] of Map.groupBy(this.#refunds, ({ original }) => original)) {
      const original = this.#originals.get(id);
      if (original === undefined || original.unused === null) continue;
      const rest = original.paid.plus(sum(refunds.map(({ paid }) => paid)));
      if (original.unused.greaterThan(rest)) kept += 1;
      else if (original.unused.equals(rest) && !this.#clients.get(original.client)?.used) lowered += 1;
    }
    return lowered >= kept;
  }

  check(refundsLowerUnused: boolean, decimals: number): PrepaymentFinding {
    // A linked refund belongs to its original's client.
    for (const { original, ownClient, paid, notPosted, heldChange } of this.#refunds.splice(0)) {
      const client = this.#client(this.#originals.get(original)?.client ?? ownClient);
      client.refunds = client.refunds.plus(paid);
      client.notPosted = client.notPosted.plus(notPosted);
      client.heldChanges = client.heldChanges.plus(heldChange);
      if (refundsLowerUnused) client.dropped = client.dropped.plus(paid);
    }
    const apart = [...this.#clients]
      .map(([client, totals]) => {
        const expected = sum([
          totals.unused,
          totals.notPosted.negated(),
          totals.usesNotPosted,
          totals.heldChanges,
          totals.unnamedRefunds,
          refundsLowerUnused ? zero : totals.refunds,
        ]);
        return { client, expected, totals, amount: totals.ledger.minus(expected) };
      })
      .filter(({ amount }) => !amount.isZero());
    const touched = apart.filter(({ totals }) => this.#isTouched(totals));
    const isWhole = sum(touched.map(({ amount }) => amount)).isZero();
    const failing = isWhole ? apart.filter(({ totals }) => !this.#isTouched(totals)) : apart;
    const differences = failing.map(({ client, expected, totals, amount }) => ({
      document: shortened(totals.documents),
      amount,
      message: e3Texts.client({
        ...{ client, ledger: formatExact(totals.ledger, decimals), expected: formatExact(expected, decimals) },
      }),
    }));
    const clients = (isWhole ? touched : []).map(({ client, expected, totals }) => ({
      client,
      ledger: formatExact(totals.ledger, decimals),
      source: formatExact(expected, decimals),
      unproven: this.#unprovenPayments(),
    }));
    const disputed = failing.flatMap(({ totals }) => totals.documents.filter(({ kind }) => kind === 'prepayment'));
    return { differences, disputed, clients };
  }

  /** Whether a payment without a match or entry may have used a prepayment of this client, or belongs to the client. */
  #isTouched({ isUnproven, dropped }: ClientPrepayments): boolean {
    return isUnproven || (this.#unprovenCount > 0 && !dropped.isZero());
  }

  #unprovenPayments(): string[] {
    const more = this.#unprovenCount - this.#unproven.length;
    return more > 0 ? [...this.#unproven, reconcileTexts.moreAlone({ count: more })] : this.#unproven;
  }

  /** Adds the liability lines to their parties. Returns their sum; a credit is positive. */
  #addLedger(sums: LedgerSum[]): Money {
    let total = zero;
    for (const { partyCode, amount } of liability(sums)) {
      const client = this.#client(partyKey(partyCode));
      client.ledger = client.ledger.minus(amount);
      total = total.minus(amount);
    }
    return total;
  }

  #client(key: string): ClientPrepayments {
    const known = this.#clients.get(key);
    if (known !== undefined) return known;
    const fresh: ClientPrepayments = {
      unused: zero,
      dropped: zero,
      notPosted: zero,
      usesNotPosted: zero,
      refunds: zero,
      unnamedRefunds: zero,
      heldChanges: zero,
      ledger: zero,
      used: false,
      isUnproven: false,
      documents: [],
    };
    this.#clients.set(key, fresh);
    return fresh;
  }
}

function liability(sums: LedgerSum[]): LedgerSum[] {
  return sums.filter(({ role }) => role === 'prepayment_liability');
}

function clientKey(clientId: number | null): string {
  return clientId === null ? reconcileTexts.noClient : reconcileTexts.client({ id: clientId });
}

/** `client:5` is client 5. Any other party, such as the cash customer, is not a client. */
function partyKey(code: string | null): string {
  const id = /^client:(\d+)$/.exec(code ?? '')?.[1];
  return id === undefined ? reconcileTexts.noClient : reconcileTexts.client({ id });
}

function shortened(documents: DocumentRef[]): string {
  const more = documents.length - 20;
  const named = documents
    .slice(0, 20)
    .map(({ kind, id }) => `${kind} ${id}`)
    .join(', ');
  return more > 0 ? reconcileTexts.more({ named, count: more }) : named;
}
