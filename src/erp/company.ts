import { type ApiTargetConfig, type ErpConfig, type FileTargetConfig, isApiTarget } from '../config/erp.ts';
import { withoutEnd } from '../domain/text.ts';
import { companyKey } from './entry-key.ts';
import type { CompanyRef } from './port.ts';

/** The company that an installation is delivered to, as its configuration names it: known without asking the ERP. */
export function companyOf(erp: ApiTargetConfig | FileTargetConfig): CompanyRef {
  if (isApiTarget(erp))
    return { kind: erp.kind, url: comparableUrl(erp.url), id: `${erp.database}/${erp.company ?? ''}` };
  return { kind: erp.kind, url: erp.folder, id: '' };
}

/** Host and scheme are the same in any case, as is an address with its usual port or a slash at its end. */
function comparableUrl(url: string): string {
  return URL.canParse(url) ? withoutEnd(new URL(url).href, '/') : url;
}

/** The key of that company in our tables; null where the books stay in our own database. */
export function companyKeyOf(erp: ErpConfig): string | null {
  return erp.kind === 'ledger' ? null : companyKey(companyOf(erp));
}
