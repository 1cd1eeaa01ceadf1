import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { type VatForm, vatFormSchema } from '../mapping/vat-form.ts';

/** The countries whose VAT return form is known (mappings/vat-forms). */
export const vatFormCountries = ['fi', 'de', 'se'] as const;
export type VatFormCountry = (typeof vatFormCountries)[number];

export function loadVatForm(country: VatFormCountry): VatForm {
  const file = new URL(`../../mappings/vat-forms/${country}.yaml`, import.meta.url);
  return vatFormSchema.parse(parse(readFileSync(file, 'utf8')));
}

/** The form of a mapping's `country`, if it is known. */
export function vatFormOfCountry(country: string | null): VatFormCountry | null {
  return vatFormCountries.find((known) => known.toUpperCase() === country) ?? null;
}
