import { VatDueBatch } from '../bookkeeping/vat-due-batch.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import type { Connection } from '../db/rows.ts';
import { type Money, zero } from '../domain/money.ts';
import type { DocumentFacts, PostingContext } from '../posting/types.ts';
import { dueOf, dueSteps, keyOfGroup, movesOf, stepsOfPayment } from '../posting/vat-due.ts';

/**
 * The reason why a document makes VAT of an invoice due: VAT × paid / total, less what was due before (ACCOUNTING R13).
 */
export interface ExplainedMove {
  invoiceId: number;
  number: string | null;
  group: string | null;
  rate: Money | null;
  /** The VAT and total of the invoice, after credit notes that are set off against it. */
  vat: Money;
  total: Money;
  paid: Money;
  due: Money;
  dueBefore: Money;
  moved: Money;
  base: Money;
  /** True if all VAT is due, because the latest day is over. */
  isAll: boolean;
}

/** The movements of VAT by a posted payment or latest day, by the present books. Empty for other documents. */
export async function movesOfDocument(
  db: Connection,
  installation: InstallationConfig,
  facts: DocumentFacts,
  context: PostingContext,
): Promise<ExplainedMove[]> {
  if (facts.kind !== 'payment' && facts.kind !== 'vat_due') return [];
  const { decimals } = installation;
  const books = (await VatDueBatch.of(db, installation, [facts], context))?.books;
  if (books === undefined) return [];
  const steps =
    facts.kind === 'vat_due'
      ? dueSteps(books, facts.id, decimals).filter(({ by }) => by.kind === 'vat_due')
      : facts.payment.invoiceId === null
        ? []
        : stepsOfPayment(books, { id: facts.payment.id, invoiceId: facts.payment.invoiceId }, decimals);
  return steps.flatMap((step) => {
    const [before, after] = [
      dueOf(step.before, step.paid.before, decimals),
      dueOf(step.after, step.paid.after, decimals),
    ];
    return movesOf(step, decimals).map(({ group, rate, vat: moved, base }) => {
      const key = keyOfGroup({ group, rate });
      return {
        ...{ invoiceId: step.invoice.id, number: step.invoice.documentNumber, group, rate, moved, base },
        ...{ vat: step.after.groups.get(key)?.vat ?? zero, total: step.after.total, paid: step.paid.after },
        ...{ due: after.get(key)?.vat ?? zero, dueBefore: before.get(key)?.vat ?? zero, isAll: step.after.isAll },
      };
    });
  });
}
