import { documentsPerRequest } from '../../../bookkeeping/asked-decision.ts';
import { retryRequest, weighRetry } from '../../../bookkeeping/asked-retry.ts';
import { shownDocument } from '../../../queries/shown-decision.ts';
import { decideTexts, retryTexts as texts } from '../../../texts/console/actions.ts';
import { html } from '../../html.ts';
import { documentsOf } from './chosen-documents.ts';
import { documentList, documentsEffect, fieldOf } from './documents-effect.ts';
import { effectForm } from './effect-form.ts';

/** A new judgement of documents that are named, or that the screen To decide shows with the filter in the fields. */
export const retryDocuments = effectForm({
  ...{ kind: 'retry_documents', name: 'retry', title: () => texts.title, request: retryRequest },
  submit: () => texts.submit,
  malformed: () => texts.malformed({ most: documentsPerRequest }),
  about: async () => () => html`<p>${texts.about}</p>`,
  choose: null,
  read: async (fields, { db, installation, context }) => ({
    documents: await documentsOf(db, installation, fields, context.clock),
  }),
  fieldsOf: ({ documents }) => ({ documents: documents.map(fieldOf).join(',') }),
  async effect({ db, installation, context }, { documents }) {
    const weighed = await weighRetry(db, installation, documents, context.clock);
    return documentsEffect(shownDocument('retry', [{ installation, documents: weighed }]));
  },
  view: ({ documents }, installation) =>
    html`<dt>${decideTexts.documents}</dt><dd>${documentList(installation, documents)}</dd>`,
});
