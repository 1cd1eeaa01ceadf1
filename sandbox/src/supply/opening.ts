// The purchasing records of an invented clinic before its history: its organisation, a wholesaler that takes orders by
// e-mail, and the items that it supplies. They are drawn from a separate random stream, so that the history of a seed
// does not change.
import type { Clinic } from '../clinic.ts';
import { Rng } from '../rng.ts';
import { itemTypes } from '../state/registers.ts';
import { recordSupplied } from './imports.ts';

const productTypeOf: Record<number, string> = {
  [itemTypes.medicine]: 'Medicine',
  [itemTypes.supply]: 'Supply',
  [itemTypes.food]: 'Food',
};

/** Adds purchasing records to a clinic that already has items. The same seed gives the same records. */
export const openSupply = (clinic: Clinic, seed: number): void => {
  const rng = new Rng(seed, 'supply');
  const { organisations, wholesalers } = clinic.supply;
  clinic.insert(organisations, {
    ...{ name: 'Kuusikko Eläinlääkärit Oy', phone: '+358 9 555 0100', country_code: 'FI' },
    ...{ postal_address: 'Havukuja 4', postal_code: '01999', city: 'Kuusniemi' },
    default_department: [...clinic.departments.keys()][0] ?? null,
  });
  const wholesaler = clinic.insert(wholesalers, {
    ...{ name: 'Pohjolan Eläinlääketukku', type: 'E-mail', available_wholesaler: null, customer_number: '40118' },
    ...{ customer_username: null, customer_password: null, department: null, archived: false },
  });
  for (const item of clinic.registers.items.all()) {
    const product_type = productTypeOf[item.type_code];
    if (product_type === undefined) continue;
    const codes = [`PT-${rng.int(10_000, 99_999)}`];
    const barcode = `64${rng.int(10_000_000_000, 99_999_999_999)}`;
    recordSupplied(clinic, { item: item.id, wholesaler: wholesaler.id, product_type, name: item.name, codes, barcode });
  }
};
