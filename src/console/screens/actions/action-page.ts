import { type AskedAction, type AskedOutcome, actionState, isSamePerson } from '../../../actions/asking.ts';
import { hashOfEffect } from '../../../actions/record.ts';
import { localTimeOf } from '../../../domain/dates.ts';
import { visible } from '../../../domain/text.ts';
import { shown } from '../../../languages/language.ts';
import { lastDaemon } from '../../../queries/last-daemon.ts';
import { actionNames, actionTexts } from '../../../texts/console/actions.ts';
import { approvalTexts } from '../../../texts/console/closing.ts';
import { html, type Node } from '../../html.ts';
import { form } from '../../layout.ts';
import { problem } from '../../parts/fields.ts';
import { nextStep } from '../../parts/next-step.ts';
import type { Answer, InstallationRequest } from '../../route.ts';
import { type AskedKind, isAskedKind, permittedActions } from '../../users/permitted-actions.ts';
import { approvalPart } from './approval-part.ts';
import { askFields } from './ask.ts';
import { shownRequests } from './requests.ts';
import { resultView } from './results.ts';

/** Actions with a fixed reason, which no person wrote. */
const withoutReason: readonly AskedKind[] = ['price_windows', 'preview_repost', 'reconcile_books', 'withdraw_action'];

/** The id of the action in the address. Null if it is none. */
export function actionId({ params }: InstallationRequest): number | null {
  return /^[1-9]\d{0,14}$/.test(params.id ?? '') ? Number(params.id) : null;
}

/** The page of an action: who asked for what, and its outcome. It is loaded again while the action is pending. */
export async function showAction(request: InstallationRequest, fault: (() => string) | null = null): Promise<Answer> {
  const { db, context, installation, rights, session } = request;
  const id = actionId(request);
  const found = id === null ? null : await actionState(db, installation.id, id);
  if (found === null || !isAskedKind(found.action.kind)) return { missing: true };
  const { action, outcome, result } = found;
  const { kind } = found.action;
  const isPending = outcome.state === 'pending';
  const daemon = isPending ? await lastDaemon(db, installation.id, context.config.temporal.taskQueue) : null;
  const at = (time: Date) => localTimeOf(time, installation.timezone);
  const needs = permittedActions[kind];
  // The reason of a decision may contain names of clients.
  const seesReason =
    !withoutReason.includes(kind) &&
    (needs === 'operate' || rights.may('read_books', installation.id) || action.subject === session.name);
  const asked = shownRequests[kind](installation.id, action.input);
  const came = outcome.state === 'done' ? await resultView(request, action, result) : null;
  const approval = outcome.state === 'waiting' ? await approvalPart(request, action) : null;
  const isOpen = (outcome.state === 'waiting' || isPending) && kind !== 'withdraw_action';
  const isOver = outcome.state === 'refused' || outcome.state === 'expired';
  return {
    status: fault === null ? 200 : 400,
    page: {
      ...(isPending ? { refreshSeconds: 2 } : came?.isRunning ? { refreshSeconds: 5 } : {}),
      title: () => `${actionNames[kind]} (${action.id})`,
      body: () => {
        const waits = daemon === null ? actionTexts.noDaemon : actionTexts.daemonGone({ at: at(daemon.heardAt) });
        return html`${problem(fault?.() ?? null)} ${isPending && daemon?.isRunning !== true ? problem(waits) : outcomeView(request, outcome, kind === 'repost_books')}
          ${came?.view()}
          <dl>
            <dt>${actionTexts.askedBy}</dt><dd>${action.subject}</dd>
            <dt>${actionTexts.askedAt}</dt><dd>${at(action.askedAt)}</dd>
            ${seesReason ? html`<dt>${actionTexts.reason}</dt><dd>${visible(action.reason)}</dd>` : null}
            ${asked?.view?.()}
            ${action.second === null ? null : html`<dt>${approvalTexts.second}</dt><dd>${action.second}</dd>`}
          </dl>
          ${approval?.()} ${isOpen ? withdrawal(request, action) : null}
          ${asked === null || !isOver || !rights.may(needs, installation.id) ? null : html`<p><a href=${asked.form}>${actionTexts.again}</a></p>`}`;
      },
    },
  };
}

/** The form with which the person who asked withdraws the request. */
function withdrawal({ session, installation }: InstallationRequest, { id, subject }: AskedAction): Node | null {
  if (!isSamePerson(subject, session.name)) return null;
  const path = `/${installation.id}/actions/${id}/withdrawal`;
  return form(session, path, askFields(hashOfEffect({ withdraw: id }), actionTexts.withdraw, {}, 'withdrawn'));
}

/** `isInParts`: the action may have done a part of its work before it expired. */
function outcomeView({ rights, installation }: InstallationRequest, outcome: AskedOutcome, isInParts: boolean): Node {
  if (outcome.state === 'expired' && isInParts) return html`<p role="status">${actionTexts.expiredPartly}</p>`;
  if (outcome.state !== 'refused') return html`<p role="status">${actionTexts[outcome.state]}</p>`;
  const { message, todo } = outcome.error;
  return html`<div class="problem" role="status">
    <p>${actionTexts.refused} ${shown(message)}</p>
    <p>${nextStep(rights, installation.id, todo)}</p>
  </div>`;
}
