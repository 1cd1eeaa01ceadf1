import { documentsPerRequest } from '../../../bookkeeping/asked-decision.ts';
import { retryRequest, weighRetry } from '../../../bookkeeping/asked-retry.ts';
import { shownDocument } from '../../../queries/shown-decision.ts';
import type { InstallationId } from '../../../terms.ts';
import { decideTexts, retryTexts as texts } from '../../../texts/console/actions.ts';
import { html, local } from '../../html.ts';
import { problem } from '../../parts/fields.ts';
import type { Answer, InstallationRequest } from '../../route.ts';
import { askByForm } from './ask.ts';
import { documentsOf, type Fields } from './chosen-documents.ts';
import type { Weighed } from './late-choice.ts';
import { documentList, weighedView } from './late-view.ts';
import { orRefused } from './refused.ts';
import type { ShownRequest } from './shown-request.ts';

function retryPath(id: number): string {
  return `/${id}/actions/retry`;
}

/** What a new judgement of the chosen documents does, and the form that asks for it. */
export async function showRetry(
  request: InstallationRequest,
  fields: Fields,
  fault: (() => string) | null,
): Promise<Answer> {
  const { db, installation, session, context } = request;
  const documents = await documentsOf(db, installation, fields, context.clock);
  const found = documents === null ? null : await weighed(request, documents);
  const names = (documents ?? []).map(({ kind, id }) => `${kind}/${id}`).join(',');
  return {
    status: fault === null ? 200 : 400,
    page: {
      title: () => texts.title,
      body: () => html`${problem(fault?.() ?? (documents === null ? texts.malformed : null))}
        <p>${texts.about}</p>
        ${
          found === null
            ? null
            : weighedView(session, retryPath(installation.id), { documents: names }, found, texts.submit)
        }`,
    },
  };
}

async function weighed(
  { db, installation, context }: InstallationRequest,
  documents: NonNullable<Awaited<ReturnType<typeof documentsOf>>>,
): Promise<Weighed> {
  if (documents.length > documentsPerRequest) return { tooMany: documents.length };
  return orRefused(async () => {
    const found = await weighRetry(db, installation, documents, context.clock);
    const choices = found.length === 0 ? [] : [{ installation, documents: found }];
    return { effect: shownDocument('retry', choices) };
  });
}

export async function askRetry(request: InstallationRequest): Promise<Answer> {
  const { db, installation, form, context } = request;
  const documents = await documentsOf(db, installation, form, context.clock);
  const { success, data } = retryRequest.safeParse({ documents });
  const asked = success ? { kind: 'retry_documents' as const, input: data } : null;
  return askByForm(request, asked, (fault) => showRetry(request, form, fault));
}

/** The documents of a request, and the address of its form. */
export function retryAsked(installation: InstallationId, input: unknown): ShownRequest | null {
  const { success, data } = retryRequest.safeParse(input);
  if (!success) return null;
  const names = data.documents.map(({ kind, id }) => `${kind}/${id}`).join(',');
  return {
    view: () => html`<dt>${decideTexts.documents}</dt><dd>${documentList(installation, data.documents)}</dd>`,
    form: local(retryPath(installation), { documents: names }),
  };
}
