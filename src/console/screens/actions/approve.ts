import { actionState, isSamePerson } from '../../../actions/asking.ts';
import { lockChain } from '../../../actions/record.ts';
import { actionTexts } from '../../../texts/console/actions.ts';
import { approvalTexts as texts } from '../../../texts/console/closing.ts';
import type { Answer, InstallationRequest } from '../../route.ts';
import { actionId, showAction } from './action-page.ts';
import { askByForm } from './ask.ts';

/** Approves a request as the second person. The daemon then performs the request as it was shown. */
export async function approve(request: InstallationRequest): Promise<Answer> {
  const { db, installation, session, form } = request;
  const id = actionId(request);
  // Another approval of the same request waits here.
  await lockChain(db, installation.id);
  const found = id === null ? null : await actionState(db, installation.id, id);
  if (id === null || found === null) return { missing: true };
  const again = (fault: () => string) => showAction(request, fault);
  if (isSamePerson(found.action.subject, session.name)) return again(() => texts.own);
  if (found.outcome.state !== 'waiting') return again(() => texts.over);
  if (form.shown !== found.action.shownHash) return again(() => actionTexts.formOld);
  const answer = await askByForm(request, { kind: 'approve_action', input: { action: id } }, again);
  // The page of the request shows the result of both.
  return 'redirect' in answer ? { redirect: `/${installation.id}/actions/${id}` } : answer;
}

/** Asks for the withdrawal of an own request. */
export async function withdraw(request: InstallationRequest): Promise<Answer> {
  const { db, installation, session } = request;
  const id = actionId(request);
  const found = id === null ? null : await actionState(db, installation.id, id);
  if (id === null || found === null || !isSamePerson(found.action.subject, session.name)) return { missing: true };
  return askByForm(request, { kind: 'withdraw_action', input: { action: id } }, (fault) => showAction(request, fault));
}
