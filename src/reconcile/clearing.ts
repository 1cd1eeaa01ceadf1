import { type Money, sum, zero } from '../domain/money.ts';
import { balance, type InvoiceBook } from './books.ts';
import { figure, type Listed } from './report.ts';

/**
 * Gathers what E4 lists of accounts that close among invoices: `consolidation_clearing` per collector, `credit_settlement` per
 * invoice and its credit notes. Only invoices that take part are kept.
 */
export class ClearingFigures {
  readonly #consolidation = new Map<number, Money>();
  readonly #members = new Map<number, number[]>();
  readonly #settlement = new Map<number, Money>();
  readonly #originals = new Map<number, number>();

  add(book: InvoiceBook): void {
    const { id, consolidatedInvoiceIds, originalInvoiceId, creditNote } = book.record;
    const figures = [book, ...book.payments].flatMap((each) => each.figures);
    const consolidation = balance(figures, ({ role }) => role === 'consolidation_clearing');
    const settlement = balance(figures, ({ role }) => role === 'credit_settlement');
    if (!consolidation.isZero()) this.#consolidation.set(id, consolidation);
    if (!settlement.isZero()) this.#settlement.set(id, settlement);
    if (consolidatedInvoiceIds.length > 0) this.#members.set(id, consolidatedInvoiceIds);
    if (creditNote && originalInvoiceId !== null) this.#originals.set(id, originalInvoiceId);
  }

  /** Collectors whose clearing is not zero, and invoices cleared without a collector. */
  consolidation(decimals: number): Listed['consolidation_clearing'] {
    const left = new Map(this.#consolidation);
    const listed: Listed['consolidation_clearing'] = [];
    for (const [collector, members] of this.#members) {
      const part = [collector, ...members];
      const amount = sum(part.map((id) => left.get(id) ?? zero));
      for (const id of part) left.delete(id);
      if (!amount.isZero()) listed.push({ document: `invoice ${collector}`, balance: figure(amount, decimals) });
    }
    for (const [id, amount] of left) {
      listed.push({ document: `invoice ${id} (in no consolidated invoice)`, balance: figure(amount, decimals) });
    }
    return listed;
  }

  /** Invoices whose settlement with their credit notes, and those of these, is not zero. */
  settlement(decimals: number): Listed['credit_settlement'] {
    const families = Map.groupBy(this.#settlement.keys(), (id) => this.#root(id));
    return [...families].flatMap(([root, ids]) => {
      const amount = sum(ids.map((id) => this.#settlement.get(id)!));
      if (amount.isZero()) return [];
      const documents = [...new Set([root, ...ids])].map((id) => `invoice ${id}`);
      return [{ documents, balance: figure(amount, decimals) }];
    });
  }

  #root(id: number): number {
    const seen = new Set<number>();
    let root = id;
    // A chain that bites its own tail would never end.
    for (
      let next = this.#originals.get(root);
      next !== undefined && !seen.has(next);
      next = this.#originals.get(root)
    ) {
      seen.add(root);
      root = next;
    }
    return root;
  }
}
