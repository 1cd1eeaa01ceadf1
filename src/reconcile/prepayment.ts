import { type Money, sum, zero } from '../domain/money.ts';
import type { DocumentRef } from '../terms.ts';
import { balance, isHeldChange, type PaymentBook, type PrepaymentBook, postedAmount } from './books.ts';
import { type Difference, figure, type Listed } from './report.ts';

/** Payments that use a prepayment (practice-api: Invoice payment). */
export const prepaymentUse = 8;

/** Statuses in which a prepayment is no money (ACCOUNTING R12). */
const notMoney = ['pending', 'failed', 'aborted'];

/** The parts of equation E3 for one client; amounts as the source signs them. */
interface ClientFigures {
  /** `unused_amount` of originals that are money. */
  unused: Money;
  /** `paid` of prepayments that are money and not posted, refunds included. */
  notPosted: Money;
  /** Payments of type 8 not posted. */
  usesNotPosted: Money;
  /** Refunds that are money: of an original named, and of none. */
  refunds: Money;
  unnamedRefunds: Money;
  /** Posted amounts less the present ones, where a change is held. */
  heldChanges: Money;
  /** `prepayment_liability`, credit positive. */
  ledger: Money;
  used: boolean;
  documents: DocumentRef[];
}

/** What an original and its refunds tell about `unused_amount` once all are seen. */
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
 * Gathers equation E3: `prepayment_liability` is the unused amount of all originals that are money, less what is not posted of
 * them and their refunds, plus uses (type 8) not posted. It holds over the whole; clients say where it does not.
 */
export class PrepaymentFigures {
  readonly #clients = new Map<string, ClientFigures>();
  readonly #originals = new Map<number, Original>();
  readonly #refunds = new Map<number, Money>();

  addUse(payment: PaymentBook, clientId: number | null): void {
    const client = this.#client(clientId);
    const posted = balance(payment.figures, ({ role }) => role === 'prepayment_liability');
    // An amount that cannot be read now is the posted one.
    const present = payment.gone ? zero : (payment.record.paid ?? posted);
    client.used = true;
    client.ledger = client.ledger.minus(posted);
    if (payment.state !== 'posted') client.usesNotPosted = client.usesNotPosted.plus(present);
    if (isHeldChange(payment)) client.heldChanges = client.heldChanges.plus(present).minus(posted);
    client.documents.push({ kind: 'payment', id: payment.record.id });
  }

  addPrepayment(book: PrepaymentBook): void {
    const { record } = book;
    const client = this.#client(record.clientId);
    client.documents.push({ kind: 'prepayment', id: record.id });
    client.ledger = client.ledger.minus(balance(book.figures, ({ role }) => role === 'prepayment_liability'));
    const isMoney = !book.gone && !notMoney.includes(record.status ?? 'ready');
    const posted = isHeldChange(book) ? postedAmount('prepayment', book.figures) : null;
    const paid = isMoney ? (record.paid ?? posted) : zero;
    if (isHeldChange(book)) {
      client.heldChanges = client.heldChanges.plus(posted ?? zero).minus(paid ?? zero);
    }
    // Without an amount it is held, and nothing is known that could be summed.
    if (!isMoney || paid === null) return;
    if (book.state !== 'posted') client.notPosted = client.notPosted.plus(paid);
    if (!paid.isNegative()) {
      // It starts equal to `paid` (practice-api: Unallocated payment): so much is unused while the source does not say.
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
   * Whether refunds lower their original's `unused_amount`, as the mirror shows it: an original whose client used nothing
   * tells. True where nothing tells.
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
    const clients = [...this.#clients].map(([client, figures]) => {
      const expected = sum([
        figures.unused,
        figures.notPosted.negated(),
        figures.usesNotPosted,
        figures.heldChanges,
        figures.unnamedRefunds,
        refundsLowerUnused ? zero : figures.refunds,
      ]);
      return { client, expected, figures, amount: figures.ledger.minus(expected) };
    });
    const apart = clients.filter(({ amount }) => !amount.isZero());
    if (sum(apart.map(({ amount }) => amount)).isZero()) {
      const listed = apart.map(({ client, expected, figures }) => ({
        client,
        ledger: figure(figures.ledger, decimals),
        source: figure(expected, decimals),
      }));
      return { differences: [], disputed: [], clients: listed };
    }
    const differences = apart.map(({ client, expected, figures, amount }) => ({
      document: shortened(figures.documents),
      amount,
      message: `prepayment_liability of ${client} is ${figure(figures.ledger, decimals)} in the ledger, while ${figure(expected, decimals)} follows from the unused amounts in the source`,
    }));
    const disputed = apart.flatMap(({ figures }) => figures.documents.filter(({ kind }) => kind === 'prepayment'));
    return { differences, disputed, clients: [] };
  }

  #client(clientId: number | null): ClientFigures {
    const key = clientKey(clientId);
    const known = this.#clients.get(key);
    if (known !== undefined) return known;
    const fresh: ClientFigures = {
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
