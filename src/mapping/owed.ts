import { type Money, sum, zero } from '../domain/money.ts';
import { clip } from '../domain/text.ts';
import type { AccountNumber } from '../records/types.ts';
import { type SoldRole, soldRoles } from '../terms.ts';
import { owedTexts } from '../texts/findings/mapping.ts';
import { isUnmapped, revenueAccount } from './look-ups.ts';
import type { Mapping } from './schema.ts';
import type { RowUse } from './source-usage.ts';

/**
 * Sales that the clinic owes until they are used (ACCOUNTING R1). Prepayments are in the source's list of prepayments,
 * not in rows.
 */
export type OwedRole = SoldRole | 'prepayment_liability';

/**
 * Names of accounts and VAT groups by purpose. A gift voucher is a gift card. "Gift" inside a word is not matched: it
 * means poison in German and in Scandinavian languages.
 */
const names: Record<OwedRole, RegExp> = {
  gift_card_liability:
    /(?<!\p{L})gifts?(?!\p{L})|gift(?:card|voucher|certificate)|lahjakort|lahjasetel|presentkort|g[aå]vekort|geschenk|cadeau|kinkekaart|regalo/iu,
  voucher_liability: /voucher|gutschein|värdebevis|værdibevis|palvelusetel/iu,
  prepayment_liability:
    /pre-?pa(?:y|id)|(?<!\p{L})advances?(?!\p{L})|in advance|(?<!\p{L})deposits?(?!\p{L})|ennakko|ennakot|förskott|forsku[dt]|anzahlung|vorauszahlung|vooruitbetal|acompte|ettemaks/iu,
};
const longestName = 500;

/** The role that a name suggests; null if it suggests none. */
export function owedByName(name: string | null): OwedRole | null {
  const text = clip(name ?? '', longestName).normalize('NFC');
  return ([...soldRoles, 'prepayment_liability'] as const).find((role) => names[role].test(text)) ?? null;
}

/** Rows with VAT are single-purpose vouchers, which are revenue when they are sold. */
function isTaxed({ hasVat, hasNet, vat: { rate } }: RowUse): boolean {
  return hasVat || (hasNet && !(rate ?? zero).isZero());
}

/**
 * The account numbers whose names suggest a liability and whose rows have no VAT, for a proposal. `accounts` is the
 * practice software's list of account numbers.
 */
export function owedAccounts(rows: readonly RowUse[], accounts: readonly AccountNumber[]): Map<string, OwedRole> {
  const used = Map.groupBy(rows, ({ account }) => account);
  const found = new Map<string, OwedRole>();
  for (const { number, description } of accounts) {
    const role = owedByName(description);
    if (role === null || (used.get(number) ?? []).some(isTaxed)) continue;
    found.set(number, role);
  }
  return found;
}

/** Rows that a mapping posts as revenue although the name of their account or VAT group suggests a liability. */
export interface OwedAsRevenue {
  /** The key for `accepted` in the mapping: the account number of the rows, or their VAT group. */
  key: string;
  of: 'account' | 'VAT group';
  /** The account's name in the practice software; null for a VAT group. */
  name: string | null;
  looks_like: OwedRole;
  rows: number;
  net: Money;
  /** The accounts to which the rows are posted. */
  posted_to: string[];
}

/**
 * Rows that the mapping posts as revenue although their name suggests a liability, by account number and VAT group.
 * Keys in `accepted` of the mapping are left out. Posting does not depend on this result.
 */
export function owedAsRevenue(
  rows: readonly RowUse[],
  accounts: readonly AccountNumber[],
  mapping: Mapping,
): OwedAsRevenue[] {
  const named = new Map<string, { name: string; looks_like: OwedRole }>();
  for (const { number, description } of accounts) {
    const role = owedByName(description);
    if (role !== null && description !== null && !named.has(number)) {
      named.set(number, { name: description, looks_like: role });
    }
  }
  const found = new Map<string, OwedAsRevenue>();
  for (const row of rows) {
    const seen = recognised(row, named);
    if (seen === null || isTaxed(row) || !row.hasNet || Object.hasOwn(mapping.accepted, seen.key)) continue;
    const postedTo = revenueAccountsOf(row, mapping);
    if (postedTo.length === 0) continue;
    const key = `${seen.of} ${seen.key}`;
    const { rows: counted = 0, net = zero, posted_to: before = [] } = found.get(key) ?? {};
    found.set(key, {
      ...seen,
      rows: counted + row.count,
      net: sum([net, row.net]),
      posted_to: [...new Set([...before, ...postedTo])].sort(),
    });
  }
  return [...found.values()].sort((a, b) => b.rows - a.rows || (a.key < b.key ? -1 : 1));
}

type Recognised = Pick<OwedAsRevenue, 'key' | 'of' | 'name' | 'looks_like'>;

function recognised(
  { account, vat }: RowUse,
  named: ReadonlyMap<string, { name: string; looks_like: OwedRole }>,
): Recognised | null {
  const byAccount = account === null ? undefined : named.get(account);
  if (account !== null && byAccount) return { key: account, of: 'account', ...byAccount };
  const role = owedByName(vat.name);
  return role === null || vat.name === null ? null : { key: vat.name, of: 'VAT group', name: null, looks_like: role };
}

/**
 * The revenue accounts of a row's net, on the first and the last day of use. Empty if the row is posted to a liability,
 * or held.
 */
function revenueAccountsOf(
  { account, department, dimensions, internal, vat, dates }: RowUse,
  mapping: Mapping,
): string[] {
  return [...new Set(dates ?? [null])].flatMap((date) => {
    const found = revenueAccount(mapping, account, department, { dimensions, internal, vat, date });
    return isUnmapped(found) || found.role !== 'revenue' ? [] : [found.account];
  });
}

/** The text of a warning, without a full stop. */
export function owedAsRevenueText({ key, of, name, looks_like: role, posted_to: accounts }: OwedAsRevenue): string {
  return owedTexts.warning({
    rows: name === null ? owedTexts.ofGroup({ group: key }) : owedTexts.onAccount({ account: key, name }),
    accounts: accounts.join(', '),
    of: of === 'account' ? owedTexts.account : owedTexts.vatGroup,
    todo: role === 'prepayment_liability' ? owedTexts.recordPrepayments : owedTexts.giveRole({ role }),
    key,
  });
}
