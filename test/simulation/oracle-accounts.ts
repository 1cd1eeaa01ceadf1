// The oracle's reading of a mapping (DESIGN "A short mapping file"). An account is an empty text if the mapping has
// none.
import type { MappingData } from './conditions.ts';
import { D } from './oracle-cents.ts';

const roleOfType: Record<number, string> = {
  0: 'card_clearing',
  1: 'cash',
  2: 'bank_clearing',
  3: 'rounding',
  4: 'cheque_clearing',
  5: 'voucher_liability',
  6: 'consolidation_clearing',
  7: 'mobile_clearing',
  8: 'prepayment_liability',
  9: 'gift_card_liability',
  10: 'financing_receivable',
  11: 'other_clearing',
  12: 'credit_settlement',
  15: 'insurance_receivable',
};

/** A VAT group of the source: name, and rate in per cent. */
export interface GroupKey {
  group: string | null;
  rate: string;
}

/** The liability role that the rules give rows on an account; null for revenue. */
export function roleSoldTo({ revenue_rules }: MappingData, number: string): string | null {
  return revenue_rules.find(({ when, role }) => role && when.account === number)?.role ?? null;
}

/** `day` is the document's day; for a credit note, that of the first original of its chain, if it is known. */
export function accountOfRevenue(mapping: MappingData, number: string, vat: GroupKey, day: string): string {
  const { revenue, revenue_rules } = mapping;
  const rule = revenue_rules.find(
    ({ when, role }) =>
      !role &&
      (when.account === undefined || when.account === number) &&
      (when.vat_kind === undefined || when.vat_kind === lineOfGroup(mapping, vat, day)?.kind) &&
      isWithin(when, day),
  );
  if (rule?.account) return rule.account;
  if (revenue === 'same') return number;
  const found = revenue[number] ?? revenue['*'] ?? '';
  return found === 'same' ? number : found;
}

/** The line of `vat_groups` for a group on a day: a valid one, else the last before it, else the first after it. */
export function lineOfGroup({ vat_groups = [] }: MappingData, { group, rate }: GroupKey, day: string) {
  const atRate = vat_groups.filter((line) => new D(line.rate ?? 0).equals(rate));
  const named = atRate.filter((line) => line.group !== undefined && line.group === group);
  const lines = (named.length > 0 ? named : atRate.filter((line) => line.group === undefined)).toSorted((a, b) =>
    (a.from ?? '') < (b.from ?? '') ? -1 : 1,
  );
  const valid = lines.find((line) => isWithin(line, day));
  const found = valid ?? lines.findLast((line) => (line.to ?? day) < day) ?? lines[0];
  return found && { ...found, isValid: valid !== undefined };
}

function isWithin({ from, to }: { from?: string; to?: string }, day: string): boolean {
  return (from === undefined || from <= day) && (to === undefined || day <= to);
}

export function accountOfVat(mapping: MappingData, key: GroupKey, named: string[], day: string): string {
  const own = lineOfGroup(mapping, key, day)?.account;
  if (own) return own;
  const { vat } = mapping;
  const { group } = key;
  if (vat === 'same') return named.length === 1 ? named[0]! : '';
  return (group === null ? undefined : vat[group]) ?? vat['*'] ?? '';
}

export function accountOfPayment(
  mapping: MappingData,
  type: number,
  department: number,
): { role: string; account: string } | null {
  const general = mapping.payment_types[type];
  const own = general?.departments?.[department];
  const role = own?.role ?? general?.role ?? roleOfType[type];
  if (!role) return null;
  const account = own?.account || (own?.role ? '' : general?.account) || mapping.roles[role];
  return account ? { role, account } : null;
}
