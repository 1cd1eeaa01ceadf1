import { businessDate } from '../domain/dates.ts';
import { type Money, sum, zero } from '../domain/money.ts';
import type { LineRole } from '../terms.ts';
import { balance, type InvoiceBook, isHeldChange, type PaymentBook, postedAmount, waitingHint } from './books.ts';
import { type Difference, figure, type Note, type ReconcileInput } from './report.ts';

export interface ReceivableFinding {
  differences: Difference[];
  /** Posted payments on an invoice without an entry in force, unless they come to nothing. */
  withoutInvoice: Note[];
  /** Facts as posted that differ from the present ones. */
  heldChanges: Note[];
}

type Settings = Pick<ReconcileInput, 'decimals' | 'timezone' | 'startDate'>;

/**
 * Equation E2 for one invoice: its `receivable` is what is due on it and its payments not posted, under its one party; without
 * an entry in force, minus its posted payments (for one dated before `start_date` in `opening_receivable`).
 */
export function checkReceivable(book: InvoiceBook, settings: Settings): ReceivableFinding {
  const finding: ReceivableFinding = { differences: [], withoutInvoice: [], heldChanges: [] };
  misplacedLines(book, settings, finding);
  if (book.inForce === null) withoutEntry(book, settings, finding);
  else withEntry(book, book.inForce, settings, finding);
  return finding;
}

function receivableOf(book: InvoiceBook, role: LineRole): Money {
  return sum([book, ...book.payments].map(({ figures }) => balance(figures, (each) => each.role === role)));
}

function withoutEntry(book: InvoiceBook, settings: Settings, finding: ReceivableFinding): void {
  const { decimals } = settings;
  const name = `invoice ${book.record.id}`;
  const payments = book.payments
    .filter(({ state }) => state === 'posted')
    .map((payment) => ({
      id: payment.record.id,
      amount: isHeldChange(payment) ? postedAmount('payment', payment.figures) : (payment.record.paid ?? zero),
    }));
  const posted = sum(payments.map(({ amount }) => amount));
  const role = isBeforeStart(book, settings) ? 'opening_receivable' : 'receivable';
  // Listed until they are cancelled (example 9); those on the opening balances are where they belong.
  if (role === 'receivable' && !posted.isZero()) {
    for (const { id, amount } of payments) {
      finding.withoutInvoice.push({
        document: `payment ${id}`,
        message: `${figure(amount, decimals)} is posted on ${name}, which is ${book.state ?? 'not judged'}`,
      });
    }
  }
  for (const each of ['receivable', 'opening_receivable'] as const) {
    const expected = each === role ? posted.negated() : zero;
    const ledger = receivableOf(book, each);
    if (ledger.equals(expected)) continue;
    finding.differences.push({
      document: name,
      amount: ledger.minus(expected),
      message: `${each} is ${figure(ledger, decimals)} in the ledger, while ${figure(expected, decimals)} follows from its posted payments (it is ${book.state ?? 'not judged'})${waitingHint(book, ...book.payments)}`,
    });
  }
}

function isBeforeStart({ state, record }: InvoiceBook, { startDate, timezone }: Settings): boolean {
  if (state === 'before_start') return true;
  const date = record.invoiceDate === null ? null : businessDate(record.invoiceDate, timezone);
  return startDate !== null && date !== null && date < startDate;
}

function withEntry(
  book: InvoiceBook,
  inForce: NonNullable<InvoiceBook['inForce']>,
  settings: Settings,
  finding: ReceivableFinding,
): void {
  const { decimals } = settings;
  const name = `invoice ${book.record.id}`;
  const ledger = receivableOf(book, 'receivable');
  const opening = receivableOf(book, 'opening_receivable');
  if (!opening.isZero()) {
    finding.differences.push({
      document: name,
      amount: opening,
      message: `opening_receivable is ${figure(opening, decimals)} in the ledger, while the invoice itself is posted`,
    });
  }
  const expected = expectedReceivable(book, inForce, settings, finding);
  if (expected === null) return;
  if (!ledger.equals(expected.amount)) {
    finding.differences.push({
      document: name,
      amount: ledger.minus(expected.amount),
      message: `receivable is ${figure(ledger, decimals)} in the ledger, while ${figure(expected.amount, decimals)} follows from ${expected.from}${waitingHint(book, ...book.payments)}`,
    });
  }
  wrongParty(book, inForce, settings, finding);
}

/** Null where it cannot be told. */
function expectedReceivable(
  book: InvoiceBook,
  inForce: NonNullable<InvoiceBook['inForce']>,
  { decimals }: Settings,
  finding: ReceivableFinding,
): { amount: Money; from: string } | null {
  const name = `invoice ${book.record.id}`;
  if (isHeldChange(book)) {
    const total = balance(inForce, ({ role }) => role === 'receivable');
    const paid = sum(book.payments.map(({ figures }) => postedAmount('payment', figures)));
    const now = book.gone ? 'gone from the source' : figure(book.record.totalWithVat ?? zero, decimals);
    finding.heldChanges.push({
      document: name,
      message: `posted with ${figure(total, decimals)}; the source now says ${now} (${book.problem})`,
    });
    return { amount: total.minus(paid), from: 'its posted total and payments' };
  }
  const present = book.payments.filter((payment) => !payment.gone);
  const unreadable = present.find(({ record, state }) => record.paid === null && state !== 'posted');
  if (unreadable !== undefined) {
    finding.heldChanges.push({
      document: `payment ${unreadable.record.id}`,
      message: `has no amount that could be read, so what is due on ${name} cannot be checked`,
    });
    return null;
  }
  const { dueSum, totalWithVat } = book.record;
  const paid = sum(present.map(({ record }) => record.paid ?? zero));
  const due = dueSum ?? (totalWithVat ?? zero).minus(paid);
  const notPosted = sum(present.filter(({ state }) => state !== 'posted').map(({ record }) => record.paid ?? zero));
  const heldChanges = book.payments.filter(isHeldChange);
  const asPosted = sum(
    heldChanges.map((payment) => presentAmount(payment).minus(postedAmount('payment', payment.figures))),
  );
  const from = dueSum === null ? 'its total and payments' : `its due_sum of ${figure(dueSum, decimals)}`;
  return {
    amount: due.plus(notPosted).plus(asPosted),
    from: notPosted.isZero() ? from : `${from} and ${figure(notPosted, decimals)} of payments not posted`,
  };
}

/** What the source now says that a payment amounts to; as posted while that cannot be read. */
function presentAmount(payment: PaymentBook): Money {
  return payment.gone ? zero : (payment.record.paid ?? postedAmount('payment', payment.figures));
}

function wrongParty(
  book: InvoiceBook,
  inForce: NonNullable<InvoiceBook['inForce']>,
  { decimals }: Settings,
  finding: ReceivableFinding,
): void {
  if (isHeldChange(book) || book.payments.some(isHeldChange)) return;
  const { clientId, id } = book.record;
  const posted = inForce.find(({ role }) => role === 'receivable')?.partyCode;
  const party = clientId === null ? posted : `client:${clientId}`;
  if (party === undefined) return;
  const receivable = [book, ...book.payments]
    .flatMap(({ figures }) => figures)
    .filter(({ role }) => role === 'receivable');
  for (const [other, figures] of Map.groupBy(receivable, ({ partyCode }) => partyCode)) {
    const amount = sum(figures.map((each) => each.amount));
    if (other === party || amount.isZero()) continue;
    finding.differences.push({
      document: `invoice ${id}`,
      amount,
      message: `${figure(amount, decimals)} of its receivable stands under ${other ?? 'no party'} instead of ${party}${waitingHint(book, ...book.payments)}`,
    });
  }
}

function misplacedLines(book: InvoiceBook, { decimals }: Settings, finding: ReceivableFinding): void {
  for (const [name, figures] of [
    [`invoice ${book.record.id}`, book.figures] as const,
    ...book.payments.map((payment) => [`payment ${payment.record.id}`, payment.figures] as const),
  ]) {
    for (const each of figures) {
      if (each.role !== 'receivable' && each.role !== 'opening_receivable') continue;
      if (each.invoiceId === book.record.id) continue;
      finding.differences.push({
        document: name,
        amount: each.amount,
        message: `${figure(each.amount, decimals)} of its ${each.role} names invoice ${each.invoiceId ?? 'none'} instead of ${book.record.id}`,
      });
    }
  }
}
