import { type ApiTargetConfig, type ErpConfig, type FileTargetConfig, isApiTarget } from '../config/erp.ts';
import { withoutEnd } from '../domain/text.ts';
import { companyKey } from './entry-key.ts';
import type { CompanyRef } from './port.ts';

/** The company that an installation is delivered to, as the configuration names it. No request to the ERP is needed. */
export function companyOf(erp: ApiTargetConfig | FileTargetConfig): CompanyRef {
  if (isApiTarget(erp))
    return { kind: erp.kind, url: comparableUrl(erp.url), id: `${erp.database}/${erp.company ?? ''}` };
  return { kind: erp.kind, url: erp.folder, id: '' };
}

/**
 * Two spellings of one address become equal: upper or lower case of scheme and host, the default port, a slash at the
 * end.
 */
function comparableUrl(url: string): string {
  return URL.canParse(url) ? withoutEnd(new URL(url).href, '/') : url;
}

/** The key of the installation's company in our tables. Null for the kind `ledger`, which delivers to no ERP. */
export function companyKeyOf(erp: ErpConfig): string | null {
  return erp.kind === 'ledger' ? null : companyKey(companyOf(erp));
}
