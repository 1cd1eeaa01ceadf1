// practice-api: Appointment and online booking; Endpoints: Appointments and online booking.
// Choices of the sandbox: the names of client and animal and the species are required. Both records have an endpoint to
// read them. A reminder has the appointment, the time to send it (`remind_at`: in the future, before the start) and a
// `delivery_method` (as for payment links, without 0). Its answer shows `delivery_status` and when it was sent.
import { z } from 'zod';
import { code, codeInput, deliveryStatuses, reminderMethods } from '../http/codes.ts';
import { answer, id, integer, optionalText, text, time, timestamp, url } from '../http/fields.ts';
import { reference } from '../http/references.ts';
import { type ApiRequest, instant, pathId, type RouteSpec, route } from '../http/route.ts';
import { connectClient, connectPatient, createReminder, sendDueReminders } from '../online/bookings.ts';
import { NotFound, type RecordBase } from '../records.ts';
import type { AppointmentReminder, OnlineBookingClient, OnlineBookingPatient } from '../state/online.ts';
import type { Table } from '../table.ts';
import type { WireRecord } from '../wire.ts';
import { emailAddress, phoneNumber } from './contact-fields.ts';

const section = 'Appointments and online booking';
const permission = 'General: Appointments';
const base = { section, permission } as const;
const dated = { id: id(), url: url(), created: time(), modified: time() };
const maxCode = 999_999_999;

const clientRecord = answer({
  ...dated,
  appointment: url(),
  first_name: z.string(),
  last_name: z.string(),
  email: z.string(),
  phone_number: z.string(),
  street_address: z.string(),
  zip_code: z.string(),
  city: z.string(),
});

const patientRecord = answer({
  ...dated,
  onlinebookingclient: url(),
  name: z.string(),
  species: id(),
  breed: id().nullable(),
  notes: z.string(),
});

const reminderRecord = answer({
  ...dated,
  appointment: url(),
  remind_at: time(),
  delivery_method: code(reminderMethods),
  delivery_status: code(deliveryStatuses),
  sent: time().nullable(),
});

const clientBody = z.object({
  appointment: reference('appointment'),
  first_name: text(200),
  last_name: text(200),
  email: emailAddress().or(z.literal('')).default(''),
  phone_number: phoneNumber().or(z.literal('')).default(''),
  street_address: optionalText(500).default(''),
  zip_code: optionalText(50).default(''),
  city: optionalText(200).default(''),
});

const patientBody = z.object({
  onlinebookingclient: reference('onlinebookingclient'),
  name: text(200),
  species: integer({ min: 0, max: maxCode }),
  breed: integer({ min: 0, max: maxCode }).nullish(),
  notes: optionalText(5000).default(''),
});

const reminderBody = z.object({
  appointment: reference('appointment'),
  remind_at: timestamp(),
  delivery_method: codeInput(reminderMethods).prefault(1),
});

const withDates = ({ wire }: ApiRequest, path: string, record: RecordBase): WireRecord => ({
  ...record,
  url: wire.ref(path, record.id),
  created: wire.time(record.created),
  modified: wire.time(record.modified),
});

const wiredClient = (request: ApiRequest, client: OnlineBookingClient): WireRecord => ({
  ...withDates(request, 'onlinebookingclient', client),
  appointment: request.wire.ref('appointment', client.appointment),
});

const wiredPatient = (request: ApiRequest, patient: OnlineBookingPatient): WireRecord => ({
  ...withDates(request, 'onlinebookingpatient', patient),
  onlinebookingclient: request.wire.ref('onlinebookingclient', patient.onlinebookingclient),
});

const wiredReminder = (request: ApiRequest, reminder: AppointmentReminder): WireRecord => ({
  ...withDates(request, 'appointment_reminder', reminder),
  appointment: request.wire.ref('appointment', reminder.appointment),
  remind_at: request.wire.time(reminder.remind_at),
  sent: reminder.sent === null ? null : request.wire.time(reminder.sent),
});

const recordOf = <T extends RecordBase>(request: ApiRequest, table: Table<T>): T => {
  const record = table.get(pathId(request));
  if (!record) throw new NotFound();
  return record;
};

export const onlineBookingRoutes: RouteSpec[] = [
  route({
    ...{ method: 'POST', path: 'onlinebookingclient/', action: 'onlinebookingclient.create', ...base },
    summary: 'Connect who booked online to the appointment',
    body: clientBody,
    answers: { 201: clientRecord },
    handle: (request) => ({ status: 201, body: wiredClient(request, connectClient(request.clinic, request.body)) }),
  }),
  route({
    ...{ method: 'GET', path: 'onlinebookingclient/:id/', action: 'onlinebookingclient.retrieve', ...base },
    summary: 'Who booked online',
    answers: { 200: clientRecord },
    handle: (request) => ({
      status: 200,
      body: wiredClient(request, recordOf(request, request.clinic.online.bookingClients)),
    }),
  }),
  route({
    ...{ method: 'POST', path: 'onlinebookingpatient/', action: 'onlinebookingpatient.create', ...base },
    summary: 'Connect an animal to who booked online',
    body: patientBody,
    answers: { 201: patientRecord },
    handle: (request) => {
      const { body, clinic } = request;
      const patient = connectPatient(clinic, { ...body, breed: body.breed ?? null });
      return { status: 201, body: wiredPatient(request, patient) };
    },
  }),
  route({
    ...{ method: 'GET', path: 'onlinebookingpatient/:id/', action: 'onlinebookingpatient.retrieve', ...base },
    summary: 'An animal that was booked for online',
    answers: { 200: patientRecord },
    handle: (request) => ({
      status: 200,
      body: wiredPatient(request, recordOf(request, request.clinic.online.bookingPatients)),
    }),
  }),
  route({
    ...{ method: 'POST', path: 'appointment_reminder/', action: 'appointment_reminder.create', ...base },
    summary: 'Plan a reminder of an appointment',
    body: reminderBody,
    answers: { 201: reminderRecord },
    handle: (request) => {
      const { body, clinic } = request;
      const { appointment, delivery_method } = body;
      const remind_at = instant(request, body.remind_at, 'remind_at');
      const reminder = createReminder(clinic, { appointment, remind_at, delivery_method });
      sendDueReminders(clinic);
      return { status: 201, body: wiredReminder(request, reminder) };
    },
  }),
  route({
    ...{ method: 'GET', path: 'appointment_reminder/:id/', action: 'appointment_reminder.retrieve', ...base },
    summary: 'A reminder, and whether it was sent',
    answers: { 200: reminderRecord },
    handle: (request) => {
      sendDueReminders(request.clinic);
      return { status: 200, body: wiredReminder(request, recordOf(request, request.clinic.online.reminders)) };
    },
  }),
];
