import type { InstallationId } from '../../../terms.ts';
import { pauseTexts } from '../../../texts/console/actions.ts';
import { html, type Node } from '../../html.ts';
import { permittedActions } from '../../users/permitted-actions.ts';
import type { Rights } from '../../users/rights.ts';

/** The page that pauses and resumes windows and delivery. */
export function pausesPath(installation: InstallationId): string {
  return `/${installation}/actions/pauses`;
}

/** A link to that page, for users who may pause. */
export function pausesLink(rights: Rights, installation: InstallationId): Node | null {
  if (!rights.may(permittedActions.pause_windows, installation)) return null;
  return html`<p><a href=${pausesPath(installation)}>${pauseTexts.title}</a></p>`;
}
