// Clients, patients and their records as JSON (practice-api: Client, Phone number, Patient, Custom fields).
import type { Clinic } from '../clinic.ts';
import { genders } from '../code-lists.ts';
import { fieldValues } from '../custom-fields.ts';
import type { Client } from '../records.ts';
import type { CodeListEntry, CustomField, CustomFieldValue, Patient, PhoneNumber } from '../state/people.ts';
import type { Wire, WireRecord } from '../wire.ts';

interface Asked {
  clinic: Clinic;
  wire: Wire;
}

export const clientRecord = ({ clinic, wire }: Asked, client: Client): WireRecord =>
  wire.client(client, fieldsRel(clinic, 'client', client.id));

export const phoneNumberRecord = (
  { wire }: Asked,
  { id, client, phone_number, type_code }: PhoneNumber,
): WireRecord => ({
  ...{ id, url: wire.ref('phonenumber', id), client: wire.ref('client', client), phone_number, type_code },
});

export const codeRecord = ({ id, display_code, label }: CodeListEntry): WireRecord => ({ id, display_code, label });

export const customFieldRecord = ({ id, label, data_type, model, options }: CustomField): WireRecord => ({
  ...{ id, label, data_type, model, options },
});

export const fieldValueRecord = (clinic: Clinic, { id, field, value }: CustomFieldValue): WireRecord => ({
  ...{ id, field_id: field, name: clinic.people.customFields.get(field)?.label ?? '', value },
});

const fieldsRel = (clinic: Clinic, model: CustomField['model'], owner: number): WireRecord[] =>
  fieldValues(clinic, model)
    .of(owner)
    .map((value) => fieldValueRecord(clinic, value));

/** A patient, with both the codes and their names. */
export const patientRecord = ({ clinic, wire }: Asked, patient: Patient): WireRecord => {
  const { people } = clinic;
  const { tags, breed_code, species_code, gender_code, ...rest } = patient;
  return {
    ...rest,
    url: wire.ref('patient', patient.id),
    client: wire.ref('client', patient.client),
    species: people.species.get(species_code)?.label ?? '',
    species_code,
    breed: breed_code === null ? null : (people.breeds.get(breed_code)?.label ?? ''),
    breed_code,
    gender: genders.find(({ code }) => code === gender_code)?.name ?? '',
    gender_code,
    home_department: wire.ref('department', patient.home_department),
    visible_departments: patient.visible_departments.map((id) => wire.ref('department', id)),
    visible_department_groups: [],
    last_consultation: wire.ref('consultation', patient.last_consultation),
    picture: null,
    patient_extras: [],
    tags_rel: tags.map((id) => ({ id, name: people.tags.get(id)?.name ?? '' })),
    fields_rel: fieldsRel(clinic, 'patient', patient.id),
    created: wire.time(patient.created),
    modified: wire.time(patient.modified),
  };
};
