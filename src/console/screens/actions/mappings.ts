import { isSamePerson } from '../../../actions/asking.ts';
import {
  hashOfPreview,
  type Previewed,
  previewedBy,
  previewedRequest,
  previewRequest,
} from '../../../bookkeeping/asked-mapping.ts';
import { mappingFormTexts as texts } from '../../../texts/console/mapping.ts';
import { html } from '../../html.ts';
import { type EffectForm, effectForm, type Fields, type ShownEffect } from './effect-form.ts';
import { previewPart } from './mapping-preview.ts';

/** A form about a preview that an action has made. */
function formAfter(
  kind: 'apply_mapping' | 'repost_books',
  name: string,
  refusal: (proposal: Previewed, user: string, inForce: string) => (() => string) | null,
): EffectForm {
  const of = kind === 'apply_mapping' ? 'propose_mapping' : 'preview_repost';
  return effectForm({
    ...{ kind, name, title: () => texts.titles[kind], request: previewedRequest },
    choose: null,
    read: async ({ preview: id = '' }) => ({ preview: /^\d{1,15}$/.test(id) ? Number(id) : 0 }),
    malformed: () => texts.noPreview,
    fieldsOf: ({ preview }) => ({ preview }),
    async effect(request, { preview: id }): Promise<ShownEffect> {
      const { db, installation, session } = request;
      const found = await previewedBy(db, installation.id, { id, kind: of });
      if (found === null) return { hash: null, view: () => html`<p class="empty">${texts.noPreview}</p>` };
      const refused = refusal(found, session.name, installation.mappingHash);
      const part = await previewPart(request, found);
      return {
        hash: refused === null ? hashOfPreview(found) : null,
        view: () => html`${refused === null ? null : html`<p class="problem">${refused()}</p>`}
          <p>${texts.effects[kind]}</p>${part()}`,
      };
    },
    view: ({ preview }, installation) =>
      html`<dt>${texts.preview}</dt><dd><a href=${`/${installation}/actions/${preview}`}>${preview}</a></dd>`,
  });
}

/** A preview of what posting all documents again would change. It changes nothing, so it needs no reason of the person. */
const preview = effectForm({
  ...{ kind: 'preview_repost', name: 'corrections', title: () => texts.titles.preview_repost },
  request: previewRequest,
  submit: () => texts.makePreview,
  choose: null,
  read: async (_: Fields, { installation: { mappingHash } }) => ({ mapping_hash: mappingHash }),
  fieldsOf: () => ({}),
  effect: async (_, { mapping_hash: hash }): Promise<ShownEffect> => ({
    hash,
    fixedReason: texts.previewReason,
    view: () => html`<p>${texts.effects.preview_repost}</p>`,
  }),
  view: ({ mapping_hash: hash }) => html`<dt>${texts.mapping}</dt><dd>${hash.slice(0, 12)}</dd>`,
});

/** The forms after the proposal of a mapping: its approval by another person, and the corrections of posted documents. */
export const mappingForms = {
  apply_mapping: formAfter('apply_mapping', 'approval', ({ by, base }, user, inForce) => {
    if (base !== inForce) return () => texts.otherBase;
    return isSamePerson(by, user) ? () => texts.ownProposal : null;
  }),
  preview_repost: preview,
  repost_books: formAfter('repost_books', 'posting', ({ base, preview: { counts } }, _, inForce) => {
    if (base !== inForce) return () => texts.otherBase;
    return counts.corrected + counts.change_held === 0 ? () => texts.nothingToPost : null;
  }),
} as const;
