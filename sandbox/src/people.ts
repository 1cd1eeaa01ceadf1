// Clients and patients: creates and changes them, and answers questions of other parts about them (practice-api:
// Client, Patient, Phone number).
import type { Application } from './auth.ts';
import type { Clinic } from './clinic.ts';
import { genders } from './code-lists.ts';
import { checkFieldValues, type FieldEntry, setFieldValues } from './custom-fields.ts';
import { noPayer } from './invoicing.ts';
import { type Client, ValidationProblem } from './records.ts';
import type { Patient, PhoneNumber } from './state/people.ts';
import type { User } from './state/registers.ts';

/** The client's first mobile number, which receives SMS; null if there is none. */
export const mobileOf = (clinic: Clinic, clientId: number): PhoneNumber | null =>
  clinic.people.phoneNumbers.of(clientId).find((number) => number.type_code === 1) ?? null;

/**
 * True if the client has valid communication preferences (practice-api: Errors). The specification does not define
 * valid; the sandbox chose: a request has set `no_sms` or `no_email`.
 */
export const hasValidPreferences = (client: Client): boolean => client.preferences_stated_at !== null;

/** The virtual user of an application, in whose name its requests act. It becomes a user at its first request. */
export const userOf = (clinic: Clinic, application: Application): User => {
  const { users } = clinic.registers;
  const email = `${application.clientId || 'legacy-key'}@applications.example`;
  const known = users.all().find((user) => user.email === email);
  const name = { first_name: application.name, last_name: '' };
  return known ?? clinic.insert(users, { ...name, email, department: null, is_veterinarian: false });
};

export interface ClientInput
  extends Partial<
    Pick<
      Client,
      | 'firstname'
      | 'lastname'
      | 'organization_name'
      | 'email'
      | 'country'
      | 'customer_type'
      | 'no_sms'
      | 'no_email'
      | 'archived'
    >
  > {
  fields_rel?: readonly FieldEntry[];
}

/** Adds a client. Missing fields are empty; the default country is the clinic's. */
export const addClient = (clinic: Clinic, { fields_rel = [], ...input }: ClientInput): Client => {
  const fields = {
    ...{ firstname: '', lastname: '', organization_name: '', email: '', country: 'FI', customer_type: 0 },
    ...{ no_sms: false, no_email: false, archived: false },
    ...input,
  };
  requireName(fields);
  checkFieldValues(clinic, 'client', fields_rel);
  const client = clinic.insert(clinic.clients, {
    ...fields,
    preferences_stated_at: statesPreferences(input) ? clinic.clock() : null,
    payer: { ...noPayer, ...namesOf(fields) },
  });
  setFieldValues(clinic, 'client', client.id, fields_rel);
  return client;
};

/** Changes a client. Later invoices get the new names; existing invoices keep their payer snapshots. */
export const changeClient = (clinic: Clinic, client: Client, { fields_rel = [], ...input }: ClientInput): Client => {
  const fields = { ...client, ...input };
  requireName(fields);
  setFieldValues(clinic, 'client', client.id, fields_rel);
  return clinic.update(clinic.clients, client, {
    ...input,
    ...(statesPreferences(input) ? { preferences_stated_at: clinic.clock() } : {}),
    payer: { ...client.payer, ...namesOf(fields) },
  });
};

const statesPreferences = (input: ClientInput): boolean => input.no_sms !== undefined || input.no_email !== undefined;

type Named = Pick<Client, 'firstname' | 'lastname' | 'organization_name' | 'country'>;

const requireName = ({ firstname, lastname, organization_name }: Named): void => {
  if (`${firstname}${lastname}${organization_name}`.trim() !== '') return;
  throw new ValidationProblem('lastname', 'A client needs a first name, a last name or an organization name.');
};

const countryNames = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });

/** The English name of a country code of ISO 3166-1; undefined for an unknown code. */
export const countryName = (code: string): string | undefined =>
  /^[A-Z]{2}$/.test(code) ? countryNames.of(code) : undefined;

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
/** All country codes of ISO 3166-1. */
export const countryCodes = letters
  .flatMap((first) => letters.map((second) => first + second))
  .filter((code) => countryName(code) !== undefined);

/** The names and the country for a payer snapshot. */
const namesOf = ({ firstname, lastname, organization_name, country }: Named) => ({
  payer_name: `${firstname} ${lastname}`.trim(),
  payer_organization_name: organization_name,
  payer_country: countryName(country) ?? country,
  payer_country_code: country,
});

export type NewPatient = Omit<Patient, 'id' | 'created' | 'modified'>;

/** A patient with only an owner, a name and a species. */
export const newPatient = (client: number, name: string, species_code: number): NewPatient => ({
  client,
  name,
  species_code,
  official_name: '',
  breed_code: null,
  gender_code: 0,
  weight: null,
  date_of_birth: null,
  deceased: null,
  microchip: null,
  microchip_date: null,
  archived: false,
  home_department: null,
  herd_size: null,
  old_patient_id: '',
  remarks: '',
  critical_notes: '',
  date_of_registration: null,
  insurance: '',
  insurance_company: '',
  color: '',
  additional_identification: '',
  reason_of_death: '',
  stable_name: '',
  street_address: '',
  street_address_2: '',
  zip_code: '',
  city: '',
  not_for_food: false,
  passport_number: '',
  register_number: '',
  date_imported: null,
  imported: false,
  holding_place_number: '',
  animal_code: '',
  private: false,
  visible_departments: [],
  last_consultation: null,
  tags: [],
});

export interface PatientInput extends Partial<Omit<NewPatient, 'tags' | 'last_consultation' | 'old_patient_id'>> {
  fields_rel?: readonly FieldEntry[];
}
export interface NewPatientInput extends PatientInput {
  client: number;
  name: string;
  species_code: number;
}

/** Adds a patient. Throws ValidationProblem if a reference or a code does not exist. */
export const addPatient = (clinic: Clinic, input: NewPatientInput): Patient => {
  checkPatient(clinic, input);
  const { fields_rel = [], ...fields } = input;
  const { client, name, species_code } = fields;
  const patient = clinic.insert(clinic.registers.patients, { ...newPatient(client, name, species_code), ...fields });
  setFieldValues(clinic, 'patient', patient.id, fields_rel);
  return patient;
};

export const changePatient = (clinic: Clinic, patient: Patient, input: PatientInput): Patient => {
  checkPatient(clinic, { ...patient, ...input });
  const { fields_rel = [], ...fields } = input;
  setFieldValues(clinic, 'patient', patient.id, fields_rel);
  return clinic.update(clinic.registers.patients, patient, fields);
};

/**
 * Throws ValidationProblem for a reference or code that does not exist, or for a gender that the species does not have.
 */
export const checkPatient = (clinic: Clinic, input: NewPatientInput): void => {
  const { species, breeds } = clinic.people;
  const require = (isKnown: boolean, field: string, given: number): void => {
    if (!isKnown) throw new ValidationProblem(field, `Invalid pk "${given}" - object does not exist.`);
  };
  require(clinic.clients.get(input.client) !== undefined, 'client', input.client);
  const kind = species.get(input.species_code);
  require(kind !== undefined, 'species', input.species_code);
  if (input.breed_code != null) require(breeds.get(input.breed_code) !== undefined, 'breed', input.breed_code);
  const home = input.home_department;
  if (home != null) require(clinic.departments.has(home), 'home_department', home);
  for (const id of input.visible_departments ?? []) require(clinic.departments.has(id), 'visible_departments', id);
  const gender = genders.find(({ code }) => code === (input.gender_code ?? 0));
  if (gender?.equine && !kind?.equine) {
    throw new ValidationProblem('gender', `The gender ${gender.name} exists for equine patients only.`);
  }
  checkFieldValues(clinic, 'patient', input.fields_rel ?? []);
};
