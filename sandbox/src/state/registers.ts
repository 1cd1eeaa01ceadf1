// Registers that other parts refer to (practice-api: Consultation items; the fields of `user` and `item` are not
// shown). Patients are in people.ts.
import type { Amount } from '../money.ts';
import type { RecordBase } from '../records.ts';
import type { Patient } from './people.ts';
import type { Tables } from './tables.ts';

/** A member of staff, or the virtual user of an OAuth2 application. */
export interface User extends RecordBase {
  first_name: string;
  last_name: string;
  email: string;
  department: number | null;
  is_veterinarian: boolean;
}

/** The values of a consultation item's `type_code`. */
export const itemTypes = { procedure: 1, medicine: 2, supply: 3, food: 4, laboratory: 5, panel: 6 } as const;

/** Something that the clinic sells. */
export interface CatalogueItem extends RecordBase {
  name: string;
  type_code: number;
  /** Price per unit with VAT. */
  price_with_vat: Amount;
  vat_percentage: Amount;
  account_number: string;
  reporting_dimension_1: string | null;
  /** True if the clinic also sells the item over the counter. */
  shop: boolean;
  archived: boolean;
}

export const registerTables = (tables: Tables) => ({
  users: tables.add<User>('user', 1),
  items: tables.add<CatalogueItem>('item', 6001),
  patients: tables.add<Patient>('patient', 20_001, (patient) => patient.client),
});
