import { randomUUID } from 'node:crypto';
import { actionOfForm, askAction } from '../../../actions/asking.ts';
import { actionTexts } from '../../../texts/console/actions.ts';
import { html, type Node } from '../../html.ts';
import { field } from '../../parts/fields.ts';
import type { Answer, InstallationRequest } from '../../route.ts';
import type { AskedKind } from '../../users/permitted-actions.ts';

const formId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const longestReason = 1000;

/**
 * Asks for the action of a form with the fields `shown`, `form` and `reason`, and leads to its page. `again` shows the form with
 * its fault and status. `present` is the hash of the present effect, if the console can compute it. A form that shows another effect
 * is answered at once. The daemon compares the effect with `shown` when it performs the action.
 */
export async function askByForm(
  { db, form, installation, session }: InstallationRequest,
  asked: { kind: AskedKind; input: object; present?(): Promise<string | null> } | null,
  again: (fault: () => string, status?: 409) => Promise<Answer>,
): Promise<Answer> {
  const { shown: shownHash = '', form: id = '' } = form;
  const reason = (form.reason ?? '').trim();
  if (asked === null || !/^[0-9a-f]{64}$/.test(shownHash) || !formId.test(id)) return again(() => actionTexts.formOld);
  if (reason === '' || reason.length > longestReason) return again(() => actionTexts.reasonMissing);
  const { kind, input, present } = asked;
  // The effect of a form that was sent before may be done.
  const isNew = present !== undefined && (await actionOfForm(db, installation.id, id)) === null;
  if (isNew && (await present()) !== shownHash) return again(() => actionTexts.changed, 409);
  const by = { actedBy: session.name, reason };
  const action = await askAction(db, { installation: installation.id, by, shownHash, form: id, kind, input });
  return { redirect: `/${installation.id}/actions/${action}` };
}

/** The fields that `askByForm` reads, and the button. `own` are the fields that name what is asked for. */
export function askFields(
  hash: string,
  submit: string,
  own: Readonly<Record<string, string>> = {},
  fixedReason?: string,
): Node {
  const hidden = {
    ...own,
    shown: hash,
    form: randomUUID(),
    ...(fixedReason === undefined ? {} : { reason: fixedReason }),
  };
  const reason = { name: 'reason', label: actionTexts.reason, hint: actionTexts.reasonHint, isRequired: true };
  return html`${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name=${name} value=${value} />`)}
    ${fixedReason === undefined ? field(reason) : null}
    <button>${submit}</button>`;
}
