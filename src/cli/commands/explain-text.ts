import { formatExact, type Money } from '../../domain/money.ts';
import { visibleIn } from '../../domain/text.ts';
import { shown } from '../../languages/language.ts';
import type { Explanation } from '../../queries/explain.ts';
import { explainTexts as texts } from '../../texts/commands/explain.ts';
import { checkWords, labels, sectionHeads, fieldTitles as titles } from '../../texts/commands/labels.ts';
import {
  decisionText,
  documentName,
  dueText,
  entryParts,
  entryTexts,
  factTexts,
  localText,
  relatedState,
  useText,
  verdictOf,
  writeBackText,
} from '../../wording/explained.ts';
import { codeWord, type Field, inWords, timeIn, typeName } from '../../wording/words.ts';
import { fieldLines, heads, table } from '../render/text.ts';
import { lineTable, toRight } from './explain-lines.ts';

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
  for (const each of explanation.decisions) fields.push([titles.decided, decisionText(each, at)]);
  for (const report of reports) fields.push([titles.remark, `${report.code}: ${shown(report.message)}`]);
  const { due, decimals, numbers, related } = explanation;
  const written = writeBackText(explanation);
  const sections: [title: string, lines: string[]][] = [
    [sectionHeads.source, sourceLines(explanation)],
    [sectionHeads.related, related.map((each) => `  ${documentName(each, numbers)}: ${relatedState(each)}`)],
    [texts.prepayments, prepaymentLines(explanation)],
    [sectionHeads.vatDue, due.map((move) => `  ${dueText(move, decimals)}`)],
    [sectionHeads.proofs, proofLines(explanation)],
    [texts.entries, entryLines(explanation)],
    [sectionHeads.writeBack, written === null ? [] : [`  ${written}`]],
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

function sourceLines(explanation: Explanation): string[] {
  const { versions, timezone } = explanation;
  const at = timeIn(timezone);
  const lines = versions.map(({ version, modified, sourceTime, current, goneAt }) =>
    [
      `  ${texts.version({ version, changed: at(modified), read: at(sourceTime) })}`,
      ...(current ? [labels.current] : []),
      ...(goneAt ? [texts.gone({ at: at(goneAt) })] : []),
    ].join('  '),
  );
  const facts = factTexts(explanation).map((line) => `  ${line}`);
  // The parts of an invoice follow its own two lines.
  return [...lines, ...facts.slice(0, 2), ...partLines(explanation), ...facts.slice(2)];
}

/** The refunds and uses of a prepayment, or the match of a payment. */
function prepaymentLines(explanation: Explanation): string[] {
  const { refunds, uses, match, decimals } = explanation;
  return [
    ...refunds.map(({ id, amount }) => `  ${labels.refund({ refund: id })}: ${formatExact(amount, decimals)}`),
    ...[...uses, ...match].map((each) => `  ${useText(each, explanation)}`),
  ];
}

/** The rows and payments of an invoice. */
function partLines({ facts, decimals, timezone }: Explanation): string[] {
  if (facts?.kind !== 'invoice') return [];
  const text = (amount: Money | null) => (amount === null ? '-' : formatExact(amount, decimals));
  const { rows, payments } = facts;
  const lines: string[] = [];
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
  return proofs.map((each) => {
    const { proof, says } = each;
    return `  ${verdictOf(each).padEnd(width)}  ${shown(proof)}${says && ` (${shown(says)})`}`;
  });
}

function entryLines(explanation: Explanation): string[] {
  const { entries, decimals, names } = explanation;
  if (entries.length === 0) return [`  ${labels.none}`];
  return entries.flatMap((entry) => [
    [
      `  ${entry.id}  ${entry.date}  ${inWords(entry.reason)}  ${entry.description}`,
      ...entryParts(entry, explanation),
    ].join('; '),
    ...entryTexts(entry, explanation).map((line) => `    ${line}`),
    indented(lineTable(entry.lines, { decimals, names })),
  ]);
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function indented(block: string): string {
  return block.replace(/^/gm, '    ');
}
