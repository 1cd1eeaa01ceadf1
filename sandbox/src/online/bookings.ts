// Appointments, the clients and patients of online bookings, confirmations and reminders (practice-api: Appointment and
// online booking; Endpoints: Appointments and online booking).
// Choices of the sandbox: all patients belong to one client. If a request names only patients, the appointment gets
// their client. An online booking client belongs to an appointment of type 2, and each such appointment has one. A
// confirmation may be sent again. The clinic sends a reminder once its clock has passed the reminder's time: at the
// next request about reminders or messages, or at the next live event.
import type { Clinic } from '../clinic.ts';
import { ValidationProblem } from '../records.ts';
import {
  type Appointment,
  type AppointmentReminder,
  type DeliveryMethod,
  deliveryMethod,
  deliveryStatus,
  type OnlineBookingClient,
  type OnlineBookingPatient,
  onlineBookingType,
} from '../state/online.ts';
import { hex } from './ids.ts';
import { type Delivered, type Recipient, recipientOf, send } from './messages.ts';

type New<T> = Omit<T, 'id' | 'created' | 'modified'>;
export type AppointmentInput = Omit<New<Appointment>, 'request_hash' | 'confirmation_sent'>;

const missing = 'Object does not exist.';

/** Books an appointment. Throws ValidationProblem before it changes anything. */
export const createAppointment = (clinic: Clinic, input: AppointmentInput): Appointment =>
  clinic.commit(() => {
    const { department, reason, user } = input;
    if (input.end <= input.start) throw new ValidationProblem('end', 'The end must be after the start.');
    if (!clinic.departments.has(department)) throw new ValidationProblem('department', missing);
    if (reason !== null && !clinic.online.reasons.get(reason)) throw new ValidationProblem('reason', missing);
    if (user !== null && !clinic.registers.users.get(user)) throw new ValidationProblem('user', missing);
    if (input.client !== null && !clinic.clients.get(input.client)) throw new ValidationProblem('client', missing);
    const patients = [...new Set(input.patients)];
    const owners = patients.map((id) => clinic.registers.patients.get(id)?.client);
    const client = input.client ?? owners[0] ?? null;
    if (owners.some((owner) => owner === undefined || owner !== client)) {
      throw new ValidationProblem('patients', 'Not all of them exist and belong to the client.');
    }
    const request_hash = hex(clinic.onlineRng, 40);
    return clinic.insert(clinic.online.appointments, {
      ...{ ...input, client, patients, request_hash },
      confirmation_sent: null,
    });
  });

/** Adds the client of an online booking to its appointment. */
export const connectClient = (clinic: Clinic, input: New<OnlineBookingClient>): OnlineBookingClient =>
  clinic.commit(() => {
    const appointment = clinic.online.appointments.get(input.appointment);
    if (!appointment) throw new ValidationProblem('appointment', missing);
    if (appointment.type !== onlineBookingType) {
      throw new ValidationProblem('appointment', 'It is not of the type Online booking.');
    }
    if (bookedBy(clinic, appointment)) throw new ValidationProblem('appointment', 'It has a client already.');
    return clinic.insert(clinic.online.bookingClients, input);
  });

/** Adds an animal to the client of an online booking. */
export const connectPatient = (clinic: Clinic, input: New<OnlineBookingPatient>): OnlineBookingPatient =>
  clinic.commit(() => {
    const { bookingClients, bookingPatients } = clinic.online;
    if (!bookingClients.get(input.onlinebookingclient)) throw new ValidationProblem('onlinebookingclient', missing);
    if (!clinic.people.species.get(input.species)) throw new ValidationProblem('species', 'No code of the code list.');
    if (input.breed !== null && !clinic.people.breeds.get(input.breed)) {
      throw new ValidationProblem('breed', 'No code of the code list.');
    }
    return clinic.insert(bookingPatients, input);
  });

export const bookedBy = (clinic: Clinic, { id }: Appointment): OnlineBookingClient | null =>
  clinic.online.bookingClients.of(id)[0] ?? null;

export const bookedFor = (clinic: Clinic, appointment: Appointment): readonly OnlineBookingPatient[] => {
  const client = bookedBy(clinic, appointment);
  return client === null ? [] : clinic.online.bookingPatients.of(client.id);
};

/**
 * Sends the confirmation by the requested channels. Throws ValidationProblem for a wrong hash, for an online booking
 * without client and patient, and for an appointment without a recipient.
 */
export const confirm = (
  clinic: Clinic,
  appointment: Appointment,
  requestHash: string,
  { email, sms }: { email: boolean; sms: boolean },
): Delivered =>
  clinic.commit(() => {
    if (requestHash !== appointment.request_hash) {
      throw new ValidationProblem('request_hash', 'It is not the hash of this appointment.');
    }
    const recipient = recipientOfAppointment(clinic, appointment);
    if (appointment.type === onlineBookingType && bookedFor(clinic, appointment).length === 0) {
      const message = 'An online booking client and patient must be connected to the appointment first.';
      throw new ValidationProblem('non_field_errors', message);
    }
    if (recipient === null) throw new ValidationProblem('client', 'The appointment has no client to confirm it to.');
    const { none, both, email: byEmail, sms: bySms } = deliveryMethod;
    const method = email && sms ? both : email ? byEmail : sms ? bySms : none;
    const text = { subject: 'Your appointment is confirmed', text: `Confirmed: ${inWords(clinic, appointment)}.` };
    const delivered = send(clinic, method, recipient, text);
    if (delivered.status === deliveryStatus.sent) {
      clinic.update(clinic.online.appointments, appointment, { confirmation_sent: clinic.clock() });
    }
    return delivered;
  });

/**
 * The recipient of messages about an appointment: the person who booked it online, or its client. The client's
 * preferences count in both cases.
 */
const recipientOfAppointment = (clinic: Clinic, appointment: Appointment): Recipient | null => {
  const client = appointment.client === null ? null : (clinic.clients.get(appointment.client) ?? null);
  if (appointment.type !== onlineBookingType) return client === null ? null : recipientOf(clinic, client);
  const booked = bookedBy(clinic, appointment);
  return { email: booked?.email ?? '', phone: booked?.phone_number ?? '', client };
};

const inWords = (clinic: Clinic, { start, department }: Appointment): string => {
  const when = clinic.zone.timestamp(start, 'offset').slice(0, 16).replace('T', ' at ');
  return `${when}, ${clinic.department(department).name}`;
};

/** Plans a reminder of an appointment. Throws ValidationProblem if its time is past, or not before the appointment. */
export const createReminder = (
  clinic: Clinic,
  input: { appointment: number; remind_at: number; delivery_method: DeliveryMethod },
): AppointmentReminder =>
  clinic.commit(() => {
    const appointment = clinic.online.appointments.get(input.appointment);
    if (!appointment) throw new ValidationProblem('appointment', missing);
    if (input.remind_at < clinic.clock()) throw new ValidationProblem('remind_at', 'The time is past.');
    if (input.remind_at >= appointment.start) {
      throw new ValidationProblem('remind_at', 'The time must be before the appointment starts.');
    }
    const fields = { ...input, delivery_status: deliveryStatus.notSent, sent: null };
    return clinic.insert(clinic.online.reminders, fields);
  });

export const sendDueReminders = (clinic: Clinic): void => {
  const { appointments, reminders } = clinic.online;
  const due = reminders.all().filter((one) => one.sent === null && one.remind_at <= clinic.clock());
  if (due.length === 0) return;
  clinic.commit(() => {
    for (const reminder of due) {
      const appointment = appointments.get(reminder.appointment);
      const recipient = appointment ? recipientOfAppointment(clinic, appointment) : null;
      const text = {
        subject: 'Your appointment',
        text: appointment ? `Reminder: ${inWords(clinic, appointment)}.` : '',
      };
      const delivery_status =
        recipient === null ? deliveryStatus.failed : send(clinic, reminder.delivery_method, recipient, text).status;
      clinic.update(reminders, reminder, { delivery_status, sent: clinic.clock() });
    }
  }, 'request');
};
