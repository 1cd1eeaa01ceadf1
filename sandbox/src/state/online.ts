// Online services and messages (practice-api: Postransaction, Online prescription, Appointment and online booking).
// References are ids, instants are epoch milliseconds, amounts are decimal text.
import type { Amount } from '../money.ts';
import type { RecordBase } from '../records.ts';
import type { Tables } from './tables.ts';

/** The codes of practice-api "Payment link". */
export const paymentStatus = { pending: 1, failed: 2, expired: 3, aborted: 4, accepted: 5 } as const;
export const deliveryStatus = { notSent: 1, sent: 2, failed: 3 } as const;
export type DeliveryStatus = (typeof deliveryStatus)[keyof typeof deliveryStatus];
/** The codes of `payment_link_data.delivery_method`. */
export const deliveryMethod = { none: 0, both: 1, email: 2, sms: 3 } as const;
export type DeliveryMethod = (typeof deliveryMethod)[keyof typeof deliveryMethod];

export interface PaymentLink {
  /** A UUID. */
  external_id: string;
  /** The last part of the page's address. */
  token: string;
  expires: number;
  /**
   * The last action of the payer. A pending link expires at `expires` without a change of this field: see `statusOf`.
   */
  status: number;
  delivery_status: DeliveryStatus;
  description: string;
  return_url: string | null;
  tokenize: 'yes' | 'no' | 'ask';
  recurring_model: 'subscription' | 'one-off';
  /** True if the payer agreed to save the payment details. */
  consent: boolean;
  /** The reason of a failed payment, in plain words. */
  failure: string | null;
}

export interface PrepaymentData {
  client_id: number;
  department_id: number;
  description: string;
}

/**
 * practice-api: Postransaction. It pays for an invoice or a prepayment: either `invoice` or `prepayment_data` is null.
 */
export interface Postransaction extends RecordBase {
  /** A UUID. */
  task_id: string;
  amount: Amount;
  creator: number | null;
  department: number;
  invoice: number | null;
  prepayment_data: PrepaymentData | null;
  payment_method: PaymentMethod | null;
  payment: number | null;
  unallocated_payment: number | null;
  link: PaymentLink;
}

/** The ways to pay on the page. */
export type PaymentMethod = 'card' | 'mobile';

/** A text message or an e-mail. The sandbox records it and does not send it. */
export interface Message extends RecordBase {
  channel: 'email' | 'sms';
  recipient: string;
  subject: string;
  text: string;
  /** The address of the payment page in the message. */
  payment_link: string | null;
  /** False if the address cannot exist, such as one under `.invalid` (RFC 2606). */
  delivered: boolean;
}

/** The codes of practice-api "Prescription status". */
export const prescriptionStatus = {
  draft: 1,
  sending: 2,
  sent: 3,
  accepted: 4,
  rejected: 5,
  canceled: 6,
  error: 7,
  warned: 8,
} as const;

export interface Prescription extends RecordBase {
  client: number;
  department: number;
  prescriber: number;
  consultation: number | null;
  status: number;
  remarks: string;
  /** UUIDs. */
  uuid: string;
  prescription_set_uuid: string;
  /** The counter sale of the fee. */
  invoice: number | null;
  /** The field is null in state files of older versions, in which it was optional. */
  issue_time: number | null;
  archived: boolean;
  created_user: number | null;
  modified_user: number | null;
}

export interface PrescriptionItem extends RecordBase {
  prescription: number;
  name: string;
  patients: number[];
  strength: string;
  instructions: string;
  quantity_packages: number;
  valid_until: string;
  repeat_number: number;
  /** A UUID. */
  row_id: string;
  created_user: number | null;
}

/** The reason of an appointment. The specification does not show this record; the sandbox chose an id and a name. */
export interface Reason extends RecordBase {
  name: string;
  archived: boolean;
}

/** The names of an appointment's `type`; the first, Consultation, has code 1. */
export const appointmentTypes = [
  'Consultation',
  'Online booking',
  'Other',
  'Internal booking',
  'Unknown client',
  'Farm visit',
  'Preliminary booking',
  'Boarding',
  'Pet service',
] as const;
export const onlineBookingType = 2;

export interface Appointment extends RecordBase {
  start: number;
  end: number;
  department: number;
  reason: number | null;
  user: number | null;
  title: string;
  complaint: string;
  type: number;
  client: number | null;
  patients: number[];
  notes: string;
  request_hash: string;
  /** The time of the last confirmation. */
  confirmation_sent: number | null;
}

export interface OnlineBookingClient extends RecordBase {
  appointment: number;
  first_name: string;
  last_name: string;
  email: string;
  phone_number: string;
  street_address: string;
  zip_code: string;
  city: string;
}

export interface OnlineBookingPatient extends RecordBase {
  onlinebookingclient: number;
  name: string;
  species: number;
  breed: number | null;
  notes: string;
}

export interface AppointmentReminder extends RecordBase {
  appointment: number;
  remind_at: number;
  delivery_method: DeliveryMethod;
  delivery_status: DeliveryStatus;
  /** The time of the attempt to send it; null before. */
  sent: number | null;
}

export const onlineTables = (tables: Tables) => ({
  postransactions: tables.add<Postransaction>('postransaction', 90_001, (link) => link.invoice ?? 0),
  messages: tables.add<Message>('message', 1),
  prescriptions: tables.add<Prescription>('prescription', 3001, (prescription) => prescription.client),
  prescriptionItems: tables.add<PrescriptionItem>('prescription_item', 4001, (item) => item.prescription),
  reasons: tables.add<Reason>('reason', 1),
  appointments: tables.add<Appointment>('appointment', 70_001),
  bookingClients: tables.add<OnlineBookingClient>('onlinebookingclient', 5001, (client) => client.appointment),
  bookingPatients: tables.add<OnlineBookingPatient>('onlinebookingpatient', 6001, (one) => one.onlinebookingclient),
  reminders: tables.add<AppointmentReminder>('appointment_reminder', 8001, (reminder) => reminder.appointment),
});
