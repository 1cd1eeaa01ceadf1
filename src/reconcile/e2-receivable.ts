import { businessDate } from '../domain/dates.ts';
import { formatExact, type Money, sum, zero } from '../domain/money.ts';
import type { LineRole } from '../terms.ts';
import { e2Texts } from '../texts/findings/reconcile.ts';
import { heldInvoice } from './held-changes.ts';
import type { Difference, Note, ReconcileInput } from './reconcile-report.ts';
import {
  balance,
  isHeldChange,
  postedAmount,
  type ReconciledInvoice,
  type ReconciledPayment,
  waitingHint,
} from './reconciled-documents.ts';

export interface ReceivableFinding {
  differences: Difference[];
  /** Posted payments on an invoice without an entry in force, unless their sum is zero. */
  withoutInvoice: Note[];
  /** Documents whose posted facts differ from the source's current facts. */
  heldChanges: Note[];
}

type Settings = Pick<ReconcileInput, 'decimals' | 'timezone' | 'startDate'>;

/**
 * Equation E2 for one invoice: its `receivable` is the amount due plus its payments that are not posted, all under one
 * party. Without an entry in force, it is minus the posted payments, and in `opening_receivable` if the invoice is
 * dated before `start_date`.
 */
export function checkReceivable(invoice: ReconciledInvoice, settings: Settings): ReceivableFinding {
  const finding: ReceivableFinding = { differences: [], withoutInvoice: [], heldChanges: [] };
  misplacedLines(invoice, settings, finding);
  if (invoice.inForce === null) withoutEntry(invoice, settings, finding);
  else withEntry(invoice, invoice.inForce, settings, finding);
  return finding;
}

function receivableOf(invoice: ReconciledInvoice, role: LineRole): Money {
  return sum([invoice, ...invoice.payments].map(({ sums }) => balance(sums, (each) => each.role === role)));
}

function withoutEntry(invoice: ReconciledInvoice, settings: Settings, finding: ReceivableFinding): void {
  const { decimals } = settings;
  const name = `invoice ${invoice.record.id}`;
  const payments = invoice.payments
    .filter(({ state }) => state === 'posted')
    .map((payment) => ({
      id: payment.record.id,
      amount: isHeldChange(payment) ? postedAmount('payment', payment.sums) : (payment.record.paid ?? zero),
    }));
  const posted = sum(payments.map(({ amount }) => amount));
  const role = isBeforeStart(invoice, settings) ? 'opening_receivable' : 'receivable';
  // Posted payments of an unposted invoice are listed until they are cancelled (example 9). Payments on opening
  // balances need no invoice in the books.
  if (role === 'receivable' && !posted.isZero()) {
    for (const { id, amount } of payments) {
      finding.withoutInvoice.push({
        document: `payment ${id}`,
        message: e2Texts.paymentWithoutInvoice({
          ...{ amount: formatExact(amount, decimals), invoice: name, state: invoice.state ?? e2Texts.notJudged },
        }),
      });
    }
  }
  for (const each of ['receivable', 'opening_receivable'] as const) {
    const expected = each === role ? posted.negated() : zero;
    const ledger = receivableOf(invoice, each);
    if (ledger.equals(expected)) continue;
    finding.differences.push({
      document: name,
      amount: ledger.minus(expected),
      message:
        e2Texts.withoutEntry({
          ...{ role: each, ledger: formatExact(ledger, decimals), expected: formatExact(expected, decimals) },
          state: invoice.state ?? e2Texts.notJudged,
        }) + waitingHint(invoice, ...invoice.payments),
    });
  }
}

function isBeforeStart({ state, record }: ReconciledInvoice, { startDate, timezone }: Settings): boolean {
  if (state === 'before_start') return true;
  const date = record.invoiceDate === null ? null : businessDate(record.invoiceDate, timezone);
  return startDate !== null && date !== null && date < startDate;
}

function withEntry(
  invoice: ReconciledInvoice,
  inForce: NonNullable<ReconciledInvoice['inForce']>,
  settings: Settings,
  finding: ReceivableFinding,
): void {
  const { decimals } = settings;
  const name = `invoice ${invoice.record.id}`;
  const ledger = receivableOf(invoice, 'receivable');
  const opening = receivableOf(invoice, 'opening_receivable');
  if (!opening.isZero()) {
    finding.differences.push({
      document: name,
      amount: opening,
      message: e2Texts.openingWithEntry({ ledger: formatExact(opening, decimals) }),
    });
  }
  const expected = expectedReceivable(invoice, inForce, settings, finding);
  if (expected === null) return;
  if (!ledger.equals(expected.amount)) {
    finding.differences.push({
      document: name,
      amount: ledger.minus(expected.amount),
      message:
        e2Texts.receivable({
          ...{ ledger: formatExact(ledger, decimals), expected: formatExact(expected.amount, decimals) },
          from: expected.from,
        }) + waitingHint(invoice, ...invoice.payments),
    });
  }
  wrongParty(invoice, inForce, settings, finding);
}

/** The balance that the invoice's receivable must have, and its origin; null if an amount is unreadable. */
function expectedReceivable(
  invoice: ReconciledInvoice,
  inForce: NonNullable<ReconciledInvoice['inForce']>,
  { decimals }: Settings,
  finding: ReceivableFinding,
): { amount: Money; from: string } | null {
  const name = `invoice ${invoice.record.id}`;
  if (isHeldChange(invoice)) {
    const total = balance(inForce, ({ role }) => role === 'receivable');
    const paid = sum(invoice.payments.map(({ sums }) => postedAmount('payment', sums)));
    finding.heldChanges.push(heldInvoice(invoice, total, decimals));
    return { amount: total.minus(paid), from: e2Texts.postedTotal };
  }
  const present = invoice.payments.filter((payment) => !payment.gone);
  const unreadable = present.find(({ record, state }) => record.paid === null && state !== 'posted');
  if (unreadable !== undefined) {
    finding.heldChanges.push({
      document: `payment ${unreadable.record.id}`,
      message: e2Texts.unreadablePayment({ invoice: name }),
    });
    return null;
  }
  const { dueSum, totalWithVat } = invoice.record;
  const paid = sum(present.map(({ record }) => record.paid ?? zero));
  const due = dueSum ?? (totalWithVat ?? zero).minus(paid);
  const notPosted = sum(present.filter(({ state }) => state !== 'posted').map(({ record }) => record.paid ?? zero));
  const heldChanges = invoice.payments.filter(isHeldChange);
  const asPosted = sum(
    heldChanges.map((payment) => presentAmount(payment).minus(postedAmount('payment', payment.sums))),
  );
  const from = dueSum === null ? e2Texts.totalAndPayments : e2Texts.dueSum({ amount: formatExact(dueSum, decimals) });
  return {
    amount: due.plus(notPosted).plus(asPosted),
    from: notPosted.isZero() ? from : e2Texts.withNotPosted({ from, amount: formatExact(notPosted, decimals) }),
  };
}

/** The payment's current amount in the source; the posted amount if the current one is unreadable. */
function presentAmount(payment: ReconciledPayment): Money {
  return payment.gone ? zero : (payment.record.paid ?? postedAmount('payment', payment.sums));
}

function wrongParty(
  invoice: ReconciledInvoice,
  inForce: NonNullable<ReconciledInvoice['inForce']>,
  { decimals }: Settings,
  finding: ReceivableFinding,
): void {
  if (isHeldChange(invoice) || invoice.payments.some(isHeldChange)) return;
  const { clientId, id } = invoice.record;
  const posted = inForce.find(({ role }) => role === 'receivable')?.partyCode;
  const party = clientId === null ? posted : `client:${clientId}`;
  if (party === undefined) return;
  const receivable = [invoice, ...invoice.payments]
    .flatMap(({ sums }) => sums)
    .filter(({ role, partyCode }) => role === 'receivable' && partyCode !== party);
  for (const [other, sums] of Map.groupBy(receivable, ({ partyCode }) => partyCode)) {
    const amount = sum(sums.map((each) => each.amount));
    if (amount.isZero()) continue;
    finding.differences.push({
      document: `invoice ${id}`,
      amount,
      message:
        e2Texts.wrongParty({ amount: formatExact(amount, decimals), other, party }) +
        waitingHint(invoice, ...invoice.payments),
    });
  }
}

function misplacedLines(invoice: ReconciledInvoice, { decimals }: Settings, finding: ReceivableFinding): void {
  for (const { record, sums } of [invoice, ...invoice.payments]) {
    for (const each of sums) {
      if (each.role !== 'receivable' && each.role !== 'opening_receivable') continue;
      if (each.invoiceId === invoice.record.id) continue;
      finding.differences.push({
        document: `${record.kind} ${record.id}`,
        amount: each.amount,
        message: e2Texts.wrongInvoice({
          ...{ amount: formatExact(each.amount, decimals), role: each.role },
          ...{ other: each.invoiceId, invoice: invoice.record.id },
        }),
      });
    }
  }
}
