import type { Money } from '../domain/money.ts';
import { clip, visible } from '../domain/text.ts';
import type { MappedDimension, Mapping } from '../mapping/schema.ts';
import { vatGroupOf } from '../mapping/vat-groups.ts';
import type { CalendarDate, DocumentKind, LineRole } from '../terms.ts';
import { deliveryFindings } from '../texts/findings/delivery.ts';

/**
 * Translates our terms into those of the ERP, by the section `erp` of the mapping. Null if the mapping has no
 * translation.
 */

/** A value in the mapping: the ERP uses the same text as the source. */
const same = 'same';
/** A value in `erp.vat_codes`: the line carries no tax code. */
export const noVatCode = 'none';

/**
 * The ERP's tax code of a VAT group and rate on a day, from `vat_groups` or `erp.vat_codes`. `none` if lines of the
 * group carry no code.
 */
export function vatCodeOf(
  mapping: Mapping,
  group: string | null,
  rate: Money | null,
  day: CalendarDate | null = null,
): string | null {
  const ofLine = vatGroupOf(mapping, { name: group, rate }, day)?.line.code;
  if (ofLine) return ofLine === same ? group : ofLine;
  const codes = mapping.erp.vat_codes;
  if (codes === same) return group;
  const entry = own(codes, group) ?? own(codes, '*');
  if (entry === undefined) return null;
  const code = typeof entry === 'string' ? entry : (own(entry, rate?.toFixed() ?? null) ?? own(entry, '*') ?? '');
  return (code === same ? group : code) || null;
}

/**
 * The ERP's value of one of our dimensions. Only for dimensions that the mapping delivers. `''` is the value of lines
 * without this dimension.
 */
export function dimensionValueOf(mapping: Mapping, dimension: MappedDimension, value: string): string | null {
  const values = mapping.erp.dimensions[dimension]?.values ?? same;
  if (value === '') return (values !== same && own(values, '')) || null;
  if (values === same) return value;
  const theirs = own(values, value) ?? own(values, '*');
  return (theirs === same ? value : theirs) || null;
}

export function journalOf(mapping: Mapping, kind: DocumentKind | 'daily_summary'): string | null {
  return mapping.erp.journals[kind] || mapping.erp.journals['*'] || null;
}

/** Roles whose lines name the party that owes or receives the amount. */
export const partyRoles: readonly LineRole[] = [
  'receivable',
  'opening_receivable',
  'insurance_receivable',
  'financing_receivable',
  'prepayment_liability',
];

/**
 * The accounts whose lines need a party. ERPs decide this by account: every line on such an account has a party,
 * whatever its role, and no other line has one.
 */
export function partyAccounts(mapping: Mapping): Set<string> {
  const accounts = new Set<string>();
  for (const role of partyRoles) {
    const account = role === 'revenue' || role === 'vat' ? undefined : mapping.roles[role];
    if (account) accounts.add(account);
  }
  for (const type of Object.values(mapping.payment_types)) {
    for (const target of [type, ...Object.values(type.departments ?? {})]) {
      const role = target.role ?? type.role;
      if (target.account && role !== undefined && partyRoles.includes(role)) accounts.add(target.account);
    }
  }
  return accounts;
}

/** A VAT group and its rate, as messages name them. */
export function vatText(group: string | null, rate: Money | null): string {
  const [named, at] = [group === null ? null : visible(clip(group, 100)), rate?.toFixed() ?? null];
  if (named === null)
    return at === null ? deliveryFindings.noGroupWithoutRate : deliveryFindings.noGroupAtRate({ rate: at });
  return at === null
    ? deliveryFindings.groupWithoutRate({ group: named })
    : deliveryFindings.groupAtRate({ group: named, rate: at });
}

/** Reads own properties only, since a key from the source may be "constructor". */
function own<Value>(table: Record<string, Value>, key: string | null): Value | undefined {
  return key !== null && Object.hasOwn(table, key) ? table[key] : undefined;
}
