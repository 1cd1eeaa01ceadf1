// Computes the invoice row of an item of the catalogue.
import { vatGroups as knownGroups } from './catalogue.ts';
import type { RowInput } from './inputs.ts';
import { type Amount, dec, rowAmount } from './money.ts';
import { type Client, ValidationProblem, type VatGroup } from './records.ts';
import type { CatalogueItem } from './state/registers.ts';
import type { Store } from './store.ts';

/** The consultation's dimensions, for rows whose item has none. */
export interface Dimensions {
  reporting_dimension_1: string | null;
  reporting_dimension_2: string | null;
}

/**
 * The row for a quantity (at most 4 decimals) of an item. The catalogue's price includes the item's VAT. At another
 * percentage, the net price stays and the VAT changes. Throws ValidationProblem if the clinic has no VAT group with the
 * percentage.
 */
export const chargeOf = (
  clinic: Store,
  item: CatalogueItem,
  charged: { quantity: Amount; vat_percentage: Amount; client: Client | null } & Partial<Dimensions>,
): RowInput => {
  const vat_group = vatGroupOf(clinic, charged.vat_percentage, charged.client);
  const price = dec(item.price_with_vat).div(dec(item.vat_percentage).div(100).plus(1));
  const rate = dec(vat_group.percentage).div(100);
  const isOwnRate = rate.equals(dec(item.vat_percentage).div(100));
  const net = dec(rowAmount(price.times(charged.quantity)));
  const vat = isOwnRate
    ? dec(rowAmount(dec(item.price_with_vat).times(charged.quantity))).minus(net)
    : dec(rowAmount(net.times(rate)));
  return {
    name: item.name,
    quantity: rowAmount(dec(charged.quantity)),
    price: rowAmount(price),
    price_with_vat: rowAmount(price.times(rate.plus(1))),
    sum: rowAmount(net),
    sum_vat: rowAmount(vat),
    sum_total: rowAmount(net.plus(vat)),
    vat_percentage: vat_group.percentage,
    vat_group,
    account_number: item.account_number,
    reporting_dimension_1: item.reporting_dimension_1 ?? charged.reporting_dimension_1 ?? null,
    reporting_dimension_2: charged.reporting_dimension_2 ?? null,
  };
};

/** The clinic's VAT group with a percentage; for an EU company without VAT, the group of EU sales. */
const vatGroupOf = (clinic: Store, percentage: Amount, client: Client | null): VatGroup => {
  const { euService } = knownGroups;
  const isEuSale = client?.customer_type === 2 && dec(percentage).isZero();
  const groups = clinic.vatGroups.filter((group) => dec(group.percentage).equals(percentage));
  const group = isEuSale ? groups.find(({ name }) => name === euService.name) : groups[0];
  if (!group) throw new ValidationProblem('vat_percentage', `The clinic has no VAT group of ${percentage} percent.`);
  return group;
};
