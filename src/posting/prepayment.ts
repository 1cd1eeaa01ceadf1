import { businessDate } from '../domain/dates.ts';
import { type DraftEntry, entryDefect, lineOf } from '../domain/entry.ts';
import { paymentAccount, roleAccount } from '../mapping/look-ups.ts';
import { isKnownStatus, isNoMoney } from '../records/source-codes.ts';
import type { CalendarDate } from '../terms.ts';
import { entryDescriptions } from '../texts/entries.ts';
import { postingFindings } from '../texts/findings/posting.ts';
import { Findings } from './findings.ts';
import { hashOfPosted, type PostedFacts } from './hash.ts';
import { clientParty, moneyParty } from './party.ts';
import { vatAtReceipt, vatGivenBack } from './prepayment-vat.ts';
import { provePlausible } from './proofs.ts';
import type { Judgement, PostingContext, PrepaymentFacts } from './types.ts';

/** Payment types that bring in no money: consolidated invoice and prepayment. */
const refusedTypes = [6, 8];

/**
 * Judges a prepayment or its refund by its present facts (ACCOUNTING R5, R6, R12): money against the liability to the
 * client, with VAT only under policies.prepayment_vat. `takenDate` is the date of its first judgement, which never
 * changes.
 */
export function judgePrepayment(
  facts: PrepaymentFacts,
  context: PostingContext,
  takenDate: CalendarDate | null = null,
): Judgement {
  const { prepayment } = facts;
  const findings = new Findings({ kind: 'prepayment', id: prepayment.id }, `Prepayment ${prepayment.id}`);
  const own = prepayment.created === null ? null : businessDate(prepayment.created, context.timezone);
  findings.documentDate = takenDate ?? own;
  const status = prepayment.status ?? 'ready';
  if (facts.gone) {
    if (!isNoMoney(status)) findings.goneOpening(context);
    return findings.state('gone');
  }
  if (isNoMoney(status)) {
    reviewOpening(facts, status, context, findings);
    return findings.state('not_money');
  }
  if (!isKnownStatus(status)) {
    findings.hold('status_unknown', postingFindings.statusUnknown({ status }));
    return findings.held();
  }
  const date = findings.documentDate ?? findings.date(prepayment.created, 'created', context);
  if (date !== null && context.startDate !== null && date < context.startDate) return findings.state('before_start');

  findings.defects(prepayment.defects);
  provePlausible([['paid', prepayment.paid]], findings);
  const paid = findings.amount(prepayment.paid, 'paid', context);
  if (findings.holding.length > 0 || !paid || date === null) return findings.held();
  if (paid.isZero()) return findings.state('nothing_to_post');
  const { departmentId, paymentType: type } = prepayment;
  // A refund reduces the liability that its original created.
  const clientId = facts.originalClientId ?? prepayment.clientId;
  if (clientId === null) findings.hold('client_missing', postingFindings.noClient);
  if (type === null) findings.hold('payment_type_unknown', postingFindings.noPaymentType);
  else if (refusedTypes.includes(type))
    findings.hold('prepayment_type_refused', postingFindings.paymentTypeRefused({ type }));
  if (clientId === null || type === null || findings.holding.length > 0) return findings.held();
  const account = findings.account(paymentAccount(context.mapping, type, departmentId));
  const liability = findings.account(roleAccount(context.mapping, 'prepayment_liability'));
  if (!account || !liability) return findings.held();

  const party = clientParty(clientId);
  const common = { rule: paid.lessThan(0) ? 'R6' : 'R5', departmentId, paymentType: type };
  const lines = [
    lineOf(paid, { ...common, ...account, party: moneyParty(account.role, party, context) }),
    lineOf(paid.negated(), { ...common, ...liability, role: 'prepayment_liability', party }),
  ].filter((line) => line !== null);
  const ofVat = { rule: common.rule, party, departmentId };
  const received = paid.isNegative() ? [] : vatAtReceipt(prepayment, paid, date, ofVat, context, findings);
  if (findings.holding.length > 0) return findings.held();
  const givenBack = vatGivenBack(facts.shares ?? [], ofVat, context);
  lines.push(...received, ...givenBack.lines);
  const defect = entryDefect({ lines }, context.decimals);
  if (defect) {
    findings.hold('entry_unbalanced', defect);
    return findings.held();
  }
  if (paid.lessThan(0) && prepayment.refundsId === null)
    findings.report('negative_without_original', postingFindings.noRefundedPrepayment({ paid: paid.toFixed() }), paid);
  const { id, refundsId } = prepayment;
  const postedFacts: PostedFacts = {
    before: ['prepayment', prepayment.id, date, type, paid, clientId, departmentId],
    payer: null,
    after: [],
  };
  const entry: DraftEntry = {
    document: { kind: 'prepayment', id: prepayment.id },
    date,
    documentDate: date,
    description: paid.lessThan(0)
      ? entryDescriptions.refund({ id, prepayment: refundsId })
      : entryDescriptions.prepayment({ id }),
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
 * Reports a prepayment from before the start date whose status is no longer money: the opening balances may include it.
 */
function reviewOpening(
  { prepayment }: PrepaymentFacts,
  status: string,
  { startDate, timezone }: PostingContext,
  findings: Findings,
): void {
  const changed = prepayment.modified === null ? null : businessDate(prepayment.modified, timezone);
  if (findings.documentDate === null || changed === null || startDate === null) return;
  if (findings.documentDate >= startDate || changed < startDate) return;
  const dated = postingFindings.datedBeforeStart({ date: findings.documentDate, startDate });
  findings.report('opening_changed', postingFindings.statusSince({ dated, status, at: changed }), prepayment.paid);
}
