// practice-api: Consultation diagnosis; Consultation note and discharge instruction. Choices of the sandbox: a GET lists
// the records of the consultation. `code` and `name` are required but may be empty. The default of `category` and of
// both kinds of `type` is 0. A finalized consultation accepts further records. Every `/listitem/<id>/` refers to a
// diagnosis that the clinic created.
import { z } from 'zod';
import { consultationOf, requirePatients } from '../care.ts';
import type { Clinic } from '../clinic.ts';
import { code, codeInput, diagnosisCategories, diagnosisTypes, noteTypes } from '../http/codes.ts';
import { answer, id, integer, optionalText, text, time, url } from '../http/fields.ts';
import { idFilter, listRoute } from '../http/listing.ts';
import { reference } from '../http/references.ts';
import { type ApiRequest, pathId, type RouteSpec, route } from '../http/route.ts';
import { type RecordBase, ValidationProblem } from '../records.ts';
import type { Consultation } from '../state/care.ts';
import type { Table } from '../table.ts';
import { wireDiagnosis, wireInstruction, wireNote } from '../wire/care.ts';
import type { Wire, WireRecord } from '../wire.ts';

const base = { section: 'Consultations', permission: 'General: Consultations' } as const;

const about = { consultation: reference('consultation').optional(), patient: reference('patient') };
const entry = { id: id(), url: url(), created: time(), modified: time(), consultation: url(), patient: url() };

/**
 * The consultation in the path. Throws ValidationProblem if the body names another consultation, or a patient that is
 * not in it.
 */
const consultationFor = (
  request: ApiRequest<unknown, { consultation?: number | undefined; patient: number }>,
): Consultation => {
  const consultation = consultationOf(request.clinic, pathId(request));
  const { consultation: named = consultation.id, patient } = request.body;
  if (named !== consultation.id) throw new ValidationProblem('consultation', 'It differs from the path.');
  requirePatients(consultation, [patient], 'patient');
  return consultation;
};

const listOf = <T extends RecordBase & { consultation: number }>(
  name: string,
  summary: string,
  record: z.ZodType,
  table: (clinic: Clinic) => Table<T>,
  wire: (wire: Wire, record: T) => WireRecord,
): RouteSpec =>
  listRoute<T>({
    ...{ path: `consultation/:id/${name}/`, action: `${name}.list`, summary, ...base, record },
    filters: idFilter,
    table: (request) => {
      consultationOf(request.clinic, pathId(request));
      return table(request.clinic);
    },
    about: (request, one) => one.consultation === pathId(request),
    wire: (request, one) => wire(request.wire, one),
  });

const creation = (name: string, summary: string) =>
  ({ method: 'POST', path: `consultation/:id/${name}/`, action: `${name}.create`, summary, ...base }) as const;

/** An entry of the code list, by its id, or a diagnosis that the clinic created, by its URL. */
const diagnosis = z.union(
  [integer({ min: 0 }), reference('listitem').transform((id) => ({ listItem: id }))],
  // If the request sent a URL, the message is about the URL; otherwise it is about the number.
  {
    error: ({ input, errors }) =>
      (errors as z.core.$ZodIssue[][])[/^https?:/.test(String(input)) ? 1 : 0]?.[0]?.message,
  },
);

const diagnosisAnswer = answer({
  ...entry,
  diagnosis: z.union([z.int(), url()]),
  ...{ code: z.string(), name: z.string(), category: code(diagnosisCategories), type: code(diagnosisTypes) },
});
const noteAnswer = answer({ ...entry, text: z.string(), type: code(noteTypes) });
const instructionAnswer = answer({ ...entry, text: z.string() });

export const consultationRecordRoutes: RouteSpec[] = [
  listOf(
    'consultationdiagnosis',
    'Diagnoses of one consultation',
    diagnosisAnswer,
    (clinic) => clinic.care.diagnoses,
    wireDiagnosis,
  ),
  route({
    ...creation('consultationdiagnosis', 'Record a diagnosis'),
    body: z.object({
      ...about,
      diagnosis,
      code: optionalText(63),
      name: optionalText(255),
      category: codeInput(diagnosisCategories).optional(),
      type: codeInput(diagnosisTypes).optional(),
    }),
    answers: { 201: diagnosisAnswer },
    handle: (request) => {
      const { clinic, body, wire } = request;
      const { patient, code, name, category = 0, type = 0 } = body;
      const consultation = consultationFor(request).id;
      const isOwn = typeof body.diagnosis === 'object';
      const entry = typeof body.diagnosis === 'object' ? body.diagnosis.listItem : body.diagnosis;
      if (!isOwn && !clinic.people.diagnoses.get(entry)) {
        throw new ValidationProblem('diagnosis', `The code list has no diagnosis ${entry}.`);
      }
      const fields = { consultation, patient, diagnosis: entry, isOwn, code, name, category, type };
      return { status: 201, body: wireDiagnosis(wire, clinic.insert(clinic.care.diagnoses, fields)) };
    },
  }),
  listOf('consultationnote', 'Notes of one consultation', noteAnswer, (clinic) => clinic.care.notes, wireNote),
  route({
    ...creation('consultationnote', 'Write a note'),
    body: z.object({ ...about, text: text(), type: codeInput(noteTypes).optional() }),
    answers: { 201: noteAnswer },
    handle: (request) => {
      const { clinic, body, wire } = request;
      const consultation = consultationFor(request).id;
      const { patient, type = 0 } = body;
      const note = clinic.insert(clinic.care.notes, { consultation, patient, text: body.text, type });
      return { status: 201, body: wireNote(wire, note) };
    },
  }),
  listOf(
    'consultationdischargeinstruction',
    'Discharge instructions of one consultation',
    instructionAnswer,
    (clinic) => clinic.care.instructions,
    wireInstruction,
  ),
  route({
    ...creation('consultationdischargeinstruction', 'Write a discharge instruction'),
    body: z.object({ ...about, text: text() }),
    answers: { 201: instructionAnswer },
    handle: (request) => {
      const { clinic, body, wire } = request;
      const consultation = consultationFor(request).id;
      const fields = { consultation, patient: body.patient, text: body.text };
      return { status: 201, body: wireInstruction(wire, clinic.insert(clinic.care.instructions, fields)) };
    },
  }),
];
