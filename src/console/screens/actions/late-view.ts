import { documentsPerRequest } from '../../../bookkeeping/asked-decision.ts';
import { decisionsFor } from '../../../bookkeeping/decide-late.ts';
import { shown } from '../../../languages/language.ts';
import type { LateDecisionKind } from '../../../posting/types.ts';
import type { ShownDecision } from '../../../queries/shown-decision.ts';
import { type DocumentRef, documentKinds, type InstallationId } from '../../../terms.ts';
import { lateTexts, weighedTexts } from '../../../texts/commands/results.ts';
import { decideTexts as texts } from '../../../texts/console/actions.ts';
import { consoleTexts } from '../../../texts/console/console.ts';
import { decideFields } from '../../../texts/console/decide.ts';
import { inWords } from '../../../wording/words.ts';
import { type Content, html, type Node } from '../../html.ts';
import { form } from '../../layout.ts';
import { documentLink } from '../../parts/document-link.ts';
import { choice, field, problem } from '../../parts/fields.ts';
import { table } from '../../parts/table.ts';
import type { Session } from '../../users/sessions.ts';
import { askFields } from './ask.ts';
import type { Fields } from './chosen-documents.ts';
import { choiceFields, type Weighed } from './late-choice.ts';

/** The form that chooses a decision and its documents. */
export function choiceForm(path: string, fields: Fields, possible: readonly LateDecisionKind[]): Node {
  const named = fields.documents ?? '';
  const all = { value: '', text: consoleTexts.all };
  return html`<form method="get" action=${path} class="filters">
    ${choice({
      ...{ name: 'decision', label: texts.decision, value: fields.decision ?? '' },
      options: possible.map((value) => ({ value, text: lateTexts[value] })),
    })}
    ${
      named === ''
        ? html`${field({ name: 'month', label: texts.month, type: 'month', value: fields.month ?? '' })}
            ${choice({
              ...{ name: 'code', label: texts.problem, value: fields.code ?? '' },
              options: [all, ...Object.keys(decisionsFor).map((value) => ({ value, text: inWords(value) }))],
            })}
            ${choice({
              ...{ name: 'kind', label: texts.kind, value: fields.kind ?? '' },
              options: [all, ...documentKinds.map((value) => ({ value, text: inWords(value) }))],
            })}
            ${(['account', 'department', 'least', 'most'] as const).map((name) =>
              field({ name, label: decideFields[name], value: fields[name] ?? '' }),
            )}`
        : field({ name: 'documents', label: texts.documents, value: named })
    }
    <button>${texts.choose}</button>
  </form>`;
}

/** The effect of a decision, and the form that asks for it. */
export function weighedView(
  session: Session,
  path: string,
  fields: Fields,
  found: Weighed,
  submit: string = texts.submit,
): Node {
  if ('tooMany' in found) {
    return html`${problem(texts.tooMany({ documents: found.tooMany, most: documentsPerRequest }))}`;
  }
  if ('refused' in found) {
    const { message, todo } = found.refused;
    return html`<div class="problem" role="alert"><p>${shown(message)}</p><p>${shown(todo)}</p></div>`;
  }
  const { hash, installations } = found.effect;
  const [effect] = installations;
  if (effect === undefined) return html`<p class="empty">${weighedTexts.none}</p>`;
  return html`${effectView(effect)}
    <section class="narrow">
      ${form(
        session,
        path,
        askFields(hash, submit, Object.fromEntries(choiceFields.map((name) => [name, fields[name] ?? '']))),
      )}
    </section>`;
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
      ...[inWords(code), date ?? '', amount ?? '', vat ?? '', day ?? texts.notPosted],
      ...(isRetry ? [inWords(left ?? '')] : []),
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

/** Links to documents, in one line. */
export function documentList(installation: InstallationId, documents: readonly DocumentRef[]): Content {
  return documents.map(({ kind, id }, at) => [at === 0 ? '' : ', ', documentLink(installation, `${kind} ${id}`)]);
}
