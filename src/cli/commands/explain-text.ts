import { instantOf, localTimeOf } from '../../domain/dates.ts';
import type { LedgerEntry } from '../../domain/entry.ts';
import { formatExact, type Money } from '../../domain/money.ts';
import { visibleIn } from '../../domain/text.ts';
import { shown } from '../../languages/language.ts';
import { type EntryRecord, mappingVersionText } from '../../ledger/journal/entry-records.ts';
import type { SummaryOfEntry } from '../../ledger/summaries/read-summaries.ts';
import type { FieldChange } from '../../posting/changed-fields.ts';
import type { DocumentFacts } from '../../posting/types.ts';
import type { UnitDelivery } from '../../queries/delivery-status.ts';
import type { Explanation } from '../../queries/explain.ts';
import type { RelatedDocument } from '../../queries/explain-related.ts';
import { printedNumber } from '../../records/printed-number.ts';
import type { DocumentRef } from '../../terms.ts';
import {
  deliveryTitles,
  explainDueTexts,
  standingTexts,
  explainTexts as texts,
  useTexts,
} from '../../texts/commands/explain.ts';
import { checkWords, labels, sectionHeads, fieldTitles as titles } from '../../texts/commands/labels.ts';
import { changesLine } from '../render/changes.ts';
import { unitDeliveryLines } from '../render/delivery.ts';
import { codeWord, type Field, fieldLines, heads, type instant, table, timeIn } from '../render/text.ts';
import { lineTable, toRight, typeName } from './explain-lines.ts';

/** The text of `explain`: a document from the source to the books. */
export function explainText(found: Explanation): string {
  const explanation = visibleIn(found);
  const { installation, document, state, documentDate, problem, reports } = explanation;
  const at = timeIn(explanation.timezone);
  const fields: Field[] = [
    ...(documentDate ? [[titles.documentDate, documentDate] as const] : []),
    [titles.times, texts.times(explanation)],
  ];
  if (problem)
    fields.push(
      [titles.problem, texts.problemSince({ code: problem.code, at: at(problem.since) })],
      ['', shown(problem.message)],
      [titles.todo, shown(problem.todo)],
    );
  for (const { decision, by, at: decidedAt, reason, standing } of explanation.decisions) {
    const what = texts.decided({ decision: inWords(decision), by, at: at(decidedAt), reason });
    fields.push([titles.decided, `${what}${standingTexts[standing]}`]);
  }
  for (const report of reports) fields.push([titles.remark, `${report.code}: ${shown(report.message)}`]);
  const { due, decimals, numbers, related } = explanation;
  const used = prepaymentLines(explanation);
  const isWritten = document.kind === 'prepayment' || explanation.writeBack !== null;
  const sections: [title: string, lines: string[]][] = [
    [sectionHeads.source, sourceLines(explanation)],
    [sectionHeads.related, related.map((each) => relatedLine(each, numbers))],
    [texts.prepayments, used],
    [sectionHeads.vatDue, due.map((move) => `  ${dueLine(move, decimals)}`)],
    [sectionHeads.proofs, proofLines(explanation)],
    [texts.entries, entryLines(explanation)],
    [sectionHeads.writeBack, isWritten ? [`  ${writeBackLine(explanation)}`] : []],
  ];
  return [
    texts.title({
      ...{ kind: capital(codeWord(document.kind)), id: document.id, installation },
      state: inWords(state),
    }),
    ...fieldLines(fields),
    ...sections.flatMap(([title, lines]) => (lines.length === 0 ? [] : ['', title, ...lines])),
  ].join('\n');
}

/** A related document with its state, because a held invoice does not hold its payments, or the reverse. */
function relatedLine(document: RelatedDocument, numbers: Explanation['numbers']): string {
  const { state, problemCode, entryId } = document;
  const where = [
    inWords(state),
    ...(entryId ? [labels.as({ entry: entryId })] : []),
    ...(problemCode ? [problemCode] : []),
  ];
  return `  ${documentName(document, numbers)}: ${where.join(', ')}`;
}

/** Names a document by its printed number, otherwise by its id. */
function documentName({ kind, id }: DocumentRef, numbers: Explanation['numbers']): string {
  const number = kind === 'invoice' ? numbers.get(id) : undefined;
  return number === undefined ? `${codeWord(kind)} ${id}` : labels.numbered({ kind: codeWord(kind), number, id });
}

function sourceLines(explanation: Explanation): string[] {
  const { versions, facts, timezone, pair, origin } = explanation;
  const at = timeIn(timezone);
  const lines = versions.map(({ version, modified, sourceTime, current, goneAt }) =>
    [
      `  ${texts.version({ version, changed: at(modified), read: at(sourceTime) })}`,
      ...(current ? [labels.current] : []),
      ...(goneAt ? [texts.gone({ at: at(goneAt) })] : []),
    ].join('  '),
  );
  return facts ? [...lines, ...factLines(facts, explanation), ...pairLines(pair), ...originLines(origin)] : lines;
}

/**
 * The consultation in the practice software. Its record there names the patients; vetledger stores no names of
 * patients.
 */
function originLines(origin: Explanation['origin']): string[] {
  return origin === null ? [] : [`  ${texts.origin(origin)}`];
}

/** The text says “likely”, because a cancellation in the source does not name its original. */
function pairLines({ cancels, cancelledBy }: Explanation['pair']): string[] {
  if (cancels !== null) return [`  ${texts.cancels({ payment: cancels })}`];
  return cancelledBy === null ? [] : [`  ${texts.cancelledBy({ payment: cancelledBy })}`];
}

/** The formula of R13 with its numbers. */
function dueLine(move: Explanation['due'][number], decimals: number): string {
  const money = (of: Explanation['due'][number]['vat']) => formatExact(of, decimals);
  const text = move.isAll ? explainDueTexts.all : explainDueTexts.paid;
  return text({
    ...{ invoice: move.number ?? String(move.invoiceId), group: move.group ?? '', rate: move.rate?.toFixed() ?? '' },
    ...{ vat: money(move.vat), total: money(move.total), paid: money(move.paid.toDecimalPlaces(decimals)) },
    ...{ due: money(move.due), before: money(move.dueBefore), moved: money(move.moved), base: money(move.base) },
  });
}

/** The refunds and uses of a prepayment, or the match of a payment. */
function prepaymentLines({ document, refunds, uses, match, decimals, timezone }: Explanation): string[] {
  const at = timeIn(timezone);
  const known = ({ state, setBy, setAt, setReason }: Explanation['uses'][number]) =>
    setBy === null ? useTexts[state] : texts.setBy({ by: setBy, at: at(setAt), reason: setReason ?? '' });
  const refunded = refunds.map(
    ({ id, amount }) => `  ${labels.refund({ refund: id })}: ${formatExact(amount, decimals)}`,
  );
  const used = [...uses, ...match].map((each) => {
    const what =
      document.kind === 'prepayment'
        ? texts.paymentOn({ payment: each.paymentId, invoice: each.invoiceId })
        : each.prepaymentId === null
          ? texts.prepaymentUnknown
          : labels.prepayment({ prepayment: each.prepaymentId });
    return `  ${what}: ${formatExact(each.amount, decimals)}, ${known(each)}`;
  });
  return [...refunded, ...used];
}

/** Formats a date or time of the source; a time becomes local time. */
function localText(text: string | null, timezone: string): string {
  if (text === null) return '-';
  const instant = /[T ]\d/.test(text) ? instantOf(text, timezone) : null;
  return instant === null ? text : localTimeOf(instant, timezone);
}

function invoiceNamed(id: number | null, numbers: Explanation['numbers']): string {
  return id === null ? texts.noInvoice : documentName({ kind: 'invoice', id }, numbers);
}

function factLines(facts: DocumentFacts, { decimals, timezone, numbers }: Explanation): string[] {
  const text = (amount: Money | null) => (amount === null ? '-' : formatExact(amount, decimals));
  if (facts.kind === 'payment') {
    const { payment } = facts;
    const line = texts.payment({
      ...{ paid: text(payment.paid), type: typeName(payment.paymentType) },
      ...{ at: localText(payment.dateAdded, timezone), invoice: invoiceNamed(payment.invoiceId, numbers) },
    });
    return [`  ${facts.invoice ? line : texts.invoiceUnread({ payment: line })}`];
  }
  if (facts.kind === 'prepayment') {
    const { prepayment } = facts;
    const line = texts.prepayment({
      ...{ paid: text(prepayment.paid), type: typeName(prepayment.paymentType), status: prepayment.status ?? 'ready' },
      ...{ at: localText(prepayment.created, timezone), unused: text(prepayment.unusedAmount) },
      client: String(prepayment.clientId ?? '-'),
    });
    const refunds = prepayment.refundsId === null ? [] : [texts.refunds({ prepayment: prepayment.refundsId })];
    return [`  ${[line, ...refunds].join(', ')}`];
  }
  if (facts.kind === 'vat_due') return [];
  const { invoice, rows, payments } = facts;
  const lines = [
    `  ${texts.invoice({
      number: printedNumber(invoice) ?? '-',
      ...{ status: String(invoice.status ?? '-'), at: localText(invoice.invoiceDate, timezone) },
      ...{ client: String(invoice.clientId ?? '-'), department: String(invoice.departmentId ?? '-') },
    })}`,
    `  ${texts.sums({
      ...{ total: text(invoice.total), vat: text(invoice.totalVat) },
      ...{ gross: text(invoice.totalWithVat), due: text(invoice.dueSum) },
    })}`,
  ];
  if (rows.length > 0) {
    lines.push(
      indented(
        table(
          heads('row', 'name', 'account', 'group', 'net', 'vat', 'with_vat'),
          toRight(
            [4, 5, 6],
            rows.map((row) => [
              row.id,
              row.name ?? '',
              row.accountNumber ?? '-',
              row.vatGroup?.name ?? (row.vatPercentage ? `${row.vatPercentage.toFixed()} %` : '-'),
              text(row.sum),
              text(row.sumVat),
              text(row.sumTotal),
            ]),
          ),
        ),
      ),
    );
  }
  for (const payment of payments)
    lines.push(
      `  ${texts.paidBy({
        ...{ payment: payment.id, paid: text(payment.paid) },
        ...{ type: typeName(payment.paymentType), at: localText(payment.dateAdded, timezone) },
      })}`,
    );
  return lines;
}

function proofLines({ proofs, judgement }: Explanation): string[] {
  if (!judgement) return [`  ${texts.notInMirror}`];
  if (proofs.length === 0) return [`  ${texts.noProofs({ state: inWords(judgement.state) })}`];
  const { holds: right, fails: wrong } = checkWords;
  const width = Math.max(texts.notKnown.length, right.length, wrong.length);
  return proofs.map(({ proof, holds, says }) => {
    const verdict = holds === null ? texts.notKnown : holds ? right : wrong;
    return `  ${verdict.padEnd(width)}  ${proof}${says && ` (${shown(says)})`}`;
  });
}

function entryLines(explanation: Explanation): string[] {
  const { entries, records, inForce, summaries, deliveries, decimals, timezone, names, changes } = explanation;
  const at = timeIn(timezone);
  if (entries.length === 0) return [`  ${labels.none}`];
  return entries.flatMap((entry) => [
    entryHead(entry, entry.id === inForce, explanation.numbers),
    ...changedLines(changes.get(entry.id)),
    ...recordLines(records.get(entry.id), at),
    ...toGeneralLedger(entry, summaries.get(entry.id)),
    ...toErp(deliveries.get(summaries.get(entry.id)?.id ?? entry.id), at),
    indented(lineTable(entry.lines, { decimals, names })),
  ]);
}

/** Number, time, window and mapping of an entry. */
function recordLines(record: EntryRecord | undefined, at: typeof instant): string[] {
  if (record === undefined) return [];
  const { voucher, recordedAt, windowId, mapping } = record;
  const parts = [
    voucher === null ? texts.noVoucher : texts.voucher({ voucher }),
    texts.recorded({ at: at(recordedAt), window: windowId }),
    ...(mapping === null ? [] : [texts.mapping({ mapping: mappingVersionText(mapping), by: mapping.approvedBy })]),
  ];
  return [`    ${parts.join('; ')}`];
}

/** The differences between a reversed entry and the entry after the reversal. */
function changedLines(changes: readonly FieldChange[] = []): string[] {
  const line = changesLine(changes);
  return line === null ? [] : [`    ${line}`];
}

function entryHead(entry: LedgerEntry, isInForce: boolean, numbers: Explanation['numbers']): string {
  const parts = [`  ${entry.id}  ${entry.date}  ${inWords(entry.reason)}  ${entry.description}`];
  if (entry.documentDate !== entry.date) parts.push(texts.documentDate({ date: entry.documentDate }));
  parts.push(texts.vatPeriod({ period: entry.vatPeriod, isLate: entry.isLate }));
  if (entry.reverses) parts.push(labels.reverses({ entry: entry.reverses }));
  if (entry.original) parts.push(labels.credits({ document: documentName(entry.original, numbers) }));
  parts.push(texts.link({ seq: entry.seq, hash: entry.hash.slice(0, 12) }));
  if (isInForce) parts.push(labels.inForce);
  return parts.join('; ');
}

/** The daily summary of an entry in posting mode `daily_summary`. In mode `document`, the entry itself is the unit. */
function toGeneralLedger(entry: LedgerEntry, summary: SummaryOfEntry | undefined): string[] {
  if (entry.postingMode === 'document') return [];
  return [
    `    ${summary ? texts.inSummary({ summary: summary.id, voucher: summary.voucher }) : texts.summaryToCome(entry)}`,
  ];
}

/** The delivery of a unit and its undos. */
export function toErp(deliveries: UnitDelivery[] = [], at: typeof instant): string[] {
  const { sent, undone, again } = deliveryTitles;
  return deliveries.flatMap((delivery, n) =>
    unitDeliveryLines(delivery, n === 0 ? sent : n % 2 === 1 ? undone : again, at),
  );
}

function writeBackLine({ writeBack, timezone }: Explanation): string {
  const at = timeIn(timezone);
  if (!writeBack) return texts.nothingToWrite;
  const { value, state, confirmed, previousValue, error, writtenAt } = writeBack;
  const parts = [texts.written({ value, state: codeWord(state), at: writtenAt && at(writtenAt) })];
  if (writtenAt !== null) parts.push(confirmed ? texts.confirmed : texts.unconfirmed);
  if (previousValue !== null) parts.push(texts.replaced({ value: previousValue }));
  if (error !== null) parts.push(error);
  return parts.join('; ');
}

/** A code in words, without underscores in any language. */
function inWords(code: string): string {
  return codeWord(code).replaceAll('_', ' ');
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function indented(block: string): string {
  return block.replace(/^/gm, '    ');
}
