import { type CheckPlan, type CheckResult, ErpError } from '../port.ts';

/** What the checks of all targets tell alike. */

export const right = (name: string, message = ''): CheckResult => ({ name, ok: true, message, todo: '' });

export const wrong = (name: string, message: string, todo: string): CheckResult => ({ name, ok: false, message, todo });

/** An error of the ERP as a result; any other is thrown. */
export function failed(name: string, error: unknown, todo: string): CheckResult {
  if (!(error instanceof ErpError)) throw error;
  return wrong(name, error.message, todo);
}

/** Amounts go over as they are: in books of another currency each would be another amount. Null where nothing is wrong. */
export function currencyFault(ofCompany: string, { currency }: CheckPlan): CheckResult | null {
  if (ofCompany === currency) return null;
  return wrong(
    'currency',
    `the company keeps its books in ${ofCompany}, the practice in ${currency}`,
    'Name the right company in erp.company, or correct the installation’s currency.',
  );
}
