import { businessDate } from '../domain/dates.ts';
import { type DraftEntry, entryDefect, lineOf } from '../domain/entry.ts';
import type { Money } from '../domain/money.ts';
import { roleAccount } from '../mapping/look-ups.ts';
import { finalStatus, voidStatus } from '../records/source-codes.ts';
import type { InvoiceRecord } from '../records/types.ts';
import type { CalendarDate, DocumentRef } from '../terms.ts';
import { entryDescriptions } from '../texts/entries.ts';
import { postingFindings } from '../texts/findings/posting.ts';
import { receivables } from './entry-amounts.ts';
import { capitalised, Findings, invoiceName } from './findings.ts';
import { hashOfPosted, type PostedFacts } from './hash.ts';
import { isSinceStart } from './late.ts';
import { type InvoiceParty, invoiceParty } from './party.ts';
import { provePlausibleInvoice, reviewCollector, reviewDueSum, reviewOverpaid, reviewPaidOnVoided } from './proofs.ts';
import { type Posting, sell } from './sale.ts';
import type { Dating, InvoiceFacts, Judgement, PostingContext } from './types.ts';

/** Draft, sent, open, invoicing (practice-api: Invoice status). */
const notFinal = [0, 1, 2, 4];

/** Judges an invoice or credit note by its present facts (ACCOUNTING R1, R2, R3, R9, R10, R11, start_date). */
export function judgeInvoice(facts: InvoiceFacts, context: PostingContext): Judgement {
  const { invoice } = facts;
  const name = capitalised(invoiceName(invoice));
  const findings = new Findings({ kind: 'invoice', id: invoice.id }, `${name} (id ${invoice.id})`);
  findings.documentDate = invoice.invoiceDate === null ? null : businessDate(invoice.invoiceDate, context.timezone);

  if (facts.gone) {
    if (invoice.status === finalStatus) findings.goneOpening(context);
    reviewPaidOnVoided(facts.payments, findings);
    return findings.state('gone');
  }
  if (invoice.status !== null && notFinal.includes(invoice.status)) return findings.state('not_final');
  if (invoice.status !== finalStatus && invoice.status !== voidStatus) {
    findings.hold(
      'status_unknown',
      invoice.status === null ? postingFindings.noStatus : postingFindings.statusUnknown({ status: invoice.status }),
    );
    return findings.held();
  }
  const dating = datingOf(facts, findings.documentDate, context);
  findings.dating = dating;
  const isEarly =
    findings.documentDate !== null && context.startDate !== null && findings.documentDate < context.startDate;
  // The document was recorded after the start date, so the opening balances do not contain it; `decide` requires a
  // decision (ACCOUNTING "Dates").
  const isLate = isEarly && invoice.status === finalStatus && isSinceStart(dating.recorded, context);
  if (isEarly && !isLate && context.startDate !== null) {
    reviewOpening(facts, context.startDate, context, findings);
    if (invoice.status === voidStatus) reviewPaidOnVoided(facts.payments, findings);
    else if (invoice.totalWithVat !== null) reviewOverpaid(invoice, invoice.totalWithVat, findings);
    return findings.state('before_start');
  }
  if (invoice.status === voidStatus) {
    reviewPaidOnVoided(facts.payments, findings);
    return findings.state('voided');
  }

  findings.date(invoice.invoiceDate, postingFindings.invoiceDate, context);
  findings.defects(invoice.defects);
  provePlausibleInvoice(facts, findings);
  const shared = invoiceParty(invoice, context, findings);
  const totalWithVat = findings.amount(invoice.totalWithVat, 'total_with_vat', context);
  if (!shared || !totalWithVat || findings.documentDate === null || findings.holding.length > 0) return findings.held();

  const posting =
    invoice.consolidatedInvoiceIds.length > 0
      ? collect(facts, totalWithVat, shared, context, findings)
      : sell(facts, totalWithVat, shared, context, findings);
  if (!posting) return findings.held();
  reviewDueSum(invoice, totalWithVat, facts.payments, findings);
  reviewOverpaid(invoice, totalWithVat, findings);

  const defect = posting.lines.length === 0 ? null : entryDefect(posting, context.decimals);
  if (defect) {
    findings.hold('entry_unbalanced', defect);
    return findings.held();
  }
  const original = originalOf(invoice);
  if (totalWithVat.lessThan(0) && original === null)
    findings.report(
      'negative_without_original',
      postingFindings.noOriginal({ total: totalWithVat.toFixed() }),
      totalWithVat,
    );
  const hasReceivable = posting.lines.some(({ role }) => receivables.includes(role));
  const postedFacts: PostedFacts = {
    before: ['invoice', invoice.id, findings.documentDate, invoice.creditNote, original?.id ?? null],
    payer: hasReceivable ? shared.facts : shared.factsWithoutReceivable,
    after: [totalWithVat, ...posting.facts],
  };
  const entry: DraftEntry = {
    document: { kind: 'invoice', id: invoice.id },
    date: findings.documentDate,
    documentDate: findings.documentDate,
    description: entryDescriptions.invoice({
      ...{ name, original: original?.id ?? null },
      number: facts.original?.number ? invoiceName(facts.original) : null,
    }),
    reason: 'posted',
    reverses: null,
    original,
    inputHash: hashOfPosted(postedFacts),
    lines: posting.lines,
  };
  return findings.posted(entry, postedFacts);
}

function datingOf(
  { invoice, firstSeenAt = null, originalDate = null }: InvoiceFacts,
  date: CalendarDate | null,
  { timezone }: PostingContext,
): Dating {
  const recorded = invoice.created ?? firstSeenAt?.toISOString() ?? null;
  const original = originalDate === null ? null : businessDate(originalDate, timezone);
  return {
    recorded: recorded === null ? null : businessDate(recorded, timezone),
    mayBeOld: invoice.creditNote && original !== null && date !== null && date >= original,
  };
}

/**
 * R10: a consolidated invoice opens the receivable that its members' payments of type 6 have cleared. It has no
 * revenue.
 */
function collect(
  facts: InvoiceFacts,
  totalWithVat: Money,
  shared: InvoiceParty,
  context: PostingContext,
  findings: Findings,
): Posting | null {
  reviewCollector(totalWithVat, facts.memberPayments, findings);
  if (totalWithVat.isZero()) return { lines: [], facts: ['collector'] };
  const receivable = findings.account(roleAccount(context.mapping, 'receivable'));
  const clearing = findings.account(roleAccount(context.mapping, 'consolidation_clearing'));
  if (!receivable || !clearing) return null;
  const common = { rule: 'R10', party: shared.party, departmentId: shared.departmentId };
  const lines = [
    lineOf(totalWithVat, { ...common, ...receivable, ...shared.receivable, role: 'receivable' }),
    lineOf(totalWithVat.negated(), { ...common, ...clearing, role: 'consolidation_clearing' }),
  ];
  return { lines: lines.filter((line) => line !== null), facts: ['collector'] };
}

function originalOf(invoice: InvoiceRecord): DocumentRef | null {
  if (!invoice.creditNote || invoice.originalInvoiceId === null) return null;
  return { kind: 'invoice', id: invoice.originalInvoiceId };
}

/**
 * A document dated before the start date is part of the opening balances, so it is reported if it was created or
 * changed later. A payment also changes the invoice's `modified`, so a change counts only if no later payment explains
 * it.
 */
function reviewOpening(facts: InvoiceFacts, startDate: string, context: PostingContext, findings: Findings): void {
  const { invoice } = facts;
  const since = (text: string | null): text is string =>
    text !== null && (businessDate(text, context.timezone) ?? '') >= startDate;
  const paidSince = facts.payments.some((payment) => since(payment.dateAdded) || since(payment.modified));
  const dated = postingFindings.datedBeforeStart({ date: findings.documentDate ?? '', startDate });
  const { created, modified, status } = invoice;
  if (since(created))
    findings.report('opening_changed', postingFindings.createdOn({ dated, at: created }), invoice.totalWithVat);
  else if (since(modified) && (status === voidStatus || !paidSince)) {
    const { voidedOn, changedOn } = postingFindings;
    findings.report(
      'opening_changed',
      (status === voidStatus ? voidedOn : changedOn)({ dated, at: modified }),
      invoice.totalWithVat,
    );
  }
}
