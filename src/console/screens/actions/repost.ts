import { repostRequest, weighRepost } from '../../../bookkeeping/asked-repost.ts';
import { type ShownDecision, shownDocument } from '../../../queries/shown-decision.ts';
import type { DocumentRef, InstallationId } from '../../../terms.ts';
import { decideTexts, repostTexts as texts } from '../../../texts/console/actions.ts';
import { html, local } from '../../html.ts';
import { problem } from '../../parts/fields.ts';
import type { Answer, InstallationRequest } from '../../route.ts';
import { askByForm } from './ask.ts';
import { documentOf, type Fields } from './chosen-documents.ts';
import type { Weighed } from './late-choice.ts';
import { documentList, weighedView } from './late-view.ts';
import { orRefused } from './refused.ts';
import type { ShownRequest } from './shown-request.ts';

function repostPath(id: number): string {
  return `/${id}/actions/repost`;
}

/** What posting one document again with the mapping in force does, and the form that asks for it. */
export async function showRepost(
  request: InstallationRequest,
  fields: Fields,
  fault: (() => string) | null,
): Promise<Answer> {
  const { installation, session } = request;
  const document = documentOf(fields.documents ?? '');
  const found = document === null ? null : await weighed(request, document);
  const says = () => {
    if (document === null) return texts.malformed;
    return found === 'same' || found === 'left' ? texts[found] : null;
  };
  const { documents = '' } = fields;
  return {
    status: fault === null ? 200 : 400,
    page: {
      title: () => texts.title,
      body: () => html`${problem(fault?.() ?? says())}
        <p>${texts.about}</p>
        ${
          found === null || typeof found === 'string'
            ? null
            : weighedView(session, repostPath(installation.id), { documents }, found, texts.submit)
        }`,
    },
  };
}

function weighed({ db, installation }: InstallationRequest, document: DocumentRef): Promise<Weighed | 'same' | 'left'> {
  return orRefused<{ effect: ShownDecision } | 'same' | 'left'>(async () => {
    const { outcome, weighed: of } = await weighRepost(db, installation, document);
    if (outcome === 'same' || outcome === 'left') return outcome;
    return { effect: shownDocument('repost', [{ installation, documents: [of] }]) };
  });
}

export function askRepost(request: InstallationRequest): Promise<Answer> {
  const { form } = request;
  const document = documentOf(form.documents ?? '');
  const asked = document === null ? null : { kind: 'repost_document' as const, input: document };
  return askByForm(request, asked, (fault) => showRepost(request, form, fault));
}

/** The document of a request, and the address of its form. */
export function repostAsked(installation: InstallationId, input: unknown): ShownRequest | null {
  const { success, data } = repostRequest.safeParse(input);
  if (!success) return null;
  return {
    view: () => html`<dt>${decideTexts.documents}</dt><dd>${documentList(installation, [data])}</dd>`,
    form: local(repostPath(installation), { documents: `${data.kind}/${data.id}` }),
  };
}
