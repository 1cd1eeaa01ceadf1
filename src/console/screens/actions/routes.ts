import { type AskedAction, actionState, askAction } from '../../../actions/asking.ts';
import { type LateRequest, lateRequest } from '../../../bookkeeping/asked-decision.ts';
import { localTimeOf } from '../../../domain/dates.ts';
import { visible } from '../../../domain/text.ts';
import { shown } from '../../../languages/language.ts';
import { lastDaemon } from '../../../queries/last-daemon.ts';
import { lateTexts } from '../../../texts/commands/results.ts';
import { actionTexts, decideTexts } from '../../../texts/console/actions.ts';
import { consoleTexts } from '../../../texts/console/console.ts';
import { decidedTexts } from '../../../texts/reports/decisions.ts';
import { type Content, html, local, type Node } from '../../html.ts';
import { documentLink } from '../../parts/document-link.ts';
import { problem } from '../../parts/fields.ts';
import type { Answer, InstallationRequest, Route } from '../../route.ts';
import { permittedActions } from '../../users/permitted-actions.ts';
import { type ChoiceFields, readChoice, weighed } from './late-choice.ts';
import { choiceForm, weighedView } from './late-view.ts';

const late = '/:installation/actions/late';
const decides = { who: permittedActions.decide_late, in: 'installation' } as const;

/** Asking for actions. Each form shows the effect first, and the page of the action shows what came of it. */
export const actionsRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: late,
    access: decides,
    audit: 'nothing',
    answer: (request: InstallationRequest) => showLate(request, request.query, null),
  },
  { method: 'POST', path: late, access: decides, audit: 'action', answer: askLate },
  {
    ...{ method: 'GET', path: '/:installation/actions/:id', audit: 'nothing', answer: showAction },
    access: { who: 'read_operations', in: 'installation' },
  },
];

function latePath(id: number): string {
  return `/${id}/actions/late`;
}

/** The form, and below it the effect of the chosen decision. `fault` is what is wrong with the form that was sent. */
async function showLate(
  request: InstallationRequest,
  fields: ChoiceFields,
  fault: (() => string) | null,
): Promise<Answer> {
  const { installation, session } = request;
  const path = latePath(installation.id);
  const chosen = readChoice(fields);
  const found = chosen === null ? null : await weighed(request, chosen);
  const isMalformed = chosen === null && fields.decision !== undefined;
  return {
    status: fault === null ? 200 : 400,
    page: {
      title: () => decideTexts.title,
      body: () => html`${problem(fault?.() ?? (isMalformed ? decideTexts.malformed : null))} ${choiceForm(path, fields)}
        ${found === null ? null : weighedView(session, path, fields, found)}`,
    },
  };
}

const formId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const longestReason = 1000;

/** Asks for a decision. The daemon compares the effect with `shown` when it performs the decision. */
async function askLate(request: InstallationRequest): Promise<Answer> {
  const { db, form, installation, session } = request;
  const { shown: shownHash = '', form: id = '' } = form;
  const chosen = readChoice(form);
  const reason = (form.reason ?? '').trim();
  if (chosen === null || !/^[0-9a-f]{64}$/.test(shownHash) || !formId.test(id))
    return showLate(request, form, () => actionTexts.formOld);
  if (reason === '' || reason.length > longestReason) return showLate(request, form, () => actionTexts.reasonMissing);
  const action = await askAction(db, {
    ...{ installation: installation.id, kind: 'decide_late', by: { actedBy: session.name, reason } },
    ...{ input: chosen, shownHash, form: id },
  });
  return { redirect: `/${installation.id}/actions/${action}` };
}

/** The page of an action: who asked for what, and its outcome. It is loaded again while the action is pending. */
async function showAction({
  db,
  context,
  installation,
  params,
  rights,
  session,
}: InstallationRequest): Promise<Answer> {
  const id = /^[1-9]\d{0,14}$/.test(params.id ?? '') ? Number(params.id) : null;
  const found = id === null ? null : await actionState(db, installation.id, id);
  if (found === null || found.action.kind !== 'decide_late') return { missing: true };
  const { action, outcome } = found;
  const isPending = outcome.state === 'pending';
  const daemon = isPending ? await lastDaemon(db, installation.id, context.config.temporal.taskQueue) : null;
  const at = (time: Date) => localTimeOf(time, installation.timezone);
  // A reason may contain names of clients.
  const seesReason = rights.may('read_books', installation.id) || action.subject === session.name;
  const { data: request = null } = lateRequest.safeParse(JSON.parse(action.input));
  return {
    page: {
      ...(isPending ? { refreshSeconds: 2 } : {}),
      title: () => `${decidedTexts.decide_late} ${action.id}`,
      body: () => {
        const waits = daemon === null ? actionTexts.noDaemon : actionTexts.daemonGone({ at: at(daemon.heardAt) });
        const again =
          request === null ? latePath(installation.id) : local(latePath(installation.id), fieldsOf(request));
        return html`${problem(isPending && daemon?.isRunning !== true ? waits : null)}
          ${outcomeView(outcome)}
          <dl>
            <dt>${actionTexts.askedBy}</dt><dd>${action.subject}</dd>
            <dt>${actionTexts.askedAt}</dt><dd>${at(action.askedAt)}</dd>
            ${seesReason ? html`<dt>${actionTexts.reason}</dt><dd>${visible(action.reason)}</dd>` : null}
            ${request === null ? null : requestView(action, request)}
          </dl>
          ${isPending || !rights.may(permittedActions.decide_late, installation.id) ? null : html`<p><a href=${again}>${actionTexts.again}</a></p>`}`;
      },
    },
  };
}

function outcomeView(outcome: NonNullable<Awaited<ReturnType<typeof actionState>>>['outcome']): Node {
  if (outcome.state !== 'refused') return html`<p role="status">${actionTexts[outcome.state]}</p>`;
  const { message, todo } = outcome.error;
  return html`<div class="problem" role="status">
    <p>${actionTexts.refused} ${shown(message)}</p>
    <p>${shown(todo)}</p>
  </div>`;
}

function requestView({ installation }: AskedAction, { decision, documents, filter }: LateRequest): Node {
  const named: Content =
    documents === undefined
      ? Object.values(filter ?? {}).join(', ')
      : documents.map(({ kind, id }, at) => [at === 0 ? '' : ', ', documentLink(installation, `${kind} ${id}`)]);
  return html`<dt>${decideTexts.decision}</dt><dd>${lateTexts[decision]}</dd>
    <dt>${decideTexts.documents}</dt><dd>${named === '' ? consoleTexts.all : named}</dd>`;
}

/** The fields of the form that made a request. */
function fieldsOf({ decision, documents, filter = {} }: LateRequest): Record<string, string | undefined> {
  const { code, kind, from } = filter;
  const listed = documents?.map((each) => `${each.kind}/${each.id}`).join(',');
  return { decision, documents: listed, code, kind, month: from?.slice(0, 7) };
}
