import { nearest } from '../domain/nearest.ts';
import type { LineRole } from '../terms.ts';
import { chartTexts } from '../texts/findings/mapping.ts';
import type { WrittenAccount } from './accounts-written.ts';
import type { AccountType, Chart } from './chart.ts';

export type ChartFaultCode = 'account_unknown' | 'account_closed' | 'account_type_wrong';

/** An account of the mapping that is absent from the chart, closed, or of a wrong type. */
export interface ChartFault {
  code: ChartFaultCode;
  path: string;
  account: string;
  message: string;
}

const clearing: readonly AccountType[] = ['asset'];
const either: readonly AccountType[] = ['asset', 'liability'];

/** The types that the account of a role may have. */
const typesOf: Record<LineRole, readonly AccountType[]> = {
  receivable: clearing,
  opening_receivable: clearing,
  insurance_receivable: clearing,
  financing_receivable: clearing,
  cash: clearing,
  bank_clearing: clearing,
  card_clearing: clearing,
  mobile_clearing: clearing,
  cheque_clearing: clearing,
  // Accounts that are cleared to zero may be assets or liabilities.
  other_clearing: either,
  consolidation_clearing: either,
  credit_settlement: either,
  prepayment_liability: ['liability'],
  prepayment_vat: either,
  vat_not_due: either,
  opening_vat_not_due: either,
  voucher_liability: ['liability'],
  gift_card_liability: ['liability'],
  // Cash rounding is profit or loss. A chart without such an account uses an asset account that is cleared by hand.
  rounding: ['income', 'expense', 'asset'],
  revenue: ['income'],
  vat: ['liability'],
};

/**
 * Accounts that are absent from the chart, closed there, or of a type that does not fit their role. Each place is
 * listed once, by path.
 */
export function checkAgainstChart(accounts: readonly WrittenAccount[], chart: Chart): ChartFault[] {
  const faults = accounts.flatMap(({ account, role, path }): ChartFault[] => {
    const found = chart.get(account);
    const fault = (code: ChartFaultCode, message: string) => [{ code, path, account, message }];
    if (found === undefined)
      return fault('account_unknown', chartTexts.unknown({ account, hint: hint(account, role, chart) }));
    const named = chartTexts.account({ account, name: found.name });
    if (!found.isOpen) return fault('account_closed', chartTexts.closed({ account: named }));
    const fitting = typesOf[role];
    if (fitting.includes(found.type)) return [];
    return fault(
      'account_type_wrong',
      chartTexts.typeWrong({ account: named, type: found.type, role, types: fitting.join(chartTexts.or) }),
    );
  });
  const byPlace = new Map(faults.map((fault) => [`${fault.path} ${fault.account} ${fault.code}`, fault]));
  return [...byPlace.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The nearest account of a type that fits the role, for a hint. */
function hint(account: string, role: LineRole, chart: Chart): string {
  const fitting = [...chart].filter(([, { isOpen, type }]) => isOpen && typesOf[role].includes(type));
  const near = nearest(
    account,
    fitting.map(([number]) => number),
  );
  return near === null ? '' : chartTexts.hint({ near, name: chart.get(near)?.name ?? '' });
}

/** Accounts with more than one role. Only the lines' roles then show what the account's balance consists of. */
export function sharedAccounts(accounts: readonly WrittenAccount[]): string[] {
  const byAccount = Map.groupBy(accounts, ({ account }) => account);
  const found = [...byAccount].flatMap(([account, its]) => {
    const roles = [...new Set(its.map(({ role }) => role))].sort();
    if (roles.length < 2) return [];
    const text =
      roles.length === 2
        ? chartTexts.sharedByTwo({ roles: roles.join(chartTexts.and), account })
        : chartTexts.shared({ roles: roles.join(', '), account });
    return [{ account, text }];
  });
  return found.sort((a, b) => (a.account < b.account ? -1 : 1)).map(({ text }) => text);
}
