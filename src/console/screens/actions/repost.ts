import { repostRequest, weighRepost } from '../../../bookkeeping/asked-repost.ts';
import { shownDocument } from '../../../queries/shown-decision.ts';
import { decideTexts, repostTexts as texts } from '../../../texts/console/actions.ts';
import { html } from '../../html.ts';
import { problem } from '../../parts/fields.ts';
import { documentOf } from './chosen-documents.ts';
import { documentList, documentsEffect, fieldOf } from './documents-effect.ts';
import { effectForm } from './effect-form.ts';

/** A new posting of one document with the mapping in force. */
export const repostDocument = effectForm({
  ...{ kind: 'repost_document', name: 'repost', title: () => texts.title, request: repostRequest },
  submit: () => texts.submit,
  malformed: () => texts.malformed,
  about: async () => () => html`<p>${texts.about}</p>`,
  choose: null,
  read: async ({ documents = '' }) => documentOf(documents) ?? {},
  fieldsOf: (document) => ({ documents: fieldOf(document) }),
  async effect({ db, installation }, document) {
    const { outcome, weighed } = await weighRepost(db, installation, document);
    if (outcome === 'same' || outcome === 'left') return { hash: null, view: () => problem(texts[outcome]) };
    return documentsEffect(shownDocument('repost', [{ installation, documents: [weighed] }]));
  },
  view: (document, installation) =>
    html`<dt>${decideTexts.documents}</dt><dd>${documentList(installation, [document])}</dd>`,
});
