import { type Money, sum, zero } from '../domain/money.ts';
import { isNoMoney } from '../records/source-codes.ts';
import type { DocumentRef } from '../terms.ts';
import { type Difference, formatAmount, type Listed } from './reconcile-report.ts';
import {
  isHeldChange,
  type LedgerSum,
  postedAmount,
  type ReconciledPayment,
  type ReconciledPrepayment,
} from './reconciled-documents.ts';

/** Whether a prepayment or refund is money in the source: neither gone nor pending, failed or aborted. */
export function isMoney({ gone, record }: ReconciledPrepayment): boolean {
  return !gone && !isNoMoney(record.status);
}

/** Whose prepayment a payment used, as far as it is known (ACCOUNTING R7). */
export interface KnownUse {
  /** The client whose liability the payment lowers. */
  clientId: number | null;
  /** Whether the prepayments are known; otherwise the client is that of the invoice. */
  matched: boolean;
}

/** Whose prepayment a payment of type 8 used, as stored; where it was never looked for, its invoice's client. */
export function useOf({ used }: ReconciledPayment, clientOfInvoice: number | null): KnownUse {
  return { clientId: used?.clientId ?? clientOfInvoice, matched: (used?.prepaymentIds.length ?? 0) > 0 };
}

/** The terms of equation E3 for one client; amounts as the source signs them. */
interface ClientPrepayments {
  /** `unused_amount` of originals that are money. */
  unused: Money;
  /** What their unused amounts have dropped by, less what linked refunds and matches explain. */
  dropped: Money;
  /** `paid` of prepayments that are money and not posted, refunds included. */
  notPosted: Money;
  /** Payments of type 8 not posted. */
  usesNotPosted: Money;
  /** Refunds that are money: of an original named, and of none. */
  refunds: Money;
  unnamedRefunds: Money;
  /** Posted amounts minus the present ones of prepayments whose change is held; the opposite for uses. */
  heldChanges: Money;
  /** `prepayment_liability`, credit positive. */
  ledger: Money;
  used: boolean;
  /** A payment without a match, or not posted, stands under this client. */
  isUnproven: boolean;
  documents: DocumentRef[];
}

/** A prepayment that may have refunds, with its `unused_amount`. */
interface Original {
  client: string;
  paid: Money;
  /** Null where the source does not say. */
  unused: Money | null;
}

/** A refund that names its original, whose client is known when all prepayments are. */
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

/** Payments that are named beside clients of which nothing is proven. */
const namedAtMost = 20;

/**
 * Equation E3: `prepayment_liability` is the unused amount of all prepayments that are money, less those and their refunds that
 * are not posted, plus uses (type 8) that are not posted. It must hold over all clients together, and for each client that no
 * payment without a match or entry can touch; other clients that differ are listed with those payments.
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
    // An amount that cannot be read counts as posted.
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

  /** What is posted stands under the parties of its lines, what the source says under the client of the use. */
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
    // A prepayment without a readable amount is held, and has nothing to add.
    if (!counts || paid === null) return;
    client.notPosted = client.notPosted.plus(notPosted);
    if (paid.isNegative()) {
      client.unnamedRefunds = client.unnamedRefunds.plus(paid);
      return;
    }
    // The unused amount starts equal to `paid` (practice-api: Unallocated payment), and is that where the source does not send it.
    const unused = record.unusedAmount ?? paid;
    client.unused = client.unused.plus(unused);
    client.dropped = client.dropped.plus(paid).minus(unused);
    this.#originals.set(record.id, { client: key, paid, unused: record.unusedAmount });
  }

  /**
   * Whether the source lowers a prepayment's `unused_amount` by its refunds: as set, or with `auto` inferred from prepayments whose
   * clients used nothing. True where there is none.
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
    // A linked refund takes its original's client.
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
      message: `prepayment_liability of ${client} is ${formatAmount(totals.ledger, decimals)} in the ledger, while ${formatAmount(expected, decimals)} follows from the unused amounts in the source`,
    }));
    const clients = (isWhole ? touched : []).map(({ client, expected, totals }) => ({
      client,
      ledger: formatAmount(totals.ledger, decimals),
      source: formatAmount(expected, decimals),
      unproven: this.#unprovenPayments(),
    }));
    const disputed = failing.flatMap(({ totals }) => totals.documents.filter(({ kind }) => kind === 'prepayment'));
    return { differences, disputed, clients };
  }

  /** Whether a payment without a match or entry may have used a prepayment of this client, or stands under it. */
  #isTouched({ isUnproven, dropped }: ClientPrepayments): boolean {
    return isUnproven || (this.#unprovenCount > 0 && !dropped.isZero());
  }

  #unprovenPayments(): string[] {
    const more = this.#unprovenCount - this.#unproven.length;
    return more > 0 ? [...this.#unproven, `${more} more`] : this.#unproven;
  }

  /** Adds the liability lines to their parties; returns their sum, credit positive. */
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
  return clientId === null ? 'no client' : `client ${clientId}`;
}

/** `client:5` is the client 5; any other party, such as the cash customer, is no client. */
function partyKey(code: string | null): string {
  const id = /^client:(\d+)$/.exec(code ?? '')?.[1];
  return id === undefined ? 'no client' : `client ${id}`;
}

function shortened(documents: DocumentRef[]): string {
  const more = documents.length - 20;
  const named = documents.slice(0, 20).map(({ kind, id }) => `${kind} ${id}`);
  return named.join(', ') + (more > 0 ? ` and ${more} more` : '');
}
