import type { Money } from '../domain/money.ts';
import { clip, visible } from '../domain/text.ts';
import type { MappedDimension, Mapping } from '../mapping/schema.ts';
import { type CalendarDate, type DocumentKind, type LineRole, roles } from '../terms.ts';
import type { ErpProblemCode } from '../texts/erp-problems.ts';
import { deliveryFindings } from '../texts/findings/delivery.ts';
import { dimensionLimit, keyRoom, vatNotComputed } from '../texts/findings/erp-check-results.ts';
import type { Capabilities } from './capabilities.ts';
import { dimensionValueOf, journalOf, noVatCode, partyAccounts, vatCodeOf, vatText } from './mapped-values.ts';
import type { CheckPlan, CheckResult, ErpProblem } from './port.ts';
import { needsSales } from './sent-lines.ts';

/** Values that the entries of an installation use or will use: from the books and from the source. */
export interface ValuesInUse {
  /** `vat`: group and rate of the account's lines that carry a tax code; null if they carry none. */
  accounts: { account: string; role: LineRole; vat?: { group: string | null; rate: Money | null } | null }[];
  vat: { group: string | null; rate: Money | null }[];
  /** The empty value stands for lines without this dimension. */
  dimensions: { dimension: MappedDimension; value: string }[];
  kinds: (DocumentKind | 'daily_summary')[];
}

/**
 * Lists every ERP record that the installation's entries need, for `vetledger erp check`. `lacking`: values for which
 * the mapping names no ERP record.
 */
export function checkPlan(
  mapping: Mapping,
  used: ValuesInUse,
  {
    capabilities,
    currency,
    dates,
    writes,
  }: {
    capabilities: Pick<Capabilities, 'kind' | 'lines'>;
    currency: string;
    dates: readonly CalendarDate[];
    writes: boolean;
  },
): { plan: CheckPlan; lacking: ErpProblem[] } {
  const lacking: ErpProblem[] = [];
  const lack = (code: ErpProblemCode, message: string) => {
    if (!lacking.some((known) => known.message === message)) lacking.push({ code, message });
  };
  const taxes = new Set<string>();
  for (const { group, rate } of used.vat) {
    const code = vatCodeOf(mapping, group, rate);
    if (code === null) lack('vat_code_unmapped', vatText(group, rate));
    else if (code !== noVatCode) taxes.add(code);
  }
  const dimensions = new Map<string, Set<string>>();
  for (const [dimension, { name }] of Object.entries(mapping.erp.dimensions)) {
    const values = dimensions.get(name) ?? new Set();
    for (const value of used.dimensions.flatMap((each) => (each.dimension === dimension ? each.value : []))) {
      const theirs = dimensionValueOf(mapping, dimension as MappedDimension, value);
      if (theirs !== null) values.add(theirs);
      else if (value !== '') lack('dimension_unmapped', `${dimension} ${shown(value)}`);
    }
    dimensions.set(name, values);
  }
  const journals = new Set<string>();
  for (const of of used.kinds) {
    const journal = journalOf(mapping, of);
    if (journal !== null) journals.add(journal);
    else if (capabilities.kind === 'api') lack('journal_unmapped', deliveryFindings.documentsOfKind({ kind: of }));
  }
  const hasParties = capabilities.lines.party !== 'none';
  const control = hasParties ? partyAccounts(mapping) : new Set<string>();
  const { collective_party: collective, parties } = mapping.erp;
  const namedParties = [collective, ...Object.values(mapping.counterparties)];
  const needsCollective =
    parties === 'collective' || mapping.cash_customer !== null || used.kinds.includes('daily_summary');
  if (capabilities.kind === 'api' && !collective && needsCollective && control.size > 0)
    lack('party_unmapped', deliveryFindings.collectivePartyMissing);
  return {
    plan: {
      writes,
      currency,
      makesParties: hasParties && parties === 'per_client',
      accounts: accountsOf(mapping, used).map(([account, its]) => ({
        account,
        roles: [...its].sort(),
        isControl: control.has(account),
        taxes: taxesOn(mapping, used, account),
      })),
      parties: hasParties ? [...new Set(namedParties.filter((code) => code != null))] : [],
      taxes: [...taxes].sort(),
      dimensions: [...dimensions].map(([theirs, values]) => ({ theirs, values: [...values].sort() })),
      journals: [...journals].sort(),
      dates: [...new Set(dates)].sort(),
    },
    lacking,
  };
}

/** Length of the longest unit id and key, with what separates them. */
const leastKeyRoom = 75;

/**
 * What vetledger or the mapping requires and the ERP cannot do: a text for our key, VAT without a sale if the ERP reports
 * VAT by sales, and more dimensions than a line can have.
 */
export function mappingFaults({ policies, erp }: Mapping, capabilities: Pick<Capabilities, 'key' | 'vat' | 'lines'>) {
  const { size: n } = new Set(Object.values(erp.dimensions).map(({ name }) => name));
  const most = capabilities.lines.max_dimensions;
  const limit = { message: most === null ? '' : dimensionLimit.message({ n, most }), todo: dimensionLimit.todo };
  const faults: CheckResult[] = most !== null && n > most ? [{ name: 'erp.dimensions', ok: false, ...limit }] : [];
  const { longest_text: longest = leastKeyRoom } = capabilities.key;
  if (longest < leastKeyRoom) {
    const message = keyRoom.message({ least: leastKeyRoom, most: longest });
    faults.push({ name: 'key.longest_text', ok: false, message, todo: keyRoom.todo });
  }
  if (!needsSales(capabilities)) return faults;
  return [
    ...faults,
    ...(policies.vat_due === null ? [] : [{ name: 'policies.vat_due', ok: false, ...vatNotComputed.onPayment }]),
    ...(policies.prepayment_vat === 'listed'
      ? []
      : [{ name: 'policies.prepayment_vat', ok: false, ...vatNotComputed.onPrepayments }]),
  ];
}

/** Accounts with their roles. It includes accounts that the mapping names for a role that no entry uses yet. */
function accountsOf(mapping: Mapping, used: ValuesInUse): [string, Set<string>][] {
  const accounts = new Map<string, Set<string>>();
  const add = (account: string | undefined, role: LineRole) => {
    if (account) accounts.set(account, (accounts.get(account) ?? new Set()).add(role));
  };
  for (const role of roles) add(mapping.roles[role], role);
  for (const { account, role } of used.accounts) add(account, role);
  return [...accounts].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The tax codes of the lines on an account. */
function taxesOn(mapping: Mapping, { accounts }: ValuesInUse, on: string): { code: string; part: 'base' | 'tax' }[] {
  const taxes = accounts.flatMap(({ account, role, vat }) => {
    const code = account === on && vat ? vatCodeOf(mapping, vat.group, vat.rate) : null;
    if (code === null || code === noVatCode) return [];
    return { code, part: role === 'vat' ? ('tax' as const) : ('base' as const) };
  });
  return [...new Map(taxes.map((tax) => [`${tax.code} ${tax.part}`, tax])).values()];
}

function shown(text: string): string {
  return visible(clip(text, 100));
}
