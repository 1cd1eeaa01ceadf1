import { formatExact, type Money } from '../domain/money.ts';
import { absenceProblems } from '../domain/problems.ts';
import { finalStatus, isNoMoney, voidStatus } from '../records/source-codes.ts';
import { heldTexts } from '../texts/findings/reconcile.ts';
import type { Note } from './reconcile-report.ts';
import type {
  ReconciledDocument,
  ReconciledInvoice,
  ReconciledPayment,
  ReconciledPrepayment,
} from './reconciled-documents.ts';

/** A message lists at most this many changes of one document. */
const listedAtMost = 8;

/**
 * A posted invoice whose current facts are not in the books: its posted amount, and its current facts in the source.
 */
export function heldInvoice(invoice: ReconciledInvoice, posted: Money, decimals: number): Note {
  const { id, status, totalWithVat } = invoice.record;
  const now = status === voidStatus ? heldTexts.void : status !== finalStatus ? heldTexts.notFinal({ status }) : null;
  return note(`invoice ${id}`, invoice, posted, now, totalWithVat, decimals);
}

/** Does the same as `heldInvoice` for a payment or prepayment. */
export function heldPayment(
  payment: ReconciledPayment | ReconciledPrepayment,
  posted: Money,
  postedType: number | null,
  decimals: number,
): Note {
  const { record } = payment;
  const status = record.kind === 'prepayment' ? (record.status ?? 'ready') : 'ready';
  const now = isNoMoney(status)
    ? heldTexts.noMoney({ status })
    : record.paymentType !== postedType && record.paid?.equals(posted)
      ? heldTexts.type({ type: record.paymentType, posted: postedType })
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
  const of = { posted: heldTexts.posted({ amount: formatExact(posted, decimals) }), problem: String(problem) };
  if (gone) return { document, message: heldTexts.gone(of) };
  if (absenceProblems.some((code) => code === problem)) return { document, message: heldTexts.notShown(of) };
  if (now !== null) return { document, message: heldTexts.says({ ...of, now }) };
  if (amount === null) return { document, message: heldTexts.unreadable(of) };
  if (amount.equals(posted)) {
    const listed = changes
      .slice(0, listedAtMost)
      .map(({ field, old: from = null, new: to = null }) => heldTexts.change({ field, from, to }));
    const facts = listed.length === 0 ? heldTexts.otherFacts : listed.join(', ');
    return { document, message: heldTexts.sameAmount({ ...of, facts }) };
  }
  return { document, message: heldTexts.says({ ...of, now: formatExact(amount, decimals) }) };
}
