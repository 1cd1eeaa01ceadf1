// The records of an invented clinic before its history: staff, items, and the clients' registers (opening-people.ts).
// They are drawn from separate random streams, so that the history of a seed does not change.
import { items, vatGroupOn, vatGroups } from './catalogue.ts';
import type { Clinic } from './clinic.ts';
import { dec, fixed } from './money.ts';
import { openPeople } from './opening-people.ts';
import { Rng } from './rng.ts';
import { itemTypes } from './state/registers.ts';

const staff = [
  ['Iida', 'Vuorela', true],
  ['Otso', 'Rantala', true],
  ['Tuuli', 'Saarinen', true],
  ['Elias', 'Kuusela', false],
] as const;

/** Reasons for appointments. */
const reasons = ['Vaccination', 'Check-up', 'Limping', 'Skin or ears', 'Teeth', 'Surgery', 'Emergency'];

/** The type of an item, derived from its revenue account. */
const typeOf = (account: string): number => {
  if (account === '3100') return itemTypes.medicine;
  if (account === '3110' || account === '3130') return itemTypes.supply;
  if (account === '3120') return itemTypes.food;
  return account === '3020' ? itemTypes.laboratory : itemTypes.procedure;
};

/** Fills the registers of an empty clinic. The same seed gives the same records. Items have the VAT rates of `ratesOn`. */
export const openRegisters = (clinic: Clinic, seed: number, ratesOn: string): void => {
  const rng = new Rng(seed, 'registers');
  const { users, items: table } = clinic.registers;
  const departments = [...clinic.departments.keys()];
  for (const [first_name, last_name, is_veterinarian] of staff) {
    const email = `${first_name}.${last_name}@kuusikko.example`.toLowerCase();
    clinic.insert(users, { first_name, last_name, email, is_veterinarian, department: rng.pick(departments) });
  }
  for (const name of reasons) clinic.insert(clinic.online.reasons, { name, archived: false });
  for (const item of items) {
    clinic.insert(table, {
      name: item.name,
      type_code: typeOf(item.account),
      price_with_vat: fixed(dec(rng.int(item.from * 100, item.to * 100)).div(100), 2),
      vat_percentage: vatGroupOn(item.vat, ratesOn).percentage,
      account_number: item.account,
      reporting_dimension_1: item.dimension ?? null,
      shop: item.shop ?? false,
      archived: false,
    });
  }
  const fee = clinic.insert(table, {
    ...{
      name: 'Prescription fee',
      type_code: itemTypes.procedure,
      price_with_vat: '12.55',
      shop: true,
      archived: false,
    },
    ...{ vat_percentage: vatGroups.general.percentage, account_number: '3300', reporting_dimension_1: null },
  });
  for (const department of clinic.departments.values()) department.prescription_fee_item = fee.id;
  openPeople(clinic, seed);
};
