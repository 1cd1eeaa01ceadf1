import type { Money } from '../domain/money.ts';
import { absenceProblems } from '../domain/problems.ts';
import { finalStatus, isNoMoney, voidStatus } from '../records/source-codes.ts';
import { formatAmount, type Note } from './reconcile-report.ts';
import type {
  ReconciledDocument,
  ReconciledInvoice,
  ReconciledPayment,
  ReconciledPrepayment,
} from './reconciled-documents.ts';

/** Limit of changes of one document that a message lists. */
const toldAtMost = 8;

/**
 * A posted invoice whose current facts are not in the books: its posted amount, and its current facts in the source.
 */
export function heldInvoice(invoice: ReconciledInvoice, posted: Money, decimals: number): Note {
  const { id, status, totalWithVat } = invoice.record;
  const now =
    status === voidStatus
      ? 'that it is void'
      : status !== finalStatus
        ? `that it is not final any more (status ${status ?? 'unreadable'})`
        : null;
  return note(`invoice ${id}`, invoice, posted, now, totalWithVat, decimals);
}

/** As `heldInvoice`, for a payment or prepayment. */
export function heldPayment(
  payment: ReconciledPayment | ReconciledPrepayment,
  posted: Money,
  postedType: number | null,
  decimals: number,
): Note {
  const { record } = payment;
  const status = record.kind === 'prepayment' ? (record.status ?? 'ready') : 'ready';
  const now = isNoMoney(status)
    ? `that it is ${status}, which is no money`
    : record.paymentType !== postedType && record.paid?.equals(posted)
      ? `type ${record.paymentType ?? 'unreadable'} instead of ${postedType ?? 'none'}`
      : null;
  return note(`${record.kind} ${record.id}`, payment, posted, now, record.paid, decimals);
}

function note(
  document: string,
  { gone, problem, changes = [] }: Pick<ReconciledDocument<never>, 'gone' | 'problem' | 'changes'>,
  posted: Money,
  now: string | null,
  amount: Money | null,
  decimals: number,
): Note {
  const begin = `posted with ${formatAmount(posted, decimals)}`;
  const end = `(${problem})`;
  if (gone) return { document, message: `${begin}; it is gone from the source ${end}` };
  if (absenceProblems.some((code) => code === problem))
    return { document, message: `${begin}; the source does not show it, or rows of it, any more ${end}` };
  if (now !== null) return { document, message: `${begin}; the source now says ${now} ${end}` };
  if (amount === null)
    return { document, message: `${begin}; its amount in the source cannot be read any more ${end}` };
  if (amount.equals(posted)) {
    const told = changes
      .slice(0, toldAtMost)
      .map(({ field, old, new: to }) => `${field} ${old ?? 'none'} → ${to ?? 'none'}`);
    const facts = told.length === 0 ? 'other facts of it differ' : told.join(', ');
    return { document, message: `${begin}, as the source still says; ${facts} ${end}` };
  }
  return { document, message: `${begin}; the source now says ${formatAmount(amount, decimals)} ${end}` };
}
