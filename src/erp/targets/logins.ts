import type { ErpConfig } from '../../config/erp.ts';
import type { ErpLogin } from '../login/server.ts';
import { xeroLogin } from './xero/login.ts';

/** How a person logs in to the ERP of an installation. Null if its ERP needs no such login. */
export function loginOf(erp: ErpConfig): ErpLogin | null {
  return erp.kind === 'xero' ? xeroLogin(erp) : null;
}
