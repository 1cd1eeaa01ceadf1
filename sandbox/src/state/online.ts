// What clients do over the net, and what is sent to them (practice-api: Postransaction, Online prescription, Appointment and online
// booking). References are ids, instants epoch milliseconds, amounts decimal text.
import type { Amount } from '../money.ts';
import type { RecordBase } from '../records.ts';
import type { Tables } from './tables.ts';

/** practice-api: Payment link. */
export const paymentStatus = { pending: 1, failed: 2, expired: 3, aborted: 4, accepted: 5 } as const;
export const deliveryStatus = { notSent: 1, sent: 2, failed: 3 } as const;
export type DeliveryStatus = (typeof deliveryStatus)[keyof typeof deliveryStatus];
/** practice-api: `payment_link_data.delivery_method`. */
export const deliveryMethod = { none: 0, both: 1, email: 2, sms: 3 } as const;
export type DeliveryMethod = (typeof deliveryMethod)[keyof typeof deliveryMethod];

export interface PaymentLink {
  /** UUID. */
  external_id: string;
  /** The last part of the page's address. */
  token: string;
  expires: number;
  /** As the payer left it. A pending link is expired from `expires` on: see `statusOf`. */
  status: number;
  delivery_status: DeliveryStatus;
  description: string;
  return_url: string | null;
  tokenize: 'yes' | 'no' | 'ask';
  recurring_model: 'subscription' | 'one-off';
  /** Whether the payer agreed that the payment details are saved. */
  consent: boolean;
  /** Why a payment failed, in plain words. */
  failure: string | null;
}

export interface PrepaymentData {
  client_id: number;
  department_id: number;
  description: string;
}

/** practice-api: Postransaction. For an invoice or for a prepayment: one of `invoice` and `prepayment_data` is null. */
export interface Postransaction extends RecordBase {
  /** UUID. */
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

/** How a person pays on the page. */
export type PaymentMethod = 'card' | 'mobile';

/** A text message or an e-mail. Nothing leaves this machine. */
export interface Message extends RecordBase {
  channel: 'email' | 'sms';
  recipient: string;
  subject: string;
  text: string;
  /** The payment page that it leads to. */
  payment_link: string | null;
  /** Whether it arrived: an address under `.invalid` does not exist (RFC 2606). */
  delivered: boolean;
}

/** practice-api: Prescription status. */
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
  /** Null in state files of before it was required. */
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
  /** UUID. */
  row_id: string;
  created_user: number | null;
}

/** Why a client comes. The record is not shown: an id and a name. */
export interface Reason extends RecordBase {
  name: string;
  archived: boolean;
}

/** practice-api: `type` of an appointment; 1 Consultation is the first. */
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
  /** When a confirmation was last sent. */
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
  /** When it was tried to send it; null before. */
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
