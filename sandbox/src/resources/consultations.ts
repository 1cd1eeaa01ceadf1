// practice-api: Consultation; States: Consultation status; Endpoints: Consultations. Choices of the sandbox: only client
// and patients are required. The default of `type` is 1 Outpatient. A create request's `status` is ignored, like other
// read-only fields.
import { z } from 'zod';
import { consultationOf, moveConsultation, openConsultation } from '../care.ts';
import { code, codeInput, consultationStatuses, consultationTypes } from '../http/codes.ts';
import { answer, id, optionalText, time, timestamp, url } from '../http/fields.ts';
import { idFilter, listRoute, modifiedFilter } from '../http/listing.ts';
import { reference } from '../http/references.ts';
import { instant, pathId, type RouteSpec, route } from '../http/route.ts';
import { userOf } from '../people.ts';
import type { Consultation } from '../state/care.ts';
import { wireConsultation } from '../wire/care.ts';

const section = 'Consultations';
const permission = 'General: Consultations';

const record = answer({
  id: id(),
  url: url(),
  created: time(),
  modified: time(),
  client: url(),
  patients: z.array(url()),
  started: time(),
  finished: time().nullable(),
  complaint: z.string(),
  type: code(consultationTypes),
  status: code(consultationStatuses),
  admitted_time: time().nullable(),
  first_entry: time().nullable(),
  ended: time().nullable(),
  invoice: url().nullable(),
  supervising_veterinarian: url(),
  department: url(),
  consultation_items: z.array(url()),
  reporting_dimension_1: z.string().nullable(),
  reporting_dimension_2: z.string().nullable(),
});

const body = z.object({
  client: reference('client'),
  patients: z
    .array(reference('patient'), { error: 'This field is required: a list of patients.' })
    .min(1, 'This list may not be empty.')
    .max(200),
  started: timestamp().optional(),
  finished: timestamp().nullish(),
  complaint: optionalText().optional(),
  type: codeInput(consultationTypes).optional(),
  supervising_veterinarian: reference('user').nullish(),
  department: reference('department').nullish(),
  reporting_dimension_1: optionalText(63).nullish(),
  reporting_dimension_2: optionalText(63).nullish(),
});

export const consultationRoutes: RouteSpec[] = [
  listRoute<Consultation>({
    path: 'consultation/',
    action: 'consultation.list',
    summary: 'Consultations',
    ...{ section, permission, record },
    table: ({ clinic }) => clinic.care.consultations,
    filters: {
      ...idFilter,
      ...modifiedFilter,
      status: { kind: 'integer', operators: ['is'], value: (consultation) => consultation.status },
      client: { kind: { record: 'client' }, operators: ['is'], value: (consultation) => consultation.client },
      patients: { kind: { record: 'patient' }, operators: ['is'], value: (consultation) => consultation.patients },
      department: {
        kind: { record: 'department' },
        operators: ['is'],
        value: (consultation) => consultation.department,
      },
      started: { kind: 'time', operators: ['gte', 'lte'], value: (consultation) => consultation.started },
      supervising_veterinarian: {
        kind: { record: 'user' },
        operators: ['is'],
        value: (consultation) => consultation.supervising_veterinarian,
      },
    },
    wire: ({ clinic, wire }, consultation) => wireConsultation(wire, clinic, consultation),
  }),
  route({
    method: 'POST',
    path: 'consultation/',
    action: 'consultation.create',
    summary: 'Open a consultation',
    ...{ section, permission, body },
    answers: { 201: record },
    handle: (request) => {
      const { application, clinic, wire } = request;
      const { started, finished, supervising_veterinarian, department, client, patients, complaint, type } =
        request.body;
      const { reporting_dimension_1 = null, reporting_dimension_2 = null } = request.body;
      const consultation = openConsultation(clinic, {
        ...{ client, patients: [...new Set(patients)], reporting_dimension_1, reporting_dimension_2 },
        finished: finished == null ? null : instant(request, finished, 'finished'),
        supervising_veterinarian: supervising_veterinarian ?? userOf(clinic, application).id,
        ...(started === undefined ? {} : { started: instant(request, started, 'started') }),
        ...(department == null ? {} : { department }),
        ...(complaint === undefined ? {} : { complaint }),
        ...(type === undefined ? {} : { type }),
      });
      return { status: 201, body: wireConsultation(wire, clinic, consultation) };
    },
  }),
  route({
    method: 'GET',
    path: 'consultation/:id/',
    action: 'consultation.retrieve',
    summary: 'One consultation',
    ...{ section, permission },
    answers: { 200: record },
    handle: (request) => {
      const { clinic, wire } = request;
      return { status: 200, body: wireConsultation(wire, clinic, consultationOf(clinic, pathId(request))) };
    },
  }),
  route({
    method: 'POST',
    path: 'consultation/:id/update_status/',
    action: 'consultation.update_status',
    summary: 'Begin or finalise a consultation; finalising makes its invoice',
    ...{ section, permission },
    body: z.object({ status: codeInput(consultationStatuses) }),
    answers: { 200: record },
    handle: (request) => {
      const { body, clinic, wire } = request;
      const consultation = moveConsultation(clinic, pathId(request), body.status);
      return { status: 200, body: wireConsultation(wire, clinic, consultation) };
    },
  }),
];
