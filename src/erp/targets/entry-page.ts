import type { ErpConfig } from '../../config/erp.ts';
import { journalPage } from './xero/journals.ts';

/** The address of an entry's page in the ERP, for people. Null if no address is known. */
export function entryPage(erp: ErpConfig, number: string): string | null {
  return erp.kind === 'xero' ? journalPage(number) : null;
}
