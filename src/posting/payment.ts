import { businessDate } from '../domain/dates.ts';
import { type DraftEntry, entryDefect, lineOf } from '../domain/entry.ts';
import type { Money } from '../domain/money.ts';
import { paymentAccount, roleAccount } from '../mapping/look-ups.ts';
import { consolidatedPayment, prepaymentUse, setOffPayment } from '../records/source-codes.ts';
import type { DefectCode, InvoiceRecord, PaymentRecord } from '../records/types.ts';
import type { CalendarDate, Role } from '../terms.ts';
import { entryDescriptions, paymentTitles } from '../texts/entries.ts';
import { postingFindings } from '../texts/findings/posting.ts';
import { Findings, invoiceName } from './findings.ts';
import { type Fact, hashOfPosted, type PostedFacts } from './hash.ts';
import { isSinceStart } from './late.ts';
import { clientParty, invoiceParty, moneyParty } from './party.ts';
import { vatGivenBack } from './prepayment-vat.ts';
import { provePlausible } from './proofs.ts';
import type { Judgement, PaymentFacts, PostingContext } from './types.ts';
import { type DueBooks, stepsOfPayment, withPayment } from './vat-due.ts';
import { vatDueLines } from './vat-due-entry.ts';

const rounding = 3;

/** Invoice defects that may affect a field that its payments require. */
const holdsPayments: ReadonlySet<DefectCode> = new Set(['field_invalid', 'foreign_reference', 'record_too_large']);

/**
 * Judges a payment on an invoice by its present facts (ACCOUNTING R4, R7, R10). Party, department and receivable are
 * those of its invoice, posted or not. `takenDate` is the date of its first judgement, which never changes.
 */
export function judgePayment(
  facts: PaymentFacts,
  context: PostingContext,
  takenDate: CalendarDate | null = null,
): Judgement {
  const { payment, invoice } = facts;
  const findings = new Findings({ kind: 'payment', id: payment.id }, `Payment ${payment.id}`);
  const own = payment.dateAdded === null ? null : businessDate(payment.dateAdded, context.timezone);
  findings.documentDate = takenDate ?? own;
  if (facts.gone) {
    const invoiceDate = invoice?.invoiceDate ? businessDate(invoice.invoiceDate, context.timezone) : null;
    if (invoiceDate !== null && context.startDate !== null && invoiceDate < context.startDate)
      findings.goneOpening(context);
    return findings.state('gone');
  }
  if (findings.documentDate === null) findings.date(payment.dateAdded, 'date_added', context);
  findings.defects(payment.defects);
  if (invoice === null) {
    findings.hold(
      'invoice_unknown',
      payment.invoiceId === null
        ? postingFindings.noInvoice
        : postingFindings.invoiceUnknown({ invoice: payment.invoiceId }),
    );
  }
  // Unreadable amounts hold only the invoice; the payment requires its other fields.
  const unreadable = invoice?.defects.filter(({ code }) => holdsPayments.has(code)) ?? [];
  if (invoice !== null)
    findings.defects(unreadable, ({ field, message }) =>
      postingFindings.fieldOfInvoice({ invoice: invoice.id, field, message }),
    );
  if (invoice === null || findings.documentDate === null) return findings.held();

  const { firstSeenAt = null } = facts;
  const recorded = firstSeenAt === null ? null : businessDate(firstSeenAt.toISOString(), context.timezone);
  findings.dating = { recorded, mayBeOld: payment.paymentType === setOffPayment };
  const isLate = isSinceStart(recorded, context);
  const isDecidedIn = facts.invoiceDecidedIn === true;
  const period = startPeriod(invoice, findings.documentDate, { isLate, isDecidedIn }, context, findings);
  if (period === null) return findings.held();
  if (period === 'before_start') {
    reviewOpening(payment, context, findings);
    return findings.state('before_start');
  }
  findings.documentDate = period.date;

  provePlausible([['paid', payment.paid]], findings);
  const paid = findings.amount(payment.paid, 'paid', context);
  if (findings.holding.length > 0 || !paid) return findings.held();
  if (paid.isZero()) return findings.state('nothing_to_post');
  const type = payment.paymentType;
  if (type === null) {
    findings.hold('payment_type_unknown', postingFindings.noPaymentType);
    return findings.held();
  }
  const { rounding_limit: limit } = context.mapping.policies;
  if (type === rounding && paid.abs().greaterThan(limit)) {
    findings.hold(
      'rounding_too_large',
      postingFindings.roundingTooLarge({
        paid: paid.toFixed(context.decimals),
        limit: limit.toFixed(context.decimals),
      }),
    );
    return findings.held();
  }
  const shared = invoiceParty(invoice, context, findings);
  const money = findings.account(paymentAccount(context.mapping, type, invoice.departmentId));
  const receivable = findings.account(roleAccount(context.mapping, period.role));
  if (!shared || !money || !receivable) return findings.held();

  // R7: the liability is under the client of the prepayment, even if another client has the invoice.
  const liable = type === prepaymentUse ? (facts.prepayment?.clientId ?? invoice.clientId) : null;
  const client = liable === null ? shared.party : clientParty(liable);
  const rule = type === prepaymentUse ? 'R7' : type === consolidatedPayment ? 'R10' : 'R4';
  const common = { rule, departmentId: shared.departmentId, paymentType: type };
  const lines = [
    lineOf(paid, { ...common, ...money, party: moneyParty(money.role, client, context) }),
    lineOf(paid.negated(), { ...common, ...receivable, ...shared.receivable, role: period.role, party: shared.party }),
  ].filter((line) => line !== null);
  const ofVat = { rule, party: client, departmentId: shared.departmentId };
  const givenBack = vatGivenBack(type === prepaymentUse ? (facts.shares ?? []) : [], ofVat, context);
  lines.push(...givenBack.lines);
  if (facts.due !== undefined) {
    const judged = { id: payment.id, invoiceId: invoice.id, type, amount: paid, date: period.date };
    const books = withPayment(facts.due, judged);
    lines.push(...vatDueLines(stepsOfPayment(books, judged, context.decimals), context, findings));
    if (findings.holding.length > 0) return findings.held();
    reviewVatDue(books, invoice.id, findings);
  }
  const defect = entryDefect({ lines }, context.decimals);
  if (defect) {
    findings.hold('entry_unbalanced', defect);
    return findings.held();
  }
  const postedFacts: PostedFacts = {
    before: ['payment', payment.id, period.date, type, paid, period.role, invoice.id],
    payer: shared.facts,
    after: usedPrepaymentFacts(liable, invoice.clientId),
  };
  if (facts.prepayment?.prepaymentIds.length === 0 && type === prepaymentUse) {
    findings.report('prepayment_unmatched', postingFindings.prepaymentUnmatched({ party: client.code }), paid);
  }
  const entry: DraftEntry = {
    document: { kind: 'payment', id: payment.id },
    date: period.date,
    documentDate: period.date,
    description: entryDescriptions.payment({
      title: titleOf(type, paid),
      id: payment.id,
      invoice: invoiceName(invoice),
    }),
    reason: 'posted',
    reverses: null,
    original: null,
    inputHash: hashOfPosted(postedFacts),
    ...(givenBack.shares.length > 0 ? { shares: givenBack.shares } : {}),
    lines,
  };
  return findings.posted(entry, postedFacts);
}

/**
 * The client whose prepayment was used, as a posted fact. Left out if it is the invoice's client, so that the hashes of
 * earlier entries stay the same.
 */
export function usedPrepaymentFacts(liable: number | null, invoiceClient: number | null): readonly Fact[] {
  return liable === null || liable === invoiceClient ? [] : ['prepayment of client', liable];
}

/** Titles of payment types that are not cancellations or refunds when they are negative. */
const titlesByType: Partial<Record<number, string>> = {
  3: paymentTitles.rounding,
  6: paymentTitles.consolidation,
  12: paymentTitles.creditSettlement,
};

function titleOf(type: number, paid: Money): string {
  return titlesByType[type] ?? (paid.lessThan(0) ? paymentTitles.cancelled : paymentTitles.payment);
}

/** The opening balance contains the VAT of an invoice before the start date. If that VAT is unknown, no payment moves it. */
function reviewVatDue({ invoices, members }: DueBooks, id: number, findings: Findings): void {
  for (const each of [id, ...(members.get(id) ?? [])]) {
    const invoice = invoices.get(each);
    if (invoice?.isUnknown)
      findings.report(
        'vat_due_unknown',
        postingFindings.vatDueUnknown({ invoice: invoice.documentNumber ?? String(each) }),
      );
  }
}

type Period = { date: CalendarDate; role: Extract<Role, 'receivable' | 'opening_receivable'> };

/**
 * The posting date and receivable of a payment around the start date (ACCOUNTING Dates, `start_date`). A payment before
 * it on an invoice after it gets the invoice's date. A payment and invoice both before it are part of the opening
 * balances, unless the payment was recorded later (`isLate`). Null if the invoice's date is required and missing.
 */
function startPeriod(
  invoice: InvoiceRecord,
  date: CalendarDate,
  { isLate, isDecidedIn }: { isLate: boolean; isDecidedIn: boolean },
  context: PostingContext,
  findings: Findings,
): Period | 'before_start' | null {
  const { startDate, timezone } = context;
  if (startDate === null) return { date, role: 'receivable' };
  const invoiceDate = invoice.invoiceDate === null ? null : businessDate(invoice.invoiceDate, timezone);
  const early = date < startDate;
  if (invoiceDate === null) {
    // An undated invoice is a draft or held. Only a payment from before the start date requires its date.
    if (!early) return { date, role: 'receivable' };
    findings.date(invoice.invoiceDate, postingFindings.dateOfItsInvoice, context);
    return null;
  }
  if (invoiceDate < startDate) {
    if (early && !isLate) return 'before_start';
    return { date, role: isDecidedIn ? 'receivable' : 'opening_receivable' };
  }
  return { date: early ? invoiceDate : date, role: 'receivable' };
}

/** The source never changes a payment, so `modified` is the time of recording. */
function reviewOpening(payment: PaymentRecord, context: PostingContext, findings: Findings): void {
  const recorded = payment.modified === null ? null : businessDate(payment.modified, context.timezone);
  const { documentDate: date } = findings;
  const { startDate } = context;
  if (date === null || recorded === null || startDate === null || recorded < startDate) return;
  const dated = postingFindings.datedBeforeStart({ date, startDate });
  findings.report('opening_changed', postingFindings.recordedOn({ dated, at: recorded }), payment.paid);
}
