// Online live events: clients pay by link or let the link expire, book online, and get prescriptions. A separate random
// stream keeps the other events of a seed the same.
import type { Clinic } from '../clinic.ts';
import { addToCounterSale, finaliseCounterSale, openCounterSale } from '../counter-sales.ts';
import type { LiveEvent } from '../live.ts';
import { dec, fixed } from '../money.ts';
import { type Client, type Invoice, invoiceStatus } from '../records.ts';
import type { Rng } from '../rng.ts';
import { deliveryMethod, onlineBookingType, type Postransaction, prescriptionStatus } from '../state/online.ts';
import type { Patient } from '../state/people.ts';
import {
  confirm,
  connectClient,
  connectPatient,
  createAppointment,
  createReminder,
  sendDueReminders,
} from './bookings.ts';
import { abortLink, createLink, failLink, payLink, subjectOf } from './payment-links.ts';
import { changePrescription, createPrescription } from './prescriptions.ts';

/** A live event without its time, which the caller adds. */
export type OnlineEvent = Omit<LiveEvent, 'at'>;

type Happening = Omit<OnlineEvent, 'kind'>;

/** Online events search this number of the newest records for one that they can use. */
const reach = 400;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const halfHourMs = hourMs / 2;

/** The kinds of events with their weights. A function returns null if the clinic has no suitable record. */
const happenings: readonly (readonly [string, number, (clinic: Clinic) => Happening | null])[] = [
  ['invoice_paid_by_link', 8, payInvoiceByLink],
  ['prepayment_by_link', 3, prepayByLink],
  ['payment_link_unpaid', 2, leaveLinkUnpaid],
  ['appointment_booked', 6, bookAppointment],
  ['online_booking', 4, bookOnline],
  ['prescription_written', 3, prescribe],
];

/** Makes one online event happen now; null if the clinic has no suitable record. */
export const liveOnline = (clinic: Clinic): OnlineEvent | null =>
  clinic.commit(() => {
    sendDueReminders(clinic);
    const [kind, , run] = clinic.onlineRng.weighted(happenings.map((happening) => [happening, happening[1]] as const));
    const happened = run(clinic);
    return happened && { kind, ...happened };
  });

const isOpen = (clinic: Clinic, invoice: Invoice): boolean =>
  invoice.status === invoiceStatus.final &&
  !invoice.credit_note &&
  invoice.consolidated_invoices.length === 0 &&
  invoice.consolidated_invoice === null &&
  dec(invoice.due_sum).greaterThan(0) &&
  clinic.department(invoice.department).allow_nhp_processing;

/** Makes a payment link for the due sum of a recent invoice. */
const linkForInvoice = (clinic: Clinic): Postransaction | null => {
  const rng = clinic.onlineRng;
  const open = clinic.invoices
    .all()
    .slice(-reach)
    .filter((invoice) => isOpen(clinic, invoice));
  if (open.length === 0) return null;
  const invoice = rng.pick(open);
  return createLink(clinic, {
    ...{ amount: invoice.due_sum, creator: null, department: invoice.department },
    ...{ invoice: invoice.id, prepayment_data: null },
    duration: rng.pick([60, 1440, 10_080]),
    delivery_method: deliveryMethod.both,
  });
};

function payInvoiceByLink(clinic: Clinic): Happening | null {
  const link = linkForInvoice(clinic);
  if (!link) return null;
  payLink(clinic, link, clinic.onlineRng.chance(0.7) ? 'card' : 'mobile', false);
  const text = `${link.amount} paid by link for ${subjectOf(clinic, link)}`;
  const { invoice, payment } = link;
  if (payment === null || invoice === null) return { text: `a payment by link failed: ${link.link.failure}` };
  return { text, invoice, payment };
}

function prepayByLink(clinic: Clinic): Happening | null {
  const rng = clinic.onlineRng;
  const department_id = departmentWithLinks(clinic);
  const client = pickClient(clinic);
  if (department_id === null || client === null) return null;
  const link = createLink(clinic, {
    ...{ amount: fixed(dec(rng.int(2, 40) * 10), clinic.decimals), creator: null, department: department_id },
    invoice: null,
    prepayment_data: { client_id: client.id, department_id, description: 'Deposit' },
    duration: 1440,
    delivery_method: deliveryMethod.both,
  });
  payLink(clinic, link, rng.chance(0.7) ? 'card' : 'mobile', false);
  if (link.unallocated_payment === null) return { text: `a prepayment by link failed: ${link.link.failure}` };
  const text = `prepayment of ${link.amount} by link`;
  return { text, prepayment: link.unallocated_payment, client: client.id };
}

function leaveLinkUnpaid(clinic: Clinic): Happening | null {
  const link = linkForInvoice(clinic);
  if (!link) return null;
  const how = clinic.onlineRng.pick(['refused', 'aborted', 'not opened']);
  if (how === 'refused') failLink(clinic, link);
  else if (how === 'aborted') abortLink(clinic, link);
  return { text: `payment link of ${link.amount} for ${subjectOf(clinic, link)}: ${how}` };
}

/** A random half-hour in the next two weeks. */
const slot = (clinic: Clinic, rng: Rng): { start: number; end: number } => {
  const date = clinic.zone.date(clinic.clock() + rng.int(1, 14) * dayMs);
  const start = clinic.zone.at(date, rng.int(16, 31) * 30);
  return { start, end: start + halfHourMs };
};

function bookAppointment(clinic: Clinic): Happening | null {
  const rng = clinic.onlineRng;
  const owner = pickOwner(clinic);
  if (!owner) return null;
  const appointment = createAppointment(clinic, {
    ...slot(clinic, rng),
    ...{ department: rng.pick([...clinic.departments.keys()]), type: 1, client: owner.client, patients: [owner.id] },
    ...{ reason: pickReason(clinic), user: pickVeterinarian(clinic), title: owner.name, complaint: '', notes: '' },
  });
  confirm(clinic, appointment, appointment.request_hash, { email: true, sms: true });
  const remind_at = appointment.start - 4 * hourMs;
  createReminder(clinic, { appointment: appointment.id, remind_at, delivery_method: deliveryMethod.sms });
  return { text: `appointment ${appointment.id} for ${owner.name}`, client: owner.client };
}

function bookOnline(clinic: Clinic): Happening | null {
  const rng = clinic.onlineRng;
  const species = rng.pick(clinic.people.species.all());
  if (!species) return null;
  const appointment = createAppointment(clinic, {
    ...slot(clinic, rng),
    ...{ department: rng.pick([...clinic.departments.keys()]), type: onlineBookingType, client: null, patients: [] },
    ...{ reason: pickReason(clinic), user: null, title: 'Online booking', complaint: '', notes: '' },
  });
  const booked = connectClient(clinic, {
    appointment: appointment.id,
    ...{ first_name: 'New', last_name: 'Client', email: `booking${appointment.id}@example.org`, phone_number: '' },
    ...{ street_address: '', zip_code: '', city: '' },
  });
  const animal = { name: 'Newcomer', species: species.id, breed: null, notes: '' };
  connectPatient(clinic, { onlinebookingclient: booked.id, ...animal });
  confirm(clinic, appointment, appointment.request_hash, { email: true, sms: false });
  return { text: `online booking of appointment ${appointment.id}` };
}

/** Writes a prescription, sells its fee over the counter, and records the prescription centre's answer. */
function prescribe(clinic: Clinic): Happening | null {
  const rng = clinic.onlineRng;
  const owner = pickOwner(clinic);
  const prescriber = pickVeterinarian(clinic);
  if (!owner || prescriber === null) return null;
  const department = rng.pick([...clinic.departments.values()]);
  const prescription = createPrescription(clinic, {
    ...{ client: owner.client, department: department.id, prescriber, consultation: null, user: prescriber },
    ...{ issue_time: clinic.clock(), status: prescriptionStatus.sending, remarks: '' },
    items: [
      {
        ...{ name: 'Kivuton 50 mg', strength: '50 mg', instructions: 'One tablet a day with food', repeat_number: 1 },
        ...{ patients: [owner.id], quantity_packages: rng.int(1, 3) },
        valid_until: clinic.zone.date(clinic.clock() + 365 * dayMs),
      },
    ],
  });
  const { accepted, warned, rejected } = prescriptionStatus;
  const status = rng.weighted([
    [accepted, 90],
    [warned, 7],
    [rejected, 3],
  ] as const);
  changePrescription(clinic, prescription, { status }, prescriber);
  const text = `prescription ${prescription.id} for ${owner.name}`;
  const fee = department.prescription_fee_item;
  if (status === rejected || fee === null) return { text, client: owner.client };
  const draft = openCounterSale(clinic, department.id, owner.client);
  addToCounterSale(clinic, draft.id, { item: fee, quantity: '1' });
  const sale = finaliseCounterSale(clinic, draft.id);
  const payment = clinic.pay(sale.id, { payment_type: 0 });
  return { text, invoice: sale.id, payment: payment.id, client: owner.client };
}

const departmentWithLinks = (clinic: Clinic): number | null => {
  const allowed = [...clinic.departments.values()].filter((department) => department.allow_nhp_processing);
  return allowed.length === 0 ? null : clinic.onlineRng.pick(allowed).id;
};

const pickClient = (clinic: Clinic): Client | null => {
  const active = clinic.clients
    .all()
    .slice(-reach)
    .filter((client) => !client.archived);
  return active.length === 0 ? null : clinic.onlineRng.pick(active);
};

/** Picks a living animal with an owner; null if there is none. */
const pickOwner = (clinic: Clinic): Patient | null => {
  const living = clinic.registers.patients
    .all()
    .slice(-reach)
    .filter(({ archived, deceased }) => !archived && deceased === null);
  return living.length === 0 ? null : clinic.onlineRng.pick(living);
};

const pickVeterinarian = (clinic: Clinic): number | null => {
  const veterinarians = clinic.registers.users.all().filter((user) => user.is_veterinarian);
  return veterinarians.length === 0 ? null : clinic.onlineRng.pick(veterinarians).id;
};

const pickReason = (clinic: Clinic): number | null => {
  const reasons = clinic.online.reasons.all();
  return reasons.length === 0 ? null : clinic.onlineRng.pick(reasons).id;
};
