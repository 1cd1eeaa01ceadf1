import { formatExact, type Money, sum, zero } from '../domain/money.ts';
import { reconcileTexts } from '../texts/findings/reconcile.ts';
import type { Listed } from './reconcile-report.ts';
import { balance, type ReconciledInvoice } from './reconciled-documents.ts';

/**
 * Collects the balances that E4 lists: `consolidation_clearing` of each consolidated invoice, and `credit_settlement`
 * of each invoice with its credit notes. Invoices clear these accounts among each other. Only invoices with such a
 * balance are kept in memory.
 */
export class ClearingBalances {
  readonly #consolidation = new Map<number, Money>();
  readonly #members = new Map<number, number[]>();
  readonly #settlement = new Map<number, Money>();
  readonly #originals = new Map<number, number>();

  add(invoice: ReconciledInvoice): void {
    const { id, consolidatedInvoiceIds, originalInvoiceId, creditNote } = invoice.record;
    const sums = [invoice, ...invoice.payments].flatMap((each) => each.sums);
    const consolidation = balance(sums, ({ role }) => role === 'consolidation_clearing');
    const settlement = balance(sums, ({ role }) => role === 'credit_settlement');
    if (!consolidation.isZero()) this.#consolidation.set(id, consolidation);
    if (!settlement.isZero()) this.#settlement.set(id, settlement);
    if (consolidatedInvoiceIds.length > 0) this.#members.set(id, consolidatedInvoiceIds);
    if (creditNote && originalInvoiceId !== null) this.#originals.set(id, originalInvoiceId);
  }

  /**
   * Consolidated invoices with a balance on `consolidation_clearing`, and other invoices with such a balance that
   * belong to no consolidated invoice.
   */
  consolidation(decimals: number): Listed['consolidation_clearing'] {
    const left = new Map(this.#consolidation);
    const listed: Listed['consolidation_clearing'] = [];
    for (const [collector, members] of this.#members) {
      const part = [collector, ...members];
      const amount = sum(part.map((id) => left.get(id) ?? zero));
      for (const id of part) left.delete(id);
      if (!amount.isZero()) listed.push({ document: `invoice ${collector}`, balance: formatExact(amount, decimals) });
    }
    for (const [id, amount] of left) {
      listed.push({ document: reconcileTexts.inNoConsolidation({ id }), balance: formatExact(amount, decimals) });
    }
    return listed;
  }

  /** Invoices with a settlement balance, together with their direct and indirect credit notes. */
  settlement(decimals: number): Listed['credit_settlement'] {
    const families = Map.groupBy(this.#settlement, ([id]) => this.#root(id));
    return [...families].flatMap(([root, members]) => {
      const amount = sum(members.map(([, balance]) => balance));
      if (amount.isZero()) return [];
      const ids = new Set([root, ...members.map(([id]) => id)]);
      const documents = [...ids].map((id) => `invoice ${id}`);
      return [{ documents, balance: formatExact(amount, decimals) }];
    });
  }

  /** The invoice at the end of the chain of originals. */
  #root(id: number): number {
    const seen = new Set<number>();
    let root = id;
    // The source may name originals in a circle.
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
