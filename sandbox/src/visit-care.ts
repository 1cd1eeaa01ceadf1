// A visit to the invented clinic, from its appointment to the invoice. Rows, prices and payments are drawn elsewhere.
// This file draws from a random stream of the consultation's id, so that the documents of a seed do not change.
import { finaliseConsultation, insertItem, moveConsultation, openConsultation } from './care.ts';
import type { Clinic } from './clinic.ts';
import type { RowInput } from './inputs.ts';
import { createAppointment } from './online/bookings.ts';
import { newPatient } from './people.ts';
import type { Invoice } from './records.ts';
import { Rng } from './rng.ts';
import { type Consultation, consultationStatus, consultationTypes } from './state/care.ts';
import type { Patient } from './state/people.ts';
import { type CatalogueItem, itemTypes } from './state/registers.ts';

export interface Visit {
  client: number;
  department: number;
  /** The rows of the invoice. They count instead of the catalogue, because staff set prices and give discounts. */
  rows: readonly RowInput[];
  /** The status of the invoice; the default is final. */
  status?: number;
  /** True if the client had an appointment. */
  booked?: boolean;
}

const minuteMs = 60_000;
const complaints = ['Limps', 'Eats little', 'Itches', 'Annual check', 'Vaccination due', 'Coughs', ''];
const instructions = ['Twice a day with food', 'Once a day for a week', 'As needed'];

/** Treats a patient of the client and finalises the consultation, whose items become the rows of its invoice. */
export const invoiceVisit = (clinic: Clinic, visit: Visit): Invoice =>
  clinic.commit(() => {
    const { client, department, rows, status } = visit;
    const rng = new Rng(clinic.seed, `visit ${clinic.care.consultations.nextId}`);
    const now = clinic.clock();
    const started = now - rng.int(10, 75) * minuteMs;
    const complaint = rng.pick(complaints);
    const patients = [patientOf(clinic, rng, client).id];
    const veterinarian = rng.pick(clinic.registers.users.all().filter((user) => user.is_veterinarian)).id;
    statePreferences(clinic, client, department);
    if (visit.booked) {
      const about = { client, patients, department, complaint, user: veterinarian, reason: null, type: 1 };
      createAppointment(clinic, { ...about, start: started, end: now, title: 'Consultation', notes: '' });
    }
    const consultation = openConsultation(clinic, {
      ...{ client, patients, department, complaint, started, finished: now },
      supervising_veterinarian: veterinarian,
      type: typeOf(rng, rows),
    });
    moveConsultation(clinic, consultation.id, consultationStatus.inProgress);
    for (const row of rows) use(clinic, rng, consultation, row);
    const invoice = finaliseConsultation(clinic, consultation, status);
    if (invoice === null) throw new Error(`the visit of client ${client} charges nothing`);
    return invoice;
  });

/** Adds the row's item to the consultation. */
const use = (clinic: Clinic, rng: Rng, consultation: Consultation, row: RowInput): void => {
  const item = itemOf(clinic, row);
  const isMedicine = item.type_code === itemTypes.medicine;
  const isUsed = isMedicine || item.type_code === itemTypes.supply;
  const { quantity = '1.00', vat_percentage = '0.00' } = row;
  const usage = isUsed ? { usage_type: rng.int(1, 4), usage_size: rng.int(1, 2) } : {};
  const { patients } = consultation;
  const given = { patients, quantity, vat_percentage, ...usage };
  insertItem(clinic, consultation, item, isMedicine ? { ...given, instructions: rng.pick(instructions) } : given, row);
};

/** The item of the catalogue with the row's name. If there is none, it is added to the catalogue. */
const itemOf = (clinic: Clinic, { name = 'Service', vat_percentage, account_number }: RowInput): CatalogueItem => {
  const { items } = clinic.registers;
  const known = items.all().find((item) => item.name === name);
  if (known) return known;
  return clinic.insert(items, {
    ...{ name, type_code: itemTypes.procedure, price_with_vat: '0.00', vat_percentage: vat_percentage ?? '0.00' },
    ...{ account_number: account_number ?? '3000', reporting_dimension_1: null, shop: false, archived: false },
  });
};

const typeOf = (rng: Rng, rows: readonly RowInput[]): number => {
  if (rows.some((row) => row.name === 'Home visit')) return consultationTypes.homeCall;
  return rng.chance(0.9) ? consultationTypes.outpatient : consultationTypes.inpatient;
};

/** One of the client's living animals. If the client has none, a new animal is registered. */
const patientOf = (clinic: Clinic, rng: Rng, client: number): Patient => {
  const { patients } = clinic.registers;
  const known = rng.pick(patients.of(client).filter((patient) => patient.deceased === null && !patient.archived));
  if (known) return known;
  return clinic.insert(patients, newPatient(client, 'Nuppu', clinic.people.species.all()[0]?.id ?? 0));
};

/** Records the client's communication preferences, if the department requires them before a consultation. */
const statePreferences = (clinic: Clinic, clientId: number, department: number): void => {
  const client = clinic.clients.get(clientId);
  if (!client || !clinic.department(department).enable_communication_preferences) return;
  if (client.preferences_stated_at === null) {
    clinic.update(clinic.clients, client, { preferences_stated_at: clinic.clock() });
  }
};
