import { shown } from '../../languages/language.ts';
import type { InstallationId } from '../../terms.ts';
import { type Content, html, local } from '../html.ts';

const named = /^(invoice|payment|prepayment) (\d{1,15})$/;

/** A document such as `invoice 123`, with a link to its page. Another text stays as it is. */
export function documentLink(installation: InstallationId, document: string): Content {
  const [, kind, id] = named.exec(document) ?? [];
  if (kind === undefined || id === undefined) return shown(document);
  return html`<a href=${local(`/${installation}/documents/${kind}/${id}`)}>${shown(document)}</a>`;
}
