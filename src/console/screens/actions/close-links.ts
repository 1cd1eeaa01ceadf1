import type { AskedAction } from '../../../actions/asking.ts';
import type { MonthState } from '../../../queries/month.ts';
import type { InstallationId } from '../../../terms.ts';
import { actionNames } from '../../../texts/console/actions.ts';
import { closingTexts as texts } from '../../../texts/console/closing.ts';
import { html, type Node } from '../../html.ts';
import { isAskedKind, permittedActions } from '../../users/permitted-actions.ts';
import type { Rights } from '../../users/rights.ts';
import { closingForms } from './closing.ts';

/** Links to the forms that fit the month, and to requests that wait for a second person. For users who may close. */
export function closeLinks(
  rights: Rights,
  installation: InstallationId,
  { month, from, isOver, isClosed }: MonthState,
  waiting: readonly AskedAction[],
): Node | null {
  if (!rights.may(permittedActions.close_books, installation)) return null;
  const { close_books: close, reopen_books: reopen, file_vat_return: file } = closingForms;
  const links = isClosed
    ? [file.link(rights, installation, { month }), reopen.link(rights, installation, { from })]
    : isOver
      ? [close.link(rights, installation, { month })]
      : [];
  return html`${links.map((link) => html`<p>${link}</p>`)}
    ${waiting.map(
      ({ id, kind, subject }) =>
        html`<p class="needed"><a href=${`/${installation}/actions/${id}`}>${texts.waits({
          action: isAskedKind(kind) ? actionNames[kind] : kind,
          by: subject,
        })}</a></p>`,
    )}`;
}
