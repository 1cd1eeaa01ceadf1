// practice-api: Patient; Endpoints: Patients; Errors (bulk create).
// Choices of the sandbox: the names of the filters name__icontains, microchip__is, species__is (species_code__is is the
// same) and date_of_birth__gte. Gender values besides Male and 2 Female are in code-lists.ts. A breed is not checked
// against the species. Requests can write all further fields but these: old_patient_id, last_consultation (the id of
// the consultation that started last), `picture` (always null), visible_department_groups and patient_extras (always
// empty) and tags_rel (set in the application). One patient is read at /patient/{id}/. Bulk create answers {"created":
// [patients], "failed": [{"index", "errors"}]} with every status and takes at most 500. Without force_push it creates
// no patient if one fails (400).
import { z } from 'zod';
import { genders } from '../code-lists.ts';
import { inWords } from '../http/codes.ts';
import * as of from '../http/fields.ts';
import { idFilter, listRoute, modifiedFilter } from '../http/listing.ts';
import { fieldEntries, fieldValueAnswer } from '../http/people-fields.ts';
import { reference } from '../http/references.ts';
import { type ApiRequest, pathId, type RouteSpec, route } from '../http/route.ts';
import { addPatient, changePatient, checkPatient, type NewPatientInput, type PatientInput } from '../people.ts';
import { NotFound, ValidationProblem } from '../records.ts';
import type { Patient } from '../state/people.ts';
import { patientRecord } from '../wire/people.ts';

const section = 'Patients';
const permission = 'General: Patients and clients';
const one = 'patient/:id/';

const texts = [
  ...(['official_name', 'remarks', 'critical_notes', 'insurance', 'insurance_company', 'color'] as const),
  ...(['additional_identification', 'reason_of_death', 'stable_name', 'street_address', 'street_address_2'] as const),
  ...(['zip_code', 'city', 'passport_number', 'register_number', 'holding_place_number', 'animal_code'] as const),
] as const;
const dates = ['date_of_birth', 'deceased', 'microchip_date', 'date_of_registration', 'date_imported'] as const;
const flags = ['archived', 'not_for_food', 'imported', 'private'] as const;

const each = <N extends string, S>(names: readonly N[], schema: () => S): Record<N, S> =>
  Object.fromEntries(names.map((name) => [name, schema()])) as Record<N, S>;

const genderCodes = inWords(Object.fromEntries(genders.map(({ code, name }) => [code, name])));

const record = of.answer({
  ...{ id: of.id(), url: of.url(), client: of.url(), name: z.string() },
  ...each(texts, () => z.string()),
  ...each(dates, () => of.day().nullable()),
  ...each(flags, () => z.boolean()),
  ...{ species: z.string(), species_code: z.int(), breed: z.string().nullable(), breed_code: z.int().nullable() },
  ...{
    gender: z.string(),
    gender_code: z.int().describe(genderCodes),
    weight: of.amountText().nullable(),
    microchip: z.string().nullable(),
  },
  ...{ home_department: of.url().nullable(), visible_departments: z.array(of.url()) },
  ...{ visible_department_groups: z.array(of.url()), herd_size: z.int().nullable(), old_patient_id: z.string() },
  ...{ last_consultation: of.url().nullable(), picture: z.string().nullable(), patient_extras: z.array(z.unknown()) },
  tags_rel: z.array(of.answer({ id: of.id(), name: z.string() })),
  fields_rel: z.array(fieldValueAnswer),
  ...{ created: of.time(), modified: of.time() },
});

/** Accepts a gender's name or code, and returns its code. */
const gender = () =>
  z
    .union(
      [
        of.choice(
          genders.map(({ code }) => code),
          genderCodes,
        ),
        z.enum(genders.map(({ name }) => name)),
      ],
      {
        error: `Not a valid choice. Send one of: ${genders.map(({ name }) => name).join(', ')}, or its code.`,
      },
    )
    .transform((given) => genders.find(({ code, name }) => given === name || given === code)?.code ?? 0);

const code = () => of.integer({ min: 0 });

const optional = {
  ...each(texts, () => of.optionalText(2000).optional()),
  ...each(dates, () => of.date().nullish()),
  ...each(flags, () => of.boolean().optional()),
  breed: code().nullish(),
  gender: gender().optional(),
  weight: of.decimal(3, 'zeroOrMore').nullish(),
  microchip: of.text(63).nullish(),
  home_department: reference('department').nullish(),
  visible_departments: z.array(reference('department')).max(100).optional(),
  herd_size: of.integer({ min: 1, max: 1_000_000 }).nullish(),
  fields_rel: fieldEntries(),
};
const create = z.object({ client: reference('client'), name: of.text(255), species: code(), ...optional });
const change = create.partial();

/** The patient's fields in the request, renamed from the API's names for writing to the record's names. */
const sent = <T extends z.output<typeof change>>({ species, breed, gender, ...rest }: T): PatientInput => {
  const coded = { ...rest, species_code: species, breed_code: breed, gender_code: gender };
  return Object.fromEntries(Object.entries(coded).filter(([, value]) => value !== undefined));
};

const patientOf = (request: ApiRequest): Patient => {
  const patient = request.clinic.registers.patients.get(pathId(request));
  if (!patient) throw new NotFound();
  return patient;
};

interface Failure {
  index: number;
  errors: Record<string, string[]>;
}

/** Splits the patients of a bulk request: those that can be created, and the others with their errors. */
const sorted = ({ clinic, body, read }: ApiRequest<unknown, unknown[]>) => {
  const usable: NewPatientInput[] = [];
  const failed: Failure[] = [];
  for (const [index, given] of body.entries()) {
    const one = read(create, given);
    if ('problems' in one) {
      failed.push({ index, errors: one.problems });
      continue;
    }
    const input = sent(one.value) as NewPatientInput;
    try {
      checkPatient(clinic, input);
      usable.push(input);
    } catch (error) {
      if (!(error instanceof ValidationProblem)) throw error;
      failed.push({ index, errors: error.fields });
    }
  }
  return { usable, failed };
};

const bulkAnswer = of.answer({
  created: z.array(record),
  failed: z.array(of.answer({ index: z.int(), errors: z.record(z.string(), z.array(z.string())) })),
});

export const patientRoutes: RouteSpec[] = [
  listRoute<Patient>({
    ...{ path: 'patient/', action: 'patient.list', summary: 'Patients', section, permission, record },
    table: ({ clinic }) => clinic.registers.patients,
    filters: {
      ...idFilter,
      ...modifiedFilter,
      client: { kind: { record: 'client' }, operators: ['is'], value: (patient) => patient.client },
      name: { kind: 'text', operators: ['icontains'], value: (patient) => patient.name },
      microchip: { kind: 'text', operators: ['is'], value: (patient) => patient.microchip },
      species: { kind: 'integer', operators: ['is'], value: (patient) => patient.species_code },
      species_code: { kind: 'integer', operators: ['is'], value: (patient) => patient.species_code },
      archived: { kind: 'boolean', operators: ['is'], value: (patient) => patient.archived },
      deceased: { kind: 'date', operators: ['is_null'], value: (patient) => patient.deceased },
      date_of_birth: { kind: 'date', operators: ['gte'], value: (patient) => patient.date_of_birth },
    },
    wire: patientRecord,
    group: 'client',
  }),
  route({
    ...{ method: 'GET', path: one, action: 'patient.retrieve', summary: 'One patient', section, permission },
    answers: { 200: record },
    handle: (request) => ({ status: 200, body: patientRecord(request, patientOf(request)) }),
  }),
  route({
    ...{ method: 'POST', path: 'patient/', action: 'patient.create', summary: 'Create a patient', section, permission },
    body: create,
    answers: { 200: record },
    handle: (request) => {
      const patient = addPatient(request.clinic, sent(request.body) as NewPatientInput);
      return { status: 200, body: patientRecord(request, patient) };
    },
  }),
  route({
    ...{ method: 'PATCH', path: one, action: 'patient.partial_update', section, permission },
    summary: 'Change a patient; archived=true removes it from active use, deceased=null makes it live again',
    body: change,
    answers: { 200: record },
    handle: (request) => {
      const patient = changePatient(request.clinic, patientOf(request), sent(request.body));
      return { status: 200, body: patientRecord(request, patient) };
    },
  }),
  route({
    ...{ method: 'POST', path: 'patient/bulk/', action: 'patient.bulk', section, permission },
    summary: 'Create up to 500 patients; force_push=true creates those that are valid where others are not',
    query: z.object({ force_push: of.boolean().optional().describe('true: those that are valid are created') }),
    // The schema accepts any object, because an invalid patient must fail without the others.
    body: z
      .array(z.union([z.record(z.string(), z.unknown()), create]), { error: 'Expected a list of items.' })
      .min(1, 'This list may not be empty.')
      .max(500, 'Ensure this list has no more than 500 items.')
      .describe('Patients, each with the fields of create'),
    answers: { 201: bulkAnswer, 207: bulkAnswer },
    handle: (request) => {
      const { usable, failed } = sorted(request);
      const isRefused = usable.length === 0 || (failed.length > 0 && !request.query.force_push);
      if (isRefused) return { status: 400, body: { created: [], failed } };
      const created = usable.map((input) => patientRecord(request, addPatient(request.clinic, input)));
      return { status: failed.length > 0 ? 207 : 201, body: { created, failed } };
    },
  }),
];
