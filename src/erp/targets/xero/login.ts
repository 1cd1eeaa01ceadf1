import { type XeroConfig, xeroUrl } from '../../../config/erp.ts';
import type { JsonValue } from '../../../records/json.ts';
import { companyOf } from '../../company.ts';
import type { ErpLogin } from '../../login/server.ts';
import { asList, asRecord, asText } from '../api/form.ts';
import { asGuid } from './wire.ts';

const loginUrl = 'https://login.xero.com';
const identityUrl = 'https://identity.xero.com';
/** Xero ends a login that is not used for this time. */
const unusedDays = 60;

/** What vetledger may do, by the names of the rights that apps have since March 2026. */
export const xeroScope = 'accounting.manualjournals accounting.settings.read';

/** Where Xero gives tokens. The server of another address, as in a test, gives its tokens itself. */
export function identityUrlOf({ url }: Pick<XeroConfig, 'url'>): string {
  return url === xeroUrl ? identityUrl : url;
}

/** How a person logs in to an app of Xero. Null for a custom connection. */
export function xeroLogin(config: XeroConfig): ErpLogin | null {
  const { url, user: clientId, clientSecret, company: name, redirectUrl } = config;
  if (redirectUrl === null) return null;
  const identity = identityUrlOf(config);
  return {
    ...{ erp: 'Xero', company: { ...companyOf(config), name }, clientId, clientSecret, sentAs: 'basic', redirectUrl },
    urls: {
      authorization: `${url === xeroUrl ? loginUrl : url}/identity/connect/authorize`,
      token: `${identity}/connect/token`,
      revocation: `${identity}/connect/revocation`,
    },
    scope: `offline_access ${xeroScope}`,
    unusedDays,
    companies: { url: `${url}/connections`, read: tenantsIn },
  };
}

/** The organisations that a token reaches. */
export function tenantsIn(answer: JsonValue): { id: string; name: string }[] {
  return asList(answer)
    .map(asRecord)
    .filter(({ tenantType }) => tenantType === 'ORGANISATION')
    .map(({ tenantId, tenantName }) => ({ id: asGuid(tenantId ?? null), name: asText(tenantName ?? '') }));
}
