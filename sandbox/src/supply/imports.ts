// Imports a catalog's products into the clinic (practice-api: Catalog CSV, matching keys; Limits: Catalog rule).
import type { Clinic } from '../clinic.ts';
import { dec, fixed } from '../money.ts';
import { itemTypes } from '../state/registers.ts';
import type { CatalogProduct, SuppliedItem, Wholesaler } from '../state/supply.ts';
import { wholesalerOf } from './credentials.ts';

const typeCodes: Record<string, number> = {
  Medicine: itemTypes.medicine,
  Supply: itemTypes.supply,
  Food: itemTypes.food,
};
const accounts: Record<string, string> = { Medicine: '3100', Supply: '3110', Food: '3120' };

export interface ImportRun {
  /** The product types to import. */
  types: readonly string[];
  /** A part of the product name. The default includes all names. */
  search?: string | undefined;
  /** True if a barcode may match when no code matches. */
  matchBarcodes?: boolean | undefined;
}

export interface ImportResult {
  created: number;
  updated: number;
  discontinued: number;
}

/** The products that staff can import: the current catalog of the credential set. */
export const offeredProducts = (clinic: Clinic, wholesaler: number): readonly CatalogProduct[] =>
  clinic.supply.catalogs.of(wholesalerOf(clinic, wholesaler).id)[0]?.products ?? [];

/** Records for staff that a wholesaler supplies an item. */
export const recordSupplied = (
  clinic: Clinic,
  input: Omit<SuppliedItem, 'id' | 'created' | 'modified' | 'discontinued'>,
): SuppliedItem =>
  clinic.commit(() => clinic.insert(clinic.supply.suppliedItems, { ...input, discontinued: false }), 'request');

/**
 * Runs an import for staff. Items in the catalog are updated or created. Imported items that the catalog no longer has
 * are marked discontinued, if they match the run's types and search term; this includes items with an empty code.
 */
export const importProducts = (clinic: Clinic, wholesalerId: number, run: ImportRun): ImportResult =>
  clinic.commit(() => {
    const wholesaler = wholesalerOf(clinic, wholesalerId);
    const isMeant = (type: string, name: string): boolean =>
      run.types.includes(type) && name.toLowerCase().includes((run.search ?? '').toLowerCase());
    const { suppliedItems } = clinic.supply;
    const imported = [...suppliedItems.of(wholesaler.id)];
    const finder = new Finder(imported, run.matchBarcodes ?? false);
    const result: ImportResult = { created: 0, updated: 0, discontinued: 0 };
    const offered = new Set<SuppliedItem>();
    for (const product of offeredProducts(clinic, wholesaler.id)) {
      const known = finder.find(product);
      if (known) offered.add(known);
      if (!isMeant(product.product_type, product.product_name)) continue;
      if (known) {
        result.updated++;
        updateItem(clinic, known, product);
      } else {
        result.created++;
        createItem(clinic, wholesaler, product);
      }
    }
    for (const item of imported) {
      if (item.discontinued || offered.has(item) || !isMeant(item.product_type, item.name)) continue;
      clinic.update(suppliedItems, item, { discontinued: true });
      result.discontinued++;
    }
    return result;
  }, 'request');

/**
 * Finds the imported item of a product within its type: by primary, secondary or tertiary code, and then by barcode.
 */
class Finder {
  readonly #byKey = new Map<string, SuppliedItem>();
  readonly #barcodes: boolean;

  constructor(items: readonly SuppliedItem[], barcodes: boolean) {
    this.#barcodes = barcodes;
    for (const item of items) {
      for (const [at, code] of [...item.codes.entries(), ['barcode', item.barcode ?? ''] as const]) {
        if (code !== '') this.#byKey.set(`${item.product_type}/${at}/${code}`, item);
      }
    }
  }

  find({ product_type, product_number, barcode }: CatalogProduct): SuppliedItem | undefined {
    const get = (key: number | string, value: string) => this.#byKey.get(`${product_type}/${key}/${value}`);
    const byCode = get(0, product_number) ?? get(1, product_number) ?? get(2, product_number);
    return byCode ?? (this.#barcodes && barcode !== null ? get('barcode', barcode) : undefined);
  }
}

/** The retail price with VAT. If the catalog has none, the wholesale price is used. */
const priceOf = ({ product_price, wholesale_price }: CatalogProduct, vat: string): string => {
  const net = dec(product_price ?? wholesale_price ?? '0');
  return fixed(net.times(dec(vat).plus(100)).div(100), 2);
};

const updateItem = (clinic: Clinic, supplied: SuppliedItem, product: CatalogProduct): void => {
  const { items } = clinic.registers;
  const item = items.get(supplied.item);
  if (item) {
    const vat = product.vat ?? item.vat_percentage;
    clinic.update(items, item, { vat_percentage: vat, price_with_vat: priceOf(product, vat) });
  }
  const changes = { name: product.product_name, barcode: product.barcode, discontinued: false };
  clinic.update(clinic.supply.suppliedItems, supplied, changes);
};

const createItem = (clinic: Clinic, wholesaler: Wholesaler, product: CatalogProduct): void => {
  const vat = product.vat ?? '0';
  const item = clinic.insert(clinic.registers.items, {
    name: product.product_name,
    type_code: typeCodes[product.product_type] ?? itemTypes.supply,
    price_with_vat: priceOf(product, vat),
    vat_percentage: vat,
    account_number: accounts[product.product_type] ?? '3110',
    ...{ reporting_dimension_1: null, shop: false, archived: false },
  });
  clinic.insert(clinic.supply.suppliedItems, {
    ...{ item: item.id, wholesaler: wholesaler.id, product_type: product.product_type, name: product.product_name },
    ...{ codes: [product.product_number], barcode: product.barcode, discontinued: false },
  });
};
