import { documentsPerRequest, lateRequest, selectionOf } from '../../../bookkeeping/asked-decision.ts';
import { decisionsFor } from '../../../bookkeeping/decide-late.ts';
import { chooseLate, weighChoice } from '../../../bookkeeping/decide-many.ts';
import { lateByIds } from '../../../documents/late-documents.ts';
import { monthBounds } from '../../../domain/dates.ts';
import { type LateDecisionKind, lateDecisions } from '../../../posting/types.ts';
import { shownDocument } from '../../../queries/shown-decision.ts';
import { documentKinds } from '../../../terms.ts';
import { lateTexts } from '../../../texts/commands/results.ts';
import { decideTexts as texts } from '../../../texts/console/actions.ts';
import { consoleTexts } from '../../../texts/console/console.ts';
import { decideFields } from '../../../texts/console/decide.ts';
import { codeSentence, inWords } from '../../../wording/words.ts';
import { type Content, html } from '../../html.ts';
import { choice, field, problem } from '../../parts/fields.ts';
import type { InstallationRequest } from '../../route.ts';
import { documentOf, namedDocuments } from './chosen-documents.ts';
import { documentList, documentsEffect, fieldOf } from './documents-effect.ts';
import { effectForm, type Fields } from './effect-form.ts';

/** The fields of a filter with the names of its conditions. */
const conditions = ['code', 'kind', 'account', 'least', 'most'] as const;

/** A decision about late documents: named ones such as `documents=invoice/1,payment/2`, or those of a filter. */
export const decideLate = effectForm({
  ...{ kind: 'decide_late', name: 'late', title: () => texts.title, request: lateRequest },
  submit: () => texts.submit,
  malformed: () => texts.malformed,
  async choose(fields, request) {
    const possible = await possibleDecisions(request, fields);
    return () => choiceView(fields, possible);
  },
  read: async (fields) => (fields.decision === undefined ? null : readDecision(fields)),
  fieldsOf({ decision, documents, filter: { from, to, ...others } = {} }) {
    return { decision, documents: documents?.map(fieldOf).join(','), month: from?.slice(0, 7), ...others };
  },
  async effect({ db, installation, context }, request) {
    const selection = selectionOf(installation, request);
    if ('filter' in selection) {
      const { length: documents } = await chooseLate(db, installation.id, selection.filter);
      if (documents > documentsPerRequest)
        return { hash: null, view: () => problem(texts.tooMany({ documents, most: documentsPerRequest })) };
    }
    const choices = await weighChoice(db, [installation], selection, request.decision, context.clock);
    return documentsEffect(shownDocument(request.decision, choices));
  },
  view({ decision, documents, filter }, installation) {
    const named: Content =
      documents === undefined ? Object.values(filter ?? {}).join(', ') : documentList(installation, documents);
    return html`<dt>${texts.decision}</dt><dd>${lateTexts[decision]}</dd>
      <dt>${texts.documents}</dt><dd>${named === '' ? consoleTexts.all : named}</dd>`;
  },
});

/** The fields that choose a decision and its documents. */
function choiceView(fields: Fields, possible: readonly LateDecisionKind[]): Content {
  const named = namedDocuments(fields);
  const all = { value: '', text: consoleTexts.all };
  return html`${choice({
    ...{ name: 'decision', label: texts.decision, value: fields.decision ?? '' },
    options: possible.map((value) => ({ value, text: lateTexts[value] })),
  })}
  ${
    named === ''
      ? html`${field({ name: 'month', label: texts.month, type: 'month', value: fields.month ?? '' })}
          ${choice({
            ...{ name: 'code', label: texts.problem, value: fields.code ?? '' },
            options: [
              all,
              ...Object.keys(decisionsFor).map((value) => ({
                value,
                text: codeSentence(value),
              })),
            ],
          })}
          ${choice({
            ...{ name: 'kind', label: texts.kind, value: fields.kind ?? '' },
            options: [all, ...documentKinds.map((value) => ({ value, text: inWords(value) }))],
          })}
          ${(['account', 'department', 'least', 'most'] as const).map((name) =>
            field({ name, label: decideFields[name], value: fields[name] ?? '' }),
          )}`
      : field({ name: 'documents', label: texts.documents, value: named })
  }`;
}

function readDecision(fields: Fields): unknown {
  const { decision, month = '', department = '' } = fields;
  const documents = namedDocuments(fields);
  if (documents !== '') return { decision, documents: documents.split(',').map(documentOf) };
  if (month !== '' && !/^(19|20)\d\d-(0[1-9]|1[0-2])$/.test(month)) return {};
  const days = month === '' ? {} : { from: `${month}-01`, to: monthBounds(month).through };
  const given = Object.fromEntries(conditions.flatMap((name) => (fields[name] ? [[name, fields[name]]] : [])));
  return { decision, filter: { ...days, ...given, ...(department === '' ? {} : { department: Number(department) }) } };
}

/** The decisions that are possible for the chosen documents. All of them if the choice is a filter without a code. */
async function possibleDecisions(
  { db, installation }: InstallationRequest,
  fields: Fields,
): Promise<readonly LateDecisionKind[]> {
  const documents = namedDocuments(fields)
    .split(',')
    .flatMap((name) => documentOf(name) ?? []);
  const late = documents.length === 0 ? [] : await lateByIds(db, installation.id, documents);
  const codes = late.length === 0 ? [fields.code ?? ''] : late.map(({ problem: code }) => code ?? '');
  const of = [...new Set(codes)].map((code) => decisionsFor[code] ?? []);
  const possible = lateDecisions.filter((decision) => of.every((each) => each.includes(decision)));
  return possible.length === 0 ? lateDecisions : possible;
}
