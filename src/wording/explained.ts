import { instantOf, localTimeOf } from '../domain/dates.ts';
import type { LedgerEntry } from '../domain/entry.ts';
import { formatExact, type Money } from '../domain/money.ts';
import { shown } from '../languages/language.ts';
import { mappingVersionText } from '../ledger/journal/entry-records.ts';
import type { DocumentFacts } from '../posting/types.ts';
import type { UnitDelivery } from '../queries/delivery-status.ts';
import type { Explanation } from '../queries/explain.ts';
import type { Proof } from '../queries/explain-proofs.ts';
import type { RelatedDocument } from '../queries/explain-related.ts';
import { printedNumber } from '../records/printed-number.ts';
import type { DocumentRef } from '../terms.ts';
import { unitStateTexts, unitTexts } from '../texts/commands/delivery.ts';
import {
  deliveryTitles,
  explainDueTexts,
  standingTexts,
  explainTexts as texts,
  useTexts,
} from '../texts/commands/explain.ts';
import { checkWords, labels } from '../texts/commands/labels.ts';
import { resultTexts } from '../texts/commands/results.ts';
import { changesLine } from './changes.ts';
import { codeWord, inWords, type TimeText, timeIn, typeName } from './words.ts';

/** An explanation in words, which the command line and the console show alike. */

/** Names a document by its printed number, otherwise by its id. */
export function documentName({ kind, id }: DocumentRef, numbers: Explanation['numbers']): string {
  const number = kind === 'invoice' ? numbers.get(id) : undefined;
  return number === undefined ? `${codeWord(kind)} ${id}` : labels.numbered({ kind: codeWord(kind), number, id });
}

/** A decision about the document, and whether it applies. */
export function decisionText(
  { decision, by, at: decidedAt, reason, standing }: Explanation['decisions'][number],
  at: TimeText,
): string {
  return `${texts.decided({ decision: inWords(decision), by, at: at(decidedAt), reason })}${standingTexts[standing]}`;
}

/** The state of a related document, because a held invoice does not hold its payments, or the reverse. */
export function relatedState({ state, problemCode, entryId }: RelatedDocument): string {
  const entry = entryId ? [labels.as({ entry: entryId })] : [];
  return [inWords(state), ...entry, ...(problemCode ? [problemCode] : [])].join(', ');
}

/** The facts of the document, except the rows and payments of an invoice. */
export function factTexts({ facts, pair, origin, ...explanation }: Explanation): string[] {
  if (facts === null) return [];
  const { cancels, cancelledBy } = pair;
  // The texts say “likely”, because a cancellation in the source does not name its original.
  const paired =
    cancels !== null
      ? [texts.cancels({ payment: cancels })]
      : cancelledBy === null
        ? []
        : [texts.cancelledBy({ payment: cancelledBy })];
  // The record of the consultation names the patients; vetledger stores no names of patients.
  return [...ownFacts(facts, explanation), ...paired, ...(origin === null ? [] : [texts.origin(origin)])];
}

type Around = Pick<Explanation, 'decimals' | 'timezone' | 'numbers'>;

function ownFacts(facts: DocumentFacts, { decimals, timezone, numbers }: Around): string[] {
  const text = (amount: Money | null) => (amount === null ? '-' : formatExact(amount, decimals));
  if (facts.kind === 'payment') {
    const { payment } = facts;
    const { invoiceId: id } = payment;
    const line = texts.payment({
      ...{ paid: text(payment.paid), type: typeName(payment.paymentType), at: localText(payment.dateAdded, timezone) },
      invoice: id === null ? texts.noInvoice : documentName({ kind: 'invoice', id }, numbers),
    });
    return [facts.invoice ? line : texts.invoiceUnread({ payment: line })];
  }
  if (facts.kind === 'prepayment') {
    const { prepayment } = facts;
    const line = texts.prepayment({
      ...{ paid: text(prepayment.paid), type: typeName(prepayment.paymentType), status: prepayment.status ?? 'ready' },
      ...{ at: localText(prepayment.created, timezone), unused: text(prepayment.unusedAmount) },
      client: String(prepayment.clientId ?? '-'),
    });
    const refunds = prepayment.refundsId === null ? [] : [texts.refunds({ prepayment: prepayment.refundsId })];
    return [[line, ...refunds].join(', ')];
  }
  if (facts.kind === 'vat_due') return [];
  const { invoice } = facts;
  return [
    texts.invoice({
      number: printedNumber(invoice) ?? '-',
      ...{ status: String(invoice.status ?? '-'), at: localText(invoice.invoiceDate, timezone) },
      ...{ client: String(invoice.clientId ?? '-'), department: String(invoice.departmentId ?? '-') },
    }),
    texts.sums({
      ...{ total: text(invoice.total), vat: text(invoice.totalVat) },
      ...{ gross: text(invoice.totalWithVat), due: text(invoice.dueSum) },
    }),
  ];
}

/** Formats a date or time of the source; a time becomes local time. */
export function localText(text: string | null, timezone: string): string {
  if (text === null) return '-';
  const instant = /[T ]\d/.test(text) ? instantOf(text, timezone) : null;
  return instant === null ? text : localTimeOf(instant, timezone);
}

/** The formula of R13 with its numbers. */
export function dueText(move: Explanation['due'][number], decimals: number): string {
  const money = (of: Money) => formatExact(of, decimals);
  const text = move.isAll ? explainDueTexts.all : explainDueTexts.paid;
  return text({
    ...{ invoice: move.number ?? String(move.invoiceId), group: move.group ?? '', rate: move.rate?.toFixed() ?? '' },
    ...{ vat: money(move.vat), total: money(move.total), paid: money(move.paid.toDecimalPlaces(decimals)) },
    ...{ due: money(move.due), before: money(move.dueBefore), moved: money(move.moved), base: money(move.base) },
  });
}

/** A use of a prepayment, or the match of a payment. */
export function useText(
  { state, setBy, setAt, setReason, amount, ...use }: Explanation['uses'][number],
  { document, decimals, timezone }: Pick<Explanation, 'document' | 'decimals' | 'timezone'>,
): string {
  const known =
    setBy === null ? useTexts[state] : texts.setBy({ by: setBy, at: timeIn(timezone)(setAt), reason: setReason ?? '' });
  const what =
    document.kind === 'prepayment'
      ? texts.paymentOn({ payment: use.paymentId, invoice: use.invoiceId })
      : use.prepaymentId === null
        ? texts.prepaymentUnknown
        : labels.prepayment({ prepayment: use.prepaymentId });
  return `${what}: ${formatExact(amount, decimals)}, ${known}`;
}

/** Whether a proof holds. */
export function verdictOf({ holds }: Proof): string {
  return holds === null ? texts.notKnown : holds ? checkWords.holds : checkWords.fails;
}

/** The facts of an entry after its description. */
export function entryParts(entry: LedgerEntry, { inForce, numbers }: Explanation): string[] {
  return [
    ...(entry.documentDate === entry.date ? [] : [texts.documentDate({ date: entry.documentDate })]),
    texts.vatPeriod({ period: entry.vatPeriod, isLate: entry.isLate }),
    ...(entry.reverses ? [labels.reverses({ entry: entry.reverses })] : []),
    ...(entry.original ? [labels.credits({ document: documentName(entry.original, numbers) })] : []),
    texts.link({ seq: entry.seq, hash: entry.hash.slice(0, 12) }),
    ...(entry.id === inForce ? [labels.inForce] : []),
  ];
}

/** What an entry changed, how it was recorded, its daily summary, and its delivery with undos. */
export function entryTexts(entry: LedgerEntry, explanation: Explanation): string[] {
  const { changes, records, summaries, deliveries, timezone } = explanation;
  const at = timeIn(timezone);
  const changed = changesLine(changes.get(entry.id) ?? []);
  const record = records.get(entry.id);
  const summary = summaries.get(entry.id);
  const parts =
    record === undefined
      ? []
      : [
          record.voucher === null ? texts.noVoucher : texts.voucher({ voucher: record.voucher }),
          texts.recorded({ at: at(record.recordedAt), window: record.windowId }),
          ...(record.mapping === null
            ? []
            : [texts.mapping({ mapping: mappingVersionText(record.mapping), by: record.mapping.approvedBy })]),
        ];
  return [
    ...(changed === null ? [] : [changed]),
    ...(parts.length === 0 ? [] : [parts.join('; ')]),
    // In mode `document`, the entry itself is the unit of the general ledger.
    ...(entry.postingMode === 'document'
      ? []
      : [summary ? texts.inSummary({ summary: summary.id, voucher: summary.voucher }) : texts.summaryToCome(entry)]),
    ...deliveryTexts(deliveries.get(summary?.id ?? entry.id), at),
  ];
}

/** The delivery of a unit, and in turn its undos and new deliveries. Lines about a problem are indented. */
export function deliveryTexts(deliveries: readonly UnitDelivery[] = [], at: TimeText): string[] {
  const { sent, undone, again } = deliveryTitles;
  return deliveries.flatMap(({ state, needsApproval, erpNumber, erpId, erpDate, settledAt, problem }, n) => {
    const parts = [
      unitStateTexts[state === 'pending' && needsApproval ? 'unapproved' : state],
      ...(erpNumber === null
        ? erpId === null
          ? []
          : [unitTexts.record({ id: erpId })]
        : [unitTexts.number({ number: erpNumber })]),
      ...(erpDate === null ? [] : [unitTexts.dated({ date: erpDate })]),
      ...(settledAt === null ? [] : [at(settledAt)]),
    ];
    const refused = problem
      ? [`  ${problem.code}: ${shown(problem.message)}`, `  ${resultTexts.todo({ todo: shown(problem.todo) })}`]
      : [];
    return [`${n === 0 ? sent : n % 2 === 1 ? undone : again}: ${parts.join(', ')}`, ...refused];
  });
}

/** What was written back to the source. Null if nothing is written for this document. */
export function writeBackText({ document, writeBack, timezone }: Explanation): string | null {
  if (!writeBack) return document.kind === 'prepayment' ? texts.nothingToWrite : null;
  const at = timeIn(timezone);
  const { value, state, confirmed, previousValue, error, writtenAt } = writeBack;
  const parts = [texts.written({ value, state: codeWord(state), at: writtenAt && at(writtenAt) })];
  if (writtenAt !== null) parts.push(confirmed ? texts.confirmed : texts.unconfirmed);
  if (previousValue !== null) parts.push(texts.replaced({ value: previousValue }));
  if (error !== null) parts.push(error);
  return parts.join('; ');
}
