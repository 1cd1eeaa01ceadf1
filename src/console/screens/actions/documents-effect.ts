import type { ShownDecision } from '../../../queries/shown-decision.ts';
import type { DocumentRef, InstallationId } from '../../../terms.ts';
import { weighedTexts } from '../../../texts/commands/results.ts';
import { decideTexts as texts } from '../../../texts/console/actions.ts';
import { consoleTexts } from '../../../texts/console/console.ts';
import { codeSentence, inWords } from '../../../wording/words.ts';
import { type Content, html, type Node } from '../../html.ts';
import { documentLink } from '../../parts/document-link.ts';
import { table } from '../../parts/table.ts';
import type { ShownEffect } from './effect-form.ts';

/** The effect on documents and accounts. Without documents there is nothing to ask for. */
export function documentsEffect({ hash, installations: [effect] }: ShownDecision): ShownEffect {
  if (effect === undefined) return { hash: null, view: () => html`<p class="empty">${weighedTexts.none}</p>` };
  return { hash, view: () => effectView(effect) };
}

function effectView({
  installation,
  currency,
  kinds,
  documents,
  effects,
}: ShownDecision['installations'][number]): Node {
  const changes = (posted: boolean) => {
    const found = effects.filter((each) => each.posted === posted);
    if (found.length === 0) return null;
    return table({
      caption: posted ? weighedTexts.posted({ currency }) : weighedTexts.keptOut({ currency }),
      columns: [{ title: texts.account }, { title: texts.vatPeriod }, { title: texts.change, isNumber: true }],
      rows: found.map(({ account, vat_period: period, late, amount }) => [
        ...[account, late ? texts.late({ period }) : period, amount],
      ]),
    });
  };
  const isRetry = documents.some(({ left }) => left !== undefined);
  const reopened = new Set(documents.flatMap(({ day, reopened: was }) => (day !== null && was ? [day] : [])));
  return html`${[...reopened].sort().map((day) => html`<p class="needed">${weighedTexts.intoReopened({ day })}</p>`)}
  ${table({
    caption: texts.count({ documents: documents.length }),
    columns: [
      ...[texts.kind, texts.problem, texts.date].map((title) => ({ title })),
      ...[texts.amount, texts.vat].map((title) => ({ title, isNumber: true })),
      ...[{ title: texts.postedOn }, ...(isRetry ? [{ title: texts.left }] : [])],
    ],
    rows: documents.map(({ id, code, date, amount, vat, day, left }) => [
      documentLink(installation, id.split('/').slice(1).join(' ')),
      ...[codeView(code), date ?? '', amount ?? '', vat ?? '', day ?? texts.notPosted],
      ...(isRetry ? [codeView(left ?? '')] : []),
    ]),
  })}
  ${table({
    caption: consoleTexts.total,
    columns: [
      { title: texts.kind },
      ...[texts.documents, texts.amount, texts.vat].map((title) => ({ title, isNumber: true })),
    ],
    rows: kinds.map(({ kind, documents: n, amount, vat }) => [inWords(kind), n, amount, vat ?? '']),
  })}
  ${changes(true)} ${changes(false)}`;
}

/** A problem in its sentence, with its code. */
function codeView(code: string): Content {
  return code === '' ? '' : html`${codeSentence(code)} <span class="id">${code}</span>`;
}

/** The name of a document in a field, such as `invoice/1`. */
export function fieldOf({ kind, id }: DocumentRef): string {
  return `${kind}/${id}`;
}

/** Links to documents, in one line. */
export function documentList(installation: InstallationId, documents: readonly DocumentRef[]): Content {
  return documents.map(({ kind, id }, at) => [at === 0 ? '' : ', ', documentLink(installation, `${kind} ${id}`)]);
}
