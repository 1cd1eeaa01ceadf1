import { vatDueTexts } from '../texts/findings/mapping.ts';
import type { Mapping } from './schema.ts';

const same = 'same';

/** The keys that a mapping needs for VAT on payment and lacks (ACCOUNTING R13). Empty without the policy. */
export function vatDueFaults(mapping: Mapping): string[] {
  const { policies, roles, vat, vat_rules: rules, vat_groups: groups } = mapping;
  if (policies.vat_due === null) return [];
  const missing = (['vat_not_due', 'opening_vat_not_due'] as const).filter((role) => !roles[role]);
  const tables =
    vat === same
      ? [same]
      : Object.values(vat).flatMap((entry) => (typeof entry === 'string' ? entry : Object.values(entry)));
  const accounts = [...tables, ...[...rules, ...groups].map(({ account }) => account)];
  return [
    ...missing.map((role) => vatDueTexts.roleMissing({ role })),
    ...(accounts.includes(same) ? [vatDueTexts.accountOfSource] : []),
  ];
}

/** Warnings about VAT on payment with this mapping, for the accountant. */
export function vatDueWarnings({ policies }: Mapping): string[] {
  return policies.vat_due !== null && policies.prepayment_vat === 'listed' ? [vatDueTexts.receiptsInAdvance] : [];
}
