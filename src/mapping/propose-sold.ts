import { zero } from '../domain/money.ts';
import type { AccountNumber } from '../records/types.ts';
import type { SoldRole } from '../terms.ts';
import { groupBy } from './propose-text.ts';
import type { RowUse } from './source-usage.ts';

/** Names that practices give to the accounts of what they sell now and owe later; a gift voucher is a gift card. */
const giftCard = /gift|lahjakort|lahjasetel|presentkort|geschenk|cadeau|kinkekaart/i;
const voucher = /voucher|gutschein|värdebevis|værdibevis|palvelusetel/i;

/**
 * Accounts that look like gift cards or vouchers, by number: their sale is owed, not earned (ACCOUNTING R1). Rows with VAT are those of
 * a voucher for one rate alone, which is revenue when it is sold.
 */
export function soldAccounts(rows: readonly RowUse[], accounts: readonly AccountNumber[]): Map<string, SoldRole> {
  const used = groupBy(rows, ({ account }) => account);
  const found = new Map<string, SoldRole>();
  for (const { number, description } of accounts) {
    const role = roleOf(description ?? '');
    if (role === null || (used.get(number) ?? []).some(isTaxed)) continue;
    found.set(number, role);
  }
  return found;
}

function isTaxed({ hasVat, hasNet, vat: { rate } }: RowUse): boolean {
  return hasVat || (hasNet && !(rate ?? zero).isZero());
}

function roleOf(name: string): SoldRole | null {
  if (giftCard.test(name)) return 'gift_card_liability';
  return voucher.test(name) ? 'voucher_liability' : null;
}
