import { type LateRequest, lateRequest } from '../../../bookkeeping/asked-decision.ts';
import type { InstallationId } from '../../../terms.ts';
import { lateTexts } from '../../../texts/commands/results.ts';
import { decideTexts } from '../../../texts/console/actions.ts';
import { consoleTexts } from '../../../texts/console/console.ts';
import { type Content, html, local, type Node } from '../../html.ts';
import { problem } from '../../parts/fields.ts';
import type { Answer, InstallationRequest } from '../../route.ts';
import { askByForm } from './ask.ts';
import { type Fields, namedDocuments } from './chosen-documents.ts';
import { possibleDecisions, readChoice, weighed } from './late-choice.ts';
import { choiceForm, documentList, weighedView } from './late-view.ts';
import type { ShownRequest } from './shown-request.ts';

function latePath(id: number): string {
  return `/${id}/actions/late`;
}

/** The form, and below it the effect of the chosen decision. `fault` is the fault of the form that was sent. */
export async function showLate(
  request: InstallationRequest,
  given: Fields,
  fault: (() => string) | null,
): Promise<Answer> {
  const fields: Fields = { ...given, documents: namedDocuments(given) };
  const { installation, session } = request;
  const path = latePath(installation.id);
  const chosen = readChoice(fields);
  const found = chosen === null ? null : await weighed(request, chosen);
  const possible = await possibleDecisions(request, fields);
  const isMalformed = chosen === null && fields.decision !== undefined;
  return {
    status: fault === null ? 200 : 400,
    page: {
      title: () => decideTexts.title,
      body: () => html`${problem(fault?.() ?? (isMalformed ? decideTexts.malformed : null))} ${choiceForm(path, fields, possible)}
        ${found === null ? null : weighedView(session, path, fields, found)}`,
    },
  };
}

export function askLate(request: InstallationRequest): Promise<Answer> {
  const chosen = readChoice(request.form);
  const asked = chosen === null ? null : { kind: 'decide_late' as const, input: chosen };
  return askByForm(request, asked, (fault) => showLate(request, request.form, fault));
}

/** The decision and the documents of a request, and the address of its form. Null if another build asked. */
export function lateAsked(installation: InstallationId, input: unknown): ShownRequest | null {
  const { success, data } = lateRequest.safeParse(input);
  if (!success) return null;
  return { view: () => requestView(installation, data), form: local(latePath(installation), fieldsOf(data)) };
}

function requestView(installation: InstallationId, { decision, documents, filter }: LateRequest): Node {
  const named: Content =
    documents === undefined ? Object.values(filter ?? {}).join(', ') : documentList(installation, documents);
  return html`<dt>${decideTexts.decision}</dt><dd>${lateTexts[decision]}</dd>
    <dt>${decideTexts.documents}</dt><dd>${named === '' ? consoleTexts.all : named}</dd>`;
}

/** The fields of the form that made a request. */
function fieldsOf({ decision, documents, filter = {} }: LateRequest): Record<string, string | number | undefined> {
  const { from, to, ...others } = filter;
  const listed = documents?.map((each) => `${each.kind}/${each.id}`).join(',');
  return { decision, documents: listed, month: from?.slice(0, 7), ...others };
}
