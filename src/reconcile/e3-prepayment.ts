import { type Money, sum, zero } from '../domain/money.ts';
import type { DocumentRef } from '../terms.ts';
import { balance, isHeldChange, postedAmount, type ReconciledPayment, type ReconciledPrepayment } from './documents.ts';
import { type Difference, formatAmount, type Listed } from './report.ts';

/** Payments that use a prepayment (practice-api: Invoice payment). */
export const prepaymentUse = 8;

/** Statuses in which a prepayment is no money (ACCOUNTING R12). */
export const notMoney = ['pending', 'failed', 'aborted'];

/** Whether a prepayment or refund is money in the source: neither gone nor pending, failed or aborted. */
export function isMoney({ gone, record }: ReconciledPrepayment): boolean {
  return !gone && !notMoney.includes(record.status ?? 'ready');
}

/** The terms of equation E3 for one client; amounts as the source signs them. */
interface ClientPrepayments {
  /** `unused_amount` of originals that are money. */
  unused: Money;
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
  documents: DocumentRef[];
}

/** A prepayment that may have refunds, with its `unused_amount`. */
interface Original {
  client: string;
  paid: Money;
  unused: Money;
}

export interface PrepaymentFinding {
  differences: Difference[];
  /** The prepayments of the clients that differ. */
  disputed: DocumentRef[];
  clients: Listed['prepayment_clients'];
}

/**
 * Equation E3: `prepayment_liability` is the unused amount of all prepayments that are money, less those and their refunds that
 * are not posted, plus uses (type 8) that are not posted. It must hold over all clients together; a difference is reported per
 * client.
 */
export class PrepaymentEquation {
  readonly #clients = new Map<string, ClientPrepayments>();
  readonly #originals = new Map<number, Original>();
  readonly #refunds = new Map<number, Money>();

  addUse(payment: ReconciledPayment, clientId: number | null): void {
    const client = this.#client(clientId);
    const posted = balance(payment.sums, ({ role }) => role === 'prepayment_liability');
    // An amount that cannot be read counts as posted.
    const present = payment.gone ? zero : (payment.record.paid ?? posted);
    client.used = true;
    client.ledger = client.ledger.minus(posted);
    if (payment.state !== 'posted') client.usesNotPosted = client.usesNotPosted.plus(present);
    if (isHeldChange(payment)) client.heldChanges = client.heldChanges.plus(present).minus(posted);
    client.documents.push({ kind: 'payment', id: payment.record.id });
  }

  addPrepayment(prepayment: ReconciledPrepayment): void {
    const { record } = prepayment;
    const client = this.#client(record.clientId);
    client.documents.push({ kind: 'prepayment', id: record.id });
    client.ledger = client.ledger.minus(balance(prepayment.sums, ({ role }) => role === 'prepayment_liability'));
    const counts = isMoney(prepayment);
    const posted = isHeldChange(prepayment) ? postedAmount('prepayment', prepayment.sums) : null;
    const paid = counts ? (record.paid ?? posted) : zero;
    if (isHeldChange(prepayment)) {
      client.heldChanges = client.heldChanges.plus(posted ?? zero).minus(paid ?? zero);
    }
    // A prepayment without a readable amount is held, and has nothing to add.
    if (!counts || paid === null) return;
    if (prepayment.state !== 'posted') client.notPosted = client.notPosted.plus(paid);
    if (!paid.isNegative()) {
      // The unused amount starts equal to `paid` (practice-api: Unallocated payment), and is that where the source does not send it.
      client.unused = client.unused.plus(record.unusedAmount ?? paid);
      const unused = record.unusedAmount;
      if (unused !== null) this.#originals.set(record.id, { client: clientKey(record.clientId), paid, unused });
    } else if (record.refundsId === null) {
      client.unnamedRefunds = client.unnamedRefunds.plus(paid);
    } else {
      client.refunds = client.refunds.plus(paid);
      this.#refunds.set(record.refundsId, (this.#refunds.get(record.refundsId) ?? zero).plus(paid));
    }
  }

  /**
   * Whether the source lowers a prepayment's `unused_amount` by its refunds, inferred from prepayments whose clients used nothing.
   * True where there is none.
   */
  refundsLowerUnused(): boolean {
    let lowered = 0;
    let kept = 0;
    for (const [id, refunded] of this.#refunds) {
      const original = this.#originals.get(id);
      if (original === undefined) continue;
      const rest = original.paid.plus(refunded);
      if (original.unused.greaterThan(rest)) kept += 1;
      else if (original.unused.equals(rest) && !this.#clients.get(original.client)?.used) lowered += 1;
    }
    return lowered >= kept;
  }

  check(refundsLowerUnused: boolean, decimals: number): PrepaymentFinding {
    const clients = [...this.#clients].map(([client, totals]) => {
      const expected = sum([
        totals.unused,
        totals.notPosted.negated(),
        totals.usesNotPosted,
        totals.heldChanges,
        totals.unnamedRefunds,
        refundsLowerUnused ? zero : totals.refunds,
      ]);
      return { client, expected, totals, amount: totals.ledger.minus(expected) };
    });
    const apart = clients.filter(({ amount }) => !amount.isZero());
    if (sum(apart.map(({ amount }) => amount)).isZero()) {
      const listed = apart.map(({ client, expected, totals }) => ({
        client,
        ledger: formatAmount(totals.ledger, decimals),
        source: formatAmount(expected, decimals),
      }));
      return { differences: [], disputed: [], clients: listed };
    }
    const differences = apart.map(({ client, expected, totals, amount }) => ({
      document: shortened(totals.documents),
      amount,
      message: `prepayment_liability of ${client} is ${formatAmount(totals.ledger, decimals)} in the ledger, while ${formatAmount(expected, decimals)} follows from the unused amounts in the source`,
    }));
    const disputed = apart.flatMap(({ totals }) => totals.documents.filter(({ kind }) => kind === 'prepayment'));
    return { differences, disputed, clients: [] };
  }

  #client(clientId: number | null): ClientPrepayments {
    const key = clientKey(clientId);
    const known = this.#clients.get(key);
    if (known !== undefined) return known;
    const fresh: ClientPrepayments = {
      unused: zero,
      notPosted: zero,
      usesNotPosted: zero,
      refunds: zero,
      unnamedRefunds: zero,
      heldChanges: zero,
      ledger: zero,
      used: false,
      documents: [],
    };
    this.#clients.set(key, fresh);
    return fresh;
  }
}

function clientKey(clientId: number | null): string {
  return clientId === null ? 'no client' : `client ${clientId}`;
}

function shortened(documents: DocumentRef[]): string {
  const more = documents.length - 20;
  const named = documents.slice(0, 20).map(({ kind, id }) => `${kind} ${id}`);
  return named.join(', ') + (more > 0 ? ` and ${more} more` : '');
}
