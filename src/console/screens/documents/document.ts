import { decisionsFor } from '../../../bookkeeping/decide-late.ts';
import type { LedgerEntry } from '../../../domain/entry.ts';
import { formatExact, type Money } from '../../../domain/money.ts';
import { clip, visibleIn } from '../../../domain/text.ts';
import { shown } from '../../../languages/language.ts';
import type { Explanation } from '../../../queries/explain.ts';
import { versionChanges } from '../../../queries/explain-versions.ts';
import { printedNumber } from '../../../records/printed-number.ts';
import { explainTexts } from '../../../texts/commands/explain.ts';
import { fieldTitles, labels, sectionHeads } from '../../../texts/commands/labels.ts';
import { decideTexts } from '../../../texts/console/actions.ts';
import { documentsTexts as texts } from '../../../texts/console/documents.ts';
import { changeTexts } from '../../../texts/reports/changes.ts';
import { columnTitles as heads } from '../../../texts/reports/columns.ts';
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
} from '../../../wording/explained.ts';
import { inWords, timeIn, typeName } from '../../../wording/words.ts';
import { type Content, html, type Node } from '../../html.ts';
import { facts, lines } from '../../parts/facts.ts';
import { nextStep } from '../../parts/next-step.ts';
import { table } from '../../parts/table.ts';
import type { PageContent } from '../../route.ts';
import type { Rights } from '../../users/rights.ts';
import { documentForms } from '../actions/document-forms.ts';
import { fieldOf } from '../actions/documents-effect.ts';
import { lineTable } from './line-table.ts';
import { documentPath, summaryPath } from './links.ts';

/** A changed value longer than this is cut. */
const longestValue = 120;

/** The page of a document: everything that is stored about it, from the source to the books. */
export function documentPage(found: Explanation, rights: Rights): PageContent {
  const explanation = visibleIn(found);
  const { document, state, numbers } = explanation;
  const name = document.kind === 'invoice' ? new Map([...numbers, ...ownNumber(explanation)]) : numbers;
  return {
    title: () => `${documentName(document, name)}: ${inWords(state)}`,
    body: () => {
      const written = writeBackText(explanation);
      return html`${head(explanation, rights)}
        ${section(sectionHeads.source, source(explanation))}
        ${section(sectionHeads.related, related(explanation))}
        ${section(explainTexts.prepayments, prepayments(explanation))}
        ${section(sectionHeads.vatDue, lines(explanation.due.map((move) => dueText(move, explanation.decimals))))}
        ${section(sectionHeads.proofs, proofs(explanation))}
        ${section(explainTexts.entries, entries(explanation))}
        ${section(sectionHeads.writeBack, written === null ? null : html`<p>${written}</p>`)}`;
    },
  };
}

function section(title: string, content: Content): Node | null {
  return content === null ? null : html`<section><h2>${title}</h2>${content}</section>`;
}

function ownNumber({ document, facts: found }: Explanation): [number, string][] {
  const number = found?.kind === 'invoice' ? printedNumber(found.invoice) : null;
  return number === null ? [] : [[document.id, number]];
}

function head(explanation: Explanation, rights: Rights): Node {
  const { installation, document, documentDate, problem, decisions, reports, timezone } = explanation;
  const named = { documents: fieldOf(document) };
  const isDecidable = problem !== null && decisionsFor[problem.code] !== undefined;
  const at = timeIn(timezone);
  const held =
    problem &&
    html`<div class="problem">
      <strong>${explainTexts.problemSince({ code: problem.code, at: at(problem.since) })}</strong>
      <p>${shown(problem.message)}</p>
      <p>${fieldTitles.todo}: ${nextStep(rights, installation, problem.todo)}</p>
      ${isDecidable ? html`<p>${documentForms.decide_late.link(rights, installation, named, decideTexts.submit)}</p>` : null}
    </div>`;
  return html`${held}
  ${facts([
    [fieldTitles.documentDate, documentDate],
    [fieldTitles.decided, lines(decisions.map((each) => decisionText(each, at)))],
    [fieldTitles.remark, lines(reports.map(({ code, message }) => `${code}: ${shown(message)}`))],
    [fieldTitles.times, explainTexts.times({ timezone })],
  ])}
  ${actionLinks(explanation, rights)}`;
}

/** What a user who decides may do about the document. */
function actionLinks({ installation, document, problem, match, inForce }: Explanation, rights: Rights): Node {
  const { retry_documents: retry, match_prepayment: matching, repost_document: repost } = documentForms;
  const named = { documents: fieldOf(document) };
  return html`<p class="pages">
    ${problem === null ? null : retry.link(rights, installation, named)}
    ${match.length === 0 ? null : matching.link(rights, installation, { payment: `${document.id}` })}
    ${inForce === null ? null : repost.link(rights, installation, named)}
  </p>`;
}

function source(explanation: Explanation): Node {
  const { versions, timezone } = explanation;
  const at = timeIn(timezone);
  return html`${lines(factTexts(explanation))} ${parts(explanation)}
  ${table({
    caption: texts.versions,
    columns: [{ title: heads.version }, { title: texts.modified }, { title: texts.read }, { title: texts.changed }],
    rows: versions.map((each, index) => [
      each.version,
      at(each.modified),
      html`${at(each.sourceTime)} ${each.current ? labels.current : ''} ${each.goneAt ? explainTexts.gone({ at: at(each.goneAt) }) : ''}`,
      changed(each, versions[index + 1]),
    ]),
  })}`;
}

function changed(newer: Explanation['versions'][number], older: Explanation['versions'][number] | undefined): Content {
  if (older === undefined) return '';
  const value = (of: string | null) => (of === null ? changeTexts.none : clip(of, longestValue));
  return lines(
    visibleIn(versionChanges(newer, older)).map((each) =>
      changeTexts.change({ field: each.field, old: value(each.old), now: value(each.new) }),
    ),
  );
}

/** The rows and payments of an invoice. */
function parts({ installation, facts: found, decimals, timezone }: Explanation): Content {
  if (found?.kind !== 'invoice') return null;
  const text = (amount: Money | null) => (amount === null ? '-' : formatExact(amount, decimals));
  const { rows, payments } = found;
  const rowTable = table({
    caption: texts.rows,
    columns: [
      ...[heads.row, heads.name, heads.account, heads.group].map((title) => ({ title })),
      ...[heads.net, heads.vat, heads.with_vat].map((title) => ({ title, isNumber: true })),
    ],
    rows: rows.map((row) => [
      ...[row.id, row.name ?? '', row.accountNumber ?? '-'],
      row.vatGroup?.name ?? (row.vatPercentage ? `${row.vatPercentage.toFixed()} %` : '-'),
      ...[text(row.sum), text(row.sumVat), text(row.sumTotal)],
    ]),
  });
  const paymentTable = table({
    caption: texts.payments,
    columns: [
      ...[{ title: texts.payment }, { title: heads.paid, isNumber: true }],
      ...[{ title: heads.payment_type_there }, { title: heads.date }],
    ],
    rows: payments.map(({ id, paid, paymentType, dateAdded }) => [
      html`<a href=${documentPath(installation, { kind: 'payment', id })}>${id}</a>`,
      ...[text(paid), typeName(paymentType), localText(dateAdded, timezone)],
    ]),
  });
  return [rows.length === 0 ? null : rowTable, payments.length === 0 ? null : paymentTable];
}

function related({ installation, related: found, numbers }: Explanation): Node | null {
  return lines(
    found.map(
      (each) =>
        html`<a href=${documentPath(installation, each)}>${documentName(each, numbers)}</a>: ${relatedState(each)}`,
    ),
  );
}

/** The refunds and uses of a prepayment, or the match of a payment. */
function prepayments(explanation: Explanation): Node | null {
  const { installation, document, refunds, uses, match, decimals } = explanation;
  const link = (kind: 'payment' | 'prepayment', id: number | null, text: string) =>
    id === null ? text : html`<a href=${documentPath(installation, { kind, id })}>${text}</a>`;
  return lines([
    ...refunds.map(({ id, amount }) =>
      link('prepayment', id, `${labels.refund({ refund: id })}: ${formatExact(amount, decimals)}`),
    ),
    ...[...uses, ...match].map((use) => {
      const text = useText(use, explanation);
      return document.kind === 'prepayment'
        ? link('payment', use.paymentId, text)
        : link('prepayment', use.prepaymentId, text);
    }),
  ]);
}

function proofs({ proofs: found, judgement }: Explanation): Node {
  if (!judgement) return html`<p>${explainTexts.notInMirror}</p>`;
  if (found.length === 0) return html`<p>${explainTexts.noProofs({ state: inWords(judgement.state) })}</p>`;
  return table({
    columns: [{ title: texts.proof }, { title: texts.verdict }, { title: texts.figures }],
    rows: found.map((each) => [
      shown(each.proof),
      html`<span class=${each.holds === false ? 'needed' : undefined}>${verdictOf(each)}</span>`,
      each.says && shown(each.says),
    ]),
  });
}

function entries(explanation: Explanation): Content {
  const { entries: found } = explanation;
  return found.length === 0 ? html`<p>${labels.none}</p>` : found.map((entry) => entryPart(entry, explanation));
}

function entryPart(entry: LedgerEntry, explanation: Explanation): Node {
  const { decimals, names, summaries } = explanation;
  const summary = summaries.get(entry.id);
  return html`<section class="entry" id=${`entry-${entry.n}`}>
    <h3>${entry.date} · ${inWords(entry.reason)} · ${entry.description}</h3>
    <p class="dim">${entry.id}; ${entryParts(entry, explanation).join('; ')}</p>
    ${lines([
      ...entryTexts(entry, explanation),
      ...(summary === undefined ? [] : [html`<a href=${summaryPath(summary.id)}>${texts.openSummary}</a>`]),
    ])}
    ${lineTable(
      entry.lines.map((line) => ({
        ...{ line, name: names.nameOf(line.account, line.role), mappedBy: line.mappedBy },
        party: line.party && [line.party.code, line.party.name].filter((each) => each !== null).join(' '),
      })),
      decimals,
    )}
  </section>`;
}
