// practice-api: Appointment and online booking; Endpoints: Appointments and online booking.
// Choices of the sandbox: `start`, `end`, `department` and `type` are required; answers have `type` as a number.
// Appointments can be listed and read. An appointment shows who booked it online, for which animals, and when a
// confirmation was last sent; only the answer to its creation has `request_hash`. The answer to a confirmation lists
// what each channel sent. Reasons have a name and are read at /reason/.
import { z } from 'zod';
import { bookingTypes, code, codeInput } from '../http/codes.ts';
import { crudRoutes } from '../http/crud.ts';
import { answer, flag, id, optionalText, text, time, timestamp, url } from '../http/fields.ts';
import { idFilter, listRoute, modifiedFilter } from '../http/listing.ts';
import { reference } from '../http/references.ts';
import { type ApiRequest, instant, pathId, type RouteSpec, route } from '../http/route.ts';
import { bookedBy, bookedFor, confirm, createAppointment } from '../online/bookings.ts';
import { NotFound } from '../records.ts';
import { type Appointment, appointmentTypes, type Reason } from '../state/online.ts';
import type { WireRecord } from '../wire.ts';

const section = 'Appointments and online booking';
const permission = 'General: Appointments';
const base = { section, permission } as const;

const fields = {
  id: id(),
  url: url(),
  created: time(),
  modified: time(),
  start: time(),
  end: time(),
  department: url(),
  reason: url().nullable(),
  user: url().nullable(),
  title: z.string(),
  complaint: z.string(),
  type: code(bookingTypes),
  client: url().nullable(),
  patients: z.array(url()),
  notes: z.string(),
  online_booking_client: url().nullable(),
  online_booking_patients: z.array(url()),
  confirmation_sent: time().nullable(),
};
const record = answer(fields);

const createBody = z.object({
  start: timestamp(),
  end: timestamp(),
  department: reference('department'),
  type: z
    .union([codeInput(bookingTypes), z.enum(appointmentTypes)], { error: 'Not a valid choice.' })
    .transform((value) => (typeof value === 'number' ? value : appointmentTypes.indexOf(value) + 1)),
  reason: reference('reason').nullish(),
  user: reference('user').nullish(),
  title: optionalText(500).default(''),
  complaint: optionalText(5000).default(''),
  client: reference('client').nullish(),
  patients: z.array(reference('patient')).max(100).default([]),
  notes: optionalText(5000).default(''),
});

const wired = ({ clinic, wire }: ApiRequest, appointment: Appointment): WireRecord => {
  const { request_hash, ...shown } = appointment;
  return {
    ...shown,
    url: wire.ref('appointment', appointment.id),
    created: wire.time(appointment.created),
    modified: wire.time(appointment.modified),
    start: wire.time(appointment.start),
    end: wire.time(appointment.end),
    department: wire.ref('department', appointment.department),
    reason: wire.ref('reason', appointment.reason),
    user: wire.ref('user', appointment.user),
    client: wire.ref('client', appointment.client),
    patients: appointment.patients.map((patient) => wire.ref('patient', patient)),
    online_booking_client: wire.ref('onlinebookingclient', bookedBy(clinic, appointment)?.id ?? null),
    online_booking_patients: bookedFor(clinic, appointment).map((one) => wire.ref('onlinebookingpatient', one.id)),
    confirmation_sent: appointment.confirmation_sent === null ? null : wire.time(appointment.confirmation_sent),
  };
};

const appointmentOf = (request: ApiRequest): Appointment => {
  const appointment = request.clinic.online.appointments.get(pathId(request));
  if (!appointment) throw new NotFound();
  return appointment;
};

const create = (request: ApiRequest<unknown, z.output<typeof createBody>>): Appointment => {
  const { body, clinic } = request;
  return createAppointment(clinic, {
    ...body,
    start: instant(request, body.start, 'start'),
    end: instant(request, body.end, 'end'),
    reason: body.reason ?? null,
    user: body.user ?? null,
    client: body.client ?? null,
  });
};

const channel = () => z.enum(['sent', 'failed', 'not sent']);

export const appointmentRoutes: RouteSpec[] = [
  ...crudRoutes<Reason, z.ZodObject>({
    ...{ name: 'reason', noun: 'reason to come', ...base },
    table: ({ clinic }) => clinic.online.reasons,
    record: answer({ id: id(), url: url(), name: z.string(), archived: z.boolean() }),
    wire: ({ wire }, { id, name, archived }) => ({ id, url: wire.ref('reason', id), name, archived }),
  }),
  listRoute<Appointment>({
    ...{ path: 'appointment/', action: 'appointment.list', summary: 'Appointments', ...base, record },
    table: ({ clinic }) => clinic.online.appointments,
    filters: {
      ...idFilter,
      ...modifiedFilter,
      start: { kind: 'time', operators: ['gte', 'lte'], value: (appointment) => appointment.start },
      client: { kind: { record: 'client' }, operators: ['is'], value: (appointment) => appointment.client },
      department: { kind: { record: 'department' }, operators: ['is'], value: (appointment) => appointment.department },
    },
    wire: wired,
  }),
  route({
    ...{ method: 'POST', path: 'appointment/', action: 'appointment.create', summary: 'Book an appointment', ...base },
    body: createBody,
    answers: { 201: answer({ ...fields, request_hash: z.string() }) },
    handle: (request) => {
      const appointment = create(request);
      return { status: 201, body: { ...wired(request, appointment), request_hash: appointment.request_hash } };
    },
  }),
  route({
    ...{ method: 'GET', path: 'appointment/:id/', action: 'appointment.retrieve', summary: 'One appointment', ...base },
    answers: { 200: record },
    handle: (request) => ({ status: 200, body: wired(request, appointmentOf(request)) }),
  }),
  route({
    ...{ method: 'POST', path: 'appointment/:id/send_appointment_confirmation/', ...base },
    action: 'appointment.send_appointment_confirmation',
    summary: 'Send the confirmation; the flags leave a channel out',
    query: z.object({
      dont_send_email_confirmation: flag('no e-mail is sent'),
      dont_send_sms_confirmation: flag('no SMS is sent'),
    }),
    body: z.object({ request_hash: text(200) }),
    answers: { 200: answer({ status: z.literal('ok'), email: channel(), sms: channel() }) },
    handle: (request) => {
      const { body, clinic, search } = request;
      const { email, sms } = confirm(clinic, appointmentOf(request), body.request_hash, {
        email: !search.has('dont_send_email_confirmation'),
        sms: !search.has('dont_send_sms_confirmation'),
      });
      return { status: 200, body: { status: 'ok', email, sms } };
    },
  }),
];
