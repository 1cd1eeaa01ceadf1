import type { Money } from '../domain/money.ts';
import type { MappedDimension, Mapping } from '../mapping/schema.ts';
import { vatGroupOf } from '../mapping/vat-groups.ts';
import type { CalendarDate, DocumentKind, LineRole } from '../terms.ts';

/** The ERP's words for ours, as the section `erp` of a mapping gives them; null where it gives none. */

/** In a mapping: the word that the source itself uses. */
const same = 'same';
/** In `erp.vat_codes`: the line carries no tax code. */
export const noVatCode = 'none';

/**
 * The ERP's tax code of a VAT group and rate on a day: of its line in `vat_groups`, or by `erp.vat_codes`; `none` where its lines are
 * to carry no code.
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

/** The ERP's value of one of our dimensions. Only for a dimension that the mapping delivers; `''` is the value of lines without one. */
export function dimensionValueOf(mapping: Mapping, dimension: MappedDimension, value: string): string | null {
  const values = mapping.erp.dimensions[dimension]?.values ?? same;
  if (value === '') return (values !== same && own(values, '')) || null;
  if (values === same) return value;
  const theirs = own(values, value) ?? own(values, '*');
  return (theirs === same ? value : theirs) || null;
}

/** The ERP's journal of a kind of document, or of daily summaries. */
export function journalOf(mapping: Mapping, kind: DocumentKind | 'daily_summary'): string | null {
  return mapping.erp.journals[kind] || mapping.erp.journals['*'] || null;
}

/** Roles whose lines name the one who owes or is owed. */
export const partyRoles: readonly LineRole[] = [
  'receivable',
  'opening_receivable',
  'insurance_receivable',
  'financing_receivable',
  'prepayment_liability',
];

/**
 * The accounts whose lines need a party. An ERP decides this by account, so that every line on such an account has one, whatever
 * its role, and no line on any other account has.
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

/** Own properties only: a key of the source may be "constructor". */
function own<Value>(table: Record<string, Value>, key: string | null): Value | undefined {
  return key !== null && Object.hasOwn(table, key) ? table[key] : undefined;
}
