// Records of clients and patients (practice-api: Client, Phone number, Patient, Custom fields; the code lists of
// "Patients"). Patients are also in `registers`, because other parts refer to them.
import type { Amount } from '../money.ts';
import type { RecordBase } from '../records.ts';
import type { Tables } from './tables.ts';

/** practice-api: Patient. Codes are ids of the code lists; dates are `YYYY-MM-DD`; null means unknown. */
export interface Patient extends RecordBase {
  client: number;
  name: string;
  official_name: string;
  species_code: number;
  breed_code: number | null;
  gender_code: number;
  weight: Amount | null;
  date_of_birth: string | null;
  deceased: string | null;
  microchip: string | null;
  microchip_date: string | null;
  archived: boolean;
  home_department: number | null;
  /** The number of animals in a herd, which multiplies quantities on farm visits. Null means one animal. */
  herd_size: number | null;
  old_patient_id: string;
  remarks: string;
  critical_notes: string;
  date_of_registration: string | null;
  insurance: string;
  insurance_company: string;
  color: string;
  additional_identification: string;
  reason_of_death: string;
  stable_name: string;
  street_address: string;
  street_address_2: string;
  zip_code: string;
  city: string;
  not_for_food: boolean;
  passport_number: string;
  register_number: string;
  date_imported: string | null;
  imported: boolean;
  holding_place_number: string;
  animal_code: string;
  private: boolean;
  /** The departments that can see the patient; an empty list means all. */
  visible_departments: number[];
  /** The id of the consultation that started last. */
  last_consultation: number | null;
  /** Ids of `people.tags`. */
  tags: number[];
}

/** practice-api: Phone number. `type_code` 0 Landline, 1 Mobile. */
export interface PhoneNumber extends RecordBase {
  client: number;
  /** International format without spaces, for example `+358401234567`. */
  phone_number: string;
  type_code: number;
}

/** An entry of a code list. Its id is the code, which differs by installation. */
export interface CodeListEntry extends RecordBase {
  display_code: string;
  label: string;
}

export interface Species extends CodeListEntry {
  /** True if the species has the gender values of equine patients. */
  equine: boolean;
}

export interface Tag extends RecordBase {
  name: string;
}

export const fieldTypes = ['text', 'number', 'date', 'boolean', 'select', 'multi_select'] as const;
export type FieldType = (typeof fieldTypes)[number];

export interface FieldOption {
  id: number;
  name: string;
}

/** The definition of a custom field. */
export interface CustomField extends RecordBase {
  label: string;
  data_type: FieldType;
  model: 'client' | 'patient';
  /** The options of the two select types; empty for other types. */
  options: FieldOption[];
}

/** The value of a custom field: text, or the selected options. */
export type FieldContent = string | FieldOption[];

/** The value of a custom field for one client or patient (`owner`). */
export interface CustomFieldValue extends RecordBase {
  owner: number;
  field: number;
  value: FieldContent;
}

export const peopleTables = (tables: Tables) => ({
  phoneNumbers: tables.add<PhoneNumber>('phonenumber', 4001, (number) => number.client),
  customFields: tables.add<CustomField>('custom_fields', 501),
  clientFieldValues: tables.add<CustomFieldValue>('client_field_value', 5001, (value) => value.owner),
  patientFieldValues: tables.add<CustomFieldValue>('patient_field_value', 7001, (value) => value.owner),
  tags: tables.add<Tag>('tag', 1),
  species: tables.add<Species>('species', 1),
  breeds: tables.add<CodeListEntry>('breed', 1),
  diagnoses: tables.add<CodeListEntry>('diagnosis', 1),
});
